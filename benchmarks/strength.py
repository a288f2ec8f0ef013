"""Can the constants of `strength` be had again, and do they carry over? They are fitted on judged questions.

    python benchmarks/strength.py JUDGED... --notebooks FOLDER --verdicts FOLDER=NOTEBOOKS...
                                  [--embedder NAME]... [--sample 300] [--times 6] [--work FOLDER]

Each set of ``--verdicts`` has questions that its notebooks answer, and others that they do not; each question of the
other sets is asked of its own collection and of another (the next group, or the first of the next set). Of the first
three hits of each answer, the measurements that strength is computed from are kept; an answer is right where one of
these hits is. The fit is a logistic regression on the hit of the greatest strength, repeated until that is the same
hit. Each set counts the same, but those of ``--verdicts`` count ``--times`` as much, and their held-out half is never
fitted on.

Printed for each set: log loss and expected calibration error by the constants that ship, by those fitted on all sets,
and by those fitted without the set. Then the constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from measure import parser_of, table

from jupyter_memory.evaluation import (
    FIRST,
    HALVES,
    Bed,
    JudgedSet,
    Question,
    beds,
    calibration_error,
    half_of,
    read_set,
)
from jupyter_memory.search import Confidence

# The constants: what each is multiplied by, but the first, in the order of `Confidence.parts`.
NAMES = ("INTERCEPT", "COVERAGE", "MAX_SIM", "MARGIN", "MISSING", "MAX_SIM_LEAD", "MARGIN_LEAD", "WORDS")
# What keeps a constant from growing where hardly anything speaks for or against it.
RIDGE = 0.05
STEPS, ROUNDS = 50, 12
# A probability is not taken for certain.
SURE = 1e-3


@dataclass
class Answers:
    """The answers of one set by one model: a row for each kept hit, and what is known of each answer."""

    name: str
    rows: list[list[float]] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)
    bounded: list[bool] = field(default_factory=list)
    tuning: list[bool] = field(default_factory=list)

    def add(self, question: Question, bed: Bed, *, own: bool, tuning: bool) -> None:
        """Ask a question of a collection and keep what its first hits are judged by."""
        with noted() as seen:
            answer = bed.store.hits(question.text, now=question.date, profile="auto")
        if not seen:
            return
        first = {bed.documents.get(hit.memory.id) for hit in answer.hits[:FIRST]}
        for one in seen[:FIRST]:
            self.rows.append(list(one.parts()))
            self.owners.append(len(self.right))
        self.right.append(own and not first.isdisjoint(question.grades))
        self.bounded.append(seen[0].bounded)
        self.tuning.append(tuning)


@contextmanager
def noted() -> Iterator[list[Confidence]]:
    """Collect what strengths are computed from, in the order of the hits."""
    seen: list[Confidence] = []
    strength = Confidence.strength
    Confidence.strength = property(lambda one: seen.append(one) or strength.fget(one))
    try:
        yield seen
    finally:
        Confidence.strength = strength


def shipped() -> np.ndarray:
    """Return the constants that ship: those that give some measurements the strengths that they have."""
    rng = np.random.default_rng(1)
    some = [
        Confidence(*rng.random(3), missing=one / 99, words=one % 12 + 1, max_sim_lead=two, margin_lead=three)
        for one, (two, three) in enumerate(rng.random((99, 2)))
    ]
    strengths = np.array([one.strength for one in some])
    parts = np.array([[1.0, *one.parts()] for one in some])
    return np.linalg.lstsq(parts, np.log(strengths / (1 - strengths)), rcond=None)[0]


def likely(constants: np.ndarray, answers: Answers) -> np.ndarray:
    """Return the strength of each answer."""
    logits = constants[0] + np.array(answers.rows) @ constants[1:]
    best = np.full(len(answers.right), -np.inf)
    np.maximum.at(best, answers.owners, logits)
    found = 1 / (1 + np.exp(-np.clip(best, -30, 30)))
    return np.where(answers.bounded, np.minimum(found, 0.5), found)


def best_rows(constants: np.ndarray, answers: Answers) -> np.ndarray:
    """Return the row of each answer's hit of the greatest strength."""
    logits, owners = np.array(answers.rows) @ constants[1:], np.array(answers.owners)
    order = np.lexsort((-logits, owners))
    firsts = np.flatnonzero(np.diff(owners[order], prepend=-1))
    return np.array(answers.rows)[order[firsts]]


