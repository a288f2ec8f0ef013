"""Runs on their way into a store: noted in files beside it, before a cell runs and when it ended."""
