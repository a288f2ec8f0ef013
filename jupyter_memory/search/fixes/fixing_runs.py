"""What mended a failed run: a later run of its session that did its work, or changed what it worked on."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from jupyter_memory.search.fixes.failures import Trees
from jupyter_memory.text.code import changed_names
from jupyter_memory.types import Run

# Runs after a failed one among which its fix is looked for.
AFTER = 10
# The same cell, edited, is surely about the same.
_SAME_CELL = 0.3
# A run that changes a name of the failed one may mend it; one that only shows it looks into the matter.
_CHANGES = 0.3
# Each run in between makes it less likely that a later one is still about the error.
_STEP = 0.05
# Below it, a run has nothing to do with the failed one.
_LEAST = 0.3
_LONGEST = 20_000
_WORD = re.compile(r"\w+")


def fixing_runs(failed: Run, after: Sequence[Run], trees: Trees) -> list[Run]:
    """Return the runs that may have mended a failed one, the likeliest first; ``after`` are those after it.

    A run that did not fail counts by how much of the failed source it has, and by whether it changes what that uses.
    A source that ran again as it was tells nothing: what changed before it is the fix.
    """
    later = list(islice(after, AFTER))
    scores = {place: _score(failed, run, trees) for place, run in enumerate(later) if run.outcome == "ok"}
    relevant = [place for place, score in scores.items() if score >= _LEAST]
    relevant.sort(key=lambda place: _STEP * place - scores[place])
    found = (_changing(failed, later[: place + 1], trees) for place in relevant)
    return list({run.number: run for run in found if run is not None}.values())


def _changing(failed: Run, until: Sequence[Run], trees: Trees) -> Run | None:
    """Return the last of some runs; if that is the failed source itself, the last one that changed anything for it."""
    same = failed.source.strip()
    if until[-1].source.strip() != same:
        return until[-1]
    others = (run for run in reversed(until) if run.outcome == "ok" and run.source.strip() != same)
    return next((run for run in others if _changes(run, failed, trees)), None)


def _score(failed: Run, later: Run, trees: Trees) -> float:
    same_cell = bool(failed.cell_id) and failed.cell_id == later.cell_id
    return _kept(failed, later) + _CHANGES * _changes(later, failed, trees) + _SAME_CELL * same_cell


def _kept(failed: Run, later: Run) -> float:
    """Return the share of the words of a failed source that a later one has; all of them if the source is not known."""
    mine, its = (Counter(_WORD.findall(run.source[:_LONGEST])) for run in (failed, later))
    return (mine & its).total() / mine.total() if mine else 1.0


def _changes(run: Run, failed: Run, trees: Trees) -> bool:
    """Return whether a run defines, imports or changes a name that the failed source has."""
    module = trees.of(run.source)
    changed = changed_names(ast.walk(module)) if module is not None else frozenset[str]()
    return not changed.isdisjoint(_WORD.findall(failed.source[:_LONGEST]))
