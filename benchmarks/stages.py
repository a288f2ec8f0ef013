"""What one search costs by stage, for each profile.

    python benchmarks/stages.py [--texts 100000] [--questions 40] [--data FOLDER] [--work FOLDER] [--profile NAME]...

The store is the one that `search.py` builds, with the static model; the vector of a question is computed by the model
at once. The profiles take turns, question by question; `covalence` is the baseline of the last column. Stages: embed
(the question's vector), keyword, vector, pool (memories loaded), rank (signals, terms, order), strength, snippets; rest
is what none counts, such as spelling.
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


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--profile", action="append", choices=list(PROFILES), help="default: all")
    add_options(parser, texts=100_000, questions=40)
    options = parser.parse_args()
    corpus = read_corpus(options, options.texts, options.questions)
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
    rows = [("", "memories", *STAGES, "rest", "total", f"to {BASELINE}")]
    base = float(np.median(warm(spent[BASELINE]))) * 1000
    for name in names:
        columns = np.array(noted[name])[-asked:]
        total = warm(spent[name]) * 1000
        rest = total - columns[:, 1:].sum(axis=1)
        memories, *medians = [*np.median(columns, axis=0), np.median(rest), np.median(total)]
        rows.append((name, f"{memories:.0f}", *(f"{one:.1f}" for one in medians), f"{medians[-1] / base:.2f}x"))
    print(f"milliseconds at p50, {len(corpus.texts):,} texts, {asked} questions")
    table(rows)


if __name__ == "__main__":
    main()
