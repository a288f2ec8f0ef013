"""Turns the history on for every kernel, with the setting in Jupyter's configuration."""

from __future__ import annotations

import json
import os
from pathlib import Path
from shutil import copymode
from typing import Any

from jupyter_core.paths import jupyter_config_dir

from jupyter_memory.config import FILE_NAME
from jupyter_memory.errors import InputError
from jupyter_memory.text.paths import make_private

_SECTION, _NAME = "JupyterMemory", "history"


def config_file() -> Path:
    """Return the file of settings that is written."""
    return Path(jupyter_config_dir()) / f"{FILE_NAME}.json"


def turn_on() -> Path:
    """Set it; return the file that was written.

    Raises:
        InputError: the file is there and cannot be read.
    """
    file, settings = config_file(), _settings()
    _write(file, {**settings, _SECTION: {**settings.get(_SECTION, {}), _NAME: True}})
    return file


def turn_off() -> bool:
    """Remove the setting; return whether it was there.

    Raises:
        InputError: the file is there and cannot be read.
    """
    settings = _settings()
    section = dict(settings.get(_SECTION, {}))
    if not section.pop(_NAME, False):
        return False
    _write(config_file(), {**settings, _SECTION: section})
    return True


def _settings() -> dict[str, Any]:
    file = config_file()
    try:
        settings = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read: mend it first, or write the setting history by hand.") from error
    if not isinstance(settings, dict) or not isinstance(settings.get(_SECTION, {}), dict):
        raise InputError(f"{file} holds no settings by name: mend it first, or write the setting history by hand.")
    return settings


def _write(file: Path, settings: dict[str, Any]) -> None:
    """Replace the file as a whole: one that is cut short would take the person's other settings with it."""
    make_private(file.parent)
    # A link stays one: what it leads to is replaced.
    file = file.resolve()
    temporary = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        temporary.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
        if file.exists():
            copymode(file, temporary)
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
