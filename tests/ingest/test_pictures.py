"""The pictures of notebooks are kept as thumbnails: small, with nothing but the picture, at a bounded cost."""

import struct
import subprocess
import sys
import tracemalloc
import warnings
import zlib
from io import BytesIO

import pytest
from blocked import run_without
from inside import bytes_beside, run_sql
from pictures import base64, noise, plot, plotting, saved, written
from PIL import Image, ImageDraw, PngImagePlugin, features

from jupyter_memory import JupyterMemory, MemoryStore
from jupyter_memory.ingest import known_readers, read_file
from jupyter_memory.types import LARGEST_THUMBNAIL

RED, BLUE, WHITE = (255, 0, 0), (0, 0, 255), (255, 255, 255)
NOT_DRAWN = "in SVG that cannot be drawn"
TOO_MUCH = "beyond what is read of one file"


@pytest.fixture
def made(tmp_path):
    """Return what makes the thumbnails of pictures that a notebook shows, bytes in PNG and others, or text in SVG."""

    def read(*pictures):
        outputs = [
            {"data": {"image/png": base64(one)} if isinstance(one, bytes) else {"image/svg+xml": one}}
            for one in pictures
        ]
        path = saved(tmp_path / "made.ipynb", plotting("x") | {"outputs": outputs})
        return read_file(path, root=tmp_path, pictures={})[0].pictures

    return read


@pytest.fixture
def store(store):
    return lambda **settings: store("../memory.sqlite", embedder="static", settings=JupyterMemory(**settings))


@pytest.fixture
def books(tmp_path):
    return tmp_path / "nb"


@pytest.fixture
def indexed(store, books):
    """Return what indexes a notebook of these cells, and returns the store and the report."""

    def index(*cells):
        saved(books / "λ.ipynb", *cells)
        memory = store()
        return memory, memory.index(books, progress=False)

    return index


def opened(thumbnail):
    return Image.open(BytesIO(thumbnail.image))


def shown(store):
    return {hit.memory.text.split("\n")[0]: hit.memory.thumbnails for hit in store.browsed(limit=50).hits}


def thumbnails(store):
    memories = (hit.memory for hit in store.browsed(limit=50).hits)
    return {memory.text.split("\n")[0]: store.thumbnail(memory.id) for memory in memories}


def without_resvg(tmp_path):
    """Index the notebooks, twice, where resvg is not installed; return what the last report says of both runs."""
    code = """
sys.modules["resvg_py"] = None
from jupyter_memory import MemoryStore
with MemoryStore(sys.argv[1], "static") as store:
    print(store.index(sys.argv[2], progress=False))
    print(store.index(sys.argv[2], progress=False).unchanged, "unchanged")
"""
    return run_without((), code, str(tmp_path / "memory.sqlite"), str(tmp_path / "nb"))


# Is killed as soon as any text is in the store.
KILLED = """
import os, sys
from jupyter_memory import MemoryStore
with MemoryStore(sys.argv[1], "static") as store:
    store.index(sys.argv[2], progress=lambda *_: store.count() and os.kill(os.getpid(), 9))
"""


def test_text_comes_before_its_pictures(store, books, tmp_path):
    """A kill in between leaves a store whose text is found, and the next run brings the pictures."""
    saved(books / "λ.ipynb", plotting("x = 1", plot()), plotting("y = 2", plot(1)))
    command = [sys.executable, "-c", KILLED, str(tmp_path / "memory.sqlite"), str(books)]
    assert subprocess.run(command, check=False).returncode == -9
    memory = store()
    assert set(shown(memory).values()) == {0} and memory.stats()["memories"] == 2
    assert memory.index(books, progress=False).pictures.kept == 2
    assert set(shown(memory).values()) == {1}


