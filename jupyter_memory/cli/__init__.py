"""The command line: the same memory from a terminal or a script."""

from jupyter_memory.cli.program import main

__all__ = ["main"]
