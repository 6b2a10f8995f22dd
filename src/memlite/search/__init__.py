"""Finding memories: one request, one controller, one ranking for every caller."""