def fitted(sets: Sequence[Answers], weights: Sequence[float], begin: np.ndarray) -> np.ndarray:
    """Return the constants of a weighted logistic regression on the answers that may be fitted on."""
    constants = begin
    for _ in range(ROUNDS):
        rows, right, weight = [], [], []
        for answers, of_set in zip(sets, weights, strict=True):
            may = np.array(answers.tuning)
            rows.append(best_rows(constants, answers)[may])
            right.append(np.array(answers.right, float)[may])
            weight.append(np.full(may.sum(), of_set / len(may)))
        x = np.concatenate(rows)
        constants = regression(np.c_[np.ones(len(x)), x], np.concatenate(right), np.concatenate(weight))
    return constants


def regression(x: np.ndarray, right: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the coefficients of a logistic regression, by Newton's method."""
    found, ridge = np.zeros(x.shape[1]), np.diag([1e-6, *[RIDGE] * (x.shape[1] - 1)])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ found, -30, 30)))
        gradient = x.T @ (weight * (p - right)) + ridge @ found
        found = found - np.linalg.solve((x * (weight * p * (1 - p))[:, None]).T @ x + ridge, gradient)
    return found


def figures(strengths: np.ndarray, answers: Answers) -> str:
    """Return log loss and expected calibration error."""
    p, right = np.clip(strengths, SURE, 1 - SURE), np.array(answers.right)
    loss = -np.mean(np.where(right, np.log(p), np.log(1 - p)))
    return f"{loss:.3f} {calibration_error(list(strengths), answers.right):.3f}"


def with_verdicts(folder: Path, notebooks: Path, embedder: str, work: Path | None) -> Answers:
    """Return the answers to the questions of a set that comes with unanswerable ones."""
    judged = read_set(folder, notebooks)
    answers = Answers(f"{judged.name} {embedder}")
    with beds(judged, embedder, notebooks=notebooks, work=work) as opened:
        for one in (*judged.questions, *judged.unanswerable):
            answers.add(one, opened[one.group], own=True, tuning=half_of(one) == HALVES[0])
    return answers


def against_another(sets: Sequence[JudgedSet], embedder: str, count: int, work: Path | None) -> Iterator[Answers]:
    """Yield the answers to some questions of each set, asked of their own collection and of another."""
    with ExitStack() as stack:
        opened = [stack.enter_context(beds(judged, embedder, work=work)) for judged in sets]
        for place, judged in enumerate(sets):
            groups, after = judged.groups, (place + 1) % len(sets)
            others = {
                group: opened[place][groups[number - 1]] if len(groups) > 1 else opened[after][sets[after].groups[0]]
                for number, group in enumerate(groups)
            }
            answers = Answers(f"{judged.name} {embedder}")
            drawn = np.random.default_rng(0).permutation(len(judged.questions))[:count]
            for one in (judged.questions[number] for number in sorted(drawn)):
                answers.add(one, opened[place][one.group], own=True, tuning=True)
                answers.add(one, others[one.group], own=False, tuning=True)
            yield answers


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("folders", nargs="*", type=Path, metavar="JUDGED")
    parser.add_argument("--verdicts", action="append", default=[], metavar="FOLDER=NOTEBOOKS")
    parser.add_argument("--embedder", action="append", metavar="NAME", help="of --verdicts; default: static")
    parser.add_argument("--sample", type=int, default=300, help="questions of each other set (%(default)s)")
    parser.add_argument("--times", type=float, default=6.0, help="how often --verdicts count (%(default)s)")
    parser.add_argument("--work", type=Path, help="where stores are kept; a temporary folder without it")
    options = parser.parse_args()
    pairs = [tuple(map(Path, one.split("=", 1))) for one in options.verdicts]
    every = [
        with_verdicts(folder, notebooks, embedder, options.work)
        for embedder in options.embedder or ["static"]
        for folder, notebooks in pairs
    ]
    weights = [options.times] * len(every)
    judged = [read_set(folder) for folder in options.folders]
    every += against_another(judged, "static", options.sample, options.work)
    weights += [1.0] * len(judged)
    # A hundred answers to a set, so that the ridge means the same however many there are.
    weights = [100 * one for one in weights]
    ship = shipped()
    of_all = fitted(every, weights, ship)
    rows = [("log loss, ECE", "shipped", "all", "without the set")]
    for answers in every:
        name = answers.name.split()[0]
        kept = [(one, weight) for one, weight in zip(every, weights, strict=True) if one.name.split()[0] != name]
        without = fitted(*zip(*kept, strict=True), ship) if kept else of_all
        rows.append((answers.name, *(figures(likely(one, answers), answers) for one in (ship, of_all, without))))
    table(rows)
    print()
    constants = zip(NAMES, ship, of_all, strict=True)
    table([("constants", "shipped", "all"), *((name, f"{one:.2f}", f"{now:.2f}") for name, one, now in constants)])


if __name__ == "__main__":
    main()
