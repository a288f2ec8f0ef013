"""Do the weights of `auto` carry over? They are fitted on judged sets, leaving out one set at a time.

    python benchmarks/weights.py FOLDER... [--notebooks FOLDER] [--embedder NAME]... [--work FOLDER]

Every question of every set is asked once, by the production path, and the raw values of all its candidates are kept
(no copies are folded). Then the weights of the terms in ``FREE`` are searched: beginning where each term spreads the
candidates of a question as much as the words do, one weight after the other is multiplied by the ``STEPS`` as long as
the mean nDCG@10 of the sets grows, each set and model counting the same. The other weights stay as they ship, and so
does what neighbours and sessions take for evidence. A row a set and model: nDCG@10 with the weights that ship, with
those found without this set (under no model), and with those found on all sets; then the weights themselves.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from jupyter_memory.evaluation.beds import Bed, beds
from jupyter_memory.evaluation.judged import JudgedSet, Question, read_judged, read_judged_cells
from jupyter_memory.protocols import Embedder
from jupyter_memory.ranking.profiles import PROFILES

FREE = ("meaning", "soft", "neighbour", "session", "asks", "size")
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
        """Return the mean nDCG@10 of the questions under these weights; padding has the score of -inf."""
        scores = self.fixed + self.free @ np.array([weights[name] for name in FREE], np.float32)
        if scores.shape[1] > DEPTH:
            best = np.argpartition(scores, -DEPTH, axis=1)[:, -DEPTH:]
            scores, grades = np.take_along_axis(scores, best, axis=1), np.take_along_axis(self.grades, best, axis=1)
        else:
            grades = self.grades
        gains = np.take_along_axis(grades, np.argsort(-scores, axis=1, kind="stable"), axis=1)
        return float(np.mean(gains @ DISCOUNT[: gains.shape[1]] / self.ideal))


def read(folder: Path, embedder: str | Embedder, notebooks: Path | None, work: Path | None) -> Pools:
    """Ask every question of a judged set and keep what was said of each candidate."""
    cells = not (folder / "corpus.jsonl").exists()
    judged: JudgedSet = read_judged_cells(folder) if cells else read_judged(folder)
    with beds(judged, embedder, notebooks=notebooks if cells else None, work=work, progress=True) as opened:
        rows = [asked(opened[one.group], one) for one in judged.questions]
    size = max(len(row) for row in rows)
    table = np.zeros((len(rows), size, len(FREE) + 3), np.float32)
    table[:, :, 1] = -np.inf
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    ideal = [np.sort(list(one.grades.values()))[::-1][:DEPTH] for one in judged.questions]
    best = np.array([grades @ DISCOUNT[: grades.size] for grades in ideal])
    name = embedder if isinstance(embedder, str) else embedder.name
    return Pools(judged.name, name, table[:, :, 3:], table[:, :, 0], table[:, :, 1], table[:, :, 2], best)


def asked(bed: Bed, question: Question) -> np.ndarray:
    """Return a row a candidate: the words' part, that of all weights that stay, its grade, the values of ``FREE``."""
    pooled = bed.store.pooled(question.text, profile="auto", now=question.date)
    rankings = pooled.gathered.rankings
    adds = {term.name: term.contributions(rankings[term.reads or term.name]) for term in pooled.terms}
    rows = []
    for one in pooled.gathered.pool:
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
    spreads = [np.mean([np.mean(one.free[:, :, column].std(axis=1)) for one in sets]) for column in range(len(FREE))]
    return {name: float(words / spread) if spread > 0 else 0.0 for name, spread in zip(FREE, spreads, strict=True)}


def fitted(sets: Sequence[Pools], weights: Weights) -> dict[str, float]:
    """Return the weights that are best for these sets, beginning at some."""
    found, seen = dict(weights), {}

    def quality(trial: Weights) -> float:
        key = tuple(trial.values())
        if key not in seen:
            seen[key] = float(np.mean([one.ndcg(trial) for one in sets]))
        return seen[key]

    for _ in range(ROUNDS):
        before = dict(found)
        for name in FREE:
            trials = [found, *({**found, name: found[name] * step} for step in STEPS)]
            found = max(trials, key=quality)
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
    print(f"{'set':<12} {'model':<10} {'shipped':>8} {'without':>8} {'all':>8}")
    columns = []
    for one in sets:
        found = [one.ndcg(weights) for weights in (shipped(), without[one.name], everywhere)]
        columns.append(found)
        print(f"{one.name:<12} {one.embedder:<10} " + " ".join(f"{value:8.3f}" for value in found))
    print(f"{'mean':<23} " + " ".join(f"{value:8.3f}" for value in np.mean(columns, axis=0)))
    print(f"\n{'weights':<23} " + " ".join(f"{name:>9}" for name in FREE))
    for label, weights in {
        "shipped": shipped(),
        **{f"without {n}": w for n, w in without.items()},
        "all": everywhere,
    }.items():
        print(f"{label:<23} " + " ".join(f"{weights[name]:9.3g}" for name in FREE))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--notebooks", type=Path, help="the notebooks whose cells a set without a corpus judges")
    parser.add_argument("--embedder", action="append", dest="embedders", metavar="NAME", help="static, unless named")
    parser.add_argument("--work", type=Path, help="where stores are kept; a temporary folder without it")
    options = parser.parse_args()
    report(
        [
            read(folder, embedder, options.notebooks, options.work)
            for embedder in options.embedders or ["static"]
            for folder in options.folders
        ]
    )


if __name__ == "__main__":
    main()
