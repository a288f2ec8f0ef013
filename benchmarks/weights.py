"""Do the weights of `auto` carry over? They are fitted on judged sets, leaving out one set at a time.

    python benchmarks/weights.py FOLDER... [--notebooks FOLDER] [--files FOLDER] [--embedder NAME]... [--work FOLDER]

Every question of every set is asked once, by the production path, and the raw values of all its candidates are kept
(duplicates stay). Then the weights of the terms in ``FREE`` are searched: beginning where each term spreads the
candidates of a question as much as the words do, one weight after the other is multiplied by the ``STEPS`` as long as
the mean nDCG@10 of the sets grows, each set and model counting the same. The other weights stay as they ship.

A row a set and model: nDCG@10 with the weights that ship, with those found without this set (under no model), with
those found on all sets, and by an oracle that takes for every single question the best of nine weightings: those that
ship, with a quarter and four times the weights of ``semantic_margin`` and ``max_sim``. Then the weights themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from measure import parser_of, table

from jupyter_memory.evaluation import Bed, Question, beds, read_set
from jupyter_memory.search import PROFILES

FREE = ("semantic_margin", "max_sim", "neighbour", "session", "question_penalty", "length_penalty")
STEPS = (0.0, 0.25, 0.5, 0.7, 0.85, 1.2, 1.4, 2.0, 4.0)
ROUNDS = 3
DEPTH = 10
DISCOUNT = 1 / np.log2(np.arange(2, DEPTH + 2))

Weights = Mapping[str, float]


@dataclass(frozen=True)
class Pools:
    """The candidates of a set's questions, padded: ``free`` ``(q, n, len(FREE))``, the rest ``(q, n)``."""

    name: str
    embedder: str
    free: np.ndarray
    words: np.ndarray
    fixed: np.ndarray
    grades: np.ndarray
    ideal: np.ndarray

    def ndcg(self, weights: Weights) -> float:
        """Return the mean nDCG@10 of the questions by these weights."""
        return float(np.mean(self.each(weights)))

    def each(self, weights: Weights) -> np.ndarray:
        """Return nDCG@10 of every question, ``(q,)``; padding has the score of -inf."""
        factors = np.array([weights[name] for name in FREE], np.float32)
        scores, grades = self.fixed + self.free @ factors, self.grades
        if scores.shape[1] > DEPTH:
            best = np.argpartition(scores, -DEPTH, axis=1)[:, -DEPTH:]
            scores, grades = np.take_along_axis(scores, best, axis=1), np.take_along_axis(grades, best, axis=1)
        gains = np.take_along_axis(grades, np.argsort(-scores, axis=1, kind="stable"), axis=1)
        found: np.ndarray = gains @ DISCOUNT[: gains.shape[1]] / self.ideal
        return found

    def oracle(self) -> float:
        """Return the mean of the best that nine weightings give each question."""
        ship = shipped()
        scaled = [
            {**ship, "semantic_margin": ship["semantic_margin"] * more, "max_sim": ship["max_sim"] * other}
            for more, other in product((0.25, 1.0, 4.0), repeat=2)
        ]
        return float(np.mean(np.max([self.each(one) for one in scaled], axis=0)))


def read(folder: Path, embedder: str, notebooks: Path | None, work: Path | None, files: Path | None = None) -> Pools:
    """Ask every question of a judged set and keep what was said of each candidate."""
    judged = read_set(folder, notebooks)
    with beds(judged, embedder, notebooks=notebooks, files=files, work=work, progress=True) as opened:
        every = [asked(opened[one.group], one) for one in judged.questions]
    size = max(map(len, every))
    kept = np.zeros((len(every), size, every[0].shape[1]), np.float32)
    kept[:, :, 1] = -np.inf
    for place, part in enumerate(every):
        kept[place, : len(part)] = part
    ideal = [np.sort(list(one.grades.values()))[::-1][:DEPTH] for one in judged.questions]
    best = np.array([grades @ DISCOUNT[: grades.size] for grades in ideal])
    return Pools(judged.name, embedder, kept[:, :, 3:], kept[:, :, 0], kept[:, :, 1], kept[:, :, 2], best)


