"""Makes the thumbnails of one file, as readers hand over its pictures: in bytes, or as the base64 of notebooks."""

from __future__ import annotations

import binascii
import time
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.pictures.thumbnails import (
    DAMAGED,
    LARGEST_PICTURE,
    NO_PILLOW,
    TOO_LARGE,
    PictureError,
    available,
    thumbnail,
)
from jupyter_memory.ingest.readers.isolated.drawing import can_draw, drawn, is_svg
from jupyter_memory.types.memory import MOST_THUMBNAILS, NO_PICTURES, Pictures, Thumbnail

# A picture of a document: its bytes, or their base64; None is one that cannot be shown.
Picture = bytes | str | None

# Pixels that are read of all pictures of one file: some ten seconds for a file that wants to take long. What is drawn
# counts by its time.
_PIXELS_OF_FILE = 500_000_000
_PIXELS_A_SECOND = 50_000_000

NO_READER = "of a format that is not read"
TOO_MANY = f"beyond {MOST_THUMBNAILS} of a cell"
NO_RESVG = "in SVG, for which resvg is missing: pip install 'jupyter-memory[pictures]'"
NOT_DRAWN = "in SVG that cannot be drawn"
TOO_MUCH = "beyond what is read of one file"


class PictureReader:
    """Makes the thumbnails of one file, part by part; those that are known by their origin are taken as they are."""

    def __init__(self, known: Mapping[str, Thumbnail]) -> None:
        self._known = known
        self._pixels = 0

    def read(self, pictures: Sequence[Picture]) -> Pictures:
        """Return the thumbnails of the pictures of one part; the same picture twice counts once."""
        if not pictures:
            return NO_PICTURES
        thumbnails: list[Thumbnail] = []
        left_out = []
        for picture in dict.fromkeys(pictures):
            try:
                if len(thumbnails) == MOST_THUMBNAILS:
                    raise PictureError(TOO_MANY)
                thumbnails.append(self._thumbnail(picture))
            except PictureError as error:
                left_out.append(error.reason)
        return Pictures(tuple(thumbnails), tuple(left_out))

    def _thumbnail(self, picture: Picture) -> Thumbnail:
        if picture is None:
            raise PictureError(NO_READER)
        origin = blake2b(picture if isinstance(picture, bytes) else picture.encode(), digest_size=16).hexdigest()
        if origin in self._known:
            return self._known[origin]
        if self._pixels >= _PIXELS_OF_FILE:
            raise PictureError(TOO_MUCH)
        data = picture if isinstance(picture, bytes) else _decoded(picture)
        found, pixels = thumbnail(self._drawn(data) if is_svg(data) else data)
        self._pixels += pixels
        return replace(found, origin=origin)

    def _drawn(self, picture: bytes) -> bytes:
        if not available():
            raise PictureError(NO_PILLOW)
        if not can_draw():
            raise PictureError(NO_RESVG)
        if len(picture) > LARGEST_PICTURE:
            raise PictureError(TOO_LARGE)
        begun = time.monotonic()
        try:
            return drawn(picture)
        # Where the process cannot be started, the notebook is read without the picture.
        except (InputError, OSError):
            raise PictureError(NOT_DRAWN) from None
        finally:
            self._pixels += int((time.monotonic() - begun) * _PIXELS_A_SECOND)


def _decoded(picture: str) -> bytes:
    # Four characters are three bytes.
    if len(picture) > LARGEST_PICTURE * 3 // 2:
        raise PictureError(TOO_LARGE)
    try:
        return b64decode(picture)
    except (binascii.Error, ValueError):
        raise PictureError(DAMAGED) from None
