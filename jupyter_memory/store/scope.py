"""What a store is bound to: its space, the folder of relative paths, and the names by which it knows files."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_memory.search.query.filters import from_folder
from jupyter_memory.storage.base import SearchStorage
from jupyter_memory.store.known_names import by_known_names
from jupyter_memory.types import Filters


@dataclass(frozen=True, slots=True)
class Scope:
    """A store's space, unless filters name another, and its folder of relative paths.

    Without a space everything is seen; without a folder, relative paths are those of the working folder.
    """

    storage: SearchStorage
    space: str = ""
    folder: str = ""

    def bound(self, filters: Filters, *, every_name: bool = False) -> Filters:
        """Return filters as they hold in this store, with paths by the names that it knows; see ``by_known_names``."""
        found = from_folder(filters, self.folder) if self.folder else filters
        found = found.with_defaults(space=(self.space,)) if self.space else found
        return by_known_names(found, self.storage, self.space, every_name=every_name)
