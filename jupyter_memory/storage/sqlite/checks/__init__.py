"""Checks that what a store holds is sound, beyond what SQLite sees of its pages."""
