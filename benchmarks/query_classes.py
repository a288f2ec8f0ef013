"""Does `auto` gain by weights for each class of query? The weights of words and of meaning are scaled by class.

    python benchmarks/query_classes.py FOLDER... [--notebooks FOLDER] [--embedder NAME] [--work FOLDER]

The candidates of every question are collected as in `weights.py`. For each class (keyword, balanced, semantic), the
``SCALES`` are tried: the first number multiplies the words' contribution, the second those of `semantic_margin` and
`max_sim`. A row a set: how many questions each class has, nDCG@10 with the weights that ship, and what is gained

- by the scales that are best for each class on the other sets (each set and class with ``FEWEST`` questions counts the
  same), with p of a paired randomisation test,
- by one scale for all classes that is best on the other sets,
- by the best scale for each class, and one for all, chosen on the set itself: no choice can gain more.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

import numpy as np
from weights import Pools, Setting, read, shipped

from jupyter_memory.evaluation.datasets import read_set
from jupyter_memory.evaluation.significance import p_value
from jupyter_memory.search.query.parser import query_class
from jupyter_memory.types import QueryClass

CLASSES: tuple[QueryClass, ...] = get_args(QueryClass)
STEPS = (0.5, 0.65, 0.8, 1.25, 1.5, 2.0)
SCALES = ((1.0, 1.0), *((step, 1.0) for step in STEPS), *((1.0, step) for step in STEPS))
FEWEST = 5


@dataclass(frozen=True)
class Tried:
    """nDCG@10 of every question of a set by each scale, ``(q, len(SCALES))``, and the classes of the questions."""

    name: str
    ndcg: np.ndarray
    classes: np.ndarray

    def gains(self, kind: QueryClass | None = None) -> np.ndarray:
        """Return the mean gain of each scale over the first, for one class or for all questions."""
        some = self.ndcg if kind is None else self.ndcg[self.classes == kind]
        found: np.ndarray = (some - some[:, :1]).mean(axis=0)
        return found

    def by_class(self, chosen: Mapping[QueryClass, int]) -> np.ndarray:
        """Return nDCG@10 of every question with the scale of its class."""
        return self.ndcg[np.arange(len(self.classes)), [chosen[kind] for kind in self.classes]]


def tried(pools: Pools, texts: Iterable[str]) -> Tried:
    """Rank every question by every scale."""
    ship = shipped()
    columns = []
    for words, meaning in SCALES:
        scaled = {name: ship.weights[name] * meaning for name in ("semantic_margin", "max_sim")}
        one = replace(pools, fixed=pools.fixed + (words - 1) * pools.words)
        columns.append(one.each(Setting({**ship.weights, **scaled}, ship.hub_penalty)))
    return Tried(pools.name, np.stack(columns, axis=1), np.array([query_class(text) for text in texts]))


def best(sets: Iterable[Tried], kind: QueryClass | None = None) -> int:
    """Return the scale that gains most on these sets, for one class or for all questions."""
    telling = [one for one in sets if kind is None or (one.classes == kind).sum() >= FEWEST]
    return int(np.argmax(np.mean([one.gains(kind) for one in telling], axis=0))) if telling else 0


def report(sets: list[Tried]) -> None:
    """Print the rows of all sets."""
    heads = ("shipped", "by class", "p", "one", "itself", "one")
    print(f"{'set':<12} {'/'.join(CLASSES):>24} " + " ".join(f"{head:>8}" for head in heads))
    for one in sets:
        others = [other for other in sets if other is not one]
        counts = "/".join(str((one.classes == kind).sum()) for kind in CLASSES)
        chosen = one.by_class({kind: best(others, kind) for kind in CLASSES})
        itself = one.by_class({kind: int(np.argmax(one.gains(kind))) for kind in set(one.classes)})
        ship = one.ndcg[:, 0]
        gains = chosen.mean() - ship.mean(), p_value(chosen, ship), one.gains()[best(others)]
        most = itself.mean() - ship.mean(), one.gains().max()
        print(f"{one.name:<12} {counts:>24} {ship.mean():8.3f} ", end="")
        print("{:+8.3f} {:8.3f} {:+8.3f} {:+8.3f} {:+8.3f}".format(*gains, *most))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--notebooks", type=Path, help="the notebooks whose cells a set without a corpus judges")
    parser.add_argument("--embedder", default="static", metavar="NAME")
    parser.add_argument("--work", type=Path, help="where stores are kept; a temporary folder without it")
    options = parser.parse_args()
    report(
        [
            tried(
                read(folder, options.embedder, options.notebooks, options.work),
                [one.text for one in read_set(folder, options.notebooks).questions],
            )
            for folder in options.folders
        ]
    )


if __name__ == "__main__":
    main()
