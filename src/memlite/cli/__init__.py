"""The command line: thin declarations over the rooms below."""
