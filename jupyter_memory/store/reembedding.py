"""Writing a store's vectors anew with another model, beside the old ones."""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw
import numpy as np

from jupyter_memory.embedders import checked
from jupyter_memory.errors import InputError, StoreDamaged
from jupyter_memory.progress import counted
from jupyter_memory.protocols import Embedder
from jupyter_memory.storage import keyword_upkeep
from jupyter_memory.storage.base import Model
from jupyter_memory.storage.sqlite import Database
from jupyter_memory.storage.vectors import VectorIndex
from jupyter_memory.text.structure import embedding_text

_BATCH = 256


def reembed(database: Database, vectors: VectorIndex, embedder: Embedder, *, progress: bool, keep: bool) -> int:
    """Embed every chunk that has no vector of this model, then make it the active one.

    Each batch is a transaction of its own, and the switch one more: interrupted at any point, the store searches with
    the old vectors and the next call writes what is left. Without ``keep`` the other models' vectors are dropped.

    Raises:
        EmbedderError: the model cannot run here, or gives no vectors that can be stored.
    """
    written, last = 0, 0
    with counted(_lacking(database, vectors, embedder), progress, "Embedding", "chunk") as advance:
        while True:
            texts = _after(database, vectors, embedder, last)
            if texts:
                done = _write(database, vectors, embedder, texts)
                written, last = written + done, max(texts)
                advance(done)
            elif _switch(database, vectors, embedder):
                break
            else:
                last = 0  # somebody added a chunk, or dropped our vectors, at this very moment
    if not keep:
        drop(database, vectors, None)
    return written


def drop(database: Database, vectors: VectorIndex, name: str | None) -> int:
    """Remove the vectors of the models of this name that are not in use, of all such models if None; count them.

    Raises:
        InputError: no model has this name or fingerprint, or only the one in use.
    """
    with database.write() as connection:
        active = vectors.active(connection)
        known = [model for model in vectors.models(connection) if name in (None, model.name, model.fingerprint)]
        chosen = [model for model in known if model != active]
        if name is not None and not chosen:
            raise InputError(_refused(name, known, vectors.models(connection)))
        gone = sum(vectors.count(connection, model) for model in chosen)
        for model in chosen:
            vectors.drop(connection, model)
    if chosen:
        database.scrub(keyword_upkeep.clear_traces)
    return gone


def _refused(name: str, found: Sequence[Model], known: Sequence[Model]) -> str:
    if found:
        return (
            f"The vectors of {name} are in use, so they stay. Embed with another model first: store.reembed('static')."
        )
    names = ", ".join(dict.fromkeys(model.name for model in known)) or "none"
    return f"The store has no vectors of {name!r}; it has those of: {names}."


def _lacking(database: Database, vectors: VectorIndex, embedder: Embedder) -> int:
    """Return how many chunks have no vector of this embedder."""
    with database.write() as connection:
        model = vectors.register(connection, embedder)
        return int(connection.execute("select count(*) from chunks").get) - vectors.count(connection, model)


def _after(database: Database, vectors: VectorIndex, embedder: Embedder, last: int) -> dict[int, str]:
    """Return what to embed for the next chunks above ``last`` that lack a vector."""
    with database.read() as connection:
        model = vectors.known(connection, embedder.fingerprint)
        chunks = [] if model is None else vectors.missing(connection, model, _BATCH, last)
        texts = _texts(connection, chunks)
    if len(texts) < len(chunks):
        raise StoreDamaged(
            f"{database.path} has chunks without a text. Restore a backup with `jupyter-memory restore`."
        )
    return texts


def _write(database: Database, vectors: VectorIndex, embedder: Embedder, texts: dict[int, str]) -> int:
    """Embed and store one batch; return how many vectors that were."""
    embedded = dict(zip(texts, checked.documents(embedder, list(texts.values())), strict=True))
    with database.write() as connection:
        model = vectors.register(connection, embedder)
        # What was forgotten meanwhile must not leave a vector behind.
        left = [chunk for chunk in vectors.missing(connection, model, len(texts), min(texts) - 1) if chunk in embedded]
        if left:
            vectors.add(connection, model, left, np.stack([embedded[chunk] for chunk in left]))
    return len(left)


def _switch(database: Database, vectors: VectorIndex, embedder: Embedder) -> bool:
    """Make the model the active one unless a chunk lacks its vector; nobody can add one in between."""
    with database.write() as connection:
        model = vectors.register(connection, embedder)
        if vectors.missing(connection, model, 1):
            return False
        if vectors.active(connection) != model:
            vectors.activate(connection, model)
    return True


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
