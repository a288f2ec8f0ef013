"""How many candidates the binary codes must name for the vector retriever to find what an exact scan finds.

    python benchmarks/recall.py [--texts 100000] [--questions 300] [--data FOLDER] [--work FOLDER]

Texts are embedded by the bundled static model. Recall@20 is the share of the true best 20 by cosine that are among the
candidates; those are then compared by cosine, so it is the recall of the search. The vector index cites the row that it
uses.
"""

from __future__ import annotations

import numpy as np
from corpus import add_options, read_corpus
from measure import parser_of, table

from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.storage import BITS, codes, distances

CANDIDATES = (100, 200, 400, 640, 1000)
BEST = 20


def main() -> None:
    parser = parser_of(__doc__)
    add_options(parser, texts=100_000, questions=300)
    options = parser.parse_args()
    corpus = read_corpus(options, options.texts, options.questions)
    embedder = StaticEmbedder(256)
    vectors = embedder.embed_documents([f"{text.title}\n{text.text}" for text in corpus.texts])
    among = codes(vectors)
    found = dict.fromkeys(CANDIDATES, 0.0)
    for question in corpus.questions:
        vector = embedder.embed_query(question)
        truth = set(np.argpartition(-(vectors @ vector), BEST)[:BEST].tolist())
        differing = distances(codes(vector[None, :])[0], among)
        for count in CANDIDATES:
            furthest = np.partition(differing, min(count, differing.size) - 1)[min(count, differing.size) - 1]
            found[count] += len(truth.intersection(np.flatnonzero(differing <= furthest).tolist())) / BEST
    print(f"{len(corpus.texts):,} texts, {len(corpus.questions)} questions, 256 dimensions, {BITS}-bit codes")
    table([("candidates", f"recall@{BEST}"), *((n, f"{x / len(corpus.questions):.4f}") for n, x in found.items())])


if __name__ == "__main__":
    main()
