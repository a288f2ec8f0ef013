"""Asks the questions of each method, and prints how good the answers are.

    python benchmarks/notebook_search/run.py [--cache FOLDER] [--split tune|held_out] [--methods NAME...]

The notebooks are downloaded first, if they are not in the cache. The first table is nDCG@10 by type of question, the
second the other measures, each with the 95 % interval of a bootstrap over the questions; the third is how often
nothing that a method shows is strong, or it says that nothing was found: right for the unanswerable questions only.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from fetch import CACHE, Broken, fetch, sources
from methods import METHODS, Corpus, Found, Unavailable, read_cells

from jupyter_memory.evaluation import HALVES, METRICS, JudgedSet, Question, interval, p_value, read_set

HERE = Path(__file__).parent
SPLITS = dict(zip(("tune", "held_out"), HALVES, strict=True))
TYPES = ("exact", "other words", "task", "output", "vague")
BASE = "auto"

Answers = Mapping[str, Found]  # by id of the question


def measured(values: Sequence[float]) -> str:
    """Return a mean with its interval."""
    if not values:
        return "-"
    low, high = interval(values)
    return f"{fmean(values):.3f} ({low:.3f}-{high:.3f})"


def values(answers: Answers, questions: Sequence[Question], metric: str) -> list[float]:
    """Return a metric for each question."""
    return [METRICS[metric](answers[one.id].names, one.grades) for one in questions]


def by_type(answers: Mapping[str, Answers], judged: JudgedSet) -> list[tuple[str, ...]]:
    """Return the rows of nDCG@10."""
    rows = [("nDCG@10", *TYPES, "all")]
    for name, ones in answers.items():
        chosen = [[one for one in judged.questions if kind in (one.type, "all")] for kind in rows[0][1:]]
        rows.append((name, *(measured(values(ones, questions, "ndcg@10")) for questions in chosen)))
    return rows


def in_all(answers: Mapping[str, Answers], judged: JudgedSet) -> list[tuple[str, ...]]:
    """Return the rows of the other metrics, and of the difference of nDCG@10 to ``auto``."""
    rows = [("", "recall@10", "MRR@10", "first is right", f"nDCG@10 to {BASE} (p)")]
    for name, ones in answers.items():
        of = {metric: values(ones, judged.questions, metric) for metric in METRICS}
        base = values(answers[BASE], judged.questions, "ndcg@10") if BASE in answers else []
        apart = f"{fmean(of['ndcg@10']) - fmean(base):+.3f} ({p_value(of['ndcg@10'], base):.2g})" if base else ""
        shown = (measured(of[metric]) for metric in ("recall@10", "mrr@10", "success@1"))
        rows.append((name, *shown, "" if name == BASE else apart))
    return rows


def doubts(answers: Mapping[str, Answers], judged: JudgedSet) -> list[tuple[str, ...]]:
    """Return the rows of how often nothing that a method shows is strong, or it says that nothing was found."""
    rows = [("questions", "unanswerable: nothing strong", "not found", "answerable: nothing strong", "not found")]
    for name, ones in answers.items():
        said = [[ones[one.id].verdict for one in some] for some in (judged.unanswerable, judged.questions)]
        shares = ([float(one in wanted) for one in some] for some in said for wanted in (("weak", "none"), ("none",)))
        rows.append((name, *map(measured, shares)))
    return rows


def show(rows: Sequence[Sequence[str]]) -> None:
    """Print rows, the first column to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print()
    for first, *rest in rows:
        print("  ".join([first.ljust(widths[0]), *map(str.rjust, rest, widths[1:])]).rstrip(), flush=True)


def asked(corpus: Corpus, names: Sequence[str]) -> dict[str, Answers]:
    """Return the answers of each method to all questions; one that cannot be measured says why."""
    questions = (*corpus.judged.questions, *corpus.judged.unanswerable)
    answers = {}
    for name in names:
        try:
            with METHODS[name](corpus) as search:
                answers[name] = {one.id: search(one.text) for one in questions}
        except Unavailable as error:
            print(f"{name}: not measured, {error}", flush=True)
    return answers


def half_of(judged: JudgedSet, half: str) -> JudgedSet:
    """Return the set with the questions of one half only."""
    kept = {
        name: tuple(one for one in getattr(judged, name) if one.half == half) for name in ("questions", "unanswerable")
    }
    return replace(judged, **kept)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=CACHE, help=f"where the notebooks are kept ({CACHE})")
    parser.add_argument("--split", choices=SPLITS, help="one half of the questions (both)")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="NAME")
    parser.add_argument(
        "--tiny", type=Path, metavar="FOLDER", help="a set of its own, with its notebooks in FOLDER/notebooks"
    )
    options = parser.parse_args()
    try:
        notebooks = options.tiny / "notebooks" if options.tiny else fetch(options.cache, sources())
    except Broken as error:
        sys.exit(str(error))
    judged = read_set(options.tiny or HERE, notebooks)
    if options.split:
        judged = half_of(judged, SPLITS[options.split])
    cells = read_cells(notebooks)
    told = f"{len(judged.questions)} questions with an answer and {len(judged.unanswerable)} without"
    print(f"{told}, {len({cell.notebook for cell in cells})} notebooks, {len(cells):,} cells", flush=True)
    with TemporaryDirectory(prefix="notebook-search-") as scratch:
        answers = asked(Corpus(judged, notebooks, cells, Path(scratch)), options.methods)
    for rows in (by_type, in_all, doubts) if answers else ():
        show(rows(answers, judged))


if __name__ == "__main__":
    main()
