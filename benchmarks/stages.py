"""What one search costs by stage, for each profile.

    python benchmarks/stages.py [--size 100000] [--questions 40] [--data FOLDER] [--work FOLDER] [--profile NAME]...

The store is the one that `search.py` builds, with the static model; the vector of a question is computed by the model
at once. The profiles take turns, question by question; `covalence` is the baseline of the last columns. Stages: embed
(the question's vector), keyword, vector (what is left of it when the words are read: both work at the same time),
pool (memories loaded), rank (signals, terms, order), strength, snippets; rest is what none counts, such as spelling.

Below, what the ranking of each profile (rank and strength) adds to that of the baseline, also for a pool of 200 (rank
scaled by the size of its own pool), and what the whole search adds: in ms, and as a ratio of the baseline's search.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict

import numpy as np
from corpus import add_options, read_corpus
from search import build_ours, made

from jupyter_memory import MemoryStore
from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.search import PROFILES

_WARM_UP = 20
_STAGES = ("embed", "keyword", "vector", "pool", "rank", "strength", "snippets")
_COLUMNS = (*_STAGES, "rest", "total")
_BASELINE = "covalence"
_POOL = 200

# Milliseconds of each question, by profile and column.
Taken = dict[str, dict[str, list[float]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=100_000, help="chunks")
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--profile", action="append", choices=list(PROFILES), help="default: all")
    add_options(parser)
    options = parser.parse_args()
    corpus = read_corpus(options.size, options.questions + _WARM_UP, options.data, options.work)
    name = f"ours-{options.size}-{'judged' if options.data else 'code'}.sqlite"
    path = made(options.work / name, lambda path: build_ours(path, list(corpus.records)))
    names = list(dict.fromkeys([_BASELINE, *(options.profile or PROFILES)]))
    taken: Taken = defaultdict(lambda: defaultdict(list))
    pools: dict[str, list[int]] = defaultdict(list)
    with MemoryStore(path, embedder=StaticEmbedder()) as store:
        for number, question in enumerate(corpus.questions):
            # Whoever asks first reads the words for all, so they take turns at that too.
            turn = number % len(names)
            for profile in names[turn:] + names[:turn]:
                begun = time.perf_counter()
                answer = store.hits(question, profile=profile)
                whole = (time.perf_counter() - begun) * 1000
                if number >= _WARM_UP:
                    pools[profile].append(answer.counts["fused"])
                    stages = {stage: answer.timings.get(stage, 0.0) for stage in _STAGES}
                    stages |= {"rest": whole - sum(stages.values()), "total": whole}
                    for stage, milliseconds in stages.items():
                        taken[profile][stage].append(milliseconds)
    print(f"milliseconds at p50, {options.size:,} chunks, {options.questions} questions")
    _show(names, taken, {name: float(np.median(sizes)) for name, sizes in pools.items()})


def _show(names: list[str], taken: Taken, pools: dict[str, float]) -> None:
    print(f"{'':12}{'pool':>6}" + "".join(f"{column:>10}" for column in _COLUMNS))
    for name in names:
        row = "".join(f"{float(np.median(taken[name][column])):10.1f}" for column in _COLUMNS)
        print(f"{name:12}{pools[name]:6.0f}{row}")
    rank, ranking = _ranking(names, taken)
    whole = {name: np.median(taken[name]["total"]) for name in names}
    base = whole[_BASELINE]
    print(f"\nadded to {_BASELINE}: ms, and of its whole search")
    print(f"{'':12}{'ranking':>18}{f'for {_POOL} memories':>20}{'whole search':>18}")
    for name in names:
        if name != _BASELINE:
            adds = ranking[name] - ranking[_BASELINE]
            # Strength judges the hits that are shown, however many there are to choose from.
            scaled = adds + rank[name] * (_POOL / pools[name] - 1)
            cells = ((adds, 18), (scaled, 20), (whole[name] - base, 18))
            told = (f"{f'{value:+.1f} ({value / base:+.2f}x)':>{width}}" for value, width in cells)
            print(f"{name:12}" + "".join(told))


def _ranking(names: list[str], taken: Taken) -> tuple[dict[str, float], dict[str, float]]:
    """Return what rank takes for each profile, and what rank and strength do, at p50."""
    rank = {name: float(np.median(taken[name]["rank"])) for name in names}
    both = {name: float(np.median(np.add(taken[name]["rank"], taken[name]["strength"]))) for name in names}
    return rank, both


if __name__ == "__main__":
    main()
