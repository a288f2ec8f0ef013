"""Claims about reading pages of HTML."""

from __future__ import annotations

from pathlib import Path

import kinds
import pytest
from growing import cpu_exponent

from jupyter_memory import InputError
from jupyter_memory.ingest import Document, known_readers


def read(path: Path) -> Document:
    return known_readers().reader_of(path).read(path)


def test_a_page_is_read_by_section(tmp_path: Path) -> None:
    """Each heading with its text is a part that knows its line; programs, styles and menus are not read."""
    (tmp_path / "a.html").write_text(kinds.HTML, encoding="utf-8")
    found = read(tmp_path / "a.html")

    assert (found.title, found.language) == ("Tariffs & taxes", "html")
    assert [(part.text, part.location, part.headings, part.line) for part in found.parts] == [
        ("Before.", "", (), 1),
        ("Net of tax\n\nPrices in Zürich are\nnet.", "net", ("Net of tax",), 7),
        ("Rates\n\ncity\trate\nBern\t8.1", "rates", ("Net of tax", "Rates"), 11),
    ]
    assert not any("secret_program" in part.text or "Home" in part.text for part in found.parts)


@pytest.mark.parametrize("charset", ["iso-8859-1", "windows-1252", "utf-8", "utf-16", "shift_jis", "no-such"])
def test_the_charset_is_that_of_the_page(tmp_path: Path, charset: str) -> None:
    """A page says how it is encoded; one that says nonsense is read all the same."""
    word = "料金" if charset == "shift_jis" else "Zürich"
    page = f'<html><head><meta charset="{charset}"></head><body><p>{word}</p></body></html>'
    (tmp_path / "a.html").write_bytes(page.encode("latin-1" if charset == "no-such" else charset))

    assert [part.text for part in read(tmp_path / "a.html").parts] == [word]


@pytest.mark.parametrize("text", ["", "<", "<p", "<!--", "<title>", "a < b", "</p>", "<h1>", "<h1></h1>", "&#xFFFFFF;"])
def test_broken_pages_are_read_as_far_as_they_go(tmp_path: Path, text: str) -> None:
    """No page is so broken that it ends the run."""
    (tmp_path / "a.html").write_text(text, encoding="utf-8")

    assert len(read(tmp_path / "a.html").parts) <= 1


def test_a_binary_file_is_no_page(tmp_path: Path) -> None:
    """A wrong suffix is named."""
    (tmp_path / "a.html").write_bytes(b"\x89PNG\r\n\0\0\0")

    with pytest.raises(InputError, match="binary"):
        read(tmp_path / "a.html")


@pytest.mark.parametrize("piece", ["<!--", "<a ", "</a", "<!", "<?", "<a b='", "<", "<script>", "<div>", "<![CDATA["])
def test_the_time_grows_no_faster_than_the_page(tmp_path: Path, piece: str) -> None:
    """What the parser would read again and again is taken out before."""

    def work(size: int):
        path = tmp_path / f"{size}.html"
        path.write_text(piece * (size // len(piece)) + ">", encoding="utf-8")
        return lambda: read(path)

    assert cpu_exponent(work, 50_000, 200_000) < 1.6
