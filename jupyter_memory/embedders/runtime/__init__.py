"""What models compute with: MLX, its BLAS, batches, and the time that models stay in memory."""
