"""The command line: the memory from a terminal or a script."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 0, 1 after a failure, 2 after wrong usage, 130 after Ctrl-C."""
    try:
        # Imported late: it takes a moment, in which Ctrl-C may be pressed.
        from jupyter_memory.cli.program import main as run
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        return 130
    return run(arguments)


__all__ = ["main"]
