"""A data scientist's week: what is remembered of it, a folder of its files, and work trees of git with a history."""

import json
import os
import subprocess
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from shutil import which
from typing import Any

import pytest

# Friday evening of the week below; pass it as now= wherever a test depends on ages.
NOW = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)
_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
WEEK: tuple[dict[str, Any], ...] = tuple(_TABLE["week"])
NOTES: tuple[dict[str, Any], ...] = tuple(_TABLE["archive"])
LAMBDA = "# Poisson λ\n\nThe λ of the Poisson model is 3.2 orders an hour."
ZURICH = "# Zürich\n\nSales in Zürich rose by four percent after the price cut."


def notebook(*cells):
    """Return a notebook of code cells: pairs of id (or None) and source."""
    made = [
        {"cell_type": "code", "source": source, "metadata": {}, "outputs": []} | ({"id": id_} if id_ else {})
        for id_, source in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def write_week(folder: Path) -> Path:
    (folder / "notes").mkdir(parents=True)
    (folder / "lambda.md").write_text(LAMBDA)
    (folder / "notes" / "zürich.md").write_text(ZURICH)
    (folder / "prices.ipynb").write_text(
        notebook((None, "prices = load('prices.csv')"), (None, "prices.groupby('shop').mean()"))
    )
    return folder


class WorkTree:
    """A new work tree of git; every commit has the date that it is given. Tests skip where git is missing."""

    def __init__(self, top: Path) -> None:
        if which("git") is None:
            pytest.skip("git is not installed")
        self.top = top
        top.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, when: datetime | None = None) -> str:
        day = {} if when is None else {"GIT_AUTHOR_DATE": when.isoformat(), "GIT_COMMITTER_DATE": when.isoformat()}
        who = {f"GIT_{one}_{what}": "ada@example.org" for one in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        quiet = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        done = subprocess.run(
            ["git", *arguments], cwd=self.top, env={**own, **who, **quiet, **day}, check=True, capture_output=True
        )
        return done.stdout.decode()

    def commit(self, name: str, text: str, when: datetime) -> Path:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        self.git("add", "--all")
        self.git("commit", "-q", "-m", name, when=when)
        return path
