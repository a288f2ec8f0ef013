"""Indexing keeps the pictures of notebooks, of outputs and of attachments, within the limits of the settings."""

from __future__ import annotations

import json

import pytest
from pictures import base64, noise, plot, plotting, saved

from jupyter_memory import JupyterMemory, MemoryStore
from jupyter_memory.ingest import pictures, workers
from jupyter_memory.ingest.readers.notebook import pictures as pictures_of


@pytest.fixture
def store(tmp_path):
    """Open a store with settings; all are closed in the end."""
    opened = []

    def open_(**settings):
        opened.append(MemoryStore(tmp_path / "memory.sqlite", "static", settings=JupyterMemory(**settings)))
        return opened[-1]

    yield open_
    for one in opened:
        one.close()


def shown(store):
    """Return how many pictures each cell has, by its source's first line."""
    return {hit.memory.text.split("\n")[0]: hit.memory.thumbnails for hit in store.browsed(limit=50).hits}


def kept(store):
    return store.stats()["thumbnails"]["number"]


def test_the_pictures_of_a_cell_are_kept_with_it(store, tmp_path):
    """A cell has the pictures that it shows, the report counts them, and status names number and size."""
    saved(tmp_path / "nb" / "λ.ipynb", plotting("plot(λ)", plot(1), plot(2)), plotting("λ.head()"))
    memory = store()
    report = memory.index(tmp_path / "nb", progress=False)

    assert shown(memory) == {"plot(λ)": 2, "λ.head()": 0}
    assert (report.pictures.kept, report.pictures.left_out) == (2, ())
    assert "2 pictures kept" in str(report)
    held = memory.stats()["thumbnails"]
    assert held["number"] == 2 and 2_000 < held["bytes"] <= 24_000
    assert memory.doctor() == []


def test_bad_pictures_are_counted_and_stop_nothing(store, tmp_path):
    """A damaged picture, base64 that is none, and broken SVG are left out by reason; another picture stays."""
    svg = plotting("both()", plot(3))
    svg["outputs"].append({"output_type": "display_data", "metadata": {}, "data": {"image/svg+xml": ["<svg>", "<g"]}})
    odd = plotting("odd()", b"")
    odd["outputs"][0]["data"]["image/png"] = ["not base64: ü", None]
    saved(tmp_path / "nb" / "bad.ipynb", plotting("cut()", plot(1)[:4_000]), svg, odd)
    memory = store()
    report = memory.index(tmp_path / "nb", progress=False)

    assert shown(memory) == {"cut()": 0, "both()": 1, "odd()": 0}
    assert dict(report.pictures.left_out) == {pictures.DAMAGED: 2, pictures.NOT_DRAWN: 1}
    assert "  left out 2 pictures damaged" in str(report).splitlines()
    assert report.failed == ()


def test_a_picture_attached_to_markdown_is_kept(store, tmp_path):
    """What was pasted into a Markdown cell is a picture of that cell."""
    cell = {
        "cell_type": "markdown",
        "metadata": {},
        "source": "![sketch](attachment:sketch.png)",
        "attachments": {"sketch.png": {"image/png": base64(plot(4))}},
    }
    saved(tmp_path / "nb" / "sketch.ipynb", cell)
    memory = store()
    memory.index(tmp_path / "nb", progress=False)

    assert list(shown(memory).values()) == [1]


def test_a_cell_keeps_eight_pictures(store, tmp_path):
    """A loop that shows many pictures keeps the first eight; the same picture twice counts once."""
    many = [plot(seed, size=(80, 60)) for seed in range(10)]
    saved(tmp_path / "nb" / "loop.ipynb", plotting("for x in xs: plot(x)", *many, many[0]))
    memory = store()
    report = memory.index(tmp_path / "nb", progress=False)

    assert kept(memory) == 8
    assert dict(report.pictures.left_out) == {pictures.TOO_MANY: 2}


def test_one_file_cannot_take_for_ever(store, tmp_path, monkeypatch):
    """The pixels that are read of one file are bounded, and the next file has its own."""
    monkeypatch.setattr(pictures, "_PIXELS_OF_FILE", 500_000)
    for name in ("one", "two"):
        saved(tmp_path / "nb" / f"{name}.ipynb", *[plotting(f"{name}({i})", plot(i)) for i in range(4)])
    memory = store()
    report = memory.index(tmp_path / "nb", progress=False)

    assert dict(report.pictures.left_out) == {pictures.TOO_MUCH: 4} and kept(memory) == 4


