"""Embedding every chunk again with another model, beside the old vectors, and dropping vectors that are not in use."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_memory.embedders import base
from jupyter_memory.errors import InputError, StoreDamaged
from jupyter_memory.runtime import counted
from jupyter_memory.storage.base import Model
from jupyter_memory.storage.writing import Storage
from jupyter_memory.text.markdown import embedding_text
from jupyter_memory.types.protocols import Embedder

_BATCH = 256


def reembed(storage: Storage, embedder: Embedder, *, progress: bool, keep: bool) -> int:
    """Embed every chunk that has no vector of this model, or a damaged one, then make it the active one.

    Each batch is a transaction of its own, and so is the switch. If it is interrupted at any point, the store searches
    with the old vectors, and the next call writes what is left. Without ``keep`` the other models' vectors are dropped.

    Raises:
        EmbedderError: the model cannot run here, or gives no vectors that can be stored.
    """
    model = storage.writer.register_model(embedder)
    storage.writer.drop_damaged_vectors(embedder)
    with storage.snapshot() as snapshot:
        left = snapshot.count_without_vectors(model)
    written, last = 0, 0
    with counted(left, progress, "Embedding", "chunk") as advance:
        while True:
            texts = _next_texts(storage, embedder, last)
            if texts:
                vectors = base.documents(embedder, list(texts.values()))
                done = storage.writer.add_vectors(embedder, dict(zip(texts, vectors, strict=True)))
                written, last = written + done, max(texts)
                advance(done)
            elif storage.writer.activate_model(embedder):
                break
            else:
                last = 0  # somebody added a chunk, or dropped our vectors, at this very moment
    if not keep:
        drop(storage, None)
    return written


def drop(storage: Storage, name: str | None) -> int:
    """Remove the vectors of the models of this name that are not in use, of all such models if None; count them.

    Raises:
        InputError: no model has this name or fingerprint, or only the one in use.
    """
    with storage.snapshot() as snapshot:
        active, models = snapshot.active_model(), snapshot.models()
    known = [model for model in models if name in (None, model.name, model.fingerprint)]
    chosen = [model for model in known if model != active]
    if name is not None and not chosen:
        raise InputError(_refused(name, known, models))
    return storage.writer.drop_models(chosen)


def _refused(name: str, found: Sequence[Model], known: Sequence[Model]) -> str:
    if found:
        return (
            f"The vectors of {name} are in use, so they stay. Embed with another model first: store.reembed('static')."
        )
    names = ", ".join(dict.fromkeys(model.name for model in known)) or "none"
    return f"The store has no vectors of {name!r}; it has those of: {names}."


def _next_texts(storage: Storage, embedder: Embedder, last: int) -> dict[int, str]:
    """Return what to embed for the next chunks above ``last`` that lack a vector."""
    with storage.snapshot() as snapshot:
        model = snapshot.model(embedder.fingerprint)
        chunks = [] if model is None else snapshot.chunks_without_vectors(model, _BATCH, last)
        parts = snapshot.embedded_parts(chunks)
    if len(parts) < len(chunks):
        raise StoreDamaged(f"{storage.path} has chunks without a text. Restore a backup with `jupyter-memory restore`.")
    return {chunk: embedding_text(*part) for chunk, part in parts.items()}
