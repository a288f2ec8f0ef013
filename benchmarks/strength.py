"""Fits the constants of strength anew: after a change of texts, signals or words they may no longer be the best.

    python benchmarks/strength.py FOLDER=NOTEBOOKS... [JUDGED...] [--embedder NAME] [--work FOLDER]

A folder with notebooks has questions that these answer, and others that they do not. Each is asked of all cells, and of
a store of one to four of them as notes: a right one, if any, and those that come nearest or answer other questions.
Questions of other judged sets are asked of their own collection and of another. An answer is right if its first hit is.

For each set, by the constants that ship, by those of a logistic regression on all sets (never on a held-out half), and
by those fitted without the set: log loss, calibration error, and the shares called none and strong, of right answers
and of unanswerable questions. Then the constants, for ``search/confidence.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
from measure import parser_of, table

from jupyter_memory import MemoryStore
from jupyter_memory.evaluation import HALVES, Bed, Question, beds, calibration_error, read_set
from jupyter_memory.search import CONSTANTS, Confidence, verdict

RIDGE, STEPS, SAMPLE, MOST_NOTES = 0.05, 50, 300, 4


@dataclass
class Answers:
    """The first hits of a set's answers; a row is the measurements of one, whether it is right, and so on."""

    name: str
    parts: list[tuple[float, ...]] = field(default_factory=list)
    rows: list[tuple[bool, bool, bool, bool]] = field(default_factory=list)

    def add(self, question: Question, bed: Bed, *, own: bool, tuning: bool) -> list[str]:
        """Ask a question, keep what its first hit is judged by, and return the documents that were found."""
        seen: list[Confidence] = []
        strength = Confidence.strength
        Confidence.strength = property(lambda one: seen.append(one) or strength.fget(one))
        try:
            hits = bed.store.hits(question.text, now=question.date, profile="auto").hits
        finally:
            Confidence.strength = strength
        found = [bed.documents.get(hit.memory.id, "") for hit in hits]
        if seen:
            self.parts.append(seen[0].parts)
            self.rows.append((own and found[0] in question.grades, not own, seen[0].bounded, tuning))
        return found

    def figures(self, constants: np.ndarray) -> str:
        """Return how good the strengths are by these constants."""
        right, unanswerable, bounded, _ = np.array(self.rows).T
        strengths = 1 / (1 + np.exp(-np.clip(np.array(self.parts) @ constants, -7, 7)))
        strengths = np.where(bounded, np.minimum(strengths, 0.5), strengths)
        said = np.array([verdict(one) for one in strengths])
        shares = [f"{np.mean(said[of] == word):.0%}" for of in (right, unanswerable) for word in ("none", "strong")]
        loss = -np.mean(np.log(np.where(right, strengths, 1 - strengths)))
        return f"{loss:.3f} {calibration_error(list(strengths), right.tolist()):.3f} {'/'.join(shares)}"


def about_notebooks(folder: Path, notebooks: Path, embedder: str, work: Path | None) -> Iterator[Answers]:
    """Yield the answers from all cells, and from a few."""
    judged = read_set(folder, notebooks)
    whole, few = Answers(judged.name), Answers(f"{judged.name} few")
    with beds(judged, embedder, notebooks=notebooks, work=work) as opened, TemporaryDirectory() as scratch:
        [bed] = opened.values()
        texts = {bed.documents[hit.memory.id]: hit.memory for hit in bed.store.browsed(limit=10**9).hits}
        for number, one in enumerate((*judged.questions, *judged.unanswerable)):
            known, random = {"own": bool(one.grades), "tuning": one.half == HALVES[0]}, Random(one.id)
            near = [name for name in whole.add(one, bed, **known) if name not in one.grades]
            right = random.choices(sorted(one.grades)) if one.grades else []
            others = [next(iter(other.grades)) for other in random.sample(judged.questions, MOST_NOTES)]
            chosen = [name for name in (*right, *near[: MOST_NOTES * (number % 2)], *others) if name in texts]
            with MemoryStore(Path(scratch) / f"{number}.sqlite", embedder=embedder) as store:
                notes = [texts[name] for name in dict.fromkeys(chosen)][: 1 + number % MOST_NOTES]
                held = {store.add(note.text, title=note.title).id: bed.documents[note.id] for note in notes}
                few.add(one, Bed(store, held), **known)
    yield from (whole, few)


def against_another(folders: Sequence[Path], embedder: str, work: Path | None) -> Iterator[Answers]:
    """Yield the answers to some questions of each set, from their own collection and from another."""
    sets = [read_set(folder) for folder in folders]
    with ExitStack() as stack:
        opened = [stack.enter_context(beds(judged, embedder, work=work)) for judged in sets]
        for place, judged in enumerate(sets):
            answers, after = Answers(judged.name), (place + 1) % len(sets)
            for one in Random(0).sample(judged.questions, min(SAMPLE, len(judged.questions))):
                other = judged.groups[judged.groups.index(one.group) - 1]
                bed = opened[place][other] if other != one.group else opened[after][sets[after].groups[0]]
                answers.add(one, opened[place][one.group], own=True, tuning=True)
                answers.add(one, bed, own=False, tuning=True)
            yield answers


def fitted(sets: Sequence[Answers]) -> np.ndarray:
    """Return the constants of a logistic regression, by Newton's method; each set counts the same."""
    may = [np.array(one.rows)[:, 3] for one in sets]
    x = np.concatenate([np.array(one.parts)[of] for one, of in zip(sets, may, strict=True)])
    right = np.concatenate([np.array(one.rows)[of, 0] for one, of in zip(sets, may, strict=True)])
    weight = np.concatenate([np.full(of.sum(), 300 / of.sum()) for of in may])
    found, ridge = np.zeros(x.shape[1]), np.diag([1e-6, *[RIDGE] * (x.shape[1] - 1)])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ found, -30, 30)))
        gradient = x.T @ (weight * (p - right)) + ridge @ found
        found = found - np.linalg.solve((x * (weight * p * (1 - p))[:, None]).T @ x + ridge, gradient)
    return found


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("sets", nargs="+", metavar="FOLDER[=NOTEBOOKS]")
    parser.add_argument("--embedder", default="static", metavar="NAME")
    parser.add_argument("--work", type=Path, help="where stores are kept; a temporary folder without it")
    options = parser.parse_args()
    pairs = [list(map(Path, one.split("="))) for one in options.sets]
    every = [one for pair in pairs if pair[1:] for one in about_notebooks(*pair, options.embedder, options.work)]
    every += against_another([pair[0] for pair in pairs if not pair[1:]], options.embedder, options.work)
    ship, of_all = np.array(CONSTANTS), fitted(every)
    rows = [("log loss, error, none/strong of right and unanswerable", "shipped", "all", "without the set")]
    for one in every:
        kept = [other for other in every if other.name.split()[0] != one.name.split()[0]]
        rows.append((one.name, *map(one.figures, (ship, of_all, fitted(kept) if kept else of_all))))
    table(rows)
    print(f"\nCONSTANTS = ({', '.join(f'{one:.2f}' for one in of_all)})")


if __name__ == "__main__":
    main()
