"""Notebooks: which cells become memories, with what text, outputs, title, place and language."""

import json
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from jupyter_memory import InputError
from jupyter_memory.ingest import is_excluded, read_file
from jupyter_memory.text import outputs_of
from jupyter_memory.types import Draft

TEXTS = tomllib.loads(Path(__file__).with_name("texts.toml").read_text("utf-8"))


def code(source, *outputs, **more):
    cell = {"cell_type": "code", "source": source, "outputs": list(outputs), "metadata": {}, "execution_count": 1}
    return cell | more


def markdown(source, **more):
    return {"cell_type": "markdown", "source": source, "metadata": {}} | more


def raw(source, **about):
    return {"cell_type": "raw", "source": source, "metadata": about, "id": "raw"}


@pytest.fixture
def drafts(notebook):

    def read(*cells, **more):
        path = notebook(*cells, **more)
        return read_file(path, root=path.parent)

    return read


def test_every_cell_that_says_something_is_a_draft(notebook):
    """Markdown and code become cells with their kind, tier, source, language and time; empty ones do not."""
    path = notebook(
        markdown("# Preise in Zürich", id="a1"),
        code("λ = 3", {"output_type": "stream", "name": "stdout", "text": "3\n"}, id="b2", execution_count=7),
        raw(" "),
        code("  \n", id="d4"),
    )
    first, second = read_file(path, root=path.parent)
    when = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    assert (first.text, first.lang, first.location) == ("# Preise in Zürich", "markdown", "a1")
    assert second == Draft(
        text="λ = 3\n\nOut:\n3", title="02_prices.ipynb – Preise in Zürich", kind="cell", tier="file", source=str(path),
        location="b2", lang="python", event_at=when, metadata={"cell_type": "code", "execution_count": 7, "index": 1},
        context=f"02_prices.ipynb\nPreise in Zürich\n{when:%A} {when.day} {when:%B %Y}", dated_by_file=True,
    )  # fmt: skip
    # No id is made up while reading.
    assert read_file(path, root=path.parent) == [first, second]


def test_the_title_has_the_nearest_heading(drafts):
    """Headings hold until the next of their level; a cell before any has the notebook's name alone."""
    found = drafts(
        code("import pandas"),
        markdown("# Preise\n## Säubern\nWir entfernen Ausreißer."),
        code("drop()"),
        markdown("text, then\n\n## Modell"),
        code("fit()"),
        markdown("# Ende\n\nText"),
        code("```\n# no heading in code"),
    )
    titles = [draft.title.removeprefix("02_prices.ipynb").removeprefix(" – ") for draft in found]
    assert titles == ["", "Säubern", "Säubern", "Säubern", "Modell", "Ende", "Ende"]
    assert "Preise > Säubern" in found[2].context and "Preise > Modell" in found[4].context


def test_code_has_the_markdown_directly_above_it_in_its_context(drafts):
    """The text just above, without its headings; not for the next code cell, nor for Markdown itself."""
    skipped = (raw(""), code(""))
    above = markdown("# Preise\nWir *skalieren* auf λ.\n"), markdown("Danach [das Modell](m.md).")
    found = drafts(*above, *skipped, code("fit()"), code("plot()"))
    assert [draft.context.split("\n")[2:-1] for draft in found] == [[], [], ["Danach das Modell."], []]


