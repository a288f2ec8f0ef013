"""Claims about reading notebooks."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import v4

from jupyter_memory import InputError
from jupyter_memory.ingest import known_readers
from jupyter_memory.ingest.preparation import drafts_of
from jupyter_memory.types import Draft

Notebook = Callable[..., Path]


def code(source: Any, *outputs: Any, **more: Any) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "source": source,
        "outputs": list(outputs),
        "metadata": {},
        "execution_count": 1,
    } | more


def markdown(source: Any, **more: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": source, "metadata": {}} | more


def read(path: Path, when: datetime) -> list[Draft]:
    return drafts_of(known_readers().reader_of(path).read(path), path, title=path.name, when=when)


def test_every_cell_that_says_something_is_a_draft(notebook: Notebook, when: datetime) -> None:
    """Markdown and code become cells with their kind, tier, source, language and time; raw and empty ones do not."""
    path = notebook(
        markdown("# Preise in Zürich", id="a1"),
        code("λ = 3", id="b2", execution_count=7),
        {"cell_type": "raw", "source": "raw", "metadata": {}, "id": "c3"},
        code("  \n", id="d4"),
    )
    first, second = read(path, when)

    assert (first.text, first.lang, first.location) == ("# Preise in Zürich", "markdown", "a1")
    assert second == Draft(
        text="λ = 3",
        title="02_prices.ipynb – Preise in Zürich",
        kind="cell",
        tier="file",
        source=str(path),
        location="b2",
        lang="python",
        event_at=when,
        metadata={"cell_type": "code", "execution_count": 7, "index": 1},
        context="02_prices.ipynb\nPreise in Zürich\nSaturday 21 November 2026",
        dated_by_file=True,
    )


def test_outputs_follow_the_source(notebook: Notebook, when: datetime) -> None:
    """What a cell printed stands under it, after a blank line and a mark."""
    [draft] = read(notebook(code("print(λ)", {"output_type": "stream", "name": "stdout", "text": "3\n"})), when)

    assert draft.text == "print(λ)\n\nOut:\n3"


def test_the_title_has_the_nearest_heading(notebook: Notebook, when: datetime) -> None:
    """Headings hold until the next of their level; a cell before any has the notebook's name alone."""
    drafts = read(
        notebook(
            code("import pandas"),
            markdown("# Preise\n## Säubern\nWir entfernen Ausreißer."),
            code("drop()"),
            markdown("text, then\n\n## Modell"),
            code("fit()"),
            markdown("# Ende\n\nText"),
            code("```\n# no heading in code"),
        ),
        when,
    )
    assert [draft.title.removeprefix("02_prices.ipynb").removeprefix(" – ") for draft in drafts] == [
        "", "Säubern", "Säubern", "Säubern", "Modell", "Ende", "Ende",
    ]  # fmt: skip
    assert "Preise > Säubern" in drafts[2].context
    assert "Preise > Modell" in drafts[4].context


def test_code_has_the_markdown_directly_above_it_in_its_context(notebook: Notebook, when: datetime) -> None:
    """The text just above, without its headings; not for the next code cell, nor for Markdown itself."""
    drafts = read(
        notebook(
            markdown("# Preise\nWir *skalieren* auf λ.\n"),
            markdown("Danach [das Modell](m.md)."),
            {"cell_type": "raw", "source": "raw", "metadata": {}},
            code(""),
            code("fit()"),
            code("plot()"),
        ),
        when,
    )
    above = [draft.context.split("\n")[2:-1] for draft in drafts]

    assert above == [[], [], ["Danach das Modell."], []]


def test_ids_are_locations_only_where_they_are_stored(notebook: Notebook, when: datetime) -> None:
    """A missing, repeated or impossible id, and any before format 4.5, gives way to the place in the notebook."""
    cells = [
        code("a", id="x"),
        code("b"),
        code("c", id="x"),
        code("d", id="not valid"),
        code("e", id=5),
        code("f", id="y"),
    ]

    assert [draft.location for draft in read(notebook(*cells), when)] == ["x", "#1", "#2", "#3", "#4", "y"]
    assert [draft.location for draft in read(notebook(*cells, minor=4), when)] == [f"#{n}" for n in range(6)]


def test_reading_twice_gives_the_same(notebook: Notebook, when: datetime) -> None:
    """No id is made up while reading."""
    path = notebook(markdown("λ"), code("b"))

    assert read(path, when) == read(path, when)


