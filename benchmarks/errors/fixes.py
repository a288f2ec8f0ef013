"""`%memfix`'s method on the set, with its constants as they are, or tuned on the questions that it is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from judged import Entry, Question, Suggest

from jupyter_memory.search import KnownErrors
from jupyter_memory.search.fixes.similarity import Parts, Weights
from jupyter_memory.text.unicode import uncoloured
from jupyter_memory.types import Fix, Run, RunError

# Tuning starts from constants that know nothing of the set, and goes through these values. It says more only where that
# mends more: of two bounds that are worth the same, the stricter stays.
START = Weights(message=1.0, named=1.0, frames=1.0, code=1.0, origins=1.0, least=0.7)
CHOICES = {
    "message": (2.0, 4.0, 6.0, 8.0),
    "named": (0.0, 0.5, 2.0),
    "frames": (0.5, 1.0, 2.0, 3.0),
    "code": (0.5, 1.0, 2.0, 3.0),
    "origins": (0.0, 0.5, 2.0),
    "least": (0.7, 0.65, 0.6, 0.55, 0.5),
}
# One suggestion for an unseen error costs as much as three errors without their fix.
UNSEEN = 6

Asked = tuple[Sequence[tuple[Parts, Run]], frozenset[str]]


def fixes(history: Sequence[Entry], tuning: Sequence[Question]) -> Suggest:
    """Return the method with its own constants."""
    known = _known(history)
    return lambda error, before: _ids(known.fixes(_run(error), [_run(entry) for entry in before]))


def tuned(history: Sequence[Entry], tuning: Sequence[Question]) -> Suggest:
    """Return the method with the constants that do best on the questions to tune on."""
    known = _known(history)
    weights = _best(known, [(known.compared(_run(one.error), _runs(one.before)), one.fixes) for one in tuning])

    def suggest(error: Entry, before: Sequence[Entry]) -> list[str]:
        return _ids(known.chosen(known.compared(_run(error), _runs(before)), weights, 3))

    return suggest


def _best(known: KnownErrors, asked: Sequence[Asked]) -> Weights:
    """Return the best weights that changing one at a time leads to."""
    weights = START
    for _ in range(3):
        for name, values in CHOICES.items():
            tried = [weights, *(replace(weights, **{name: value}) for value in values)]
            weights = max(tried, key=lambda one: _worth(known, asked, one))
    return weights


def _worth(known: KnownErrors, asked: Sequence[Asked], weights: Weights) -> float:
    """Return what a choice is worth: right fixes first and in the first three, less what is said of the unseen."""
    worth = 0.0
    for compared, right in asked:
        found = _ids(known.chosen(compared, weights, 3))
        if right:
            worth += (not right.isdisjoint(found[:1])) + (not right.isdisjoint(found))
        else:
            worth -= UNSEEN * bool(found)
    return worth


def _ids(found: Sequence[Fix]) -> list[str]:
    return [fix.mended.memory_id for fix in found]


def _runs(entries: Sequence[Entry]) -> list[Run]:
    return [_run(entry) for entry in entries]


def _known(history: Sequence[Entry]) -> KnownErrors:
    sessions: dict[str, list[Run]] = {}
    runs = sorted(_runs(history), key=lambda run: run.number)
    for run in runs:
        sessions.setdefault(run.session, []).append(run)

    def around(run: Run) -> tuple[Sequence[Run], Sequence[Run]]:
        whole = sessions[run.session]
        place = next(place for place, one in enumerate(whole) if one.number == run.number)
        return whole[:place], whole[place + 1 :]

    return KnownErrors([run for run in runs if run.outcome == "error"], around)


def _run(entry: Entry) -> Run:
    error = (
        RunError(entry.ename, entry.evalue or "", uncoloured("\n".join(entry.traceback or ()))) if entry.ename else None
    )
    return Run(
        source=entry.source,
        started=datetime.fromisoformat(entry.started),
        session=entry.session,
        number=entry.cell + 1,
        outcome="error" if error else "ok",
        error=error,
        notebook=entry.notebook,
        memory_id=entry.id,
    )