def test_switched_off_nothing_is_kept_and_the_next_run_removes_what_was(store, tmp_path):
    """Off, the next index removes all pictures without a trace; on again, it reads the unchanged notebooks anew."""
    saved(tmp_path / "nb" / "λ.ipynb", plotting("plot(λ)", plot(1), plot(2)))
    memory = store()
    memory.index(tmp_path / "nb", progress=False)
    image = memory.thumbnail(memory.browsed(limit=1).hits[0].memory.id).image
    memory.close()
    off = store(thumbnails=False)
    report = off.index(tmp_path / "nb", progress=False)

    assert report.pictures.removed == 2 and "2 pictures removed" in str(report)
    assert report.unchanged == 1 and kept(off) == 0
    off.close()
    held = b"".join(file.read_bytes() for file in tmp_path.glob("memory.sqlite*"))
    assert image not in held and image[200:260] not in held
    on = store()
    [before] = [hit.memory.id for hit in on.browsed(limit=5).hits]
    assert on.index(tmp_path / "nb", progress=False).pictures.kept == 2
    assert [(hit.memory.id, hit.memory.thumbnails) for hit in on.browsed(limit=5).hits] == [(before, 2)]
    assert on.index(tmp_path / "nb", progress=False).unchanged == 1


def test_the_store_has_room_for_so_many_bytes(store, tmp_path):
    """Beyond the setting, pictures are left out by name; an edited notebook has the room of what it replaces."""
    first = saved(tmp_path / "nb" / "a.ipynb", *[plotting(f"a({i})", plot(i), id=f"a{i}") for i in range(3)])
    memory = store(thumbnails_max_mb=0.016)
    report = memory.index(tmp_path / "nb", progress=False)
    assert 0 < report.pictures.kept < 3
    assert dict(report.pictures.left_out) == {pictures.FULL: 3 - report.pictures.kept}
    assert memory.stats()["thumbnails"]["bytes"] <= 16_000

    saved(first, *[plotting(f"edited({i})", plot(i), id=f"a{i}") for i in range(3)])
    assert memory.index(tmp_path / "nb", progress=False).pictures.kept == report.pictures.kept
    memory.close()
    assert store().index(tmp_path / "nb", progress=False).pictures.kept == 3


def test_without_pillow_indexing_goes_on(store, tmp_path, monkeypatch):
    """Without Pillow the text is indexed, the report says what to install, and a later run reads the pictures."""
    saved(tmp_path / "nb" / "λ.ipynb", plotting("plot(λ)", plot(1)))
    memory = store()
    with monkeypatch.context() as without:
        for module in (pictures,):
            without.setattr(module, "available", lambda: False)
        report = memory.index(tmp_path / "nb", progress=False)
        again = memory.index(tmp_path / "nb", progress=False)

    assert report.files == 1 and "pip install 'jupyter-memory[pictures]'" in str(report)
    assert again.unchanged == 1
    assert memory.index(tmp_path / "nb", progress=False).pictures.kept == 1


def test_a_picture_that_is_still_there_is_not_made_again(store, tmp_path, monkeypatch):
    """Of a notebook that is saved again, only new pictures are read; the others stay as they are, wherever they are."""
    made = []
    real = pictures.thumbnail
    monkeypatch.setattr(pictures, "thumbnail", lambda data: made.append(data) or real(data))
    path = tmp_path / "nb" / "λ.ipynb"
    saved(path, plotting("one()", plot(1)), plotting("two()", plot(2)))
    memory = store()
    memory.index(path.parent, progress=False)
    images = {one.text: memory.thumbnail(one.id) for one in (hit.memory for hit in memory.browsed(limit=9).hits)}
    saved(path, plotting("new()", plot(3)), plotting("one()", plot(1)), plotting("edited()", plot(2)))
    memory.index(path.parent, progress=False)

    assert made == [plot(1), plot(2), plot(3)]
    now = {hit.memory.text.split("\n")[0]: memory.thumbnail(hit.memory.id) for hit in memory.browsed(limit=9).hits}
    assert set(images.values()) == {now["one()"], now["edited()"]} and now["new()"] not in images.values()


def test_workers_read_pictures_too(store, tmp_path, monkeypatch):
    """A worker process makes the same thumbnails as the process that writes."""
    for name in ("one", "two"):
        saved(tmp_path / "nb" / f"{name}.ipynb", *[plotting(f"{name}({i})", plot(i)) for i in range(2)])
    monkeypatch.setattr(workers, "_WORTH_IT", 0)
    memory = store()
    memory.index(tmp_path / "nb", progress=False)
    pooled = {one.text: memory.thumbnail(one.id) for one in (hit.memory for hit in memory.browsed(limit=9).hits)}
    memory.forget(everything=True)
    monkeypatch.setattr(workers, "_WORTH_IT", 10**9)
    memory.index(tmp_path / "nb", progress=False)
    alone = {one.text: memory.thumbnail(one.id) for one in (hit.memory for hit in memory.browsed(limit=9).hits)}

    assert pooled == alone and len(pooled) == 4 and None not in pooled.values()


def test_workers_take_pictures_that_are_known(store, tmp_path, monkeypatch):
    """A worker does not make a picture again that is still in a changed notebook."""
    path = saved(tmp_path / "nb" / "λ.ipynb", plotting("one()", plot(1)), plotting("two()", plot(2)))
    monkeypatch.setattr(workers, "_WORTH_IT", 0)
    memory = store()
    memory.index(path.parent, progress=False)
    with memory._storage.database.write() as connection:
        connection.execute("update thumbnails set width = 1")
    saved(path, plotting("one()  # edited", plot(1)), plotting("two()", plot(3)))
    memory.index(path.parent, progress=False)

    widths = {one.text[:5]: memory.thumbnail(one.id).width for one in (h.memory for h in memory.browsed(limit=9).hits)}
    assert widths == {"one()": 1, "two()": 480}


