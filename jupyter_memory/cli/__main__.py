"""Lets `python -m jupyter_memory.cli` be the command line."""

import sys

from jupyter_memory.cli import main

sys.exit(main())
