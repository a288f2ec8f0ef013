"""Writing a store's vectors anew with another model, beside the old ones."""

from __future__ import annotations

import json

import apsw
import numpy as np

from jupyter_memory import embedding
from jupyter_memory.prepare import embedding_text
from jupyter_memory.protocols import Embedder
from jupyter_memory.storage import keyword
from jupyter_memory.storage.sqlite import Database
from jupyter_memory.storage.vectors import VectorIndex

_BATCH = 256


def reembed(database: Database, vectors: VectorIndex, embedder: Embedder, *, progress: bool) -> int:
    """Embed every chunk that has no vector of this model, make it the active one, and drop the others' vectors.

    Each batch is a transaction of its own, and the switch one more: interrupted at any point, the store searches with
    the old vectors and the next call writes what is left.

    Raises:
        EmbedderError: the model cannot run here, or gives no vectors that can be stored.
    """
    from tqdm.auto import tqdm

    written = 0
    with tqdm(total=_lacking(database, vectors, embedder), desc="Embedding", unit="chunk", disable=not progress) as bar:
        while texts := _next(database, vectors, embedder):
            embedded = dict(zip(texts, embedding.documents(embedder, list(texts.values())), strict=True))
            with database.write() as connection:
                model = vectors.register(connection, embedder)
                # What was forgotten meanwhile must not leave a vector behind.
                left = [chunk for chunk in vectors.missing(connection, model, _BATCH) if chunk in embedded]
                if left:
                    vectors.add(connection, model, left, np.stack([embedded[chunk] for chunk in left]))
            written += len(left)
            bar.update(len(left))
    database.scrub(keyword.clear_traces)
    return written


def _lacking(database: Database, vectors: VectorIndex, embedder: Embedder) -> int:
    """Return how many chunks have no vector of this embedder."""
    with database.write() as connection:
        model = vectors.register(connection, embedder)
        return int(connection.execute("select count(*) from chunks").get) - vectors.count(connection, model)


def _next(database: Database, vectors: VectorIndex, embedder: Embedder) -> dict[int, str]:
    """Return what to embed for the next chunks; when none is left, switch to the model, before anybody adds one."""
    with database.write() as connection:
        model = vectors.register(connection, embedder)
        texts = _texts(connection, vectors.missing(connection, model, _BATCH))
        if not texts:
            vectors.activate(connection, model)
            for other in vectors.others(connection, model):
                vectors.drop(connection, other)
    return texts


def _texts(connection: apsw.Connection, chunks: list[int]) -> dict[int, str]:
    rows = connection.execute(
        """
        select chunks.id, memories.kind, chunk_texts.title, chunk_texts.context, chunk_texts.text
        from chunk_texts join chunks on chunks.id = chunk_texts.id join memories on memories.key = chunks.memory
        where chunk_texts.id in (select value from json_each(?))
        """,
        (json.dumps(chunks),),
    )
    return {row[0]: embedding_text(*row[1:]) for row in rows}
