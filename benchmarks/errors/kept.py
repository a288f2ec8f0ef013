"""Keeps what became of each notebook, so that a build that was stopped goes on, and a changed case alone runs again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import distributions
from pathlib import Path

from cells import Notebook
from kernel import Outcome


def key_of(notebook: Notebook) -> str:
    """Return what stands for the sources of a notebook, whatever it is called."""
    return hashlib.sha256(json.dumps([cell.source for cell in notebook.cells]).encode()).hexdigest()[:16]


class Kept:
    """Outcomes by the sources of a notebook; those of other installed versions do not count."""

    def __init__(self, path: Path) -> None:
        self._path = path
        installed = sorted(f"{one.name}=={one.version}" for one in distributions())
        self._versions = hashlib.sha256("\n".join(installed).encode()).hexdigest()[:16]
        self._outcomes: dict[str, list[Outcome]] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            one = json.loads(line)
            if one["versions"] == self._versions:
                self._outcomes[one["notebook"]] = [Outcome(**outcome) for outcome in one["outcomes"]]

    def __contains__(self, notebook: Notebook) -> bool:
        """Return whether the notebook has run, and as its cells say; one that did not runs again."""
        outcomes = self._outcomes.get(key_of(notebook))
        return outcomes is not None and [one.ename for one in outcomes] == [cell.error for cell in notebook.cells]

    def __getitem__(self, notebook: Notebook) -> list[Outcome]:
        return self._outcomes[key_of(notebook)]

    def add(self, notebook: Notebook, outcomes: Sequence[Outcome]) -> None:
        """Keep the outcomes of a notebook that has run, on disk as well."""
        self._outcomes[key_of(notebook)] = list(outcomes)
        record = {
            "notebook": key_of(notebook),
            "versions": self._versions,
            "outcomes": [asdict(one) for one in outcomes],
        }
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