@pytest.mark.parametrize(
    ("metadata", "lang"),
    [
        ({}, "python"),
        ({"language_info": {"name": "R"}, "kernelspec": {"language": "python"}}, "r"),
        ({"kernelspec": {"language": "julia"}}, "julia"),
        ({"kernelspec": None, "language_info": {"name": 3}}, "python"),
        (None, "python"),
    ],
)
def test_the_language_is_the_kernels(notebook: Notebook, when: datetime, metadata: Any, lang: str) -> None:
    """Code is in the notebook's language, Python unless it says otherwise."""
    [text, cell] = read(notebook(markdown("λ"), code("x <- 3"), metadata=metadata), when)

    assert (text.lang, cell.lang) == ("markdown", lang)


@pytest.mark.parametrize(
    "source",
    [
        "%memsearch wie haben wir die Preise normalisiert",
        "%%memsearch --limit 3\nPreise in Zürich",
        "import pandas\ndf = %memsearch --tag λ prices",
        "%memadd We use λ = 3",
        "%%memadd --tag λ\ntext",
        "%memory status",
        "  %memeval run",
        "%time %memsearch prices",
        "%load_ext jupyter_memory",
        "# load it\n%reload_ext jupyter_memory  # λ\n\n",
        "get_ipython().run_line_magic('memsearch', 'prices')",
        "!jupyter-memory search prices",
    ],
)
def test_cells_that_use_this_memory_are_left_out(notebook: Notebook, when: datetime, source: str) -> None:
    """A search does not find itself."""
    assert read(notebook(code(source)), when) == []


@pytest.mark.parametrize(
    "source",
    [
        "%load_ext jupyter_memory\nimport pandas",
        "rest = total %memory",
        "# later: %memsearch prices",
        'print("type %memsearch prices")',
        "%memory_usage",
        "%memit fit()",
        "# a comment on memory",
        "df.memory_usage()",
    ],
)
def test_other_cells_stay(notebook: Notebook, when: datetime, source: str) -> None:
    """What only resembles our magics is remembered."""
    assert len(read(notebook(code(source)), when)) == 1


def test_markdown_about_our_magics_stays(notebook: Notebook, when: datetime) -> None:
    """Text that explains a magic does not run it."""
    assert len(read(notebook(markdown("%memsearch finds λ")), when)) == 1


def test_strange_text_is_cleaned(tmp_path: Path, when: datetime) -> None:
    """A BOM, NULs, lone surrogates and a source in lines: the notebook is read all the same."""
    path = tmp_path / "n.ipynb"
    content = '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [%s]}'
    path.write_bytes(b"\xef\xbb\xbf" + (content % json.dumps(code(["λ\0 = ", "'\ud800'\r\n", "x"]))).encode())
    [draft] = read(path, when)

    assert draft.text == "λ = '\ufffd'\nx"


def test_embedded_pictures_are_no_text(notebook: Notebook, when: datetime) -> None:
    """The bytes of a picture go, in Markdown, code and outputs; the words around them and short examples stay."""
    picture = "data:image/png;base64," + "iVBORw0KGgo" * 200
    shown = {"output_type": "display_data", "data": {"text/markdown": f"**Zürich** ![]({picture})"}, "metadata": {}}
    path = notebook(
        markdown(f"![λ]({picture})\nPrices"), code(f"url = '{picture}'", shown), code("'data:a/b;base64,AA=='")
    )

    assert [draft.text for draft in read(path, when)] == [
        "![λ](data:image/png;base64,…)\nPrices",
        "url = 'data:image/png;base64,…'\n\nOut:\n**Zürich** ![](data:image/png;base64,…)",
        "'data:a/b;base64,AA=='",
    ]


def test_notebooks_of_format_3_are_read(tmp_path: Path, when: datetime, capsys: pytest.CaptureFixture[str]) -> None:
    """An old notebook's worksheets are flattened, its heading cells headings, and no made-up id becomes a location."""
    shown = {"output_type": "pyout", "prompt_number": 4, "text": "3", "metadata": {}}
    raised = {"output_type": "pyerr", "ename": "ZeroDivisionError", "evalue": "division by zero", "traceback": []}
    old = {"cell_type": "code", "language": "python", "collapsed": False, "metadata": {}}
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Preise in Zürich", "metadata": {}},
        old | {"input": ["λ = 3\n", "λ"], "prompt_number": 4, "outputs": [shown]},
        old | {"input": "1/0", "outputs": [raised]},
    ]
    path = tmp_path / "old.ipynb"
    path.write_text(
        json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]})
    )
    heading, first, second = read(path, when)

    assert (heading.text, heading.location) == ("## Preise in Zürich", "#0")
    assert (first.text, first.title, first.location) == ("λ = 3\nλ\n\nOut:\n3", "old.ipynb – Preise in Zürich", "#1")
    assert second.text == "1/0\n\nOut:\nZeroDivisionError: division by zero"
    assert capsys.readouterr() == ("", "")


