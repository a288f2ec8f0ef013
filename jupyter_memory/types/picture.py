"""Pictures that a part of a document shows, scaled down to be kept with its memory."""

from __future__ import annotations

from dataclasses import dataclass

# Bytes that a thumbnail may have, and how many a memory may have.
LARGEST_THUMBNAIL = 12_000
MOST_THUMBNAILS = 8


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A picture, scaled down and encoded anew; ``width`` and ``height`` are its own, in pixels.

    ``origin`` is a digest of the picture that it was made from, by which the same picture is known again.
    """

    media_type: str
    width: int
    height: int
    image: bytes
    origin: str = ""

    def __repr__(self) -> str:
        return f"<Thumbnail: {self.width} x {self.height}, {self.media_type}, {len(self.image):,} bytes>"


@dataclass(frozen=True, slots=True)
class Pictures:
    """The pictures of one memory: thumbnails in their order, and for each that has none the reason."""

    thumbnails: tuple[Thumbnail, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Return how many bytes the thumbnails have."""
        return sum(len(one.image) for one in self.thumbnails)


NO_PICTURES = Pictures()