def test_ids_are_locations_only_where_they_are_stored(drafts):
    """A missing, repeated or impossible id, and any before format 4.5, gives way to the place in the notebook."""
    ids = ({"id": "x"}, {}, {"id": "x"}, {"id": "not valid"}, {"id": 5}, {"id": "y"})
    cells = [code("a", **one) for one in ids]
    assert [draft.location for draft in drafts(*cells)] == ["x", "#1", "#2", "#3", "#4", "y"]
    assert [draft.location for draft in drafts(*cells, minor=4)] == [f"#{n}" for n in range(6)]


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({}, "python"), ({"language_info": {"name": "R"}, "kernelspec": {"language": "python"}}, "r"),
        ({"kernelspec": {"language": "julia"}}, "julia"),
        ({"kernelspec": None, "language_info": {"name": 3}}, "python"), (None, "python"),
        ({"kernelspec": {"name": "scala", "display_name": "Scala"}, "language_info": {"name": "scala"}}, "scala"),
        ({"kernelspec": {"name": "sas"}, "language_info": {"name": "sas"}}, "sas"),
        ({"kernelspec": {"name": "ir"}}, "r"), ({"kernelspec": {"name": "julia-1.11"}}, "julia"),
        ({"kernelspec": {"name": "xcpp17"}, "language_info": {"name": "C++17"}}, "cpp"),
        ({"kernelspec": {"name": "python3"}}, "python"),
    ],
)  # fmt: skip
def test_the_language_is_the_kernels(drafts, metadata, language):
    """Code is in the notebook's language, in full or by the name of its kernel alone; Python if nothing says so."""
    assert [one.lang for one in drafts(markdown("λ"), code("x <- 3"), metadata=metadata)] == ["markdown", language]


@pytest.mark.parametrize(
    ("source", "language"),
    [
        ("%%R -i prices\nsummary(prices)", "r"), ("%%sql\nSELECT 1", "sql"), ("%%bash\nls", "bash"),
        ("%%script bash --bg\nls", "bash"), ("%%bigquery df\nSELECT 1", "sql"), ("%%time\nx = 1", "python"),
        ("%R summary(prices)", "python"), ("x = '%%sql'", "python"), ("#!fsharp\nlet x = 1", "fsharp"),
        ("#!pwsh\nls", "powershell"), ("#!/bin/sh\nls", "python"), ("%sql\nSELECT 1", "sql"), ("%md ## λ", "markdown"),
        ("%sql SELECT 1", "python"), ("%%pyspark\nx", "python"), ("%%csharp\nvar x = 1;", "csharp"),
        ("%%sparksql\nSELECT 1", "sql"), ("#!time\nx", "python"), ("%%sh -e\nls", "bash"), ("%bash", "python"),
        ("%%script --bg ruby\nputs 1", "ruby"), ("\n%%script /usr/bin/bash\nls", "bash"),
        ("%%capture out\n%%time\n%%sql\nselect 1", "sql"), ("%%our_own_magic\nrates.mean()", "python"),
        ("rates = 3\n%%bash", "python"),
    ],
)  # fmt: skip
def test_a_magic_says_the_language_of_its_cell(drafts, source, language):
    """A cell of SQL in a notebook of Python is SQL; one that only measures or captures is as what is below it."""
    assert drafts(code(source))[0].lang == language


@pytest.mark.parametrize(
    ("cell", "language"),
    [
        (raw("---\ntitle: Gezeiten λ\nformat: html\n---"), "yaml"), (raw("plain λ"), "text"),
        (raw("\\section{λ}", raw_mimetype="text/latex"), "latex"),
        (raw(".. note:: λ", format="text/restructuredtext"), "rst"),
        (raw("<b>λ</b>", raw_mimetype="text/html"), "html"), (raw("λ", raw_mimetype=3), "text"),
    ],
)  # fmt: skip
def test_raw_cells_are_read(drafts, cell, language):
    """In the language that is noted about them; the heading above stays, and the words above the next cell."""
    _, found, after = drafts(markdown("# Preise\nWir messen."), cell, code("fit()"))
    assert (found.lang, found.metadata["cell_type"], "λ" in found.text) == (language, "raw", True)
    assert found.title.endswith("Preise") and "Wir messen." in after.context and "λ" not in after.context


