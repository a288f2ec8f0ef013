"""The command line: the memory from a terminal or a script."""

import gc
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 0, 1 after a failure, 2 after wrong usage, 130 after Ctrl-C."""
    try:
        if arguments is None:
            # Modules are no garbage: looking through them again and again, and at exit, is a fifth of a search's time.
            gc.set_threshold(100_000)
        # Imported late: it takes a moment, in which Ctrl-C may be pressed.
        from jupyter_memory.cli.program import main as run
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        return 130
    code = run(arguments)
    if arguments is None:
        gc.freeze()
    return code


__all__ = ["main"]
