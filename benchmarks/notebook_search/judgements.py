"""Checks the judgements against the notebooks, and compares two judges.

    python benchmarks/notebook_search/judgements.py check [--cache FOLDER]
    python benchmarks/notebook_search/judgements.py agreement [--cache FOLDER]

`check`: every judged cell exists and is not empty; every question has a cell that answers it by itself; of an exact
question, the expression in checks.tsv is in the cells that answer, and in no cell that was not judged; of an
unanswerable one, it is in no cell; of a question in other words, fewer than 40 % of its words are in any cell that
answers; the halves are by the hash of the words.

`agreement`: of qrels.tsv with qrels_second.tsv, whose judge saw neither the first judgements nor a ranking. Kappa is
over all pairs of a question and a cell of the notebooks.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from fetch import CACHE, fetch, sources
from methods import FILLER, read_cells

from jupyter_memory.evaluation import HALVES, interval, read_set

HERE = Path(__file__).parent
OVERLAP = 0.4
ENDINGS = re.compile(r"(ing|ed|es|s|ly|ion|er)$")

Grades = Mapping[str, Mapping[str, int]]  # by question and cell


def read_rows(name: str) -> list[list[str]]:
    """Return the rows of a file, without its header."""
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]


def read_questions() -> dict[str, dict[str, Any]]:
    """Return the questions by id."""
    lines = (HERE / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return {one["_id"]: one for one in map(json.loads, lines)}


def read_grades(name: str) -> dict[str, dict[str, int]]:
    """Return the judgements of a file; a question that nothing answers has a line without a cell."""
    found: dict[str, dict[str, int]] = {}
    for question, notebook, cell, grade in read_rows(name):
        found.setdefault(question, {})
        if int(grade):
            found[question][f"{notebook}#{cell}"] = int(grade)
    return found


def words_of(text: str) -> set[str]:
    """Return the stems of a text's words, with names in parts."""
    parts = re.findall(r"[a-z]{2,}", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())
    return {ENDINGS.sub("", part) if len(part) > 4 else part for part in parts if part not in FILLER}


def problems(notebooks: Path) -> Iterator[str]:
    """Yield what is wrong."""
    texts = {cell.name: cell.text for cell in read_cells(notebooks)}
    questions, grades = read_questions(), read_grades("qrels.tsv")
    expressions = {name: re.compile(expression, re.IGNORECASE) for name, expression in read_rows("checks.tsv")}
    judged = read_set(HERE, notebooks)
    splits = dict(zip(HALVES, ("tune", "held_out"), strict=True))
    for one in (*judged.questions, *judged.unanswerable):
        if questions[one.id]["split"] != splits[one.half]:
            yield f"{one.id}: belongs to the other half"
    for name, question in questions.items():
        of = grades.get(name, {})
        yield from (f"{name}: {cell} is empty or not there" for cell in of if cell not in texts)
        best = [cell for cell, grade in of.items() if grade == 2 and cell in texts]
        if bool(best) != question.get("answerable", True):
            yield f"{name}: no cell answers it by itself, or one answers an unanswerable question"
        if name in expressions:
            held = {cell for cell, text in texts.items() if expressions[name].search(text)}
            yield from (f"{name}: {cell} holds the words and is not judged" for cell in sorted(held - set(of)))
            yield from (f"{name}: {cell} does not hold the words" for cell in sorted(set(best) - held))
        if question["type"] == "other words":
            asked = words_of(question["text"])
            yield from (
                f"{name}: its words are in {cell}"
                for cell in best
                if len(asked & words_of(texts[cell])) >= OVERLAP * len(asked)
            )


def agreement(first: Grades, second: Grades, answerable: Mapping[str, bool], cells: int) -> Iterator[str]:
    """Yield the lines about the questions that both have judged, of a corpus with so many cells."""
    both = [name for name in second if name in answerable]
    open_ones = [name for name in both if answerable[name]]
    found = [bool(second[name]) for name in both]
    yield f"{len(both)} questions judged twice, {len(open_ones)} of them with an answer"
    yield (
        f"whether there is an answer: kappa {kappa([answerable[name] for name in both], found):.2f}; "
        f"answers for {sum(map(bool, (second[name] for name in both if not answerable[name])))} unanswerable ones"
    )
    pairs = [
        (first[name].get(cell, 0), second[name].get(cell, 0))
        for name in open_ones
        for cell in {**first[name], **second[name]}
    ]
    yield (
        f"{len(pairs)} cells judged by either, {sum(a > 0 and b > 0 for a, b in pairs)} by both; "
        f"of these the same grade: {np.mean([a == b for a, b in pairs if a and b]):.0%}"
    )
    for least, what in ((2, "answering"), (1, "answering or helping")):
        shares, met, marks = [], [], np.zeros((2, 2), np.int64)
        for name in open_ones:
            one, other = ({cell for cell, grade in of[name].items() if grade >= least} for of in (first, second))
            shares.append(len(one & other) / len(one | other) if one | other else 1.0)
            met.append(float(bool(one & other)))
            marks += [[cells - len(one | other), len(other - one)], [len(one - other), len(one & other)]]
        low, high = interval(shares)
        yield (
            f"cells {what}: kappa {kappa_of(marks):.2f}, "
            f"overlap (Jaccard, mean over questions) {np.mean(shares):.2f} ({low:.2f}-{high:.2f}), "
            f"at least one in common for {np.mean(met):.0%}"
        )


def kappa(one: list[bool], other: list[bool]) -> float:
    """Return Cohen's kappa of two judges."""
    marks = np.zeros((2, 2), np.int64)
    np.add.at(marks, (np.array(one, np.int64), np.array(other, np.int64)), 1)
    return kappa_of(marks)


def kappa_of(marks: np.ndarray) -> float:
    """Return Cohen's kappa of a table of two judges' marks.

    >>> round(kappa_of(np.array([[20, 5], [10, 15]])), 2)
    0.4
    """
    shares = marks / marks.sum()
    chance = float(shares.sum(0) @ shares.sum(1))
    return float((np.trace(shares) - chance) / (1 - chance)) if chance < 1 else 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("check", "agreement"))
    parser.add_argument("--cache", type=Path, default=CACHE, help=f"where the notebooks are kept ({CACHE})")
    options = parser.parse_args()
    if options.action == "check":
        found = list(problems(fetch(options.cache, sources())))
        print(
            "\n".join(found)
            or f"{len(read_questions())} questions and {len(read_rows('qrels.tsv'))} judgements are right"
        )
        sys.exit(bool(found))
    first, second = read_grades("qrels.tsv"), read_grades("qrels_second.tsv")
    answerable = {name: one.get("answerable", True) for name, one in read_questions().items()}
    cells = len(read_cells(fetch(options.cache, sources())))
    print("\n".join(agreement(first, second, answerable, cells)))


if __name__ == "__main__":
    main()
