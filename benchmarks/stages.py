"""What one search costs by stage, for each profile.

    python benchmarks/stages.py [--size 100000] [--questions 40] [--data FOLDER] [--work FOLDER] [--profile NAME]...

The store is the one that `search.py` builds, with the static model; the vector of a question is computed by the model
at once. The profiles take turns, question by question; `covalence` is the baseline, and the last column is what a
profile adds to it. Stages: embed (the question's vector), keyword, vector (what of it is left when the words are read:
both legs look at the same time), pool (memories loaded), rank (signals, terms, order), snippets.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict

import numpy as np
from corpus import add_options, read_corpus
from search import build_ours, made

from jupyter_memory import MemoryStore
from jupyter_memory.embedders.static import StaticEmbedder
from jupyter_memory.ranking.profiles import PROFILES

_WARM_UP = 20
_STAGES = ("embed", "keyword", "vector", "pool", "rank", "snippets", "total")


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
    names = list(dict.fromkeys(["covalence", *(options.profile or PROFILES)]))
    taken: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
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
                    for stage in _STAGES:
                        taken[profile][stage].append(whole if stage == "total" else answer.timings.get(stage, 0.0))
    print(f"milliseconds at p50, {options.size:,} chunks, {options.questions} questions")
    print(f"{'':12}{'pool':>6}" + "".join(f"{stage:>10}" for stage in _STAGES) + f"{'added':>10}")
    base = float(np.median(taken["covalence"]["total"]))
    for profile in names:
        medians = [float(np.median(taken[profile][stage])) for stage in _STAGES]
        row = "".join(f"{value:10.1f}" for value in medians)
        print(f"{profile:12}{np.median(pools[profile]):6.0f}{row}{medians[-1] - base:+10.1f}")


if __name__ == "__main__":
    main()
