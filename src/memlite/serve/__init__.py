"""The worker: the same search over HTTP, for curl, the page and whoever speaks it."""