def test_tags_of_cells_and_notebooks_are_tags(drafts):
    cells = code("λ = 3", metadata={"tags": ["parameters", "λ", 3]}), markdown("λ", metadata={"tags": "no list"})
    found = drafts(*cells, raw("λ", tags=["draft"]), metadata={"tags": ["Flut"]})
    assert [one.tags for one in found] == [("parameters", "λ", "Flut"), ("Flut",), ("draft", "Flut")]
    assert found[0].metadata["file_tags"] == ["parameters", "λ", "Flut"]


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({"vscode": {"languageId": "shellscript"}}, "bash"),
        ({"polyglot_notebook": {"kernelName": "fsharp"}}, "fsharp"),
        ({"dotnet_interactive": {"language": "csharp"}}, "csharp"), ({"microsoft": {"language": "sparkr"}}, "r"),
        ({"language": "sql"}, "sql"), ({"deepnote_cell_type": "sql"}, "sql"), ({"kernel": "Mein R"}, "r"),
        ({"kernel": "Bash"}, "bash"), ({"kernel": "SoS"}, "julia"), ({"deepnote_cell_type": "code"}, "julia"),
        ({"vscode": {"languageId": 3}, "language": None, "kernel": ["R"]}, "julia"), ({"vscode": 3}, "julia"),
    ],
)  # fmt: skip
def test_editors_note_the_language_of_a_cell(drafts, metadata, language):
    of_notebook = {
        "language_info": {"name": "julia"},
        "sos": {"kernels": [["Mein R", "ir", "R", "", ""], ["x"], 3, [1, 2, 3]]},
    }
    said, magic = drafts(code("x", metadata=metadata), code("%%perl\nx", metadata=metadata), metadata=of_notebook)
    assert (said.lang, magic.lang) == (language, "perl")


def test_a_language_is_asked_for_by_any_of_its_names(notebook, index):
    """C# is csharp, whichever is typed and whichever the notebook says."""
    path = notebook(code("var λ = 1;"), metadata={"language_info": {"name": "C#"}})
    index(path)
    assert index.memory.get(index.memory.browsed().hits[0].memory.id).lang == "csharp"
    for name in ("csharp", "c#", "C#", "CSharp"):
        assert len(index.memory.hits("λ", filters={"lang": name}).hits) == 1
        assert len(index.memory.hits(f"lang:{name} λ").hits) == 1
        assert len(index.memory.hits(f"-lang:{name} λ").hits) == 0


@pytest.mark.parametrize(
    "source",
    [
        "%memsearch wie haben wir die Preise normalisiert", "%%memsearch --limit 3\nPreise in Zürich",
        "import pandas\ndf = %memsearch --tag λ prices", "%memadd We use λ = 3", "%%memadd --tag λ\ntext",
        "%memory history on", "  %memeval run", "%memfix --insert 1", "%time %memsearch prices",
        "%load_ext jupyter_memory", "# load it\n%reload_ext jupyter_memory  # λ\n\n",
        "get_ipython().run_line_magic('memsearch', 'prices')", "! jupyter-memory search prices",
    ],
)  # fmt: skip
def test_cells_that_use_this_memory_are_left_out(drafts, source):
    assert drafts(code(source)) == [] and is_excluded(source)


@pytest.mark.parametrize(
    "source",
    [
        "%load_ext jupyter_memory\nimport pandas", "rest = total %memory", "# later: %memsearch prices",
        'print("type %memsearch prices")', "%memory_usage", "%memit fit(λ)", "# a comment on memory",
        "df.memory_usage()", "memory = 3", "%load_ext memory_profiler",
    ],
)  # fmt: skip
def test_other_cells_stay(drafts, source):
    assert len(drafts(code(source), markdown("%memsearch finds λ"))) == 2 and not is_excluded(source)


@pytest.mark.parametrize(
    ("source", "is_out"),
    [
        ("# memory: off\nλ = 3", True), ("λ = 3  #memory:off", True), ("x <- 3 # Memory : OFF", True),
        ("select 1 -- memory: off", True), ("f() // memory: off", True), ("# memory: offset 3", False),
        ("# memory: on", False), ("memory = 'off'", False),
    ],
)  # fmt: skip
def test_a_comment_keeps_a_cell_out_of_the_history(source, is_out):
    assert is_excluded(source) == is_out


