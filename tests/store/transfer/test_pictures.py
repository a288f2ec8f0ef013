"""The pictures of a store travel with an export, and an import takes those that the settings have room for."""

from __future__ import annotations

import json

import pytest
from pictures import base64, plot, plotting, saved

from jupyter_memory import InputError, JupyterMemory, MemoryStore
from jupyter_memory.ingest.pictures import FULL


@pytest.fixture
def opened(tmp_path):
    """Return a function that opens a store by name, with settings."""
    stores = []

    def open_(name, **values):
        stores.append(MemoryStore(tmp_path / f"{name}.sqlite", "static", settings=JupyterMemory(**values)))
        return stores[-1]

    yield open_
    for store in stores:
        store.close()


@pytest.fixture
def exported(opened, tmp_path):
    """Return an exported folder with a notebook of three pictures, and the folder of the notebook."""
    saved(tmp_path / "nb" / "λ.ipynb", plotting("two()", plot(1), plot(2)), plotting("one()", plot(3)))
    store = opened("first")
    store.index(tmp_path / "nb", progress=False)
    assert "3 pictures" in str(store.export(tmp_path / "out"))
    return tmp_path / "out", tmp_path / "nb"


def images(store):
    """Return the pictures of each memory, by its id."""
    shown = {hit.memory.id: hit.memory.thumbnails for hit in store.browsed(limit=50).hits}
    return {id_: [store.thumbnail(id_, place) for place in range(count)] for id_, count in shown.items()}


def test_pictures_come_back_although_their_notebook_is_gone(exported, opened):
    """Each memory has the pictures that it had, byte for byte; where the notebook is there, it is not read again."""
    out, notebooks = exported
    before = images(opened("first"))
    assert sorted(map(len, before.values())) == [1, 2]
    again = opened("again")
    again.import_(out, progress=False)
    assert images(again) == before
    assert again.index(notebooks, progress=False).unchanged == 1
    (notebooks / "λ.ipynb").unlink()
    elsewhere = opened("elsewhere")
    elsewhere.import_(out, progress=False)
    assert images(elsewhere) == before and elsewhere.doctor() == []
    # Once more: nothing comes twice.
    elsewhere.import_(out, update=True, progress=False)
    assert images(elsewhere) == before


def test_pictures_without_room_are_counted_and_read_from_their_notebook_later(exported, opened, tmp_path):
    """An import keeps to the settings and says what it left out; the next index run with room reads the notebook."""
    out, notebooks = exported
    size = max(len(one.image) for of_it in images(opened("first")).values() for one in of_it)
    small = opened("small", thumbnails_max_mb=size * 1.5 / 1_000_000)
    report = small.import_(out, progress=False)
    [(why, number)] = report.pictures.left_out
    assert why == FULL and number == 3 - sum(map(len, images(small).values())) > 0
    assert f"{why}" in str(report)
    small.close()
    larger = opened("small")
    assert larger.index(notebooks, progress=False).pictures.kept == 3
    assert sorted(map(len, images(larger).values())) == [1, 2]


def test_no_pictures_are_imported_where_none_are_kept(exported, opened):
    """With the setting off an import takes the texts alone; another import with it on brings the pictures."""
    out, _ = exported
    none = opened("none", thumbnails=False)
    assert none.import_(out, progress=False).added == 2 and none.stats()["thumbnails"]["number"] == 0
    none.close()
    some = opened("none")
    assert some.import_(out, progress=False).kept == 2 and some.stats()["thumbnails"]["number"] == 3


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("memory", "0" * 32),
        ("media_type", "image/svg+xml"),
        ("media_type", "text/html"),
        ("image", "not base64: ü"),
        ("image", base64(b"<script>alert(1)</script>")),
        ("image", base64(b"RIFF\x00\x00\x00\x00WEBP" + b"\x00" * 12_000)),
        ("width", 0),
        ("origin", "'; drop table memories"),
    ],
)
def test_what_is_no_picture_is_refused(exported, opened, name, value):
    """A line that holds anything but a small WebP or PNG of a memory there is named, and nothing is stored."""
    file = exported[0] / "pictures.jsonl"
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], json.dumps(json.loads(lines[1]) | {name: value}), *lines[2:]]))
    store = opened("empty")
    with pytest.raises(InputError, match=f"pictures.jsonl, line 2: {name} must be") as refused:
        store.import_(exported[0], progress=False)
    assert str(value) not in str(refused.value) or name == "width"
    assert store.count() == 0


def test_a_memory_has_so_many_pictures_at_most(exported, opened):
    """A folder cannot give a memory more pictures than a card shows."""
    file = exported[0] / "pictures.jsonl"
    file.write_text(file.read_text().splitlines()[0] + "\n")
    file.write_text(file.read_text() * 9)
    with pytest.raises(InputError, match="line 9: memory must be one that has fewer than 8 pictures"):
        opened("empty").import_(exported[0], progress=False)
