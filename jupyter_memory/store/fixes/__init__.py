"""How errors were mended before: in the history, in saved notebooks, and in notes."""
