"""The models whose vectors a store holds, and how far each can be trusted there."""

from __future__ import annotations

from jupyter_memory.storage.base import Calibration, Model
from jupyter_memory.storage.sql import Session

_MODEL = "select id, fingerprint, name, dimensions from models"


def active(session: Session) -> Model | None:
    """Return the model that searches use, None in a store without vectors."""
    found = session.rows(f"{_MODEL} where active")
    return Model(*found[0]) if found else None


def known(session: Session, fingerprint: str) -> Model | None:
    """Return the model of this fingerprint, None where the store holds no vectors of it."""
    found = session.rows(f"{_MODEL} where fingerprint = :fingerprint", fingerprint=fingerprint)
    return Model(*found[0]) if found else None


def every(session: Session) -> list[Model]:
    """Return every model whose vectors the store holds, complete or not, the oldest first."""
    return [Model(*row) for row in session.rows(f"{_MODEL} order by id")]


def add(session: Session, fingerprint: str, name: str, dimensions: int) -> bool:
    """Note a model, unless it is there; the first one is the active one. Return whether it was new."""
    return (
        session.changed(
            """
            insert into models (fingerprint, name, dimensions, active)
            values (:fingerprint, :name, :dimensions, not exists (select 1 from models where active))
            on conflict (fingerprint) do nothing
            """,
            fingerprint=fingerprint,
            name=name,
            dimensions=dimensions,
        )
        > 0
    )


def activate(session: Session, model: Model) -> None:
    session.changed("update models set active = false where active")
    session.changed("update models set active = true where id = :model", model=model.id)


def calibration(session: Session, model: Model) -> Calibration | None:
    """Return how far a model can be trusted here, None where that was never measured."""
    found = session.rows(
        f"select chunks, value from trust where {session.dialect.opened('trust')} and model = :model", model=model.id
    )
    return Calibration(*found[0]) if found else None


def keep_calibration(session: Session, model: Model, chunks: int, value: float) -> None:
    """Note how far a model can be trusted in a store of so many chunks, unless the store dropped it meanwhile."""
    if model in every(session):
        measured = {"space": session.space, "model": model.id, "chunks": chunks, "value": value}
        session.insert("trust", [measured], known="do update set chunks = excluded.chunks, value = excluded.value")
