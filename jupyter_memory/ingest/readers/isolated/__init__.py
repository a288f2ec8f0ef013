"""Readers whose parsers run in a process of their own, bounded in time and memory."""
