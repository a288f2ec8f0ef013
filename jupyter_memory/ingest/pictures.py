"""Thumbnails of the pictures in a notebook, within the quota of its store."""

from __future__ import annotations

import time
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from io import BytesIO
from typing import TYPE_CHECKING

from jupyter_memory.config import JupyterMemory, budget
from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.isolated import can_draw, drawn, is_svg
from jupyter_memory.storage.base import Prepared
from jupyter_memory.storage.databases import Storage
from jupyter_memory.types.memory import LARGEST_THUMBNAIL, MOST_THUMBNAILS, Pictures, Thumbnail
from jupyter_memory.types.report import PictureReport

if TYPE_CHECKING:
    from PIL import Image

# A thumbnail of an untrusted picture is small, without metadata, and has a bounded cost. Pillow is imported late: most
# files show no pictures.

# What is read of a picture: bytes as it is stored, and pixels. The latter take some 0.5 s and 150 MB.
_LARGEST_PICTURE = 20_000_000
_MOST_PIXELS = 36_000_000
# Pixels of a thumbnail: a card shows up to 240 x 180, twice that on a screen of high density.
_WIDTH, _HEIGHT = 480, 360
# Tried in turn until the thumbnail is small enough: its part of that size, and the quality of WebP or the colours of
# PNG. The last ones are small whatever they show.
_WEBP = ((1.0, 60), (1.0, 35), (0.75, 40), (0.5, 40), (0.3, 30), (0.15, 10))
_PNG = ((1.0, 64), (1.0, 16), (0.75, 16), (0.5, 16), (0.3, 16), (0.15, 8))
_LIGHT = 150

_DAMAGED = "damaged"
_TOO_LARGE = "too large"


class _PictureError(ValueError):
    pass  # its text says in a word or two why a picture has no thumbnail


def _thumbnail(data: bytes) -> tuple[Thumbnail, int]:
    # Of a picture as it is stored in a file, with the pixels read for it. Of several frames the first is shown. What is
    # transparent gets the ground on which the rest can be seen.
    if len(data) > _LARGEST_PICTURE:
        raise _PictureError(_TOO_LARGE)
    from PIL import Image, ImageOps
    from PIL.GifImagePlugin import GifImageFile
    from PIL.JpegImagePlugin import JpegImageFile
    from PIL.PngImagePlugin import PngImageFile
    from PIL.WebPImagePlugin import WebPImageFile

    # It is opened by the decoder that its first bytes name: no other one ever sees it, and `Image.open` would warn of a
    # large picture.
    decoders: dict[bytes, Callable[[BytesIO], Image.Image]] = {
        b"\x89PNG": PngImageFile,
        b"\xff\xd8\xff": JpegImageFile,
        b"GIF8": GifImageFile,
        b"RIFF": WebPImageFile,
    }
    try:
        decoder = next(decoder for begin, decoder in decoders.items() if data.startswith(begin))
        with decoder(BytesIO(data)) as picture:
            if picture.width * picture.height > _MOST_PIXELS:
                raise _PictureError(_TOO_LARGE)
            # JPEG alone can be read at a fraction of its size.
            picture.draft("RGB", (_WIDTH, _HEIGHT))
            pixels = picture.width * picture.height
            picture.load()
            shown = _opaque(ImageOps.exif_transpose(picture))
            shown.thumbnail((_WIDTH, _HEIGHT), Image.Resampling.BICUBIC, reducing_gap=2.0)
            for encoded in _encoded(shown):
                if len(encoded.image) <= LARGEST_THUMBNAIL:
                    return encoded, pixels
    except _PictureError:
        raise
    except MemoryError:
        raise _PictureError(_TOO_LARGE) from None
    except Exception:  # noqa: BLE001  a decoder may raise anything for a broken file
        raise _PictureError(_DAMAGED) from None
    raise _PictureError(_TOO_LARGE)


def _opaque(picture: Image.Image) -> Image.Image:
    from PIL import Image, ImageStat

    if not picture.has_transparency_data:
        return picture.convert("RGB")
    layered = picture.convert("RGBA")
    alpha = layered.getchannel("A")
    if alpha.getextrema() == (255, 255):
        return layered.convert("RGB")
    visible = ImageStat.Stat(layered.convert("L"), alpha.point(lambda value: 255 if value > 127 else 0))
    ground = "#111111" if visible.count[0] and visible.mean[0] > _LIGHT else "#ffffff"
    below = Image.new("RGB", layered.size, ground)
    below.paste(layered, mask=alpha)
    return below


def _encoded(picture: Image.Image) -> Iterator[Thumbnail]:
    from PIL import features

    has_webp = features.check("webp")
    for share, quality in _WEBP if has_webp else _PNG:
        size = (max(1, round(picture.width * share)), max(1, round(picture.height * share)))
        scaled = picture if size == picture.size else picture.resize(size)
        into = BytesIO()
        if has_webp:
            # A higher method takes twice as long, and saves three bytes in a hundred.
            scaled.save(into, "WEBP", quality=quality, method=2)
        else:
            scaled.quantize(quality).save(into, "PNG", optimize=True)
        yield Thumbnail("image/webp" if has_webp else "image/png", *size, into.getvalue())


# A picture of a document: its bytes, or their base64; None is one that cannot be shown.
Picture = bytes | str | None