def asked(bed: Bed, question: Question) -> np.ndarray:
    """Return a row a candidate: the words' part, that of all weights that stay, its grade, the values of ``FREE``."""
    pooled = bed.store.pooled(question.text, profile="auto", now=question.date)
    rankings = pooled.scored.rankings
    adds = {term.name: term.contributions(rankings[term.reads or term.name]) for term in pooled.terms}
    rows = []
    for one in pooled.scored.context:
        fixed = sum(values.get(one.key, 0.0) for name, values in adds.items() if name not in FREE)
        grade = question.grades.get(bed.documents.get(one.memory.id, one.memory.id), 0.0)
        free = [rankings[name].scores.get(one.key, 0.0) for name in FREE]
        rows.append([adds["keyword"].get(one.key, 0.0), fixed, grade, *free])
    return np.array(rows, np.float32).reshape(-1, len(FREE) + 3)


def shipped() -> dict[str, float]:
    """Return the weights that ship."""
    return {term.name: term.weight for term in PROFILES["auto"].terms if term.name in FREE}


def start(sets: Sequence[Pools]) -> dict[str, float]:
    """Return weights by which each term spreads the candidates as much as the words do, on average of the sets."""
    words = np.mean([np.mean(one.words.std(axis=1)) for one in sets])
    spreads = [np.mean([np.mean(one.free[:, :, c].std(axis=1)) for one in sets]) for c in range(len(FREE))]
    return {name: float(words / spread) if spread > 0 else 0.0 for name, spread in zip(FREE, spreads, strict=True)}


def fitted(sets: Sequence[Pools], begin: Weights) -> Weights:
    """Return the weights that are best for these sets, beginning at some."""
    found, seen = begin, {}

    def quality(trial: Weights) -> float:
        key = tuple(trial.values())
        if key not in seen:
            seen[key] = float(np.mean([one.ndcg(trial) for one in sets]))
        return seen[key]

    for _ in range(ROUNDS):
        before = found
        for name in FREE:
            found = max([found, *({**found, name: found[name] * step} for step in STEPS)], key=quality)
        if found == before:
            break
    return found


def report(sets: Sequence[Pools]) -> None:
    """Print the rows of all sets, and the weights that were found."""
    everywhere = fitted(sets, start(sets))
    without = {}
    for name in dict.fromkeys(one.name for one in sets):
        others = [one for one in sets if one.name != name]
        without[name] = fitted(others, start(others)) if others else start(sets)
    columns = [
        [*(one.ndcg(weights) for weights in (shipped(), without[one.name], everywhere)), one.oracle()] for one in sets
    ]
    labels = [(one.name, one.embedder) for one in sets] + [("mean", "")]
    figures = [*columns, np.mean(columns, axis=0)]
    rows = [(*label, *(f"{one:.3f}" for one in found)) for label, found in zip(labels, figures, strict=True)]
    table([("set", "model", "shipped", "without", "all", "oracle"), *rows])
    found = {"shipped": shipped(), **{f"without {name}": one for name, one in without.items()}, "all": everywhere}
    rows = [(name, *(f"{weights[term]:.3g}" for term in FREE)) for name, weights in found.items()]
    print()
    table([("weights", *FREE), *rows])


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--notebooks", type=Path, help="the notebooks whose cells a set without a corpus judges")
    parser.add_argument("--files", type=Path, help="the folders whose files a set judges")
    parser.add_argument("--embedder", action="append", dest="embedders", metavar="NAME", help="static, unless named")
    parser.add_argument("--work", type=Path, help="where stores are kept; a temporary folder without it")
    options = parser.parse_args()
    report(
        [
            read(folder, embedder, options.notebooks, options.work, options.files)
            for embedder in options.embedders or ["static"]
            for folder in options.folders
        ]
    )


if __name__ == "__main__":
    main()
