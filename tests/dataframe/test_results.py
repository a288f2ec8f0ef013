"""What a person sees of a result: at once whether it is right, in a notebook and in lines of a terminal."""

from __future__ import annotations

import pickle
import re
import sys
from datetime import UTC, datetime, timedelta

import nbformat
import pandas as pd
import pytest
from IPython.lib.pretty import pretty
from results import Page

from jupyter_memory.text import width

CODE = "def cap(prices):\n    λ = prices.quantile(0.9)\n    return prices.clip(upper=λ)"


@pytest.fixture
def mixed(store, tmp_path, monkeypatch):
    """A store with a notebook below the current folder, and notes with and without a title."""
    monkeypatch.chdir(tmp_path)
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [
        nbformat.v4.new_markdown_cell("# Capping\n\nWe *cap* the prices at **λ**, as in [the plan](plan.md)."),
        nbformat.v4.new_code_cell(CODE),
    ]
    (tmp_path / "week").mkdir()
    nbformat.write(notebook, tmp_path / "week" / "caps of März.ipynb")
    memory = store()
    memory.index(tmp_path / "week", progress=False)
    ago = datetime.now(UTC) - timedelta(days=24)
    memory.add("Frau Müller wants *no* cap on prices of `bread` before June, see [the minutes](m.md).", event_at=ago)
    memory.cells = {kind: cell.id for kind, cell in zip(("prose", "code"), notebook.cells, strict=True)}
    return memory


@pytest.mark.parametrize("cells", ["60", "80", "120"])
def test_nothing_important_falls_off(mixed, monkeypatch, cells):
    """A line is no wider than the terminal; rank, title, notebook, words, badges, strength and age are all there."""
    monkeypatch.setenv("COLUMNS", cells)
    mixed.add("東京都の価格を λ で正規化した " * 30, title="東京都の価格 " * 20)
    shown = repr(mixed.search("cap the prices λ 価格", limit=4))
    lines = shown.splitlines()

    assert max(map(width, lines)) <= max(80, int(cells))
    assert sum(width(line) > int(cells) for line in lines) <= 1  # the line below, with what to type
    for word in ("Capping", "caps of März.ipynb", "KW+SEM", "3 weeks ago", "just now", "東京都の価格"):
        assert word in shown
    assert re.search(r"^ 1  .* KW\+SEM  +\d+%  ", shown, re.MULTILINE)


def test_code_keeps_its_lines(mixed):
    """Code is shown line by line with its indentation, while the column has it in one line."""
    frame = mixed.search("quantile")

    assert "    def cap(prices):\n        λ = prices.quantile(0.9)\n" in repr(frame)
    assert re.search(r"<pre>def cap\(prices\):\n    λ = prices\.<mark>quantile</mark>\(0\.9\)\n", frame._repr_html_())
    # A page saved by nbconvert gives a <pre> in an output the letters of prose.
    style = re.search(r"\.jp-MemoryResult pre \{[^}]*\}", frame._repr_html_())
    assert style is not None and "monospace" in style[0]
    assert frame.loc[1, "snippet"] == " ".join(CODE.split())


def test_markdown_is_read_and_not_shown(mixed):
    """Prose is shown without the marks of Markdown, with the words that matched marked; the column has it as it is."""
    frame = mixed.search("cap prices of bread before June")
    html = frame._repr_html_()

    assert "\n    before June, see the minutes.\n" in repr(frame)
    assert "wants no <mark>cap</mark> on <mark>prices</mark> of <mark>bread</mark>" in html
    assert "We <mark>cap</mark> the <mark>prices</mark> at λ, as in the plan." in html
    assert "`bread`" in frame.loc[1, "snippet"]


def test_a_note_without_a_title_has_its_first_words(mixed):
    """They are its title, and in a terminal its text goes on from there."""
    frame = mixed.search("bread before June")

    assert frame.loc[1, "title"] == "Frau Müller wants no cap on prices of bread before June, …"
    assert repr(frame).startswith(" 1  Frau Müller wants no cap on prices of bread befor…  ")
    assert repr(frame).count("Frau Müller") == 1


def test_a_title_is_a_link_that_opens_the_cell(mixed):
    """It leads from the notebook's folder to the cell, has what the panel needs, and is escaped."""
    page = Page(mixed.search("quantile of the prices")._repr_html_())
    links = {one["href"]: one for tag, one in page.tags if tag == "a"}
    code = links[f"week/caps%20of%20M%C3%A4rz.ipynb#cell-id={mixed.cells['code']}"]

    assert code["class"] == "jp-Memory-openSource" and len(code["data-memory"]) == 16
    assert code["title"].endswith("week/caps of März.ipynb")


