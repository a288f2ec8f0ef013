"""The models that mlx-embeddings runs."""
