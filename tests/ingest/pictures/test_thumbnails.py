"""A thumbnail is small, has nothing but the picture, and nothing that a file says makes it cost much."""

from __future__ import annotations

import struct
import tracemalloc
import warnings
import zlib
from io import BytesIO

import pytest
from pictures import noise, plot, written
from PIL import Image, ImageDraw, PngImagePlugin, features

from jupyter_memory.ingest import pictures
from jupyter_memory.ingest.pictures import DAMAGED, NO_PILLOW, TOO_LARGE, PictureError, thumbnail
from jupyter_memory.types import LARGEST_THUMBNAIL


def opened(found):
    """Return a thumbnail as Pillow reads it."""
    return Image.open(BytesIO(found.image))


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def bomb(width, height):
    """Return a small PNG that says it is large."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress(bytes(min(height, 2_000) * (1 + 3 * width))) if width < 100_000 else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.parametrize("format", ["PNG", "JPEG", "GIF", "WEBP"])
def test_every_format_becomes_a_small_picture(format):
    """Each of the four formats becomes WebP of at most 12 KB that fits a card, in the shape of the picture."""
    found, pixels = thumbnail(plot(size=(1600, 800), format=format))

    assert found.media_type == "image/webp" and len(found.image) <= LARGEST_THUMBNAIL == 12_000
    assert opened(found).size == (found.width, found.height) == (480, 240)
    assert 0 < pixels <= 1600 * 800


def test_a_small_picture_keeps_its_size():
    """Nothing is made larger."""
    assert thumbnail(plot(size=(120, 90)))[0].width == 120


def test_what_cannot_be_made_small_becomes_smaller():
    """Noise, which no encoder likes, is shown at a lower size rather than not at all."""
    found, _ = thumbnail(noise())

    assert len(found.image) <= LARGEST_THUMBNAIL and 0 < found.width < 480


def test_without_webp_it_is_png(monkeypatch):
    """A build of Pillow without WebP makes PNG, of noise too."""
    monkeypatch.setattr(features, "check", lambda name: False)
    for data in (plot(), noise((400, 300))):
        found, _ = thumbnail(data)
        assert found.media_type == "image/png" and len(found.image) <= LARGEST_THUMBNAIL
        assert opened(found).format == "PNG"


def test_of_an_animation_the_first_frame_is_shown():
    """A GIF shows how it begins."""
    frames = [Image.new("RGB", (60, 40), colour) for colour in ("red", "green", "blue")]
    found, _ = thumbnail(written(frames[0], "GIF", save_all=True, append_images=frames[1:]))
    red, green, blue = opened(found).convert("RGB").getpixel((30, 20))

    assert red > 200 > 80 > max(green, blue)


@pytest.mark.parametrize(("ink", "is_dark"), [("black", False), ("#eeeeee", True)])
def test_what_is_transparent_gets_a_ground(ink, is_dark):
    """Dark lines are seen on white, light ones on a dark ground: the theme of the panel is not that of the plot."""
    picture = Image.new("RGBA", (200, 100), (0, 0, 0, 0))
    ImageDraw.Draw(picture).line((0, 50, 200, 50), fill=ink, width=5)
    found, _ = thumbnail(written(picture, "PNG"))
    ground = opened(found).convert("L").getpixel((10, 10))

    assert (ground < 60) is is_dark and (ground > 200) is not is_dark


def test_a_photograph_is_turned_and_loses_what_its_file_says():
    """The camera's rotation is done, and place, camera and comments of the file are not kept."""
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = 6, "secret camera"
    told = PngImagePlugin.PngInfo()
    told.add_text("Comment", "secret comment")
    turned, _ = thumbnail(written(Image.new("RGB", (200, 100), "red"), "JPEG", exif=exif))
    plain, _ = thumbnail(written(Image.new("RGB", (20, 10), "red"), "PNG", pnginfo=told))

    assert (turned.width, turned.height) == (100, 200)
    assert b"secret" not in turned.image + plain.image and b"EXIF" not in turned.image


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", DAMAGED),
        (b"no picture", DAMAGED),
        (plot()[:5_000], DAMAGED),
        (plot(format="JPEG")[:3_000], DAMAGED),
        (plot()[:60] + b"\0" * 500 + plot()[560:], DAMAGED),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", DAMAGED),
        (written(Image.new("RGB", (9, 9)), "TIFF"), DAMAGED),
        (bomb(30_000, 30_000), TOO_LARGE),
        (bomb(6_001, 6_001), TOO_LARGE),
        (bomb(2_000_000_000, 2_000_000_000), TOO_LARGE),
        (bytes(21_000_000), TOO_LARGE),
    ],
    ids=["empty", "text", "cut", "cut JPEG", "zeros", "SVG", "TIFF", "bomb", "small bomb", "lie", "long"],
)
def test_a_bad_picture_is_refused_with_the_reason(data, reason):
    """Whatever is wrong with a file, it is one error of ours, without a warning, and in little memory."""
    tracemalloc.start()
    with warnings.catch_warnings(), pytest.raises(PictureError) as refused:
        warnings.simplefilter("error")
        thumbnail(data)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert refused.value.reason == reason
    assert most < 30_000_000


def test_without_pillow_it_says_what_to_install(monkeypatch):
    """Pillow is optional, and the reason names what brings it."""
    monkeypatch.setattr(pictures, "available", lambda: False)
    with pytest.raises(PictureError) as refused:
        thumbnail(plot())
    assert refused.value.reason == NO_PILLOW and "jupyter-memory[pictures]" in NO_PILLOW
