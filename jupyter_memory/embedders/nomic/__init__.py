"""nomic-embed-text, computed by MLX."""
