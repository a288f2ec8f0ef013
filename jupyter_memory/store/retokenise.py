"""The tokens of chunks that were stored without them, by an older version, told once and for all."""

from __future__ import annotations

from jupyter_memory.embedders.tokenizer.pieces import distinct, tokens
from jupyter_memory.storage import sampling, token_ids
from jupyter_memory.storage.sqlite import Database
from jupyter_memory.text.structure import embedding_text
from jupyter_memory.text.unicode import storable

_BATCH = 1_000


def retokenise(database: Database) -> int:
    """Keep the tokens of every chunk that lacks them, each batch a transaction; return how many that were.

    Raises:
        EmbedderUnavailable: the tokenizer's file is missing.
    """
    last = done = 0
    while True:
        with database.write() as connection:
            chunks = token_ids.lacking(connection, _BATCH, last)
            if not chunks:
                return done
            parts = sampling.embedded_parts(connection, chunks)
            ids = distinct(tokens([storable(embedding_text(*part)) for part in parts.values()]))
            token_ids.keep(connection, dict(zip(parts, ids, strict=True)))
        last, done = chunks[-1], done + len(parts)
