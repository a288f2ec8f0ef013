"""The bundled model's files: part of the package, and never used damaged."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from jupyter_memory import EmbedderUnavailable
from jupyter_memory.embedders import unknown
from jupyter_memory.embedders.tokenizer import bundled
from jupyter_memory.embedders.tokenizer.bundled import bundled_file, bundled_tokenizer, half_precision


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of the files, which are looked for there."""
    for which in ("weights", "vocabulary"):
        shutil.copy(bundled_file(which), tmp_path)
    monkeypatch.setattr(bundled, "_FOLDER", tmp_path)
    return lambda which: tmp_path / bundled_file(which).name


def found(which):
    """Look for a file as if for the first time."""
    return bundled_file.__wrapped__(which)


@pytest.mark.parametrize("which", ["weights", "vocabulary"])
def test_damaged(copied, which):
    """A file in which one byte is another is refused by name, with the line that repairs it."""
    assert found(which) == copied(which)
    content = bytearray(copied(which).read_bytes())
    content[len(content) // 2] ^= 1
    copied(which).write_bytes(content)

    with pytest.raises(EmbedderUnavailable, match=f"{copied(which).name} is not the expected one.* pip install"):
        found(which)


@pytest.mark.parametrize("kept", [5, 4_000, 15_000_000])
def test_cut_short(copied, kept):
    """Of a table that was not copied to its end, the error says how much is there."""
    file = copied("weights")
    file.write_bytes(file.read_bytes()[:kept])
    said = f"is cut short: it has {kept:,} of" if kept > 1_000 else "is not the expected one"

    with pytest.raises(EmbedderUnavailable, match=f"{said}.*pip install --force-reinstall --no-deps jupyter-memory"):
        found("weights")


@pytest.mark.parametrize("which", ["weights", "vocabulary"])
def test_missing_file(copied, which):
    """A file that is gone is named, with the line that brings it back."""
    copied(which).unlink()

    with pytest.raises(EmbedderUnavailable, match=f"{copied(which).name} is missing.*pip install"):
        found(which)


def test_unreadable(copied):
    """A file that cannot be read is no other error: what stands in its place is said."""
    copied("weights").unlink()
    copied("weights").mkdir()

    with pytest.raises(EmbedderUnavailable, match="cannot be read"):
        found("weights")


def test_table_and_vocabulary():
    """Each token has a row, all rows but a few have a direction, and the tokenizer parts names."""
    rows = half_precision(bundled_file("weights"))
    ids = bundled_tokenizer().ids("parseJson of Zürich")

    assert rows.shape == (30_522, 256)
    assert (np.abs(rows[:, :64].astype(np.float32)).max(axis=1) > 0).mean() > 0.9
    assert ids == [*bundled_tokenizer().ids("parse json"), *bundled_tokenizer().ids("of zurich")]
    assert unknown() == 100 and bundled_tokenizer() is bundled_tokenizer()
