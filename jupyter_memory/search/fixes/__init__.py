"""How an error was mended the last time."""
