"""`python -m jupyter_memory` is the command `jupyter-memory`, for an environment whose commands are not on the path."""

import sys

from jupyter_memory.cli import main

if __name__ == "__main__":
    sys.exit(main())
