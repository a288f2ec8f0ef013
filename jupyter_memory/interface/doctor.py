"""Examines an installation and its store: the versions in use, and each problem with its cure."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.metadata import version
from platform import platform
from typing import TYPE_CHECKING

from jupyter_memory.config import load_config, models_folder
from jupyter_memory.embedders.download.model_cache import CachedModel
from jupyter_memory.embedders.registry import MODELS
from jupyter_memory.storage.databases import versions

if TYPE_CHECKING:
    from jupyter_memory.store.memory_store import MemoryStore


@dataclass(frozen=True, slots=True)
class Findings:
    """Facts by name, and problems with their cures."""

    facts: tuple[tuple[str, str], ...]
    problems: tuple[str, ...]


def examine(store: MemoryStore, problems: list[str]) -> Findings:
    """Return the findings for a store; ``problems`` are those that reading the settings found."""
    sqlite = versions()
    facts = (
        ("jupyter-memory", version("jupyter-memory")),
        ("Python", f"{sys.version.split()[0]} on {platform(terse=True)}"),
        ("SQLite", f"{sqlite['SQLite']}, sqlite-vec {sqlite['sqlite-vec']}"),
        ("store", str(store.path)),
    )
    models = models_folder(load_config(on_problem=lambda problem: None))
    damaged = [damage for entry in MODELS.values() if (damage := CachedModel(models, entry).damage())]
    return Findings(facts, (*problems, *store.doctor(), *damaged))
