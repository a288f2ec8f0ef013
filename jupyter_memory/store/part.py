"""A part of a store that is searched as if there were nothing else, for programs that may see no more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from jupyter_memory.storage.base import Snapshot, Storage
from jupyter_memory.types import Filters


@dataclass(frozen=True, slots=True)
class PartOfStore:
    """What a search asks of a store, within filters: `storage.base.SearchStorage` says what each method does."""

    storage: Storage
    within: Filters

    @property
    def path(self) -> Path:
        return self.storage.path

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        return self.storage.snapshot(self.within)

    def searching(self, weights: Mapping[str, float], stop_words: Iterable[str], /) -> AbstractContextManager[None]:
        return self.storage.searching(weights, stop_words)
