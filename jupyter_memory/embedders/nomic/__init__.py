"""The embedder nomic-embed-text: its architecture, and how its files are loaded."""
