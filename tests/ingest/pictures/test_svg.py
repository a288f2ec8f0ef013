"""Pictures that a notebook has only as SVG are drawn, in another process, and reach nothing outside themselves."""

from __future__ import annotations

from io import BytesIO

import pytest
from pictures import base64, plot, saved
from PIL import Image

from jupyter_memory import InputError, MemoryStore
from jupyter_memory.ingest import pictures as reading
from jupyter_memory.ingest.pictures import DAMAGED, PictureReader
from jupyter_memory.ingest.readers import isolated, notebook, registry
from jupyter_memory.ingest.readers.isolated import drawn, is_svg
from jupyter_memory.types import LARGEST_THUMBNAIL

RED, BLUE = (255, 0, 0), (0, 0, 255)


def svg(inner, size="width='40' height='30'", before=""):
    names = "xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'"
    return f"{before}<svg {names} {size}>{inner}</svg>".encode()


def rectangle(colour, size="width='40' height='30'"):
    return f"<rect {size} fill='{colour}'/>"


def shown(picture, at=(0.5, 0.5)):
    """Return the colour of a thumbnail at a place of it, 0 to 1."""
    found = PictureReader({}).read([picture])
    assert found.left_out == (), found.left_out
    image = Image.open(BytesIO(found.thumbnails[0].image)).convert("RGB")
    return tuple(
        round(value / 51) * 51 for value in image.getpixel((int(image.width * at[0]), int(image.height * at[1])))
    )


def left_out(*pictures):
    return PictureReader({}).read(pictures).left_out


def test_a_picture_in_svg_is_drawn():
    """The thumbnail has the colours and the shape of the picture, on white, and is small."""
    found = PictureReader({}).read([svg(rectangle("red", "width='20' height='30'"))]).thumbnails[0]

    assert (found.width, found.height) == (480, 360) and len(found.image) <= LARGEST_THUMBNAIL
    assert shown(svg(rectangle("red", "width='20' height='30'")), (0.25, 0.5)) == RED
    assert shown(svg(rectangle("red", "width='20' height='30'")), (0.75, 0.5)) == (255, 255, 255)


def test_words_in_a_picture_are_drawn():
    """Words that a picture has as text, as plots of R and plotly do, are drawn with the fonts of the computer."""
    words = svg("<text x='2' y='20' font-size='20' font-family='No Such Font, sans-serif'>λ MM</text>")
    assert drawn(words) != drawn(words.replace(b"MM", b""))


def test_pictures_within_a_picture_are_drawn_but_no_other_file(tmp_path):
    """A picture in the data of an SVG is part of it; one in another file, however it is named, is not read."""
    Image.new("RGB", (8, 8), BLUE).save(tmp_path / "blue.png")
    data = base64((tmp_path / "blue.png").read_bytes())
    image = "<image width='40' height='30' preserveAspectRatio='none' {}/>"
    assert shown(svg(image.format(f"xlink:href='data:image/png;base64,{data}'"))) == BLUE
    inner = base64(svg(image.format(f"href='{tmp_path}/blue.png'")))
    path = f"{tmp_path}/blue.png"
    for href in (
        f"href='{path}'",
        f'xlink:href = "{path}"',
        f"href='file://{path}'",
        f"href='&#{ord(path[0])};{path[1:]}'",
        f"href='data:image/svg+xml;base64,{inner}'",
        # A reference that seems to begin within another attribute.
        f"""id='href="#' xlink:href='{path}' class='"'""",
        f"""id='href="data:image/png,' xlink:href='{path}' class='"'""",
    ):
        assert shown(svg(image.format(href))) == (255, 255, 255), href


@pytest.mark.parametrize(
    "picture",
    [
        svg("", before="<!DOCTYPE svg [<!ENTITY a 'b'>]>"),
        svg("<g>" * 100_000),
        b"<svg xmlns='http://www.w3.org/2000/svg'><g",
        svg("", size="width='0' height='0'"),
        b"<?xml version='1.0'?><html/>",
        b"<svg/>\xff\x00\xfe<<<",
    ],
    ids=["entities", "nested", "cut", "no size", "HTML", "bytes"],
)
def test_what_cannot_be_drawn_is_left_out(picture):
    """A hostile or broken picture is left out with the reason, though it crashes what draws it; the next is drawn."""
    assert left_out(picture) == (reading.NOT_DRAWN,)
    assert shown(svg(rectangle("blue"))) == BLUE


def test_what_takes_forever_is_given_up(monkeypatch):
    """References that double at each level are stopped at the time, and the file may take no more of it."""
    monkeypatch.setattr(isolated, "DRAWING_SECONDS", 0.5)
    monkeypatch.setattr(reading, "_PIXELS_A_SECOND", 2_000_000_000)
    doubled = "".join(f"<g id='a{n + 1}'><use href='#a{n}'/><use href='#a{n}'/></g>" for n in range(16))
    bomb = svg(f"<g id='a0'>{rectangle('red')}</g>{doubled}")
    assert left_out(bomb, svg(rectangle("red"))) == (reading.NOT_DRAWN, reading.TOO_MUCH)


def test_what_is_svg_is_told_by_its_beginning():
    """No other format is taken for SVG."""
    assert all(map(is_svg, (b"<svg>", b"\xef\xbb\xbf <?xml?>", b"<!-- R --><svg/>", b"<svg:svg>")))
    assert not any(map(is_svg, (plot(1), b"", b"<html>", b"<svgs>", b"GIF89a<svg>")))
    assert left_out(b"<html><svg/></html>") == (DAMAGED,)
    with pytest.raises(InputError):
        drawn(b"nothing")


def test_what_is_installed_later_draws_what_was_left_out(tmp_path, monkeypatch):
    """Without resvg the report says what to install; once it is there, the next run reads these notebooks anew."""
    output = {"output_type": "display_data", "metadata": {}, "data": {"image/svg+xml": svg(rectangle("red")).decode()}}
    cell = {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": "draw()", "outputs": [output]}
    saved(tmp_path / "nb" / "a.ipynb", cell)
    with MemoryStore(tmp_path / "memory.sqlite", "static") as store:
        with monkeypatch.context() as without:
            for module in (isolated, reading, notebook):
                without.setattr(module, "can_draw", lambda: False)
            registry._found.cache_clear()
            report = store.index(tmp_path / "nb", progress=False)
            assert dict(report.pictures.left_out) == {reading.NO_RESVG: 1}
            assert store.index(tmp_path / "nb", progress=False).unchanged == 1
        registry._found.cache_clear()
        assert store.index(tmp_path / "nb", progress=False).pictures.kept == 1
        assert store.index(tmp_path / "nb", progress=False).unchanged == 1
