"""Runs all cases and the cells beside them in real IPython shells, and writes what a kernel would have seen.

    python benchmarks/errors/build.py --out FOLDER [--only LIBRARY …] [--cases NAME …] [--others 2000]

It needs what requirements.txt pins, and stops if a cell fails otherwise than its case says. README.md has the fields.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from random import Random

import kernel
from cells import Case, Notebook, read_folder
from kernel import Outcome
from others import other_notebooks, sample_notebooks

HERE = Path(__file__).parent
SAMPLES = HERE.parents[1] / "notebooks" / "samples"
OTHERS = 2000
UNLOADED = ("imports", "python")  # what these cases are about must not have been imported before they run
FIRST = datetime(2025, 9, 1, 7, tzinfo=UTC)
LAST = datetime(2026, 6, 30, tzinfo=UTC)
ASKED = LAST + timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Ran:
    """A notebook with what became of its cells; a cell of `samples` keeps the outcome that it was saved with."""

    notebook: str
    sources: tuple[str, ...]
    outcomes: tuple[Outcome, ...]


class UnexpectedOutcome(Exception):
    """A cell failed otherwise than its case says, or did not fail."""


def main() -> None:
    options = _options()
    cases = [case for case in read_folder(HERE / "cases") if _chosen(case, options)]
    unseen = [case for case in read_folder(HERE / "unseen") if _chosen(case, options)]
    build(cases, unseen, options.others, options.out)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="+", metavar="LIBRARY")
    parser.add_argument("--cases", nargs="+", metavar="NAME")
    parser.add_argument("--others", type=int, default=OTHERS)
    return parser.parse_args()


def _chosen(case: Case, options: argparse.Namespace) -> bool:
    return (not options.only or case.library in options.only) and (not options.cases or case.name in options.cases)


def build(cases: Sequence[Case], unseen: Sequence[Case], others: int, out: Path) -> None:
    """Run everything and write `history.jsonl`, `asked.jsonl`, `cases.jsonl` and `unseen.jsonl`."""
    earlier = [case.earlier for case in cases]
    asked = [case.asked for case in (*cases, *unseen)]
    filled = list(other_notebooks(HERE / "others")) if others else []
    bare = [case.library in UNLOADED for case in (*cases, *cases, *unseen)] + [False] * len(filled)
    ran = _run([*earlier, *asked, *filled], bare, out / "work")
    history, rest = ran[: len(earlier)], ran[len(earlier) :]
    beside = chain(_samples(), rest[len(asked) :]) if others else ()
    entries, ids = _entries([*history, *_first(beside, others)], FIRST, LAST, "h")
    questions, asked_ids = _entries(rest[: len(asked)], ASKED, ASKED + timedelta(days=90), "q")
    _write(out / "history.jsonl", entries)
    _write(out / "asked.jsonl", questions)
    _write(out / "cases.jsonl", (_judged(case, ids[n], asked_ids[n]) for n, case in enumerate(cases)))
    _write(out / "unseen.jsonl", (_question(case, asked_ids[len(cases) + n]) for n, case in enumerate(unseen)))
    print(f"{len(cases)} cases, {len(unseen)} unseen, {len(entries):,} cells of history in {out}")


def _run(notebooks: Sequence[Notebook], bare: Sequence[bool], work: Path) -> list[Ran]:
    shutil.rmtree(work, ignore_errors=True)
    outcomes: dict[int, list[Outcome]] = {}
    for without in (True, False):
        places = [place for place, one in enumerate(bare) if one == without]
        if places and not without:
            kernel.load_libraries()
        results = kernel.run_all([notebooks[place] for place in places], work / ("bare" if without else "loaded"))
        for done, (place, result) in enumerate(zip(places, results, strict=True), start=1):
            outcomes[place] = result
            if not done % 50:
                print(f"{done} of {len(places)} notebooks", file=sys.stderr)
    _check(notebooks, outcomes)
    return [
        Ran(notebook.name, tuple(cell.source for cell in notebook.cells), tuple(outcomes[place]))
        for place, notebook in enumerate(notebooks)
    ]


def _check(notebooks: Sequence[Notebook], outcomes: dict[int, list[Outcome]]) -> None:
    wrong = [
        f"{notebook.name}: the cell {cell.source[:60]!r} has {outcome.ename}, not {cell.error}: {outcome.evalue}"
        for place, notebook in enumerate(notebooks)
        for cell, outcome in zip(notebook.cells, outcomes[place], strict=True)
        if outcome.ename != cell.error
    ]
    if wrong:
        raise UnexpectedOutcome("\n".join(["Install requirements.txt with Python 3.11, or mend the cases:", *wrong]))


def _samples() -> Iterator[Ran]:
    for name, sources in sample_notebooks(SAMPLES):
        yield Ran(name, tuple(sources), (Outcome(),) * len(sources))


def _first(notebooks: Iterable[Ran], cells: int) -> Iterator[Ran]:
    """Yield notebooks until they have this many cells; the last is cut."""
    left = cells
    for one in notebooks:
        yield Ran(one.notebook, one.sources[:left], one.outcomes[:left])
        left -= len(one.sources)
        if left <= 0:
            return


def _entries(ran: Sequence[Ran], first: datetime, last: datetime, letter: str) -> tuple[list[dict], list[list[str]]]:
    """Return the cells in the order in which they ran, and the ids of each notebook's cells; notebooks overlap."""
    random = Random(len(ran))
    timed = []
    for place, one in enumerate(ran):
        moment = first + random.random() * (last - first)
        for cell in range(len(one.sources)):
            timed.append((moment, place, cell))
            moment += timedelta(seconds=random.randint(8, 900))
    entries, ids = [], [[""] * len(one.sources) for one in ran]
    for number, (moment, place, cell) in enumerate(sorted(timed)):
        ids[place][cell] = f"{letter}{number:05}"
        entries.append(_entry(ids[place][cell], f"{letter}{place:04}", ran[place], cell, moment))
    return entries, ids


def _entry(entry_id: str, session: str, ran: Ran, cell: int, moment: datetime) -> dict:
    outcome = ran.outcomes[cell]
    return {
        "id": entry_id,
        "session": session,
        "notebook": f"{ran.notebook}.ipynb",
        "cell": cell,
        "source": ran.sources[cell],
        "started": moment.isoformat(timespec="seconds"),
        "outcome": "ok" if outcome.ename is None else "error",
        **asdict(outcome),
    }


def _judged(case: Case, ids: Sequence[str], asked: Sequence[str]) -> dict:
    roles = [cell.role for cell in case.earlier.cells]
    return {
        **_question(case, asked),
        "failed": [one for one, role in zip(ids, roles, strict=True) if role == "fails"],
        "fixes": [one for one, role in zip(ids, roles, strict=True) if role == "fix"],
    }


def _question(case: Case, asked: Sequence[str]) -> dict:
    (failing,) = [place for place, cell in enumerate(case.asked.cells) if cell.role == "fails"]
    return {
        "case": case.name,
        "library": case.library,
        "cause": case.cause,
        "error": case.asked.cells[failing].error,
        "asked": asked[failing],
    }


def _write(path: Path, records: Iterable[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), encoding="utf-8")


if __name__ == "__main__":
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MPLBACKEND="Agg")
    if os.environ.get("PYTHONHASHSEED") != "0":  # sets must have one order in every run
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    main()
