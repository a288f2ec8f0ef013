"""Writing a store's vectors anew with another model, beside the old ones."""

from __future__ import annotations

import json

import apsw

from jupyter_memory.prepare import embedding_text
from jupyter_memory.protocols import Embedder
from jupyter_memory.storage.sqlite import Database
from jupyter_memory.storage.vectors import VectorIndex

_BATCH = 256


def reembed(database: Database, vectors: VectorIndex, embedder: Embedder, *, progress: bool) -> int:
    """Embed every chunk that has no vector of this model, make it the active one, and drop the others' vectors.

    Each batch is a transaction of its own, and the switch one more: interrupted at any point, the store searches with
    the old vectors and the next call writes what is left.
    """
    with database.write() as connection:
        model = vectors.register(connection, embedder)
        left = connection.execute(
            f"select count(*) from chunks where id not in (select chunk from codes_{model.id})"
        ).get
    from tqdm.auto import tqdm

    written = 0
    with tqdm(total=left, desc="Embedding", unit="chunk", disable=not progress) as bar:
        while True:
            with database.read() as connection:
                chunks = vectors.missing(connection, model, _BATCH)
                texts = _texts(connection, chunks)
            if not chunks:
                break
            embedded = embedder.embed_documents(texts)
            with database.write() as connection:
                vectors.add(connection, model, chunks, embedded)
            written += len(chunks)
            bar.update(len(chunks))
    with database.write() as connection:
        vectors.activate(connection, model)
        for other in vectors.others(connection, model):
            vectors.drop(connection, other)
    database.scrub()
    return written


def _texts(connection: apsw.Connection, chunks: list[int]) -> list[str]:
    rows = connection.execute(
        """
        select chunks.id, memories.kind, chunk_texts.title, chunk_texts.context, chunk_texts.text
        from chunk_texts join chunks on chunks.id = chunk_texts.id join memories on memories.key = chunks.memory
        where chunk_texts.id in (select value from json_each(?))
        """,
        (json.dumps(chunks),),
    )
    found = {row[0]: embedding_text(*row[1:]) for row in rows}
    return [found[chunk] for chunk in chunks]
