"""Claims about reading text documents."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from jupyter_memory import InputError
from jupyter_memory.ingest import known_readers
from jupyter_memory.ingest.preparation import drafts_of
from jupyter_memory.types import Draft

TEXT = "# Preise in Zürich\n\nλ = 3\n"


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read_document(path: Path, *, title: str, when: datetime) -> list[Draft]:
    return drafts_of(known_readers().reader_of(path).read(path), path, title=title, when=when)


def test_a_document_is_one_draft(tmp_path: Path, when: datetime) -> None:
    """The whole text is one memory of kind and tier file, placed by its name and date."""
    path = written(tmp_path, "prices.md", TEXT)

    assert read_document(path, title="notes/prices.md", when=when) == [
        Draft(
            text=TEXT,
            title="notes/prices.md",
            kind="file",
            tier="file",
            source=str(path),
            lang="markdown",
            event_at=when,
            context="notes/prices.md\nSaturday 21 November 2026",
            dated_by_file=True,
        )
    ]


@pytest.mark.parametrize(
    ("name", "lang"),
    [("a.md", "markdown"), ("a.MARKDOWN", "markdown"), ("a.txt", "text"), ("a.rst", "rst"), ("a.py", "python")],
)
def test_the_suffix_tells_the_language(tmp_path: Path, when: datetime, name: str, lang: str) -> None:
    """Every known kind of document has its language, however its suffix is written."""
    assert read_document(written(tmp_path, name, TEXT), title=name, when=when)[0].lang == lang


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_is_read_in_every_form(tmp_path: Path, when: datetime, encoding: str) -> None:
    """UTF-8 with and without its mark, UTF-16 and UTF-32 with theirs."""
    assert read_document(written(tmp_path, "a.md", TEXT.encode(encoding)), title="a.md", when=when)[0].text == TEXT


def test_big_endian_utf_16_is_read(tmp_path: Path, when: datetime) -> None:
    """The mark tells the order of the bytes."""
    data = b"\xfe\xff" + TEXT.encode("utf-16-be")

    assert read_document(written(tmp_path, "a.md", data), title="a.md", when=when)[0].text == TEXT


def test_other_bytes_are_latin_1(tmp_path: Path, when: datetime) -> None:
    """An old file with an ü is read, not refused."""
    assert read_document(written(tmp_path, "a.txt", b"Z\xfcrich"), title="a", when=when)[0].text == "Zürich"


def test_windows_lines_are_lines(tmp_path: Path, when: datetime) -> None:
    """Line ends are the usual ones, so that lines count the same everywhere."""
    assert read_document(written(tmp_path, "a.txt", "eins\r\nzwei"), title="a", when=when)[0].text == "eins\nzwei"


def test_a_log_is_read_without_its_colours(tmp_path: Path, when: datetime) -> None:
    """What colours a terminal or names its window is no part of a word, and lines keep their numbers."""
    log = "\x1b[0;32mINFO\x1b[0m λ fitted\n\x1b]0;Zürich\x07\x1b[1mdone\x1b[m\n"
    (draft,) = read_document(written(tmp_path, "fit.txt", log), title="fit.txt", when=when)

    assert draft.text == "INFO λ fitted\ndone\n"


def test_a_binary_file_is_refused(tmp_path: Path, when: datetime) -> None:
    """A picture called .txt is no text, and the error says what to do."""
    with pytest.raises(InputError, match=r"binary.*\.jupytermemoryignore"):
        read_document(written(tmp_path, "a.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), title="a", when=when)


@pytest.mark.parametrize("content", ["", " \n\t\n", b"\xef\xbb\xbf", b"\xff\xfe"])
def test_a_blank_file_says_nothing(tmp_path: Path, when: datetime, content: str | bytes) -> None:
    """There is no memory in an empty file."""
    assert read_document(written(tmp_path, "a.md", content), title="a", when=when) == []


@pytest.mark.parametrize(
    ("block", "tags"),
    [
        ("tags: [preise, 'λ', preise]", ("preise", "λ")),
        ("title: x\nTags: preise, Zürich", ("preise", "Zürich")),
        ('tags:\n  - preise\n  - "λ"\nother:\n  - no', ("preise", "λ")),
        ("tags: '#preise'", ("preise",)),
        ("tags:", ()),
        ("title: tags", ()),
    ],
)
def test_front_matter_names_tags(tmp_path: Path, when: datetime, block: str, tags: tuple[str, ...]) -> None:
    """Tags written in any of YAML's usual ways are the memory's tags, and the text keeps its front matter."""
    text = f"---\n{block}\n---\n\n# λ\n"
    [draft] = read_document(written(tmp_path, "a.md", text), title="a", when=when)

    assert (draft.tags, draft.text) == (tags, text)


def test_only_front_matter_names_tags(tmp_path: Path, when: datetime) -> None:
    """A line about tags in the text, or in a Python file, is just text."""
    for name in ("a.md", "a.py"):
        text = ("" if name == "a.md" else "---\n") + "tags: [a]\n---\n"
        assert read_document(written(tmp_path, name, text), title=name, when=when)[0].tags == ()
