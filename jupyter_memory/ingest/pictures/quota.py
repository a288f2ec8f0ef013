"""Keeps the pictures of a store within the size that the settings allow, and counts what is kept and left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from jupyter_memory.config import JupyterMemory, budget
from jupyter_memory.ingest.pictures.thumbnails import NO_PILLOW, available
from jupyter_memory.storage.base import Prepared, Storage, Thumbnails
from jupyter_memory.types.memory import LARGEST_THUMBNAIL, Pictures
from jupyter_memory.types.report import PictureReport

FULL = "beyond the setting thumbnails_max_mb"
OVER_BUDGET = "beyond the setting max_store_mb"
# What may be otherwise the next time.
_FOR_NOW = {FULL, OVER_BUDGET, NO_PILLOW}


def quota_of(storage: Storage, settings: JupyterMemory, space: str) -> Quota | None:
    """Return the room for pictures that the settings leave in a space of a store, None if none are kept."""
    if not settings.thumbnails:
        return None

    def left() -> int | None:
        most = budget(settings)
        return None if most is None else most - storage.held()

    return Quota(storage.thumbnails, int(settings.thumbnails_max_mb * 1_000_000), space, left)


class Quota:
    """The room for the pictures of one space of a store, in which all of them may have ``most`` bytes.

    ``left`` returns how many bytes the store may still grow by, below 0 where it is too large; None is any number. A
    file that is written anew may have as many bytes of pictures as before, however large the store is.
    """

    def __init__(self, held: Thumbnails, most: int, space: str, left: Callable[[], int | None] = lambda: None) -> None:
        self._held = held
        self._most = most
        self._space = space
        self._left = left
        self._room = 0
        self._why = FULL
        self._fitting: list[Pictures] = []
        self._kept = 0
        self._left_out: Counter[str] = Counter()

    def has_room(self) -> bool:
        """Return whether a picture of any size could be kept."""
        left = self._left()
        if left is not None and left < LARGEST_THUMBNAIL:
            return False
        return available() and self._held.size((), self._space) + LARGEST_THUMBNAIL <= self._most

    def begin(self, paths: Sequence[str]) -> None:
        """Count the room before these files are written in place of what they were."""
        others = self._held.size(paths, self._space)
        self._room, self._why = self._most - others, FULL
        left = self._left()
        if left is not None and (room := max(left, 0) + self._held.size((), self._space) - others) < self._room:
            self._room, self._why = room, OVER_BUDGET
        self._fitting = []

    def fitting(self, memories: Sequence[Prepared]) -> tuple[list[Prepared], bool]:
        """Return the memories of one file with the pictures that there is room for, and whether none lacks room."""
        fitting = [self._fit(one.draft.pictures) for one in memories]
        self._fitting += fitting
        changed = [
            one if one.draft.pictures is pictures else replace(one, draft=replace(one.draft, pictures=pictures))
            for one, pictures in zip(memories, fitting, strict=True)
        ]
        return changed, not any(_FOR_NOW.intersection(pictures.left_out) for pictures in fitting)

    def written(self) -> None:
        """Count the pictures of the files that were written."""
        for pictures in self._fitting:
            self._kept += len(pictures.thumbnails)
            self._left_out.update(pictures.left_out)

    @property
    def report(self) -> PictureReport:
        """Return what became of the pictures in all files that were written."""
        return PictureReport(self._kept, tuple(self._left_out.most_common()))

    def _fit(self, pictures: Pictures) -> Pictures:
        if pictures.size > max(self._room, 0):
            # All pictures of a cell or none: nobody would see that there is another one.
            return Pictures((), (*pictures.left_out, *[self._why] * len(pictures.thumbnails)))
        self._room -= pictures.size
        return pictures
