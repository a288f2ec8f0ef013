"""Measures how well methods find the cell that mended an error like the new one.

    python benchmarks/errors/run.py FOLDER [--method MODULE:NAME …] [--leave-out] [--misses]

FOLDER is what build.py wrote. A method is a callable as `judged.Method` says; the baselines are always measured.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from baseline import BASELINES
from judged import JudgedErrors, Method, Question, Suggest, read_errors


@dataclass(frozen=True, slots=True)
class Result:
    """What a method suggested for one question."""

    question: Question
    suggested: tuple[str, ...]

    def within(self, places: int) -> bool:
        """Return whether a right fix is among the first suggestions."""
        return not self.question.fixes.isdisjoint(self.suggested[:places])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--method", action="append", default=[], metavar="MODULE:NAME")
    parser.add_argument("--leave-out", action="store_true", help="tune on the other libraries, one left out at a time")
    parser.add_argument("--misses", action="store_true", help="list the questions without the right fix first")
    options = parser.parse_args()
    judged = read_errors(options.folder)
    for name, method in {**BASELINES, **_named(options.method)}.items():
        results = list(measure(judged, method, options.leave_out))
        print(f"\n{name}\n{table(results)}")
        if options.misses:
            print("\n".join(_misses(results)))


def _named(names: Sequence[str]) -> Mapping[str, Method]:
    parts = [name.partition(":") for name in names]
    return {name: getattr(importlib.import_module(module), name) for module, _, name in parts}


def measure(judged: JudgedErrors, method: Method, leave_out: bool = False) -> Iterator[Result]:
    """Yield what the method suggests for each question; with `leave_out`, tuned on the other libraries' alone."""
    if not leave_out:
        yield from _asked(method(judged.history, ()), (*judged.seen, *judged.unseen))
        return
    questions = (*judged.seen, *judged.unseen)
    for library in judged.libraries:
        others = [one for one in questions if one.library != library]
        yield from _asked(method(judged.history, others), [one for one in questions if one.library == library])


def _asked(suggest: Suggest, questions: Sequence[Question]) -> Iterator[Result]:
    for question in questions:
        yield Result(question, tuple(suggest(question.error, question.before)))


def table(results: Sequence[Result]) -> str:
    """Return the shares by library and in all."""
    names = sorted({one.question.library for one in results})
    rows = [_row(name, [one for one in results if one.question.library == name]) for name in names]
    head = f"{'library':<12}{'errors':>7}{'first':>8}{'in three':>10}{'unseen':>8}{'suggested':>11}"
    return "\n".join([head, *rows, _row("all", results)])


def _row(name: str, results: Sequence[Result]) -> str:
    seen = [one for one in results if one.question.fixes]
    unseen = [one for one in results if not one.question.fixes]
    first, three = (_share([one.within(places) for one in seen]) for places in (1, 3))
    suggested = _share([bool(one.suggested) for one in unseen])
    return f"{name:<12}{len(seen):>7}{first:>8}{three:>10}{len(unseen):>8}{suggested:>11}"


def _share(ones: Sequence[bool]) -> str:
    return f"{sum(ones) / len(ones):.3f}" if ones else "-"


def _misses(results: Sequence[Result]) -> Iterator[str]:
    for one in results:
        right = one.within(1) if one.question.fixes else not one.suggested
        if not right:
            place = "in three" if one.within(3) else "missed" if one.question.fixes else "suggested"
            yield f"  {place:<10} {one.question.library}: {one.question.case}"


if __name__ == "__main__":
    main()
