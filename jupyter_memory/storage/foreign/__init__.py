"""Databases that are not ours: which tables they have, and what IPython noted in its history. Nothing is written."""