def test_tags_and_patterns_keep_a_cell_out_of_the_history():
    """A tag does, however it is spelled, and a pattern that a whole line fits; no pattern takes long."""
    for tag in ("memory: off", "memory-off", "memory_off", "Memory:Off"):
        assert is_excluded("λ = 3", tags=["raises-exception", tag])
    assert not is_excluded("λ = 3", tags=["memory", "off", "hide-input"])
    patterns = ["%sql *", "*KUNDE*"]
    assert is_excluded("x = 1\n  %sql select λ", patterns) and is_excluded("load(KUNDEN)", patterns)
    assert not is_excluded("print('%sql λ')", patterns) and not is_excluded("load(kunden)", patterns)
    assert not is_excluded("a" * 20_000, ["*a" * 40 + "b"])


def test_strange_text_is_cleaned(tmp_path):
    path = tmp_path / "n.ipynb"
    content = '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [%s]}'
    path.write_bytes(b"\xef\xbb\xbf" + (content % json.dumps(code(["λ\0 = ", "'\ud800'\r\n", "x"]))).encode())
    assert [draft.text for draft in read_file(path, root=tmp_path)] == ["λ = '\ufffd'\nx"]


def test_embedded_pictures_are_no_text(drafts):
    picture = "data:image/png;base64," + "iVBORw0KGgo" * 200
    output = {"output_type": "display_data", "data": {"text/markdown": f"**Zürich** ![]({picture})"}, "metadata": {}}
    cells = markdown(f"![λ]({picture})\nPrices"), code(f"url = '{picture}'", output), code("'data:a/b;base64,AA=='")
    assert [draft.text for draft in drafts(*cells)] == [
        "![λ](data:image/png;base64,…)\nPrices",
        "url = 'data:image/png;base64,…'\n\nOut:\n**Zürich** ![](data:image/png;base64,…)",
        "'data:a/b;base64,AA=='",
    ]


def test_notebooks_of_format_3_are_read(tmp_path, capsys):
    result = {"output_type": "pyout", "prompt_number": 4, "text": "3", "metadata": {}}
    raised = {"output_type": "pyerr", "ename": "ZeroDivisionError", "evalue": "division by zero", "traceback": []}
    old = {"cell_type": "code", "language": "python", "collapsed": False, "metadata": {}}
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Preise in Zürich", "metadata": {}},
        old | {"input": ["λ = 3\n", "λ"], "prompt_number": 4, "outputs": [result]},
        old | {"input": "1/0", "outputs": [raised]},
    ]
    path = tmp_path / "old.ipynb"
    content = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]}
    path.write_text(json.dumps(content))
    heading, first, second = read_file(path, root=tmp_path)
    assert (heading.text, heading.location) == ("## Preise in Zürich", "#0")
    assert (first.text, first.title, first.location) == ("λ = 3\nλ\n\nOut:\n3", "old.ipynb – Preise in Zürich", "#1")
    assert second.text == "1/0\n\nOut:\nZeroDivisionError: division by zero"
    assert capsys.readouterr() == ("", "")


def test_an_invalid_notebook_gives_what_it_has(drafts, capsys, caplog):
    odd = (None, "text", {}, {"cell_type": "code"}, {"cell_type": ["code"]}, code(3), markdown(None))
    found = drafts(*odd, code("λ = 3", outputs=3), metadata=7)
    assert [(draft.text, draft.location) for draft in found] == [("λ = 3", "#7")]
    assert (capsys.readouterr(), caplog.records) == (("", ""), [])


SECRET = "geheimnis"


