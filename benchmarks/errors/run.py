"""Measures how well methods find the cell that mended an error like the new one.

    python benchmarks/errors/run.py FOLDER [--misses]

FOLDER is what build.py wrote. The method of `%memfix` is measured, and a baseline that searches the words of the
message among the cells that failed, and suggests what ran well next. A method of your own goes into `METHODS`.
"""

from __future__ import annotations

import argparse
import io
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from time import perf_counter, sleep, thread_time
from weakref import finalize

from cases import Entry, Method, Question, Suggest, read_built
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from jupyter_memory import MemoryStore
from jupyter_memory.magics import load, unload
from jupyter_memory.search import SURE, KnownErrors
from jupyter_memory.types import Fix, Run, RunError

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
WORDS = 60  # of a message; a longer one is a listing
HITS = 10
TRIES = 3  # of which the quickest counts: other programs run, too


def memfix(history: Sequence[Entry]) -> Suggest:
    """Return the method of `%memfix`."""
    fixes = fixes_in(history)
    return lambda error, before: [fix.mended.memory_id for fix in fixes(error, before)]


def fixes_in(history: Sequence[Entry]) -> Callable[[Entry, Sequence[Entry]], list[Fix]]:
    """Return what finds the fixes of an error, as `%memfix` does."""
    runs = sorted(map(run_of, history), key=lambda run: run.number)
    sessions: dict[str, list[Run]] = {}
    for run in runs:
        sessions.setdefault(run.session, []).append(run)

    def around(run: Run) -> tuple[Sequence[Run], Sequence[Run]]:
        whole = sessions[run.session]
        place = next(place for place, one in enumerate(whole) if one.number == run.number)
        return whole[:place], whole[place + 1 :]

    known = KnownErrors([run for run in runs if run.outcome == "error"], around)
    return lambda error, before: known.fixes(run_of(error), [run_of(entry) for entry in before])


def run_of(entry: Entry) -> Run:
    """Return a cell as the history keeps it."""
    trace = COLOUR.sub("", "\n".join(entry.traceback or ()))
    return Run(
        source=entry.source,
        started=datetime.fromisoformat(entry.started),
        session=entry.session,
        number=entry.cell + 1,
        outcome="error" if entry.ename else "ok",
        error=RunError(entry.ename, entry.evalue or "", trace) if entry.ename else None,
        notebook=entry.notebook,
        memory_id=entry.id,
    )


def words(history: Sequence[Entry]) -> Suggest:
    """Return a method that searches the words of the message, with `auto`."""
    opened = ExitStack()
    folder = opened.enter_context(TemporaryDirectory())
    store = opened.enter_context(MemoryStore(Path(folder) / "errors.db", embedder="static"))
    failing = [entry for entry in history if entry.outcome == "error"]
    texts = [f"{entry.source}\n\n{entry.ename}: {entry.evalue}" for entry in failing]
    records = [
        {"text": text, "title": entry.notebook, "event_at": entry.started}
        for text, entry in zip(texts, failing, strict=True)
    ]
    added = store.add_many(records, progress=False)
    failed = {memory.id: entry.id for memory, entry in zip(added, failing, strict=True)}
    after: dict[str, str] = {}  # by session, the next cell that did not fail
    following: dict[str, str] = {}
    for entry in reversed(history):
        if entry.session in after:
            following[entry.id] = after[entry.session]
        if entry.outcome == "ok":
            after[entry.session] = entry.id

    def suggest(error: Entry, before: Sequence[Entry]) -> list[str]:
        asked = " ".join(re.findall(r"\w+", f"{error.ename} {error.evalue}")[:WORDS])
        hits = store.hits(asked, profile="auto", limit=HITS, time=False).hits
        fixes = [following.get(failed[hit.memory.id]) for hit in hits]
        return list(dict.fromkeys(fix for fix in fixes if fix))

    # Nobody says when the last error was asked: the store goes with the function.
    finalize(suggest, opened.close)
    return suggest


METHODS: dict[str, Method] = {"words of the message": words, "%memfix": memfix}


@dataclass(frozen=True, slots=True)
class Result:
    """What a method suggested for one question."""

    question: Question
    suggested: tuple[str, ...]

    def within(self, places: int) -> bool:
        """Return whether a right fix is among the first suggestions."""
        return not self.question.fixes.isdisjoint(self.suggested[:places])


def measure(history: Sequence[Entry], questions: Sequence[Question], method: Method) -> list[Result]:
    """Return what the method suggests for each question."""
    suggest = method(history)
    return [Result(one, tuple(suggest(one.error, one.before))) for one in questions]


