"""Databases that are not ours: which tables they have. They are only looked at, and no row of them is read."""