@pytest.mark.parametrize(
    "content",
    [
        "", " \n", f"{{{SECRET}", f'"{SECRET}"', "[]", f'{{"{SECRET}": 1}}', f'{{"cells": "{SECRET}"}}',
        f'{{"nbformat": 5, "cells": ["{SECRET}"]}}', f'{{"nbformat": 3, "worksheets": "{SECRET}"}}',
        f'{{"nbformat": 3, "worksheets": [{{"cells": [{{"cell_type": "{SECRET}"}}, 5]}}]}}',
        f'{{"nbformat": -1, "cells": ["{SECRET}"]}}', "[" * 200_000, '{"cells": ' + "9" * 5000 + "}", bytes(range(256)),
    ],
)  # fmt: skip
def test_what_is_no_notebook_is_refused(read, content, capsys, caplog):
    with pytest.raises(InputError) as caught:
        read("broken.ipynb", content)
    message = str(caught.value)
    assert message and "\n" not in message and len(message) < 200
    assert SECRET not in message + caplog.text + "".join(capsys.readouterr())


def test_large_cells_are_bounded(drafts):
    pasted, spaces = drafts(code("λ" * 1_000_000), code("mem" + " " * 190_000 + "x"))
    assert len(pasted.text) <= 200_003 and len(spaces.text) == 101_003


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def shown(**data):
    kinds = {kind.replace("_", "/", 1): value for kind, value in data.items()}
    return {"output_type": "display_data", "data": kinds, "metadata": {}}


def of_terminal(ename, evalue, *traceback):
    return {"output_type": "error", "ename": ename, "evalue": evalue, "traceback": list(traceback)}


PLOTLY, VEGA = "application/vnd.plotly.v1+json", "application/vnd.vegalite.v5+json"
CHART = {
    "data": [{"type": "bar", "name": "Abfluss", "x": ["a", "b"], "y": [1, 2]}],
    "layout": {
        "template": {"layout": {"title": {"text": "no"}}},
        "title": {"text": "nach Gewitter"},
        "yaxis": {"title": "m³/s"},
    },
}
DRAWING = (
    "<svg><title>Durchlass</title><style>.a{}</style><!-- Höhe &amp; λ --><g/><!-- 2.5 -->"
    "<text><tspan>Schacht</tspan> <tspan>J</tspan></text></svg>"
)
TABLE = "<style>td {top: 0}</style><table><caption>Mühlen</caption><tr><th>Rad</th><td>3 &lt; λ</td>"
WIDGET = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "HBox(children=())"}
COLOURED = ("\x1b[31m-----\x1b[39m", "File \x1b[32mprices.py:3\x1b[0m", "\x1b[31mKeyError\x1b[0m: 'preis_€'")


