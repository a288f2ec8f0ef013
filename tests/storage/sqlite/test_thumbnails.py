"""What a SQLite file keeps of a picture that was removed: nothing."""

from __future__ import annotations

import pytest

from jupyter_memory import FileState
from jupyter_memory.ingest import prepare
from jupyter_memory.storage.sqlite.storage import SqliteStorage
from jupyter_memory.types import Draft, Pictures, Thumbnail

PATH = "/week/λ.ipynb"
PICTURE = Thumbnail("image/webp", 48, 36, b"the only picture" * 900)


@pytest.fixture
def storage(database):
    """A store with one cell that shows a picture."""
    storage = SqliteStorage(database())
    cell = Draft(text="plot(λ)", kind="cell", source=PATH, location="#0", pictures=Pictures((PICTURE,)))
    storage.writer.replace_files([(FileState(PATH, 1, 1, "λ"), prepare([cell], None))], None, "")
    return storage


def files_of(storage):
    """Return all bytes of the store's files."""
    return b"".join(file.read_bytes() for file in storage.path.parent.iterdir() if file.is_file())


@pytest.mark.parametrize(
    "remove",
    [
        lambda storage: storage.thumbnails.clear(),
        lambda storage: storage.writer.forget_files([PATH], ""),
        lambda storage: storage.writer.remove_folder("/week", ""),
    ],
)
def test_a_picture_leaves_no_byte(storage, remove):
    """Whether the pictures are cleared, or go with their file or folder."""
    assert b"the only picture" in files_of(storage)
    assert remove(storage) == 1
    assert b"the only picture" not in files_of(storage)
