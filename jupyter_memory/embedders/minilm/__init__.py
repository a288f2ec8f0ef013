"""The embedder all-MiniLM-L6-v2: its architecture, and how its files are loaded."""
