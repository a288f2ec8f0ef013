"""Work trees of git with a history, for tests; they skip where git is missing."""

from __future__ import annotations

import os
import subprocess
from datetime import datetime
from pathlib import Path
from shutil import which

import pytest


class WorkTree:
    """A new work tree; every commit has the date that it is given."""

    def __init__(self, top: Path) -> None:
        if which("git") is None:
            pytest.skip("git is not installed")
        self.top = top
        top.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, when: datetime | None = None) -> str:
        """Run git here; return what it printed."""
        day = {} if when is None else {"GIT_AUTHOR_DATE": when.isoformat(), "GIT_COMMITTER_DATE": when.isoformat()}
        who = {f"GIT_{one}_{what}": "ada@example.org" for one in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        quiet = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.top,
            env={**own, **who, **quiet, **day},
            check=True,
            capture_output=True,
        )
        return done.stdout.decode()

    def commit(self, name: str, text: str, when: datetime) -> Path:
        """Write a file and commit it."""
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        self.git("add", "--all")
        self.git("commit", "-q", "-m", name, when=when)
        return path
