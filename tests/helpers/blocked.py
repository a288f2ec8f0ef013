"""Fresh interpreters in which some packages cannot be imported, as where they are not installed."""

import subprocess
import sys
from collections.abc import Sequence

_BLOCK = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
"""


def run_without(packages: Sequence[str], code: str, *arguments: str) -> str:
    """Return what code prints where these packages are missing; it fails if the code does."""
    program = _BLOCK.format(packages=tuple(packages)) + code
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
