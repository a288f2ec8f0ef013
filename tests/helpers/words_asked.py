"""What tests of the keyword retriever share: asking it, and texts to ask of."""

from __future__ import annotations

import random

from jupyter_memory.search.profiles import auto
from jupyter_memory.search.query.parser import terms
from jupyter_memory.storage.sqlite.indexes import keyword
from jupyter_memory.types import Filters

ANY = Filters()


def texts_found(database, query, weights=auto.columns, count=20, kept=None):
    """Return the texts that a query finds, best first."""
    with database.read() as connection:
        found = keyword.search(connection, terms(query), weights, ANY, count, kept)
        texts = dict(connection.execute("select memory, text from texts"))
    return [texts[one.memory] for one in found]


def corpus(seed, count=400):
    """Return texts in which some words are everywhere and others rare, of several lengths."""
    rng = random.Random(seed)
    rare = [f"rare{i}" for i in range(30)]
    everywhere = ["price", "model", "zürich"]
    return [
        " ".join(
            [word for word in everywhere if rng.random() < 0.8]
            + rng.sample(rare, rng.randint(1, 3))
            + ["filler"] * rng.randint(0, 8)
            + [f"own{i}"]
        )
        for i in range(count)
    ]