@pytest.mark.parametrize(
    ("outputs", "text"),
    [
        # Streams and results are one text, lists of lines joined.
        (
            [stream(["Zür", "ich\n"]), {"output_type": "execute_result", "data": {"text/plain": ["λ  ", "\n3"]}}],
            "Zürich\nλ  \n3",
        ),
        # What a logger coloured is read plain, and a link by its text.
        ([stream("\x1b[1;32mINFO\x1b[0m λ \x1b]8;;https://x.example\x1b\\here\x1b]8;;\x1b\\")], "INFO λ here"),
        # A traceback is readable, and says once what happened.
        ([of_terminal("KeyError", "'preis_€'", *COLOURED)], "-----\nFile prices.py:3\nKeyError: 'preis_€'"),
        ([of_terminal("KeyError", "'preis_€'")], "KeyError: 'preis_€'"),
        # A figure is a placeholder, its repr left out; text that says something stays beside a picture.
        ([shown(text_plain="<Figure size 640x480 with 1 Axes>", image_png="iVBOR")], "[image/png]"),
        ([shown(image_png="iVBOR")], "[image/png]"),
        ([shown(text_plain="Umsatz", image_png="iVBOR")], "Umsatz\n[image/png]"),
        # A DataFrame's text stands for its HTML; HTML alone is read without programs and styles.
        ([shown(text_plain="   λ\n0  3", text_html="<table>")], "   λ\n0  3"),
        ([shown(text_plain="<IPython.core.display.HTML object>", text_html="<b>x</b>")], "x"),
        ([shown(text_html=TABLE)], "Mühlen\n\nRad\t3 < λ"),
        ([shown(text_plain="GT(_tbl_data=\n  x,\n  y)", text_html="<h4>Ebbe</h4><script>f()</script>")], "Ebbe"),
        ([shown(text_html="<script>draw()</script>")], "[text/html]"),
        ([shown(text_html="<p>λ <img alt='Wehr' src='a.png'></p>")], "λ Wehr"),
        # Of charts the words are read, not the data.
        (
            [shown(**{PLOTLY: CHART, "text_html": "<div></div>"})],
            f"[{PLOTLY}] [text/html]\nAbfluss\nnach Gewitter\nm³/s",
        ),
        (
            [
                shown(
                    text_plain="alt.Chart(...)",
                    **{
                        VEGA: {
                            "title": "λ", "datasets": {"d": [{"title": "no"}]}, "encoding": {"x": {"field": "Pegel"}},
                        }
                    },
                )
            ],
            f"[{VEGA}]\nλ\nPegel",
        ),
        ([shown(text_plain="Figure({...})", **{PLOTLY: CHART})], "Figure({...})\nAbfluss\nnach Gewitter\nm³/s"),
        # Of JSON the strings, and numbers that have a name.
        (
            [
                shown(
                    text_plain="<IPython.core.display.JSON object>",
                    application_json={"an": "λ", "b": [1, {"c": ["x", 2]}], "n": 0.5},
                )
            ],
            "an: λ\nc: x\nn: 0.5",
        ),
        ([shown(application_json="λ")], "λ"), ([shown(application_json=None)], "[application/json]"),
        # Of a drawing the labels, also those that matplotlib wrote as paths; what describes a picture is read.
        ([shown(**{"image/svg+xml": DRAWING})], "[image/svg+xml]\nDurchlass\nHöhe & λ\nSchacht J"),
        (
            [shown(image_png="iVBOR") | {"metadata": {"image/png": {"alt": "Pegel im März", "width": 3}}}],
            "[image/png]\nPegel im März",
        ),
        # What display(Markdown(...)) showed is read.
        (
            [shown(text_plain="<IPython.core.display.Markdown object>", text_markdown=["**λ** ist ", "3"])],
            "**λ** ist 3",
        ),
        # A widget's view says nothing, neither does its repr.
        ([{"output_type": "display_data", "data": WIDGET}], "[widget]"),
        # Of a line that was written over and over only the last state is kept, pieces and all.
        (
            [stream(f"\r{n}%|███   | λ", "stderr") for n in (0, 50, 100)]
            + [stream("\n", "stderr"), stream("done\r\n")],
            "100%|███   | λ\ndone",
        ),
        # What is no output of a notebook is passed over.
        *((odd, "") for odd in (None, "text", 7, [None], ["x"], [{}], [stream(None)], [stream([1, None])])),
        *(([{"output_type": kind}], "") for kind in ("stream", "error", "display_data", 3)),
        ([shown(text_plain=3)], ""),
        ([{"output_type": "error", "traceback": 3, "ename": 1}], ""),
        ([{"output_type": "display_data", "data": []}], ""),
    ],
)  # fmt: skip
def test_what_a_cell_printed_and_showed_is_text(drafts, outputs, text):
    """Outputs come in order, as a person reads them."""
    [draft] = drafts(code("λ", outputs=outputs))
    assert outputs_of(draft.text) == text


