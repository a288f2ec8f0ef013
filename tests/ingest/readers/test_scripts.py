"""Claims about reading code: cell by cell, or whole."""

from __future__ import annotations

from pathlib import Path

import kinds
import pytest

from jupyter_memory import InputError
from jupyter_memory.ingest import Document, known_readers


def read(folder: Path, name: str, text: str | bytes) -> Document:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return known_readers().reader_of(path).read(path)


def test_a_script_with_marks_is_read_cell_by_cell(tmp_path: Path) -> None:
    """Prose is uncommented, a title is a heading, and each cell knows the line on which it begins."""
    found = read(tmp_path, "tariffs.py", kinds.PERCENT)

    told = [(part.text, part.language, part.headings, part.line) for part in found.parts]
    assert (found.kind, found.language, found.title) == ("cell", "python", "tariffs.py")
    assert told == [
        ("import pandas as pd", "", (), 6),
        ("# Tariffs\n\nNet of tax, in Zürich.", "markdown", ("Tariffs",), 9),
        ('tariffs = pd.read_csv("tariffs.csv")', "", ("Tariffs", "Load"), 14),
        ("rate = 0.081", "", ("Tariffs",), 17),
    ]
    assert found.parts[2].above == "Net of tax, in Zürich."


def test_a_script_in_the_light_format_is_read_cell_by_cell(tmp_path: Path) -> None:
    """Paragraphs are cells as Jupytext makes them: comments are prose, marks hold code with blank lines together."""
    found = read(tmp_path, "tariffs.py", kinds.LIGHT)

    assert (found.kind, found.language) == ("cell", "python")
    assert [(part.metadata["cell_type"], part.text) for part in found.parts] == [
        ("markdown", "# Tariffs\n\nNet of tax, in Zürich."),
        ("code", "import pandas as pd"),
        ("code", "def net(x):\n    # why\n    y = x / 1.081\n\n    return y\n\n\nclass Tariff:\n    pass"),
        ("code", "# a comment, and\nx = 1"),
        ("code", "tariffs = 1\n\nrate = 2"),
        ("markdown", "Prose one."),
        ("markdown", "Prose two."),
        ("code", "# %matplotlib inline\nimport numpy"),
        ("code", "text = '''\na\n\nb\n'''"),
        ("code", "for one in x:\n    a\n\n    b"),
        ("markdown", "raw λ"),
    ]
    assert found.parts[4].headings == ("Tariffs", "Rates")


def test_marks_of_the_light_format_count_only_below_its_header(tmp_path: Path) -> None:
    """In any other script a comment of one plus sign is a comment."""
    text = "# +\nx = 1\n\n# -\n"

    assert [part.text for part in read(tmp_path, "a.py", text).parts] == [text]


@pytest.mark.parametrize("script", [kinds.PERCENT, kinds.LIGHT], ids=["percent", "light"])
def test_the_lines_of_cells_are_those_of_the_file(tmp_path: Path, script: str) -> None:
    """A hit opens the script at the first line of its cell."""
    lines = script.split("\n")

    for part in read(tmp_path, "tariffs.py", script).parts:
        assert part.text.split("\n")[0].lstrip("# ") == lines[part.line - 1].lstrip("# ")


@pytest.mark.parametrize(
    ("name", "text", "texts"),
    [
        ("a.py", "#%%\n1\n#%% Two\n2\n", ["1", "2"]),
        ("a.js", "// %%\n1\n// %%\n2\n", ["1", "2"]),
        ("a.m", "%% Load\nx = 1;\n%% Net\ny = 2;\n", ["x = 1;", "y = 2;"]),
        ("a.r", "# %% [markdown]\n# Net\n# %%\nx <- 1\n", ["Net", "x <- 1"]),
        ("a.py", '# %% [markdown]\n"""\n# Net\n"""\n', ["# Net"]),
        ("a.py", "# %%%% no mark\nx = '%%'\n", ["# %%%% no mark\nx = '%%'\n"]),
        ("a.py", "# %% this\n%memory status\n# %%\n2\n", ["2"]),
    ],
)
def test_each_language_has_its_mark(tmp_path: Path, name: str, text: str, texts: list[str]) -> None:
    """Cells are divided by a comment of the language; what uses this memory is left out, as in a notebook."""
    assert [part.text for part in read(tmp_path, name, text).parts] == texts


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("a.R", "r"), ("a.jl", "julia"), ("a.sql", "sql"), ("a.zsh", "bash"), ("a.mjs", "javascript"),
        ("a.tsx", "typescript"), ("a.java", "java"), ("a.scala", "scala"), ("a.h", "c"), ("a.hpp", "cpp"),
        ("a.rs", "rust"), ("a.go", "go"), ("a.sas", "sas"), ("a.stan", "stan"), ("a.tex", "latex"), ("a.org", "org"),
        ("a.adoc", "asciidoc"),
    ],
)  # fmt: skip
def test_other_code_and_documents_are_one_memory(tmp_path: Path, name: str, language: str) -> None:
    """The file is one memory, in its language; its chunks are its functions or sections."""
    found = read(tmp_path, name, "x = 1\n")

    assert (found.language, found.kind, [part.text for part in found.parts]) == (language, "file", ["x = 1\n"])


def test_minified_code_is_refused(tmp_path: Path) -> None:
    """Nobody wrote it; the reason says what to do."""
    with pytest.raises(InputError, match=r"minified.*\.jupytermemoryignore"):
        read(tmp_path, "bundle.min.js", "var a=1;" * 10_000)


def test_a_script_with_endless_cells_is_one_text(tmp_path: Path) -> None:
    """Twenty thousand marks do not become as many memories."""
    found = read(tmp_path, "generated.py", "# %%\nx = 1\n" * 20_000)

    assert (len(found.parts), found.kind) == (1, "file")
