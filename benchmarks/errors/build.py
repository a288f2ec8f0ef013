"""Runs all cases and the cells beside them in real IPython shells, and writes what a kernel would have seen.

    python benchmarks/errors/build.py --out FOLDER [--cases NAME …] [--others 2000]

It needs what requirements.txt pins, and stops if a cell fails otherwise than its case says. README.md has the fields.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import io
import json
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tomllib
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from string import Template

from cases import HERE, Case, Notebook, read_cases, read_folder
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

SAMPLES = HERE.parents[1] / "notebooks" / "samples"
UNLOADED = ("imports", "python")  # what these cases are about must not have been imported before they run
FIRST, LAST = datetime(2025, 9, 1, 7, tzinfo=UTC), datetime(2026, 6, 30, tzinfo=UTC)
ASKED = LAST + timedelta(days=1)
SEED = 18
KEPT = 0.65  # the share of the cells marked "maybe" that a notebook has
NUMBERS = {"k": (2, 4), "n1": (1, 99), "n2": (11, 40), "n3": (20, 90), "n4": (5, 9), "n5": (50, 400)}
# Loaded once, before the processes are forked that run the notebooks.
LIBRARIES = (
    "pandas.io.formats.format",
    "matplotlib.pyplot",
    "matplotlib.backends.backend_agg",
    "sklearn.ensemble",
    "sklearn.pipeline",
    "sqlalchemy.orm",
    "duckdb",
)
PROCESSES = 2
SECONDS = 60
ADDRESS_SPACE = 12 << 30  # bytes: an allocation that fails must fail on every machine


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a cell; all are None for a cell that ran without failing."""

    ename: str | None = None
    evalue: str | None = None
    traceback: list[str] | None = None


@dataclass(frozen=True, slots=True)
class Ran:
    """A notebook with what became of its cells; a cell of `samples` keeps the outcome that it was saved with."""

    notebook: str
    sources: tuple[str, ...]
    outcomes: tuple[Outcome, ...]


class UnexpectedOutcome(Exception):
    """A cell failed otherwise than its case says, or did not fail."""


class RecordingShell(InteractiveShell):
    """Keeps of an exception what ipykernel sends to the front end."""

    raised: tuple[str, str, list[str]] | None = None

    def _showtraceback(self, etype: type[BaseException], evalue: BaseException, stb: list[str]) -> None:
        self.raised = (str(etype.__name__), str(evalue), list(stb))


def run_one(job: tuple[Notebook, Path]) -> list[tuple[str | None, str | None, list[str] | None]]:
    """Run a notebook in this process, in a folder of its own; return name, message and traceback of each cell."""
    notebook, folder = job
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    sys.path[:] = ["", *(entry for entry in sys.path if entry not in ("", str(HERE)))]  # as ipykernel starts
    sys.argv[:] = ["ipykernel_launcher"]
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a build in the background is started without it
    signal.alarm(SECONDS)
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "neutral"
    outcomes = []
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        shell = RecordingShell.instance(config=config, ipython_dir=str(folder / ".ipython"))
        for cell in notebook.cells:
            shell.raised = None
            result = shell.run_cell(cell.source, store_history=True)
            error = result.error_before_exec or result.error_in_exec
            # IPython prints a group of exceptions itself, as Python does, and shows no traceback of its own.
            told = error and (type(error).__name__, str(error), traceback.format_exception(error))
            outcomes.append(shell.raised or told or (None, None, None))
    return outcomes


def run_all(notebooks: Sequence[Notebook], bare: Sequence[bool], work: Path) -> list[Ran]:
    """Run every notebook in a fresh process, those that are ``bare`` before libraries are loaded, and check them."""
    shutil.rmtree(work, ignore_errors=True)
    ran: dict[int, Ran] = {}
    for without in (True, False):
        if not without:  # the processes forked from this one have them already
            for name in LIBRARIES:
                with suppress(ImportError):
                    importlib.import_module(name)
            gc.freeze()
        places = [place for place, unloaded in enumerate(bare) if unloaded == without]
        jobs = [(notebooks[place], work / str(place)) for place in places]
        with multiprocessing.get_context("fork").Pool(PROCESSES, maxtasksperchild=1) as pool:
            for place, told in zip(places, pool.imap(run_one, jobs, chunksize=1), strict=True):
                sources = tuple(cell.source for cell in notebooks[place].cells)
                ran[place] = Ran(notebooks[place].name, sources, tuple(Outcome(*one) for one in told))
    wrong = [
        f"{notebook.name}: the cell {cell.source[:60]!r} has {outcome.ename}, not {cell.error}: {outcome.evalue}"
        for place, notebook in enumerate(notebooks)
        for cell, outcome in zip(notebook.cells, ran[place].outcomes, strict=True)
        if outcome.ename != cell.error
    ]
    if wrong:
        raise UnexpectedOutcome("\n".join(["Install requirements.txt with Python 3.11, or mend the cases:", *wrong]))
    return [ran[place] for place in range(len(notebooks))]


