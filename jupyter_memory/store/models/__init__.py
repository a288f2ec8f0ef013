"""The embedder of a store: which one it uses, a better one, and the change from one to another."""
