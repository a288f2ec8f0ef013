"""A folder of 200 files of 60 kinds: all are read, and each question is answered first, on both databases."""

from pathlib import Path

import pytest
from mixed_folder import FILES, KINDS, write_mixed_folder

from jupyter_memory import MemoryStore

for extra in ("docx", "pypdfium2", "openpyxl"):
    pytest.importorskip(extra, reason="needs the extras `documents` and `test`")


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_each_kind_is_read_and_found(request, tmp_path, database):
    """The file whose text or columns answer a question is the first hit, whatever its kind."""
    where = request.getfixturevalue("emptied_postgres") if database == "postgres" else tmp_path / "memory.sqlite"
    answers = write_mixed_folder(tmp_path / "work")
    assert len(answers) == len(KINDS) == 60
    with MemoryStore(where, embedder="static") as store:
        report = store.index(tmp_path / "work", progress=False)
        assert (report.files, report.failed, report.skipped) == (FILES, (), ()), report
        first = {question: Path(store.hits(question, limit=3).hits[0].memory.source) for question in answers}
    assert first == answers