def lines(results: Sequence[Result], misses: bool) -> Iterator[str]:
    """Yield the shares by library and in all, then the questions without the right fix first."""
    yield f"{'library':<12}{'errors':>7}{'first':>8}{'in three':>10}{'unseen':>8}{'suggested':>11}"
    for name in (*sorted({one.question.library for one in results}), "all"):
        some = [one for one in results if name in (one.question.library, "all")]
        seen, unseen = ([one for one in some if bool(one.question.fixes) == known] for known in (True, False))
        shares = [[one.within(places) for one in seen] for places in (1, 3)] + [[bool(one.suggested) for one in unseen]]
        first, three, suggested = (f"{sum(ones) / len(ones):.3f}" if ones else "-" for ones in shares)
        yield f"{name:<12}{len(seen):>7}{first:>8}{three:>10}{len(unseen):>8}{suggested:>11}"
    for one in results if misses else ():
        if not (one.within(1) if one.question.fixes else not one.suggested):
            place = "in three" if one.within(3) else "missed" if one.question.fixes else "suggested"
            yield f"  {place:<10} {one.question.library}: {one.question.case}"


def of_hints(history: Sequence[Entry], questions: Sequence[Question]) -> Iterator[str]:
    """Yield how often the hint after an exception is right, and how often there is none, as it should be."""

    def hinted(seen: Sequence[Entry], one: Question) -> list[str]:
        fixes = fixes_in(seen)(one.error, one.before) if seen is not history else finds(one.error, one.before)
        return [fix.mended.memory_id for fix in fixes] if fixes and fixes[0].strength >= SURE else []

    finds = fixes_in(history)
    results = [Result(one, tuple(hinted(history, one))) for one in questions]
    shown = [one for one in results if one.suggested]
    known, unseen = ([one for one in results if bool(one.question.fixes) == has] for has in (True, False))
    first, three = (sum(one.within(places) for one in shown) / len(shown) for places in (1, 3))
    yield f"precision {first:.3f} (in three {three:.3f}), of {len(shown)} hints"
    yield f"silent: {sum(not one.suggested for one in known)} of {len(known)} errors that were mended before"
    yield f"silent: {sum(not one.suggested for one in unseen)} of {len(unseen)} unseen errors"
    # Their own notebooks left out, each is an error that was not met, amid all that were.
    session = {entry.id: entry.session for entry in history}
    own = [{session[fix] for fix in one.question.fixes} for one in known]
    left = [[entry for entry in history if entry.session not in out] for out in own]
    wrong = sum(bool(hinted(seen, one.question)) for seen, one in zip(left, known, strict=True))
    yield f"silent: {len(known) - wrong} of {len(known)} errors, where the history lacks what mended them"


def costs(history: Sequence[Entry], questions: Sequence[Question]) -> Iterator[str]:
    """Yield what the hint adds to a cell that fails, and to one that is run while it is looked up, in a real shell."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "errors.db"
        with MemoryStore(path, embedder="static") as store:
            store.history.record(map(run_of, history))
        config = Config()
        config.JupyterMemory.path, config.JupyterMemory.history = str(path), True
        config.HistoryManager.enabled = False
        shell = InteractiveShell.instance(config=config, ipython_dir=folder)
        load(shell)
        settings = next(one for one in shell.configurables if one.has_trait("fix_hint"))
        fixing = shell.magics_manager.registry["MemoryMagics"].fixing
        added: dict[str, list[float]] = {"a failed cell": [], "a cell meanwhile": []}
        # Nothing runs beside the first, so that its own processor time is its cost, whatever else the machine does.
        clocks = (thread_time, perf_counter)
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            for one in questions[::5]:
                kind = type(one.error.ename, (Exception,), {})
                shell.user_ns["again"] = partial(kind, one.error.evalue)
                taken: dict[tuple[str, bool | None], float] = {}
                for hint in (False, None) * TRIES:
                    settings.fix_hint = hint
                    cells = ("raise again()", "total = sum(range(1000))")
                    for name, cell, clock in zip(added, cells, clocks, strict=True):
                        begun = clock()
                        shell.run_cell(cell, store_history=True)
                        taken[name, hint] = min(clock() - begun, taken.get((name, hint), 9.0))
                        sleep(0.15)
                    if hint is None:
                        wait([fixing.hinting])
                for name, times in added.items():
                    times.append(1000 * (taken[name, None] - taken[name, False]))
        unload(shell)
    for name, times in added.items():
        at = quantiles(times, n=20)
        yield f"added to {name}: {at[9]:.1f} ms at p50, {at[18]:.1f} ms at p95, {max(times):.1f} ms at most"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--misses", action="store_true", help="list the questions without the right fix first")
    options = parser.parse_args()
    history, questions = read_built(options.folder)
    for name, method in METHODS.items():
        print(f"\n{name}")
        print(*lines(measure(history, questions, method), options.misses), sep="\n", flush=True)
    print("\nthe hint after an exception", *of_hints(history, questions), *costs(history, questions), sep="\n")


if __name__ == "__main__":
    main()
