"""Do the weights of `auto` carry over? They are fitted on judged sets, leaving out one set at a time.

    python benchmarks/weights.py FOLDER... [--notebooks FOLDER] [--files FOLDER] [--embedder NAME]... [--work FOLDER]

Every question of every set is asked once, by the production path, and the raw values of all its candidates are kept
(duplicates stay). Then the weights of the terms in ``FREE`` are searched: beginning where each term spreads the
candidates of a question as much as the words do, one weight after the other is multiplied by the ``STEPS`` as long as
the mean nDCG@10 of the sets grows, each set and model counting the same. So is the penalty for hubs: how much their
cosine loses, and by how many neighbours hubness is measured. The search begins with no loss and tries each pair of
``HUB_PENALTIES``. The other weights stay as they ship, and so does what neighbours and sessions take for evidence.

A row a set and model: nDCG@10 with the weights that ship, with those found without this set (under no model), with
those found on all sets, and by an oracle that takes for every single question the best of nine weightings: those that
ship, with a quarter and four times the weights of ``semantic_margin`` and ``max_sim``. Then the weights themselves.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from jupyter_memory import Embedder
from jupyter_memory.evaluation.datasets import Question, read_set
from jupyter_memory.evaluation.runner import Bed, beds
from jupyter_memory.search import PROFILES, Pooled, sample
from jupyter_memory.search.signals import Neighbour, SemanticMargin, Session, semantic_margin

FREE = ("semantic_margin", "max_sim", "neighbour", "session", "question_penalty", "length_penalty")
STEPS = (0.0, 0.25, 0.5, 0.7, 0.85, 1.2, 1.4, 2.0, 4.0)
ROUNDS = 3
DEPTH = 10
DISCOUNT = 1 / np.log2(np.arange(2, DEPTH + 2))

Weights = Mapping[str, float]
# What a cosine loses by hubness (`semantic_margin.HUBNESS`), and by how many neighbours that is measured
# (`sample.NEAREST`).
HubPenalty = tuple[float, int]
SHIPPED: HubPenalty = (semantic_margin.HUBNESS, sample.NEAREST)
NO_PENALTY: HubPenalty = (0.0, sample.NEAREST)
HUB_PENALTIES: tuple[HubPenalty, ...] = (NO_PENALTY, *product((0.2, 0.4, 0.8), (1, 3, 10)))
# The signals that the penalty changes.
PENALISED = (SemanticMargin(), Neighbour(), Session())


@dataclass(frozen=True, slots=True)
class Setting:
    """What is fitted."""

    weights: Weights
    hub_penalty: HubPenalty


@dataclass(frozen=True)
class Pools:
    """The candidates of a set's questions, padded: ``free`` ``(q, n, len(FREE))`` by penalty, the rest ``(q, n)``."""

    name: str
    embedder: str
    free: Mapping[HubPenalty, np.ndarray]
    words: np.ndarray
    fixed: np.ndarray
    grades: np.ndarray
    ideal: np.ndarray

    def ndcg(self, setting: Setting) -> float:
        """Return the mean nDCG@10 of the questions under this setting."""
        return float(np.mean(self.each(setting)))

    def each(self, setting: Setting) -> np.ndarray:
        """Return nDCG@10 of every question, ``(q,)``; padding has the score of -inf."""
        weights = np.array([setting.weights[name] for name in FREE], np.float32)
        scores, grades = self.fixed + self.free[setting.hub_penalty] @ weights, self.grades
        if scores.shape[1] > DEPTH:
            best = np.argpartition(scores, -DEPTH, axis=1)[:, -DEPTH:]
            scores, grades = np.take_along_axis(scores, best, axis=1), np.take_along_axis(grades, best, axis=1)
        gains = np.take_along_axis(grades, np.argsort(-scores, axis=1, kind="stable"), axis=1)
        found: np.ndarray = gains @ DISCOUNT[: gains.shape[1]] / self.ideal
        return found

    def oracle(self) -> float:
        """Return the mean of the best that nine weightings give each question."""
        ship = shipped()
        weightings = [
            {
                **ship.weights,
                "semantic_margin": ship.weights["semantic_margin"] * more,
                "max_sim": ship.weights["max_sim"] * other,
            }
            for more, other in product((0.25, 1.0, 4.0), repeat=2)
        ]
        return float(np.mean(np.max([self.each(Setting(one, ship.hub_penalty)) for one in weightings], axis=0)))


def read(
    folder: Path, embedder: str | Embedder, notebooks: Path | None, work: Path | None, files: Path | None = None
) -> Pools:
    """Ask every question of a judged set and keep what was said of each candidate."""
    judged = read_set(folder, notebooks)
    with beds(judged, embedder, notebooks=notebooks, files=files, work=work, progress=True) as opened:
        asked_all = [asked(opened[one.group], one) for one in judged.questions]
    size = max(len(rows) for rows, _ in asked_all)
    table = padded([rows for rows, _ in asked_all], size)
    table[np.arange(size) >= np.array([len(rows) for rows, _ in asked_all])[:, None], 1] = -np.inf
    free: dict[HubPenalty, np.ndarray] = dict.fromkeys({SHIPPED, *HUB_PENALTIES}, table[:, :, 3:])
    if any(others for _, others in asked_all):
        for one in free:
            free[one] = padded([others.get(one, rows[:, 3:]) for rows, others in asked_all], size)
    ideal = [np.sort(list(one.grades.values()))[::-1][:DEPTH] for one in judged.questions]
    best = np.array([grades @ DISCOUNT[: grades.size] for grades in ideal])
    name = embedder if isinstance(embedder, str) else embedder.name
    return Pools(judged.name, name, free, table[:, :, 0], table[:, :, 1], table[:, :, 2], best)


