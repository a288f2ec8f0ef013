"""What NumPy and long work need while they run: one core for a search, progress bars."""
