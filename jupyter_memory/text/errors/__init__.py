"""Errors as text: tracebacks, and what they have in common."""