# Pixels that are read of all pictures of one file: some ten seconds for a file that wants to take long. What is drawn
# counts by its time.
_PIXELS_OF_FILE = 500_000_000
_PIXELS_A_SECOND = 50_000_000


@dataclass(slots=True)
class PictureReader:
    """Makes the thumbnails of one file, part by part; those that are known by their origin are taken unchanged."""

    known: Mapping[str, Thumbnail]
    _pixels: int = 0

    def read(self, pictures: Sequence[Picture]) -> Pictures:
        """Return the thumbnails of the pictures of one part; the same picture twice counts once."""
        thumbnails: list[Thumbnail] = []
        left_out = []
        for picture in dict.fromkeys(pictures):
            try:
                if len(thumbnails) == MOST_THUMBNAILS:
                    raise _PictureError(f"beyond {MOST_THUMBNAILS} of a cell")
                if picture is None:
                    raise _PictureError("of a format that is not read")
                stored = picture if isinstance(picture, bytes) else picture.encode()
                origin = blake2b(stored, digest_size=16).hexdigest()
                thumbnails.append(self.known.get(origin) or replace(self._made(picture), origin=origin))
            except _PictureError as error:
                left_out.append(str(error))
        return Pictures(tuple(thumbnails), tuple(left_out))

    def _made(self, picture: bytes | str) -> Thumbnail:
        if self._pixels >= _PIXELS_OF_FILE:
            raise _PictureError("beyond what is read of one file")
        # Four characters are three bytes.
        if isinstance(picture, str) and len(picture) > _LARGEST_PICTURE * 3 // 2:
            raise _PictureError(_TOO_LARGE)
        try:
            data = b64decode(picture) if isinstance(picture, str) else picture
        except ValueError:
            raise _PictureError(_DAMAGED) from None
        if is_svg(data):
            if not can_draw():
                raise _PictureError("in SVG, for which resvg is missing: pip install 'jupyter-memory[pictures]'")
            if len(data) > _LARGEST_PICTURE:
                raise _PictureError(_TOO_LARGE)
            begun = time.monotonic()
            try:
                data = drawn(data)
            # Where the process cannot be started, the notebook is read without the picture.
            except (InputError, OSError):
                raise _PictureError("in SVG that cannot be drawn") from None
            finally:
                self._pixels += int((time.monotonic() - begun) * _PIXELS_A_SECOND)
        found, pixels = _thumbnail(data)
        self._pixels += pixels
        return found


_FULL = "beyond the setting thumbnails_max_mb"
_OVER_BUDGET = "beyond the setting max_store_mb"
# What may be otherwise the next time.
_FOR_NOW = {_FULL, _OVER_BUDGET}


class Quota:
    """The room for the pictures of one space of a store.

    A file that is written anew may have as many bytes of pictures as before, however large the store is.
    """

    def __init__(self, storage: Storage, settings: JupyterMemory, space: str) -> None:
        self._storage, self._settings, self._space = storage, settings, space
        self._most = int(settings.thumbnails_max_mb * 1_000_000)
        self._room = 0
        self._why = _FULL
        self._fitting: list[Pictures] = []
        self._kept = 0
        self._left_out: Counter[str] = Counter()

    def _left(self) -> int | None:
        # By how many bytes the store may still grow, below 0 where it is too large; None is any number.
        most = budget(self._settings)
        return None if most is None else most - self._storage.held()

    def _held(self, without: Sequence[str] = ()) -> int:
        return self._storage.thumbnails.size(without, self._space)

    def has_room(self) -> bool:
        """Return whether a picture of any size could be kept."""
        left = self._left()
        return (left is None or left >= LARGEST_THUMBNAIL) and self._held() + LARGEST_THUMBNAIL <= self._most

    def begin(self, paths: Sequence[str]) -> None:
        """Count the room before these files are written in place of what they were."""
        others = self._held(paths)
        self._room, self._why = self._most - others, _FULL
        left = self._left()
        if left is not None and (room := max(left, 0) + self._held() - others) < self._room:
            self._room, self._why = room, _OVER_BUDGET
        self._fitting = []

    def fitting(self, memories: Sequence[Prepared]) -> tuple[list[Prepared], bool]:
        """Return the memories of one file with the pictures that there is room for, and whether none lacks room."""
        fitting: list[Pictures] = []
        for pictures in (one.draft.pictures for one in memories):
            if pictures.size > max(self._room, 0):
                # All pictures of a cell or none: a missing one would not be noticed.
                pictures = Pictures((), (*pictures.left_out, *[self._why] * len(pictures.thumbnails)))
            self._room -= pictures.size
            fitting.append(pictures)
        self._fitting += fitting
        changed = [
            one if one.draft.pictures is pictures else replace(one, draft=replace(one.draft, pictures=pictures))
            for one, pictures in zip(memories, fitting, strict=True)
        ]
        return changed, not any(_FOR_NOW.intersection(pictures.left_out) for pictures in fitting)

    def written(self) -> None:
        for pictures in self._fitting:
            self._kept += len(pictures.thumbnails)
            self._left_out.update(pictures.left_out)
        self._fitting = []

    @property
    def report(self) -> PictureReport:
        """Return what became of the pictures in all files that were written."""
        return PictureReport(self._kept, tuple(self._left_out.most_common()))
