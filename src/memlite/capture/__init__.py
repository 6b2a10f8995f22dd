"""From what the client leaves behind to memories: hooks, transcripts, episodes."""