def test_what_ends_the_indexing_ends_it_between_two_notebooks(store, books):
    """Also while pictures are read, which may take longer than the texts."""
    for place in range(3):
        saved(books / f"{place}.ipynb", plotting("x = 1", plot(place)))
    memory, told = store(), []

    def tell(done, files):
        if memory.count() == 3:
            told.append(done)
        if len(told) == 4:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        memory.index(books, progress=tell)
    assert told == [3] * 4 and memory.index(books, progress=False).pictures.kept == 3


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def bomb(width, height):
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress(bytes(min(height, 2_000) * (1 + 3 * width))) if width < 100_000 else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.parametrize("format", ["PNG", "JPEG", "GIF", "WEBP"])
def test_every_format_becomes_a_small_picture(made, format):
    """Each of the four formats becomes WebP of at most 12 KB that fits a card, in the shape of the picture."""
    large, small, noisy = made(plot(size=(1600, 800), format=format), plot(size=(120, 90)), noise()).thumbnails
    assert large.media_type == "image/webp" and len(large.image) <= LARGEST_THUMBNAIL == 12_000
    assert opened(large).size == (large.width, large.height) == (480, 240)
    assert small.width == 120
    assert len(noisy.image) <= LARGEST_THUMBNAIL and 0 < noisy.width < 480


def test_without_webp_it_is_png(made, monkeypatch):
    monkeypatch.setattr(features, "check", lambda name: False)
    for found in made(plot(), noise((400, 300))).thumbnails:
        assert found.media_type == "image/png" and len(found.image) <= LARGEST_THUMBNAIL
        assert opened(found).format == "PNG"


def test_of_an_animation_the_first_frame_is_shown(made):
    frames = [Image.new("RGB", (60, 40), colour) for colour in ("red", "green", "blue")]
    [found] = made(written(frames[0], "GIF", save_all=True, append_images=frames[1:])).thumbnails
    red, green, blue = opened(found).convert("RGB").getpixel((30, 20))
    assert red > 200 > 80 > max(green, blue)


@pytest.mark.parametrize(("ink", "is_dark"), [("black", False), ("#eeeeee", True)])
def test_what_is_transparent_gets_a_ground(made, ink, is_dark):
    """Dark lines are seen on white, light ones on a dark ground: the theme of the panel is not that of the plot."""
    picture = Image.new("RGBA", (200, 100), (0, 0, 0, 0))
    ImageDraw.Draw(picture).line((0, 50, 200, 50), fill=ink, width=5)
    ground = opened(made(written(picture, "PNG")).thumbnails[0]).convert("L").getpixel((10, 10))
    assert (ground < 60) is is_dark and (ground > 200) is not is_dark


def test_a_photograph_is_turned_and_loses_what_its_file_says(made):
    """The camera's rotation is done, and place, camera and comments of the file are not kept."""
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = 6, "secret camera"
    told = PngImagePlugin.PngInfo()
    told.add_text("Comment", "secret comment")
    photograph = written(Image.new("RGB", (200, 100), "red"), "JPEG", exif=exif)
    turned, plain = made(photograph, written(Image.new("RGB", (20, 10), "red"), "PNG", pnginfo=told)).thumbnails
    assert (turned.width, turned.height) == (100, 200)
    assert b"secret" not in turned.image + plain.image and b"EXIF" not in turned.image


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "of a format that is not read"), (b"no picture", "damaged"), (plot()[:5_000], "damaged"),
        (plot(format="JPEG")[:3_000], "damaged"), (plot()[:60] + b"\0" * 500 + plot()[560:], "damaged"),
        (b"<html><svg/></html>", "damaged"), (b"<svgs>", "damaged"), (b"GIF89a<svg>", "damaged"),
        (written(Image.new("RGB", (9, 9)), "TIFF"), "damaged"), (bomb(30_000, 30_000), "too large"),
        (bomb(6_001, 6_001), "too large"), (bomb(2_000_000_000, 2_000_000_000), "too large"),
        (bytes(21_000_000), "too large"),
    ],
    ids=lambda one: one if isinstance(one, str) else one[:12],
)  # fmt: skip
def test_a_bad_picture_is_left_out_with_the_reason(made, data, reason):
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = made(data)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (found.thumbnails, found.left_out) == ((), (reason,))
    assert most < 30_000_000 + 8 * len(data)


def svg(inner, size="width='40' height='30'", before=""):
    names = "xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'"
    return f"{before}<svg {names} {size}>{inner}</svg>"


def rectangle(colour, size="width='40' height='30'"):
    return f"<rect {size} fill='{colour}'/>"