def test_longer_outputs_keep_what_is_unusual(drafts):
    """Up to a bound it is whole; then head, tail and odd lines are kept; all are bounded together, the rest counted."""
    short = "\n".join(f"Zeile {number}" for number in range(1_500))
    [draft] = drafts(code("λ", stream(short)))
    assert outputs_of(draft.text) == short and "left_out" not in draft.metadata
    lines = [f"epoch {number} loss {1 / (number + 1):.5f}" for number in range(5_000)]
    lines[2_500] = "epoch 2500 λ diverged"
    cells = code("λ", stream("\n".join(lines))), code("λ", *[shown(text_plain="\n".join(lines))] * 50)
    one, many = drafts(*cells)
    text = outputs_of(one.text)
    assert text.startswith("epoch 0 ") and text.endswith(lines[-1]) and "\n…\nepoch 2500 λ diverged\n…\n" in text
    assert 15_000 < len(text) <= 20_000 and len(outputs_of(many.text)) <= 100_100
    assert one.metadata["left_out"] == len("\n".join(lines)) - len(text)
    assert many.metadata["left_out"] > 49 * one.metadata["left_out"]


@pytest.mark.parametrize(
    "text", ["λ" * 90_000, "a\n" * 60_000, f"λ\n{'x' * 80_000}\n" * 20, "\n".join(map(chr, range(9_000, 40_000)))]
)
def test_long_outputs_of_any_shape_are_bounded(drafts, text):
    """One line, the same line, long lines among short ones, and lines that are all unlike."""
    [draft] = drafts(code("λ", stream(text)))
    assert 5_000 < len(outputs_of(draft.text)) <= 20_010 and "\n…\n" in draft.text


@pytest.mark.parametrize(
    ("value", "said"), [("9" * 6_000, None), ("[" * 50_000 + "]" * 50_000, "JSON is nested too deeply to be read")]
)
def test_odd_metadata(tmp_path, value, said):
    cells = '[{"cell_type": "code", "metadata": {}, "source": "λ = 3.2", "outputs": [], "execution_count": null}]'
    path = tmp_path / "a.ipynb"
    path.write_text(f'{{"cells": {cells}, "metadata": {{"a": {value}}}, "nbformat": 4, "nbformat_minor": 4}}')
    if said is None:
        assert read_file(path, root=tmp_path)[0].text == "λ = 3.2"
    else:
        with pytest.raises(InputError, match=said):
            read_file(path, root=tmp_path)


def test_a_note_of_zeppelin_is_read_as_a_notebook(read):
    """By paragraph, with its results; the language is that of its interpreter, and notes of the 0.7 are read too."""
    found = read("ferries.zpln", TEXTS["zeppelin"])
    assert [(part.language, part.headings) for part in found.parts] == [
        ("markdown", ("Ferries",)), ("python", ("Ferries",)), ("python", ("Ferries",)), ("sql", ("Ferries",)),
    ]  # fmt: skip
    texts = [part.text for part in found.parts]
    assert texts[1].startswith("ferries = spark.range(3)\n") and "3 boats" in texts[1] and "a\tb" in texts[1]
    assert texts[2].startswith("ferries.count()\n") and texts[3] == "%%sql\nselect 1"
    assert (found.language, found.kind) == ("python", "cell")


@pytest.mark.parametrize(
    "paragraphs",
    [
        *("[]", "[1, null]", '[{"text": 3}]', '[{"text": "%", "results": 3}]', "3"),
        '[{"text": "1", "results": {"msg": [3, null]}}]',
    ],
)
def test_a_damaged_note_of_zeppelin_is_refused_or_read(read, paragraphs):
    """Nothing but an InputError is raised."""
    try:
        read("a.zpln", '{"paragraphs": ' + paragraphs + "}")
    except InputError as error:
        assert "cells" in str(error)


def test_a_notebook_of_r_with_an_ending_of_its_own_is_one(read, notebook):
    path = notebook({"cell_type": "code", "source": "x <- 1", "outputs": []}, name="a.irnb")
    assert [part.text for part in read(path.name).parts] == ["x <- 1"]
