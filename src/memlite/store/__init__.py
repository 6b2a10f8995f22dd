"""The one SQLite file: the only room that knows SQL."""
