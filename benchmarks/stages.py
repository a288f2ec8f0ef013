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

from collections import defaultdict

import numpy as np
from corpus import add_options, read_corpus
from measure import parser_of, table, turns, warm

from jupyter_memory import MemoryStore
from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.search import PROFILES

STAGES = ("embed", "keyword", "vector", "pool", "rank", "strength", "snippets")
BASELINE = "covalence"
POOL = 200


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--size", type=int, default=100_000, help="texts")
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--profile", action="append", choices=list(PROFILES), help="default: all")
    add_options(parser)
    options = parser.parse_args()
    corpus = read_corpus(options, options.size, options.questions)
    names = list(dict.fromkeys([BASELINE, *(options.profile or PROFILES)]))
    noted: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    with MemoryStore(corpus.store(), embedder=StaticEmbedder()) as store:

        def search(question: str, profile: str) -> None:
            answer = store.hits(question, profile=profile)
            noted[profile].append((answer.counts["fused"], *(answer.timings.get(stage, 0.0) for stage in STAGES)))

        sides = {name: lambda question, name=name: search(question, name) for name in names}
        # Whoever asks first reads the words for all, so they take turns at that too.
        spent = turns(sides, corpus.questions)
    asked = len(warm(spent[BASELINE]))
    rows = [("", "memories", *STAGES, "rest", "total")]
    found: dict[str, dict[str, float]] = {}
    for name in names:
        total = warm(spent[name]) * 1000
        columns = np.array(noted[name])[-asked:]
        rest = total - columns[:, 1:].sum(axis=1)
        both = columns[:, 1 + STAGES.index("rank")] + columns[:, 1 + STAGES.index("strength")]
        medians = [*np.median(columns, axis=0), np.median(rest), np.median(total)]
        found[name] = dict(zip(rows[0][1:], medians, strict=True)) | {"ranking": float(np.median(both))}
        rows.append((name, f"{medians[0]:.0f}", *(f"{value:.1f}" for value in medians[1:])))
    print(f"milliseconds at p50, {options.size:,} texts, {asked} questions")
    table(rows)
    base = found[BASELINE]
    rows = [(f"added to {BASELINE}", "ranking", f"for {POOL} memories", "whole search")]
    for name in names:
        if name != BASELINE:
            adds = found[name]["ranking"] - base["ranking"]
            # Strength judges the hits that are shown, however many there are to choose from.
            scaled = adds + found[name]["rank"] * (POOL / found[name]["memories"] - 1)
            added = (adds, scaled, found[name]["total"] - base["total"])
            rows.append((name, *(f"{value:+.1f} ({value / base['total']:+.2f}x)" for value in added)))
    print()
    table(rows)


if __name__ == "__main__":
    main()
