"""The thumbnails of a store: the pictures that its memories show, written and removed with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from jupyter_memory.types.picture import Thumbnail


class Thumbnails(Protocol):
    """What a store holds of pictures. Each method is one transaction. ``Writer`` stores them with their memories."""

    def get(self, memory_id: str, place: int, /) -> Thumbnail | None:
        """Return a picture of a memory by its place, counted from 0; None where there is none.

        Raises:
            UnknownMemory: no memory has this id.
        """
        ...

    def of_file(self, path: str, space: str, /) -> dict[str, Thumbnail]:
        """Return the pictures of a file in a space by their origin."""
        ...

    def size(self, without: Sequence[str], space: str, /) -> int:
        """Return how many bytes all pictures have, but for those of some files in a space."""
        ...

    def unread(self, paths: Sequence[str], space: str, /) -> set[str]:
        """Return which of these files show pictures that nobody has read yet."""
        ...

    def clear(self) -> int:
        """Remove all pictures without a trace, so that their files count as unread; return how many went."""
        ...