def padded(parts: Sequence[np.ndarray], size: int) -> np.ndarray:
    """Return the rows of all questions in one table, ``(q, size, columns)``, with 0 below."""
    table = np.zeros((len(parts), size, parts[0].shape[1]), np.float32)
    for place, part in enumerate(parts):
        table[place, : len(part)] = part
    return table


def asked(bed: Bed, question: Question) -> tuple[np.ndarray, dict[HubPenalty, np.ndarray]]:
    """Return a row a candidate, and the values of ``FREE`` by other hub penalties where they would be others.

    A row holds the words' part, that of all weights that stay, its grade, and the values of ``FREE``.
    """
    pooled = bed.store.pooled(question.text, profile="auto", now=question.date)
    rankings = pooled.scored.rankings
    adds = {term.name: term.contributions(rankings[term.reads or term.name]) for term in pooled.terms}
    rows = []
    for one in pooled.scored.context:
        fixed = sum(values.get(one.key, 0.0) for name, values in adds.items() if name not in FREE)
        grade = question.grades.get(bed.documents.get(one.memory.id, one.memory.id), 0.0)
        free = [rankings[name].scores.get(one.key, 0.0) for name in FREE]
        rows.append([adds["keyword"].get(one.key, 0.0), fixed, grade, *free])
    found = np.array(rows, np.float32).reshape(-1, len(FREE) + 3)
    others = HUB_PENALTIES if pooled.hybrid and pooled.scored.context.calibration > 1 else ()
    return found, {one: otherwise(pooled, found[:, 3:], one) for one in others}


def otherwise(pooled: Pooled, free: np.ndarray, other: HubPenalty) -> np.ndarray:
    """Return the values of ``FREE`` of a search's candidates as they are by another hub penalty."""
    again = copy(pooled.scored.context)
    again.__dict__.pop("hubness", None)
    again._shared = {}
    found = free.copy()
    with penalising_hubs(other):
        for signal in PENALISED:
            values = signal(again.query, again)
            found[:, FREE.index(signal.name)] = np.nan_to_num([values.get(one.key, 0.0) for one in again])
    return found


@contextmanager
def penalising_hubs(other: HubPenalty) -> Iterator[None]:
    """Let hubs lose by other constants for a while."""
    before = semantic_margin.HUBNESS, sample.NEAREST
    semantic_margin.HUBNESS, sample.NEAREST = other
    try:
        yield
    finally:
        semantic_margin.HUBNESS, sample.NEAREST = before


def shipped() -> Setting:
    """Return the setting that ships."""
    return Setting({term.name: term.weight for term in PROFILES["auto"].terms if term.name in FREE}, SHIPPED)


def start(sets: Sequence[Pools]) -> Setting:
    """Return weights by which each term spreads the candidates as much as the words do, on average of the sets."""
    words = np.mean([np.mean(one.words.std(axis=1)) for one in sets])
    spreads = [np.mean([np.mean(one.free[NO_PENALTY][:, :, c].std(axis=1)) for one in sets]) for c in range(len(FREE))]
    weights = {name: float(words / spread) if spread > 0 else 0.0 for name, spread in zip(FREE, spreads, strict=True)}
    return Setting(weights, NO_PENALTY)


def fitted(sets: Sequence[Pools], begin: Setting) -> Setting:
    """Return the setting that is best for these sets, beginning at some."""
    found, seen = begin, {}

    def quality(trial: Setting) -> float:
        key = (*trial.weights.values(), trial.hub_penalty)
        if key not in seen:
            seen[key] = float(np.mean([one.ndcg(trial) for one in sets]))
        return seen[key]

    for _ in range(ROUNDS):
        before = found
        for name in FREE:
            weights = [{**found.weights, name: found.weights[name] * step} for step in STEPS]
            found = max([found, *(Setting(one, found.hub_penalty) for one in weights)], key=quality)
        found = max([found, *(Setting(found.weights, one) for one in HUB_PENALTIES)], key=quality)
        if found == before:
            break
    return found


def report(sets: Sequence[Pools]) -> None:
    """Print the rows of all sets, and the settings that were found."""
    everywhere = fitted(sets, start(sets))
    without = {}
    for name in dict.fromkeys(one.name for one in sets):
        others = [one for one in sets if one.name != name]
        without[name] = fitted(others, start(others)) if others else start(sets)
    print(f"{'set':<12} {'model':<10} {'shipped':>8} {'without':>8} {'all':>8} {'oracle':>8}")
    columns = []
    for one in sets:
        found = [*(one.ndcg(setting) for setting in (shipped(), without[one.name], everywhere)), one.oracle()]
        columns.append(found)
        print(f"{one.name:<12} {one.embedder:<10} " + " ".join(f"{value:8.3f}" for value in found))
    print(f"{'mean':<23} " + " ".join(f"{value:8.3f}" for value in np.mean(columns, axis=0)))
    print(f"\n{'weights':<23} " + " ".join(f"{name:>9}" for name in (*FREE, "hubness", "nearest")))
    for label, setting in {
        "shipped": shipped(),
        **{f"without {n}": w for n, w in without.items()},
        "all": everywhere,
    }.items():
        values = (*(setting.weights[name] for name in FREE), *setting.hub_penalty)
        print(f"{label:<23} " + " ".join(f"{value:9.3g}" for value in values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
