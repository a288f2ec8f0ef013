"""Makes a thumbnail of a picture that nobody vouches for: small, without metadata, at a bounded cost.

Pillow is imported late: it is optional, and most files show no pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING

from jupyter_memory.types.memory import LARGEST_THUMBNAIL, Thumbnail

if TYPE_CHECKING:
    from PIL import Image

# What is read of a picture: bytes as it is stored, and pixels. The latter take some 0.5 s and 150 MB.
LARGEST_PICTURE = 20_000_000
MOST_PIXELS = 36_000_000
# Pixels of a thumbnail: a card shows up to 240 x 180, twice that on a screen of high density.
_WIDTH, _HEIGHT = 480, 360
# Tried in turn until the thumbnail is small enough: its part of that size, and the quality of WebP or the colours of
# PNG. The last ones are small whatever they show.
_WEBP = ((1.0, 60), (1.0, 35), (0.75, 40), (0.5, 40), (0.3, 30), (0.15, 10))
_PNG = ((1.0, 64), (1.0, 16), (0.75, 16), (0.5, 16), (0.3, 16), (0.15, 8))
# Between light and dark, 0 to 255.
_LIGHT = 150

DAMAGED = "damaged"
TOO_LARGE = "too large"
NO_PILLOW = "for which Pillow is missing: pip install 'jupyter-memory[pictures]'"


class PictureError(ValueError):
    """A picture has no thumbnail; ``reason`` says in a word or two why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@cache
def available() -> bool:
    """Return whether Pillow is installed."""
    return find_spec("PIL") is not None


def thumbnail(data: bytes) -> tuple[Thumbnail, int]:
    """Return the thumbnail of a picture as it is stored in a file, and how many pixels were read for it.

    Of several frames the first is shown. What is transparent gets the ground on which the rest can be seen.

    Raises:
        PictureError: the picture is damaged, too large, or of a format that is not read; or Pillow is missing.
    """
    if not available():
        raise PictureError(NO_PILLOW)
    if len(data) > LARGEST_PICTURE:
        raise PictureError(TOO_LARGE)
    try:
        return _thumbnail(data)
    except PictureError:
        raise
    except MemoryError:
        raise PictureError(TOO_LARGE) from None
    except Exception:  # noqa: BLE001  a decoder may raise anything for a broken file
        raise PictureError(DAMAGED) from None


def _thumbnail(data: bytes) -> tuple[Thumbnail, int]:
    from PIL import Image, ImageOps

    with _opened(data) as picture:
        # JPEG alone can be read at a fraction of its size.
        picture.draft("RGB", (_WIDTH, _HEIGHT))
        pixels = picture.width * picture.height
        picture.load()
        shown = _opaque(ImageOps.exif_transpose(picture))
        shown.thumbnail((_WIDTH, _HEIGHT), Image.Resampling.BICUBIC, reducing_gap=2.0)
        for encoded in _encoded(shown):
            if len(encoded.image) <= LARGEST_THUMBNAIL:
                return encoded, pixels
    raise PictureError(TOO_LARGE)


def _opened(data: bytes) -> Image.Image:
    """Return a picture of which only the head has been read, so that it has cost nothing yet.

    It is opened by the decoder that its first bytes name: no other one ever sees it, and `Image.open` would warn of a
    large picture, to whoever indexes it.
    """
    from PIL.GifImagePlugin import GifImageFile
    from PIL.JpegImagePlugin import JpegImageFile
    from PIL.PngImagePlugin import PngImageFile
    from PIL.WebPImagePlugin import WebPImageFile

    decoders: dict[bytes, Callable[[BytesIO], Image.Image]] = {
        b"\x89PNG": PngImageFile,
        b"\xff\xd8\xff": JpegImageFile,
        b"GIF8": GifImageFile,
        b"RIFF": WebPImageFile,
    }
    decoder = next((decoder for begin, decoder in decoders.items() if data.startswith(begin)), None)
    if decoder is None:
        raise PictureError(DAMAGED)
    picture = decoder(BytesIO(data))
    if picture.width * picture.height > MOST_PIXELS:
        raise PictureError(TOO_LARGE)
    return picture


def _opaque(picture: Image.Image) -> Image.Image:
    """Return a picture in RGB, on a dark ground if its visible part is light, else on a white one."""
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
    """Yield a picture as ever smaller thumbnails."""
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
