"""memlite: remembers what was done in coding sessions and finds it again."""

__version__ = "0.1.0"
