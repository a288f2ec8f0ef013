"""The package can be run as a module."""

from __future__ import annotations

import subprocess
import sys


def test_the_module_is_the_command(tmp_path):
    """`python -m jupyter_memory` does and returns what the command does, failures included."""
    run = [sys.executable, "-m", "jupyter_memory", "--store", str(tmp_path / "m.sqlite")]
    added = subprocess.run(
        [*run, "add", "prices in Zürich, λ"], capture_output=True, text=True, check=False, timeout=100
    )
    wrong = subprocess.run([*run, "serch", "prices"], capture_output=True, text=True, check=False, timeout=100)

    assert (added.returncode, "Zürich" in added.stdout) == (0, True)
    assert (wrong.returncode, "jupyter-memory" in wrong.stderr) == (2, True)
