"""A model taken from a folder or a cache that is here already, and the network unasked."""

from __future__ import annotations

import shutil

import pytest
from fetched import SMALL, WEIGHTS

from jupyter_memory import EmbedderUnavailable, InputError
from jupyter_memory.embedders import fetch, take
from jupyter_memory.embedders.nomic_minilm import NomicEmbedder
from jupyter_memory.embedders.registry import NOMIC


def cache_of(tmp_path, *revisions):
    """Write a cache as Hugging Face's, with the small model under these revisions."""
    model = tmp_path / "hub" / "models--nomic-ai--nomic-embed-text-v1.5"
    for revision in revisions:
        folder = model / "snapshots" / revision
        folder.mkdir(parents=True)
        for file in NOMIC.files:
            blob = model / "blobs" / f"{revision}-{file.name}"
            blob.parent.mkdir(exist_ok=True)
            shutil.copy(SMALL / file.name, blob)
            (folder / file.name).symlink_to(blob)
    return model


@pytest.mark.parametrize("place", ["", "hub", "hub/models--nomic-ai--nomic-embed-text-v1.5", "snapshot"])
def test_taken_from_a_cache(hub, cached, tmp_path, place):
    """The cache of Hugging Face, the model in it, or a snapshot: the pinned revision is found, the network unasked."""
    model = cache_of(tmp_path, NOMIC.revision, "0" * 40)
    path = model / "snapshots" / NOMIC.revision if place == "snapshot" else tmp_path / place

    made = take(cached, path, progress=False)

    assert (made.repository, made.revision) == (NOMIC.repository, NOMIC.revision)
    assert cached.is_here and not (cached.folder / WEIGHTS).is_symlink()
    assert hub.asked == []


def test_taken_from_a_folder(hub, cached, small_folder):
    """A folder that is already there is checked and converted; it stays as it is, and no revision is claimed for it."""
    before = {path.name: path.read_bytes() for path in small_folder.iterdir()}

    made = take(cached, small_folder, progress=False)

    assert made.revision == made.repository == ""
    assert {path.name: path.read_bytes() for path in small_folder.iterdir()} == before
    assert NomicEmbedder(cached.folder, 64).fingerprint == NomicEmbedder(small_folder, 64).fingerprint
    assert hub.asked == []


@pytest.mark.parametrize("what", ["nothing", "file", "empty", "snapshots"])
def test_no_model_to_take(cached, tmp_path, what):
    """A path without a model is refused with what was looked for."""
    path = tmp_path / "there"
    if what == "file":
        path.write_text("")
    elif what == "empty":
        path.mkdir()
    elif what == "snapshots":
        path = cache_of(tmp_path, "1" * 40, "2" * 40)

    said = {"nothing": "no folder", "file": "is a file", "empty": "config.json is missing", "snapshots": "Name one"}
    with pytest.raises(InputError, match=said[what]):
        take(cached, path, progress=False)
    assert not cached.models.exists()


def test_the_old_one_stays(hub, cached, small_folder):
    """When a folder cannot be taken, the model that is there stays as it is."""
    fetch(cached, progress=False)
    content = (small_folder / WEIGHTS).read_bytes()
    (small_folder / WEIGHTS).write_bytes(content[:-1_000])

    with pytest.raises(EmbedderUnavailable, match="is cut short"):
        take(cached, small_folder, progress=False)

    assert NomicEmbedder(cached.folder, 64).embed_query("prices").shape == (64,)
    assert sorted(path.name for path in cached.models.iterdir()) == [".nomic.lock", "nomic"]