def other_notebooks() -> Iterator[Notebook]:
    """Yield notebooks of ordinary work: each recipe once for every field, with its words and with other numbers."""
    random = Random(SEED)
    fields = tomllib.loads((HERE / "others" / "domains.toml").read_text(encoding="utf-8"))["domain"]
    recipes = list(read_cases(HERE / "others" / "recipes.txt"))
    for turn in range(len(fields)):
        for place, recipe in enumerate(recipes):
            field = fields[(turn + place) % len(fields)]
            words = {**field, **{name: random.randint(*ends) for name, ends in NUMBERS.items()}}
            words |= {name: round(random.uniform(0.3, 9), 2) for name in ("f1", "f2")}
            day = date(2023, 1, 1) + timedelta(days=random.randrange(1000))
            words |= {"day": day.isoformat(), "Thing": field["thing"].title()}
            kept = [cell for cell in recipe.earlier.cells if cell.role != "maybe" or random.random() < KEPT]
            cells = (replace(cell, source=Template(cell.source).substitute(words)) for cell in kept)
            yield Notebook(Template(recipe.earlier.name).substitute(words), tuple(cells))


def beside(filled: Sequence[Ran], cells: int) -> Iterator[Ran]:
    """Yield the sample notebooks, which ran without failing, and these until there are so many cells."""
    samples = []
    for path in sorted(SAMPLES.rglob("*.ipynb")):
        held = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources = tuple("".join(cell["source"]) for cell in held if cell["cell_type"] == "code")
        samples.append(Ran(f"samples/{path.stem}", sources, (Outcome(),) * len(sources)))
    for one in (*samples, *filled):
        yield Ran(one.notebook, one.sources[:cells], one.outcomes[:cells])
        cells -= len(one.sources)
        if cells <= 0:
            return


def entries(ran: Sequence[Ran], first: datetime, last: datetime, letter: str) -> tuple[list[dict], list[list[str]]]:
    """Return the cells in the order in which they ran, and the ids of each notebook's cells; notebooks overlap."""
    random = Random(len(ran))
    timed = []
    for place, one in enumerate(ran):
        moment = first + random.random() * (last - first)
        for cell in range(len(one.sources)):
            timed.append((moment, place, cell))
            moment += timedelta(seconds=random.randint(8, 900))
    found, ids = [], [[""] * len(one.sources) for one in ran]
    for number, (moment, place, cell) in enumerate(sorted(timed)):
        ids[place][cell] = f"{letter}{number:05}"
        outcome = ran[place].outcomes[cell]
        entry = {"id": ids[place][cell], "session": f"{letter}{place:04}", "notebook": f"{ran[place].notebook}.ipynb"}
        entry |= {"cell": cell, "source": ran[place].sources[cell], "started": moment.isoformat(timespec="seconds")}
        found.append({**entry, "outcome": "ok" if outcome.ename is None else "error", **asdict(outcome)})
    return found, ids


def question(case: Case, asked: Sequence[str]) -> dict:
    """Return what a case asks."""
    [failing] = [place for place, cell in enumerate(case.asked.cells) if cell.role == "fails"]
    error = case.asked.cells[failing].error
    return {"case": case.name, "library": case.library, "cause": case.cause, "error": error, "asked": asked[failing]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cases", nargs="+", metavar="NAME")
    parser.add_argument("--others", type=int, default=2000)
    options = parser.parse_args()
    cases, unseen = (
        [case for case in read_folder(name) if not options.cases or case.name in options.cases]
        for name in ("cases", "unseen")
    )
    filled = list(other_notebooks()) if options.others else []
    notebooks = [*(case.earlier for case in cases), *(case.asked for case in (*cases, *unseen)), *filled]
    bare = [case.library in UNLOADED for case in (*cases, *cases, *unseen)] + [False] * len(filled)
    ran = run_all(notebooks, bare, options.out / "work")
    asked_end = 2 * len(cases) + len(unseen)
    more = beside(ran[asked_end:], options.others) if options.others else ()
    history, ids = entries([*ran[: len(cases)], *more], FIRST, LAST, "h")
    questions, asked = entries(ran[len(cases) : asked_end], ASKED, ASKED + timedelta(days=90), "q")

    def with_role(case: Case, place: int, role: str) -> list[str]:
        return [one for one, cell in zip(ids[place], case.earlier.cells, strict=True) if cell.role == role]

    mended = {case.name: with_role(case, place, "fix") for place, case in enumerate(cases)}
    judged = []
    for place, case in enumerate(cases):
        as_right = [name for name in (case.name, *case.also) if name in mended]
        fixes = [fix for name in as_right for fix in mended[name]]
        judged.append({**question(case, asked[place]), "failed": with_role(case, place, "fails"), "fixes": fixes})
    records: dict[str, Iterable[dict]] = {
        "history": history,
        "asked": questions,
        "cases": judged,
        "unseen": [question(case, asked[len(cases) + place]) for place, case in enumerate(unseen)],
    }
    for name, lines in records.items():
        text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines)
        (options.out / f"{name}.jsonl").write_text(text, encoding="utf-8")
    print(f"{len(cases)} cases, {len(unseen)} unseen, {len(history):,} cells of history in {options.out}")


if __name__ == "__main__":
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MPLBACKEND="Agg")
    if os.environ.get("PYTHONHASHSEED") != "0":  # sets must have one order in every run
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    main()
