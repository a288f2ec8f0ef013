"""Readers of data files: what the tables in them are called, their columns, and how many rows they have."""
