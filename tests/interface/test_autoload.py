"""The extension loaded in every new kernel."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ASK = "print('loaded:', 'memsearch' in get_ipython().magics_manager.magics['line'], dir())"
HIDE = """
import importlib.util as u, sys
_find = u.find_spec
u.find_spec = lambda name, *a: None if name == 'jupyter_memory' else _find(name, *a)
sys.modules['jupyter_memory'] = None
"""


@pytest.fixture
def startup(home: Path) -> Path:
    """Give the folder of startup files."""
    return home / "ipython" / "profile_default" / "startup"


def new_shell(code: str) -> str:
    """Run code in a new IPython process; return what it prints."""
    command = [sys.executable, "-m", "IPython", "--no-banner", "--colors=nocolor", "-c", code]
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=100)
    return done.stdout + done.stderr


def test_on_off_status_across_shells(startup: Path) -> None:
    """Turned on, a new shell has the magics, and no name of ours; turned off, the next one has not; twice is once."""
    shown = new_shell("%load_ext jupyter_memory\n%memory autoload\n%memory autoload on\n%memory autoload on")
    assert "off" in shown and shown.count("on: new kernels") == 2
    shown = new_shell(ASK)
    assert "loaded: True" in shown
    assert "_load_jupyter_memory" not in shown
    assert "off" in new_shell("%memory autoload off\n%memory autoload off")
    assert [file.name for file in startup.iterdir()] in ([], ["README"])
    assert "loaded: False" in new_shell(ASK)


def test_without_the_package_the_file_is_silent(startup: Path) -> None:
    """In an environment without jupyter-memory the startup file does nothing and says nothing."""
    new_shell("%load_ext jupyter_memory\n%memory autoload on")
    (startup / "00-hide.py").write_text(HIDE)
    shown = new_shell(ASK)
    assert "loaded: False" in shown
    assert "Error" not in shown
