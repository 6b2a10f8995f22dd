"""The optional index of meanings: a Chroma that a helper process keeps, filled from the store's journal."""
