"""How many candidates the binary codes must name for the vector retriever to find what an exact scan finds.

    python benchmarks/recall.py [--texts 100000] [--questions 300] [--data FOLDER] [--work FOLDER]

Texts are embedded by the bundled static model. Recall@20 is the share of the true best 20 by cosine that are among the
candidates; those are then compared by cosine, so it is the recall of the search. `storage/vectors.py` cites the row
that it uses.
"""

from __future__ import annotations

import argparse

import numpy as np
from corpus import add_options, read_corpus

from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.storage.sqlite.indexes import quantization

CANDIDATES = (100, 200, 400, 640, 1000)
BEST = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=300)
    add_options(parser)
    options = parser.parse_args()
    corpus = read_corpus(options.texts, options.questions, options.data, options.work)
    embedder = StaticEmbedder(256)
    vectors = embedder.embed_documents([f"{text.title}\n{text.text}" for text in corpus.texts])
    among = quantization.codes(vectors)
    found = {count: 0.0 for count in CANDIDATES}
    for question in corpus.questions:
        vector = embedder.embed_query(question)
        cosines = vectors @ vector
        truth = set(np.argpartition(-cosines, BEST)[:BEST].tolist())
        differing = quantization.distances(quantization.codes(vector[None, :])[0], among)
        for count in CANDIDATES:
            found[count] += len(truth.intersection(quantization.nearest(differing, count).tolist())) / BEST
    print(
        f"{len(corpus.texts):,} texts, {len(corpus.questions)} questions, 256 dimensions, {quantization.BITS}-bit codes"
    )
    print("candidates  recall@20")
    for count, total in found.items():
        print(f"{count:>10}  {total / len(corpus.questions):.4f}")


if __name__ == "__main__":
    main()
