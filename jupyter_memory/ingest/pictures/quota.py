"""Keeps the pictures of a store within the size that the settings allow, and counts what is kept and left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from jupyter_memory.ingest.pictures.thumbnails import NO_PILLOW, available
from jupyter_memory.storage.base import Prepared, Thumbnails
from jupyter_memory.types.picture import LARGEST_THUMBNAIL, Pictures
from jupyter_memory.types.report import PictureReport

FULL = "beyond the setting thumbnails_max_mb"
# What may be otherwise the next time.
_FOR_NOW = {FULL, NO_PILLOW}


class Quota:
    """The room for the pictures of one space of a store, in which all of them may have ``most`` bytes."""

    def __init__(self, held: Thumbnails, most: int, space: str) -> None:
        self._held = held
        self._most = most
        self._space = space
        self._room = 0
        self._fitting: list[Pictures] = []
        self._kept = 0
        self._left_out: Counter[str] = Counter()

    def has_room(self) -> bool:
        """Return whether a picture of any size could be kept."""
        return available() and self._held.size((), self._space) + LARGEST_THUMBNAIL <= self._most

    def begin(self, paths: Sequence[str]) -> None:
        """Count the room before these files are written in place of what they were."""
        self._room = self._most - self._held.size(paths, self._space)
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
            return Pictures((), (*pictures.left_out, *[FULL] * len(pictures.thumbnails)))
        self._room -= pictures.size
        return pictures