def test_what_nbformat_writes_is_read(tmp_path: Path, when: datetime) -> None:
    """A notebook saved by nbformat itself comes back cell by cell, under its ids."""
    made = v4.new_notebook(cells=[v4.new_markdown_cell("# Größe"), v4.new_code_cell("λ = 3")])
    path = tmp_path / "n.ipynb"
    nbformat.write(made, path)

    assert [draft.location for draft in read(path, when)] == [cell["id"] for cell in made["cells"]]


def test_an_invalid_notebook_gives_what_it_has(
    notebook: Notebook, when: datetime, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Cells of a wrong shape are passed over, the others read, and nothing is printed or logged."""
    cells = [
        None,
        "text",
        {},
        {"cell_type": "code"},
        {"cell_type": ["code"]},
        code(3),
        markdown(None),
        code("λ = 3", outputs=3),
    ]
    drafts = read(notebook(*cells, metadata=7), when)

    assert [(draft.text, draft.location) for draft in drafts] == [("λ = 3", "#7")]
    assert (capsys.readouterr(), caplog.records) == (("", ""), [])


SECRET = "geheimnis"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" \n",
        f"{{{SECRET}".encode(),
        f'"{SECRET}"'.encode(),
        b"[]",
        f'{{"{SECRET}": 1}}'.encode(),
        f'{{"cells": "{SECRET}"}}'.encode(),
        f'{{"nbformat": 5, "cells": ["{SECRET}"]}}'.encode(),
        f'{{"nbformat": 3, "worksheets": "{SECRET}"}}'.encode(),
        f'{{"nbformat": 3, "worksheets": [{{"cells": [{{"cell_type": "{SECRET}"}}, 5]}}]}}'.encode(),
        f'{{"nbformat": -1, "cells": ["{SECRET}"]}}'.encode(),
        b"[" * 200_000,
        b'{"cells": ' + b"9" * 5000 + b"}",
        bytes(range(256)),
    ],
)
def test_what_is_no_notebook_is_refused(
    tmp_path: Path, when: datetime, content: bytes, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """The error says why in a line, and neither it nor a log shows what the file holds."""
    path = tmp_path / "broken.ipynb"
    path.write_bytes(content)

    with pytest.raises(InputError) as caught:
        read(path, when)
    message = str(caught.value)
    assert message and "\n" not in message and len(message) < 200
    assert SECRET not in message + caplog.text + "".join(capsys.readouterr())


def test_large_cells_are_bounded(notebook: Notebook, when: datetime) -> None:
    """A megabyte pasted into a cell is kept in part, spaces and all read in linear time."""
    pasted, spaces = read(notebook(code("λ" * 1_000_000), code("mem" + " " * 190_000 + "x")), when)

    assert len(pasted.text) <= 200_003
    assert len(spaces.text) == 190_004


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({"kernelspec": {"name": "ir", "language": "R"}, "language_info": {"name": "R"}}, "r"),
        ({"kernelspec": {"name": "julia-1.11", "language": "julia"}, "language_info": {"name": "julia"}}, "julia"),
        ({"kernelspec": {"name": "scala", "display_name": "Scala"}, "language_info": {"name": "scala"}}, "scala"),
        ({"kernelspec": {"name": "sas"}, "language_info": {"name": "sas"}}, "sas"),
        ({"kernelspec": {"name": "ir"}}, "r"),
        ({"kernelspec": {"name": "julia-1.11"}}, "julia"),
        ({"kernelspec": {"name": "xcpp17"}, "language_info": {"name": "C++17"}}, "cpp"),
        ({"kernelspec": {"name": "python3"}}, "python"),
        ({}, "python"),
    ],
)
def test_a_notebook_of_any_kernel_has_its_language(
    notebook: Notebook, when: datetime, metadata: dict[str, Any], language: str
) -> None:
    """As its metadata name it: in full, or by the name of its kernel alone."""
    assert read(notebook(code("x"), metadata=metadata), when)[0].lang == language


@pytest.mark.parametrize(
    ("source", "language"),
    [
        ("%%R -i prices\nsummary(prices)", "r"),
        ("%%sql\nSELECT 1", "sql"),
        ("%%bash\nls", "bash"),
        ("%%script bash --bg\nls", "bash"),
        ("%%bigquery df\nSELECT 1", "sql"),
        ("%%time\nx = 1", "python"),
        ("%R summary(prices)", "python"),
        ("x = '%%sql'", "python"),
    ],
)
def test_a_magic_says_the_language_of_its_cell(notebook: Notebook, when: datetime, source: str, language: str) -> None:
    """A cell of SQL in a notebook of Python is found as SQL; a magic that only measures changes nothing."""
    assert read(notebook(code(source)), when)[0].lang == language