def test_a_forgotten_picture_leaves_no_byte(store, tmp_path):
    """Forgetting a notebook overwrites its pictures in every file of the store, and leaves those of others."""
    gone = saved(tmp_path / "nb" / "gone.ipynb", plotting("gone()", plot(1), noise((300, 200))))
    saved(tmp_path / "nb" / "stays.ipynb", *[plotting(f"stays({i})", plot(i)) for i in range(2, 30)])
    memory = store()
    memory.index(tmp_path / "nb", progress=False)
    [forgotten] = [hit.memory for hit in memory.browsed(limit=50).hits if hit.memory.source == str(gone)]
    images = [memory.thumbnail(forgotten.id, place).image for place in range(2)]
    memory.forget(forgotten.id)

    held = b"".join(file.read_bytes() for file in tmp_path.glob("memory.sqlite*"))
    pieces = [image[start : start + 24] for image in images for start in range(64, len(image) - 24, 24)]
    assert len(pieces) > 400 and not [piece for piece in pieces if piece in held]
    assert kept(memory) == 28 and memory.doctor() == []


def test_a_backup_has_the_pictures(store, tmp_path):
    """A store that is restored from a backup shows what the first one showed."""
    saved(tmp_path / "nb" / "λ.ipynb", plotting("plot(λ)", plot(1)))
    memory = store()
    memory.index(tmp_path / "nb", progress=False)
    [one] = [hit.memory for hit in memory.browsed(limit=1).hits]
    restored = MemoryStore.restore(memory.backup(tmp_path / "copy.bak"), tmp_path / "restored.sqlite")
    with MemoryStore(restored) as again:
        assert again.thumbnail(one.id) == memory.thumbnail(one.id) is not None


def test_the_doctor_sees_a_damaged_picture(store, tmp_path):
    """A picture that belongs to no memory, is too long or of an odd type is named."""
    saved(tmp_path / "nb" / "λ.ipynb", plotting("plot(λ)", plot(1), plot(2)))
    memory = store()
    memory.index(tmp_path / "nb", progress=False)
    with memory._storage.database.write() as connection:
        connection.execute("update thumbnails set media_type = 'text/html' where place = 0")
        connection.execute("update thumbnails set image = zeroblob(13000) where place = 1")
    found = memory.doctor()
    assert len(found) == 2 and all("thumbnails" in one for one in found)
    memory.close()
    memory = store()
    connection = memory._storage.database.connection
    connection.pragma("foreign_keys", False)
    connection.execute("delete from thumbnails; insert into thumbnails values (999, 0, 'image/webp', 1, 1, x'00', '')")
    connection.pragma("foreign_keys", True)
    assert any("1 row of thumbnails belongs to no row of memories" in one for one in memory.doctor())


@pytest.mark.parametrize(
    "cell",
    [
        {},
        {"outputs": 3},
        {"outputs": [None, 7, {"data": None}, {"data": {"text/plain": "x"}}]},
        {"cell_type": "code", "attachments": {"a": {"image/png": "x"}}},
        {"cell_type": "markdown", "attachments": [1]},
    ],
)
def test_odd_cells_show_no_pictures(cell):
    """Whatever a notebook has where outputs and attachments belong, it is no picture and no error."""
    assert pictures_of(cell) == ()


def test_one_output_is_one_picture():
    """Of several media types of one output, the first that can be read is taken."""
    data = {"image/svg+xml": "<svg/>", "image/jpeg": "jpeg", "image/png": ["p", "ng"]}
    alone = {"image/svg+xml": ["<svg>", "λ</svg>"]}
    outputs = [{"data": data}, {"data": {"image/png": 3}}, {"data": alone}]
    assert pictures_of(json.loads(json.dumps({"outputs": outputs}))) == ("png", None, "<svg>λ</svg>".encode())


def test_a_plot_is_found_by_how_it_looks(store, tmp_path):
    """Nobody who remembers two axes types twinx: a cell that shows such a plot says so; one without a plot does not."""
    saved(
        tmp_path / "nb" / "orders.ipynb",
        plotting("fig, ax = plt.subplots()\nax.plot(orders)\nax.twinx().plot(rain)", plot(1)),
        plotting("fig, ax = plt.subplots()\nax.plot(orders)\nax.set_title('Orders')", plot(2)),
        plotting("def both(ax):\n    return ax, ax.twinx()"),
    )
    memory = store()
    memory.index(tmp_path / "nb", progress=False)

    found = memory.hits("the plot with the two y axes").hits[0].memory
    assert "twinx().plot(rain)" in found.text and found.text.endswith("[figure: two y axes]")
    assert sum("[figure" in hit.memory.text for hit in memory.browsed(limit=9).hits) == 1
