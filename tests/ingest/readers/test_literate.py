"""Claims about reading documents of prose and code."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import kinds
import pytest

from jupyter_memory.ingest import Document, known_readers


def read(folder: Path, name: str, text: str) -> Document:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return known_readers().reader_of(path).read(path)


def told(found: Document) -> list[tuple[str, str, str, int]]:
    return [(part.text.split("\n")[0], part.location, part.language, part.line) for part in found.parts]


def test_quarto_is_read_chunk_by_chunk(tmp_path: Path) -> None:
    """Each chunk has its language and label; prose is cut at headings, and a listing that is not run is prose."""
    found = read(tmp_path, "tariffs.qmd", kinds.QUARTO)

    assert (found.kind, found.language, found.tags) == ("cell", "python", ())
    assert found.written is not None and found.written.astimezone().date() == date(2026, 3, 5)
    assert told(found) == [
        ('title: "Tariffs in Zürich"', "#0", "markdown", 1),
        ("# Prices", "#1", "markdown", 8),
        ("prices.plot()", "fig-prices", "python", 15),
        ("## Net of tax", "#3", "markdown", 18),
        ("summary(prices)", "net", "r", 26),
    ]
    assert found.parts[2].metadata["options"] == {"label": "fig-prices", "echo": "false"}
    assert found.parts[4].metadata["options"] == {"echo": "FALSE", "fig.cap": "Net prices"}
    assert found.parts[4].headings == ("Prices", "Net of tax")


def test_r_markdown_is_in_r(tmp_path: Path) -> None:
    """Unless its first chunk says otherwise."""
    assert read(tmp_path, "a.Rmd", "Text.\n").language == "r"
    assert read(tmp_path, "a.Rmd", "```{python}\n1\n```\n").language == "python"


def test_myst_is_read_chunk_by_chunk(tmp_path: Path) -> None:
    """The kernel says the language of a code-cell; a directive is prose; options are not code."""
    found = read(tmp_path, "tariffs.md", kinds.MYST)

    assert (found.kind, found.language) == ("cell", "r")
    assert told(found) == [
        ("# Tariffs", "#0", "markdown", 8),
        ('tariffs <- read.csv("tariffs.csv")', "#1", "", 17),
        ("## Net of tax", "#2", "markdown", 20),
    ]
    assert "Read this first." in found.parts[0].text


def test_markdown_of_jupytext_runs_plain_fences(tmp_path: Path) -> None:
    """In a file with a kernel, a fence that names a language is a cell; without one, it is Markdown as ever."""
    text = "# Net\n\n```python\nx = 1\n```\n"
    header = "---\njupyter:\n  x: 1\njupytext:\n  text_representation:\n    format_name: markdown\n---\n"

    assert [part.text for part in read(tmp_path, "a.md", header + text).parts] == ["# Net", "x = 1"]
    assert [part.text for part in read(tmp_path, "b.md", text).parts] == [text]


@pytest.mark.parametrize("text", ["```{r}\n", "```{r}\nx", "````{r}\n```\n````\n", "~~~{r}\nx\n~~~", "```{r"])
def test_a_broken_fence_ends_with_the_file(tmp_path: Path, text: str) -> None:
    """A chunk that nobody closed is read to the end of the file."""
    assert len(read(tmp_path, "a.qmd", text).parts) <= 1


def test_endless_headings_are_one_text(tmp_path: Path) -> None:
    """Twenty thousand headings do not become as many memories."""
    assert len(read(tmp_path, "a.qmd", "# a\n" * 20_000).parts) == 1


def test_the_same_label_twice_is_a_place(tmp_path: Path) -> None:
    """Two memories of a file never have the same location."""
    found = read(tmp_path, "a.qmd", "```{r net}\n1\n```\n```{r net}\n2\n```\n")

    assert [part.location for part in found.parts] == ["net", "#1"]


def test_a_date_in_the_header(tmp_path: Path) -> None:
    """The header's date is that of the document."""
    found = read(tmp_path, "a.qmd", "---\ntitle: x\ndate: 2024-03-05\n---\nText.\n")

    assert found.written is not None and found.written.astimezone().date() == date(2024, 3, 5)


@pytest.mark.parametrize(
    "front", ["title: Birds", "title: Birds\ntags:\n- ringing\n- 2024", "abstract: |\n  Of birds.\n  And rings."]
)
def test_the_fence_of_a_front_matter_is_not_part_of_it(tmp_path, front):
    """What a front matter tells is a cell of its own, without the line that closes it."""
    first = read(tmp_path, "birds.Rmd", f"---\n{front}\n---\n\nText.\n").parts[0]
    assert first.text == front
