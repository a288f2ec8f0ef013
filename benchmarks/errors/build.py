"""Runs all cases and the cells beside them in real IPython shells, and writes what a kernel would have seen.

    python benchmarks/errors/build.py --out FOLDER [--only LIBRARY …] [--cases NAME …] [--others 2000]

A second build runs only the notebooks that changed. It needs what requirements.txt pins, and stops if a cell fails
otherwise than its case says. README.md has the fields.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from random import Random

import kernel
from cells import Case, Notebook, Role, read_folder
from kept import Kept, key_of
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
    ran = _run([*earlier, *asked, *filled], bare, out)
    history, rest = ran[: len(earlier)], ran[len(earlier) :]
    beside = chain(_samples(), rest[len(asked) :]) if others else ()
    entries, ids = _entries([*history, *_first(beside, others)], FIRST, LAST, "h")
    questions, asked_ids = _entries(rest[: len(asked)], ASKED, ASKED + timedelta(days=90), "q")
    _write(out / "history.jsonl", entries)
    _write(out / "asked.jsonl", questions)
    mended = {case.name: _with_role(case.earlier, ids[n], "fix") for n, case in enumerate(cases)}
    _write(out / "cases.jsonl", (_judged(case, ids[n], asked_ids[n], mended) for n, case in enumerate(cases)))
    _write(out / "unseen.jsonl", (_question(case, asked_ids[len(cases) + n]) for n, case in enumerate(unseen)))
    print(f"{len(cases)} cases, {len(unseen)} unseen, {len(entries):,} cells of history in {out}")


def _run(notebooks: Sequence[Notebook], bare: Sequence[bool], out: Path) -> list[Ran]:
    shutil.rmtree(out / "work", ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    kept = Kept(out / "outcomes.jsonl")
    for without in (True, False):
        left = [one for one, unloaded in zip(notebooks, bare, strict=True) if unloaded == without and one not in kept]
        if left and not without:
            kernel.load_libraries()
        _run_and_keep(left, kept, out / "work")
    _check(notebooks, kept)
    return [
        Ran(notebook.name, tuple(cell.source for cell in notebook.cells), tuple(kept[notebook]))
        for notebook in notebooks
    ]


def _run_and_keep(notebooks: Sequence[Notebook], kept: Kept, work: Path) -> None:
    results = kernel.run_all(notebooks, [work / key_of(notebook) for notebook in notebooks])
    for done, (notebook, outcomes) in enumerate(zip(notebooks, results, strict=True), start=1):
        kept.add(notebook, outcomes)
        if not done % 50:
            print(f"{done} of {len(notebooks)} notebooks", file=sys.stderr)


def _check(notebooks: Sequence[Notebook], kept: Kept) -> None:
    wrong = [
        f"{notebook.name}: the cell {cell.source[:60]!r} has {outcome.ename}, not {cell.error}: {outcome.evalue}"
        for notebook in notebooks
        for cell, outcome in zip(notebook.cells, kept[notebook], strict=True)
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


def _judged(case: Case, ids: Sequence[str], asked: Sequence[str], mended: Mapping[str, list[str]]) -> dict:
    as_right = [name for name in (case.name, *case.also) if name in mended]
    return {
        **_question(case, asked),
        "failed": _with_role(case.earlier, ids, "fails"),
        "fixes": [fix for name in as_right for fix in mended[name]],
    }


def _with_role(notebook: Notebook, ids: Sequence[str], role: Role) -> list[str]:
    return [one for one, cell in zip(ids, notebook.cells, strict=True) if cell.role == role]


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