def colour(pictures, at=0.5):
    """Return the colour of the only thumbnail, so far from its left."""
    [image] = [opened(one).convert("RGB") for one in pictures.thumbnails]
    assert pictures.left_out == ()
    return tuple(round(value / 51) * 51 for value in image.getpixel((int(image.width * at), image.height // 2)))


def test_a_picture_in_svg_is_drawn(made):
    """The thumbnail has the colours and the shape of the picture, on white, and is small; words are drawn, too."""
    half = made(svg(rectangle("red", "width='20' height='30'")))
    assert (half.thumbnails[0].width, half.thumbnails[0].height) == (480, 360)
    assert len(half.thumbnails[0].image) <= LARGEST_THUMBNAIL
    assert (colour(half, 0.25), colour(half, 0.75)) == (RED, WHITE)
    for start in ("<?xml version='1.0'?>", "<!-- R -->", "\ufeff "):
        assert colour(made(start + svg(rectangle("red")))) == RED
    words = svg("<text x='2' y='20' font-size='20' font-family='No Such Font, sans-serif'>λ MM</text>")
    with_words, without_words = made(words, words.replace("MM", "")).thumbnails
    assert with_words.image != without_words.image


def test_pictures_within_a_picture_are_drawn_but_no_other_file(made, tmp_path):
    path = f"{tmp_path}/blue.png"
    Image.new("RGB", (8, 8), BLUE).save(path)
    data = base64((tmp_path / "blue.png").read_bytes())
    image = "<image width='40' height='30' preserveAspectRatio='none' {}/>"
    assert colour(made(svg(image.format(f"xlink:href='data:image/png;base64,{data}'")))) == BLUE
    inner = base64(svg(image.format(f"href='{path}'")).encode())
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
        assert colour(made(svg(image.format(href)))) == WHITE, href


@pytest.mark.parametrize(
    "picture",
    [
        svg("", before="<!DOCTYPE svg [<!ENTITY a 'b'>]>"), svg("<g>" * 100_000),
        "<svg xmlns='http://www.w3.org/2000/svg'><g", svg("", size="width='0' height='0'"),
        "<?xml version='1.0'?><html/>", "<svg/>ÿ\x00þ<<<",
    ],
    ids=["entities", "nested", "cut", "no size", "HTML", "bytes"],
)  # fmt: skip
def test_what_cannot_be_drawn_is_left_out(made, picture):
    """A hostile or broken picture is left out with the reason, though it crashes what draws it; the next is drawn."""
    assert made(picture).left_out == (NOT_DRAWN,)
    assert colour(made(svg(rectangle("blue")))) == BLUE


def test_one_file_cannot_take_for_ever(store, books):
    """References that double at each level are stopped after ten seconds; the file may take no more, others may."""
    doubled = "".join(f"<g id='a{n + 1}'><use href='#a{n}'/><use href='#a{n}'/></g>" for n in range(16))
    endless = svg(f"<g id='a0' opacity='0.5'>{rectangle('red')}</g>{doubled}")
    for name, pictures in (("one", [endless, svg(rectangle("red"))]), ("two", [svg(rectangle("red"))])):
        outputs = [{"output_type": "display_data", "data": {"image/svg+xml": one}} for one in pictures]
        saved(books / f"{name}.ipynb", plotting(name) | {"outputs": outputs})
    memory = store()
    report = memory.index(books, progress=False)
    assert dict(report.pictures.left_out) == {NOT_DRAWN: 1, TOO_MUCH: 1} and shown(memory) == {"one": 0, "two": 1}


def test_the_pictures_of_a_cell_are_kept_with_it(indexed, tmp_path):
    """A cell has the pictures that it shows, the report counts them, status names number and size; so has a backup."""
    pasted = {"cell_type": "markdown", "metadata": {}, "source": "![sketch](attachment:sketch.png)"}
    pasted["attachments"] = {"sketch.png": {"image/png": base64(plot(4))}}
    memory, report = indexed(plotting("plot(λ)", plot(1), plot(2)), plotting("λ.head()"), pasted)
    assert shown(memory) == {"plot(λ)": 2, "λ.head()": 0, "![sketch](attachment:sketch.png)": 1}
    assert (report.pictures.kept, report.pictures.left_out) == (3, ()) and "3 pictures kept" in str(report)
    held = memory.stats()["thumbnails"]
    assert held["number"] == 3 and 3_000 < held["bytes"] <= 36_000 and memory.doctor() == []
    restored = MemoryStore.restore(memory.backup(tmp_path / "copy.bak"), tmp_path / "restored.sqlite")
    with MemoryStore(restored) as again:
        assert thumbnails(again) == thumbnails(memory)


def test_bad_pictures_are_counted_and_stop_nothing(indexed):
    both, odd = plotting("both()", plot(3)), plotting("odd()", b"")
    both["outputs"].append({"output_type": "display_data", "metadata": {}, "data": {"image/svg+xml": ["<svg>", "<g"]}})
    odd["outputs"][0]["data"]["image/png"] = ["not base64: ü", None]
    memory, report = indexed(plotting("cut()", plot(1)[:4_000]), both, odd)
    assert shown(memory) == {"cut()": 0, "both()": 1, "odd()": 0}
    assert dict(report.pictures.left_out) == {"damaged": 2, NOT_DRAWN: 1} and report.failed == ()
    assert "  left out 2 pictures damaged" in str(report).splitlines()


def test_a_cell_keeps_eight_pictures(indexed):
    many = [plot(seed, size=(80, 60)) for seed in range(10)]
    memory, report = indexed(plotting("for x in xs: plot(x)", *many, many[0]))
    assert dict(report.pictures.left_out) == {"beyond 8 of a cell": 2} and memory.stats()["thumbnails"]["number"] == 8


def test_switched_off_nothing_is_kept_and_the_next_run_removes_what_was(store, books, indexed, tmp_path):
    """Off, the next index removes all pictures without a trace; on again, it reads the unchanged notebooks anew."""
    memory, _ = indexed(plotting("plot(λ)", plot(1), plot(2)))
    image = memory.thumbnail(memory.browsed(limit=1).hits[0].memory.id).image
    memory.close()
    off = store(thumbnails=False)
    report = off.index(books, progress=False)
    assert report.pictures.removed == 2 and "2 pictures removed" in str(report)
    assert report.unchanged == 1 and off.stats()["thumbnails"]["number"] == 0
    off.close()
    held = bytes_beside(tmp_path / "memory.sqlite")
    assert image not in held and image[200:260] not in held
    on = store()
    [before] = [hit.memory.id for hit in on.browsed(limit=5).hits]
    assert on.index(books, progress=False).pictures.kept == 2
    assert [(hit.memory.id, hit.memory.thumbnails) for hit in on.browsed(limit=5).hits] == [(before, 2)]
    assert on.index(books, progress=False).unchanged == 1


def test_the_store_has_room_for_so_many_bytes(store, books):
    """Beyond the setting, pictures are left out by name; an edited notebook has the room of what it replaces."""
    first = saved(books / "a.ipynb", *[plotting(f"a({i})", plot(i), id=f"a{i}") for i in range(3)])
    memory = store(thumbnails_max_mb=0.016)
    report = memory.index(books, progress=False)
    assert 0 < report.pictures.kept < 3
    assert dict(report.pictures.left_out) == {"beyond the setting thumbnails_max_mb": 3 - report.pictures.kept}
    assert memory.stats()["thumbnails"]["bytes"] <= 16_000
    saved(first, *[plotting(f"edited({i})", plot(i), id=f"a{i}") for i in range(3)])
    assert memory.index(books, progress=False).pictures.kept == report.pictures.kept
    memory.close()
    assert store().index(books, progress=False).pictures.kept == 3


def test_what_is_installed_later_reads_what_was_left_out(store, books, tmp_path):
    """Without resvg the text is indexed and the report says what to install; later the pictures are read."""
    cell = plotting("draw()", plot(1))
    cell["outputs"][0]["data"] = {"image/svg+xml": svg(rectangle("red"))}
    saved(books / "a.ipynb", cell)
    told = without_resvg(tmp_path)
    assert "in SVG, for" in told and "pip install 'jupyter-memory[pictures]'" in told and told.endswith("1 unchanged")
    assert "1 file indexed" in told
    memory = store()
    assert memory.index(books, progress=False).pictures.kept == 1
    assert memory.index(books, progress=False).unchanged == 1


@pytest.mark.parametrize("padding", [0, 3_000_000], ids=["alone", "with a worker"])
def test_a_picture_that_is_still_there_is_not_made_again(store, books, padding):
    """Of a notebook that is saved again, only new pictures are read; the others stay, wherever they are."""
    path, pad = books / "λ.ipynb", "x" * padding
    saved(path, plotting("one()", plot(1)), plotting("two()", plot(2)), pad=pad)
    memory = store()
    memory.index(books, progress=False)
    run_sql(memory, "update thumbnails set width = 1")
    saved(path, plotting("new()", plot(3)), plotting("one()", plot(1)), plotting("edited()", plot(2)), pad=pad)
    memory.index(books, progress=False)
    assert {name: one.width for name, one in thumbnails(memory).items()} == {"new()": 480, "one()": 1, "edited()": 1}


def test_the_doctor_sees_a_damaged_picture(indexed):
    memory, _ = indexed(plotting("plot(λ)", plot(1), plot(2)))
    run_sql(memory, "update thumbnails set media_type = 'text/html' where place = 0")
    run_sql(memory, "update thumbnails set image = zeroblob(13000) where place = 1")
    found = memory.doctor()
    assert len(found) == 2 and all("thumbnails" in one for one in found)
    run_sql(memory, "delete from thumbnails; insert into thumbnails values (999, 0, 'image/webp', 1, 1, x'00', '')")
    assert any("1 row of thumbnails belongs to no row of memories" in one for one in memory.doctor())


@pytest.mark.parametrize(
    ("cell", "pictures"),
    [
        ({}, ()), ({"outputs": 3}, ()),
        ({"outputs": [None, 7, {"data": None}, {"data": {"text/plain": "x"}}]}, ()),
        ({"attachments": {"a": {"image/png": "x"}}}, ()), ({"cell_type": "markdown", "attachments": [1]}, ()),
        # Of several media types of one output, the first that can be read is taken.
        (
            {
                "outputs": [
                    {"data": {"image/svg+xml": "<svg/>", "image/jpeg": "jpeg", "image/png": ["p", "ng"]}},
                    {"data": {"image/png": 3}}, {"data": {"image/svg+xml": ["<svg>", "λ</svg>"]}},
                ]
            },
            ("png", None, "<svg>λ</svg>".encode()),
        ),
    ],
)  # fmt: skip
def test_the_pictures_of_odd_cells(tmp_path, cell, pictures):
    """Whatever a notebook has where outputs and attachments belong, it is a picture, or none, and no error."""
    path = saved(tmp_path / "odd.ipynb", {"cell_type": "code", "metadata": {}, "source": "x"} | cell)
    [part] = known_readers().reader_of(path).read(path).parts
    assert part.pictures == pictures


def test_a_plot_is_found_by_how_it_looks(indexed):
    """Nobody who remembers two axes types twinx: a cell that shows such a plot says so; one without a plot does not."""
    memory, _ = indexed(
        plotting("fig, ax = plt.subplots()\nax.plot(orders)\nax.twinx().plot(rain)", plot(1)),
        plotting("fig, ax = plt.subplots()\nax.plot(orders)\nax.set_title('Orders')", plot(2)),
        plotting("def both(ax):\n    return ax, ax.twinx()"),
    )
    found = memory.hits("the plot with the two y axes").hits[0].memory
    assert "twinx().plot(rain)" in found.text and found.text.endswith("[figure: two y axes]")
    assert sum("[figure" in hit.memory.text for hit in memory.browsed(limit=9).hits) == 1


@pytest.mark.parametrize(
    ("drawn", "asked"),
    [
        ('plt.plot(y)\nplt.title("Delivery delays by warehouse")', "plot of the delays of deliveries per warehouse"),
        ('ax.plot(y)\nax.set_xlabel("water temperature")', "chart with the temperature of water"),
        ('ax.plot(y, label="holdout error")\nax.legend()', "figure that has the holdout errors"),
        ('px.line(df, x="d", y="v", title="Tariffs in Zürich")', "plot of Zürich's tariffs"),
        ('alt.Chart(df).mark_bar().properties(title="Ridership of trams")', "the tram ridership bars"),
    ],
)  # fmt: skip
def test_a_plot_is_found_by_its_words(indexed, drawn, asked):
    """Title, labels and legend, as the code that drew it has them, find the cell that shows it, with its picture."""
    others = ["plt.plot(x)", 'plt.plot(x)\nplt.title("Prices by shop")', "px.line(df)", "ax.plot(x)\nax.legend()"]
    memory, _ = indexed(plotting(drawn, plot(9)), *(plotting(one, plot(at)) for at, one in enumerate(others)))
    first = memory.hits(asked).hits[0].memory
    assert first.text.startswith(drawn) and first.thumbnails == 1
