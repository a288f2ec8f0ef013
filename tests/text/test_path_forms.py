"""Paths that are written in another form than the disk has them, and many of them at once."""

from __future__ import annotations

from unicodedata import normalize

import pytest

from jupyter_memory.text.paths import path_forms


@pytest.fixture
def unpacked(store, tmp_path):
    """A store that indexed a folder from a Mac's zip, in a folder of this machine."""
    folder = tmp_path / normalize("NFC", "für Jürgen") / normalize("NFD", "Zürich")
    folder.mkdir(parents=True)
    (folder / normalize("NFD", "größe.md")).write_text("The λ of each size")
    (folder / "plain.md").write_text("Nothing of that λ")
    memory = store()
    memory.index(folder.parent, progress=False)
    return memory


def typed(tmp_path, name):
    """Return the path as a person types it."""
    return normalize("NFC", str(tmp_path / "für Jürgen" / "Zürich" / name))


def test_a_name_from_a_mac_is_filtered_by(unpacked, tmp_path):
    """A path typed on this machine fits the file whose letters are in the other form, alone and left out."""
    path = typed(tmp_path, "größe.md")

    assert [hit.memory.text for hit in unpacked.hits("λ", filters={"path": path}).hits] == ["The λ of each size"]
    assert [hit.memory.text for hit in unpacked.hits("λ", filters={"not_path": path}).hits] == ["Nothing of that λ"]
    assert len(unpacked.hits("λ", filters={"path": typed(tmp_path, "")}).hits) == 2
    assert len(unpacked.hits(f'path:"{path}" λ').hits) == 1


def test_a_name_from_a_mac_is_forgotten(unpacked, tmp_path):
    """``forget --source`` removes the file whose letters are in the other form, also when it is deleted already."""
    assert unpacked.forget(source=typed(tmp_path, "größe.md")) == 1
    next(tmp_path.rglob("plain.md")).unlink()
    assert unpacked.forget(source=typed(tmp_path, "plain.md")) == 1


def test_a_name_from_a_mac_is_indexed(unpacked, tmp_path):
    """A folder is indexed by the name as it is typed, and its files are the ones that are known."""
    report = unpacked.index(typed(tmp_path, ""), progress=False)

    assert (report.unchanged, report.files) == (2, 0)


def test_many_paths(unpacked, tmp_path):
    """A thousand paths find what few of them find."""
    wanted = typed(tmp_path, "größe.md")
    many = [*(f"/elsewhere/ü{i}.md" for i in range(999)), wanted]

    for filters in ({"path": many}, {"path": wanted}):
        assert [hit.memory.text for hit in unpacked.hits("λ", filters=filters).hits] == ["The λ of each size"]
        assert [hit.memory.text for hit in unpacked.browsed(filters=filters).hits] == ["The λ of each size"]
    assert len(unpacked.browsed(filters={"not_path": many}).hits) == 1


def test_forms_of_a_long_path():
    """Each name has forms of its own; of very many such names not all combinations are tried."""
    assert len(path_forms("ü/plain/ä.md")) == 4
    assert path_forms("plain/λ.md") == ["plain/λ.md"]
    assert len(path_forms("/".join(["ü"] * 40))) == 2
