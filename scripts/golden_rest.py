"""Write tests/golden/rest anew: what every route answers about one week, the same on every machine.

Run it after a route or a shape has changed, and read the difference: python scripts/golden_rest.py
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> int:
    """Let the test that compares the routes with the files write them, then check what was written."""
    command = [sys.executable, "-m", "pytest", "-q", "tests/server/test_golden_rest.py"]
    writing = {**os.environ, "JUPYTER_MEMORY_GOLDEN": "write"}
    for more, environment in (["-k", "routes"], writing), ([], os.environ):
        done = subprocess.run([*command, *more], cwd=ROOT, env=environment, check=False, timeout=1_200)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
