"""Claims about which kinds of data files and documents there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_memory.ingest.readers.data_files import DATA_FILES
from jupyter_memory.ingest.readers.documents import DOCUMENTS
from jupyter_memory.ingest.readers.registry import Readers

PAGE = Path(__file__).parents[4] / "docs" / "data-files.md"
KINDS = [(suffix, reader) for reader in (*DATA_FILES, *DOCUMENTS) for suffix in reader.suffixes]


@pytest.mark.parametrize(("suffix", "reader"), KINDS, ids=[suffix for suffix, _ in KINDS])
def test_a_kind_is_documented_and_has_a_version(suffix: str, reader) -> None:
    """Without a version, files would not be read anew after their reader has changed."""
    readers = Readers({suffix: reader})

    assert f"`{suffix}`" in PAGE.read_text(encoding="utf-8")
    assert readers.version_of(f"a{suffix}") > 0


def test_data_files_of_any_size_are_taken_and_none_is_read_whole() -> None:
    """Of a document, which is all text, and of workbooks that must be read whole, the setting `max_file_mb` decides."""
    readers = Readers(dict(KINDS))
    bounded = {
        suffix
        for suffix, _ in KINDS
        if readers.sampled_of(Path(f"a{suffix}")) or readers.is_unopened(Path(f"a{suffix}"))
    }

    assert bounded == {suffix for reader in DATA_FILES for suffix in reader.suffixes} - {".xls", ".xlsb", ".ods"}
