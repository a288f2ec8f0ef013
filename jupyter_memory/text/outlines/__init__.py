"""Outlines: the functions, classes and sections of a text, by its language."""