def test_badges_are_chips(found):
    """Each retriever has a chip of its own, which says in words what it means."""
    page = Page(found._repr_html_())
    chips = [(one["class"], one["title"]) for tag, one in page.tags if tag == "span" and "chip" in one.get("class", "")]

    assert set(chips) == {
        ("jp-MemoryResult-chip jp-mod-keyword", "found by its words"),
        ("jp-MemoryResult-chip jp-mod-vector", "found by its meaning"),
    }
    assert len(chips) == found["kw_rank"].notna().sum() + found["sem_rank"].notna().sum()


@pytest.mark.parametrize("show", [repr, lambda frame: Page(frame._repr_html_()).text], ids=["text", "html"])
@pytest.mark.parametrize("options", [{}, {"mode": "scan"}], ids=["full", "scan"])
def test_a_doubtful_answer_says_so_above_its_rows(week_store, show, options):
    """A weak answer and one that is none say it in words; a sure one says nothing."""
    sure = "The weekly forecast uses the orders of the last eight weeks"
    for query, verdict, said in (
        ("the volcano eruptions of prices in kamchatka", "none", "Nothing here seems to answer this."),
        ("zero mean volcano", "weak", "It is uncertain whether any of these results answers this"),
    ):
        frame = week_store.search(query, **options)
        assert len(frame) and frame.attrs["memsearch"]["verdict"] == verdict
        assert said in show(frame)[: 2_000 if show is not repr else 70]
    assert "answer" not in show(week_store.search(sure, **options).iloc[:0])


def test_a_saved_result_is_small_and_runs_nothing(mixed):
    """Ten rows take at most 20 KB; there is no script and no picture, and without styles it is a table with links."""
    mixed.add_many([{"text": f"λ of shop {number}: " + "the price was net of tax " * 9} for number in range(20)])
    html = mixed.search("λ price of the shop", limit=10)._repr_html_()
    tags = {tag for tag, _ in Page(html).tags}

    assert len(html.encode()) < 20_000
    assert not tags & {"script", "img", "iframe", "link", "object", "svg", "input", "form"}
    assert not re.search(r"\son\w+=", html)
    assert {"table", "thead", "th", "td", "mark", "small"} <= tags


def test_what_pandas_does_is_as_ever(found):
    """Some columns, a column or a frame of another shape are shown as pandas shows them; the frame keeps all."""
    plain = pd.DataFrame(found)

    assert repr(found[["score"]]) == repr(plain[["score"]])
    assert found.drop(columns="snippet")._repr_html_() == plain.drop(columns="snippet")._repr_html_()
    assert list(found.columns) == list(plain.columns) and "contrib_vector" not in repr(found)
    assert found.to_csv() == plain.to_csv()
    assert "memory_id" in repr(pd.concat([found, found], axis=1))
    assert isinstance(found.head(1), pd.DataFrame) and "3 memories" in repr(found.head(3))
    with pd.option_context("display.notebook_repr_html", False):
        assert found._repr_html_() is None


def test_a_result_of_another_session_is_shown_too(found, tmp_path):
    """Unpickled where its answer is not known, or read from Parquet, it has its rows; only the marks are gone."""
    pytest.importorskip("pyarrow", reason="writing Parquet needs pyarrow")
    old = pickle.loads(pickle.dumps(found))
    old.attrs["memsearch"]["query_id"] = "of another session"

    assert repr(old) == repr(found)
    assert "<mark>" in found._repr_html_() and "<mark>" not in old._repr_html_()
    assert Page(old._repr_html_()).text.split() == Page(found._repr_html_()).text.split()


class Screen:
    """A standard output that is a terminal, or none."""

    def __init__(self, is_terminal):
        self.isatty = lambda: is_terminal
        self.write = sys.stdout.write
        self.flush = sys.stdout.flush


@pytest.mark.parametrize(
    ("is_terminal", "variables", "coloured"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {}, False),
    ],
)
def test_ipython_has_colours_where_the_terminal_can(found, monkeypatch, is_terminal, variables, coloured):
    """In IPython's terminal the words that matched are in colour; print, pipes and notebooks have none."""
    monkeypatch.setattr(sys, "stdout", Screen(is_terminal))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    shown = pretty(found)

    assert ("\x1b[1;31m" in shown) == coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", shown) == repr(found)
