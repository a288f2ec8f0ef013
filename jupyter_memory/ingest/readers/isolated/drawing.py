"""Draws pictures in SVG as PNG, in the process of the isolated readers: a program that somebody sent may run in one.

resvg draws shapes and text and runs no scripts. What it does not get is a way to other files: references that lead out
of the picture are emptied, and a picture that declares entities, which could hide some, is refused.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from shutil import which
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.isolated.isolation import ISOLATION

# Seconds that a picture may take.
SECONDS = 10.0
# Those of a thumbnail: twice as large takes three times as long, and looks the same.
_WIDTH, _HEIGHT = 480, 360
# Without it, a picture that is measured in points, as those of matplotlib are, would have no size.
_PIXELS_AN_INCH = 96.0
_GENERIC = {
    "font_family": "sans-serif",
    "sans_serif_family": "sans-serif",
    "serif_family": "serif",
    "monospace_family": "monospace",
}
_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:\?xml|!--|!DOCTYPE\s+svg|(?:\w+:)?svg[\s>/])", re.IGNORECASE)
_ENTITY = re.compile(r"<!ENTITY", re.IGNORECASE)
# To a part of the picture, or to a picture in pixels that it holds; all other references are emptied. A target with a
# quotation mark or a bracket is none: it may begin within another attribute and hold a whole reference.
_REFERENCE = re.compile(r"""href\s*=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)')""")
_WITHIN = re.compile(r"""\s*(?:#|data:image/(?:png|jpe?g|gif|webp)[;,])[^"'<>]*""", re.IGNORECASE)


@cache
def can_draw() -> bool:
    """Return whether resvg is installed."""
    return find_spec("resvg_py") is not None


def is_svg(picture: bytes) -> bool:
    """Return whether a picture begins as one in SVG does.

    >>> is_svg(b'<?xml version="1.0"?><svg/>'), is_svg(b"GIF89a")
    (True, False)
    """
    return _START.match(picture) is not None


def drawn(picture: bytes) -> bytes:
    """Return a picture in SVG as PNG of at most 480 x 360 pixels, drawn in another process.

    Raises:
        InputError: it is no SVG or damaged, or it takes too long or too much memory.
    """
    return ISOLATION.draw(__name__, "picture in SVG", picture.decode("utf-8", "replace"), SECONDS)


def draw(picture: str) -> bytes:
    """Return a picture in SVG as PNG, drawn in this process.

    Raises:
        InputError: it declares entities.
        ValueError: it is no SVG or damaged.
    """
    from resvg_py import svg_to_bytes

    if _ENTITY.search(picture):
        raise InputError("The picture declares entities.")
    alone = _REFERENCE.sub(_kept, picture)
    # Fonts are looked for on the whole computer.
    has_text = "<text" in alone or ":text" in alone
    made = svg_to_bytes(
        svg_string=alone,
        width=_WIDTH,
        height=_HEIGHT,
        dpi=_PIXELS_AN_INCH,
        skip_system_fonts=not has_text,
        **(_families() if has_text else {}),
    )
    return bytes(made)


@cache
def _families() -> dict[str, Any]:
    """Return the fonts that stand for the generic names on this computer; resvg takes those of Windows.

    The process that draws may write no file, so fontconfig keeps no cache of what it looks up.
    """
    import subprocess

    program = which("fc-match")
    if program is None:
        return {}
    found = {}
    for name, generic in _GENERIC.items():
        with suppress(OSError, subprocess.SubprocessError):
            asked = [program, "--format=%{family[0]}", generic]
            found[name] = subprocess.run(asked, capture_output=True, text=True, timeout=2, check=True).stdout.strip()  # noqa: S603
    return {name: family for name, family in found.items() if family}


def _kept(reference: re.Match[str]) -> str:
    target = reference["double"] if reference["double"] is not None else reference["single"]
    return reference[0] if _WITHIN.fullmatch(target) else 'href=""'
