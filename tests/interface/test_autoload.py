"""The extension loaded in every new kernel."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_memory.interface import provider

ASK = "print('loaded:', 'memsearch' in get_ipython().magics_manager.magics['line'], dir())"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep IPython's and Jupyter's folders in the test's own."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    return tmp_path


def new_shell(code: str, *python: str) -> str:
    """Run code in a new IPython process; return what it prints."""
    done = subprocess.run(
        [sys.executable, *python, "-m", "IPython", "--no-banner", "--colors=nocolor", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
        timeout=100,
    )
    return done.stdout + done.stderr


def test_on_off_status_across_shells(home: Path) -> None:
    """Turned on, a new shell has the magics, and no name of ours; turned off, the next one has not."""
    assert "on: new kernels" in new_shell("%load_ext jupyter_memory\n%memory autoload on")
    shown = new_shell(ASK)
    assert "loaded: True" in shown
    assert "_load_jupyter_memory" not in shown

    assert "off" in new_shell("%memory autoload off")
    assert "loaded: False" in new_shell(ASK)


def test_without_the_package_the_file_is_silent(home: Path) -> None:
    """In an environment without jupyter-memory the startup file does nothing and says nothing."""
    startup = home / "ipython" / "profile_default" / "startup"
    provider.turn_on(startup)
    hide = "import sys; sys.modules['jupyter_memory'] = None"
    (startup / "00-hide.py").write_text(
        "import importlib.util as u\n_find = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'jupyter_memory' else _find(name, *a)\n" + hide
    )
    shown = new_shell(ASK)

    assert "loaded: False" in shown
    assert "Error" not in shown


def test_on_twice_and_off_twice(tmp_path: Path) -> None:
    """Turning on what is on, or off what is off, is no mistake."""
    assert not provider.is_on(tmp_path)
    assert provider.turn_on(tmp_path) == provider.turn_on(tmp_path)
    assert provider.is_on(tmp_path)
    assert provider.turn_off(tmp_path) is True
    assert provider.turn_off(tmp_path) is False
    assert list(tmp_path.iterdir()) == []
