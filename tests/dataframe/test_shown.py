"""What a person sees of a result, and of fixes: HTML that runs nothing, lines of a terminal, and a styled table."""

import pickle
import re
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import nbformat
import pandas as pd
import pytest
from IPython.lib.pretty import pretty
from pages import Page
from pictures import plot, plotting, saved
from results import JOINING

from jupyter_memory.dataframe import fixes_frame
from jupyter_memory.text import width
from jupyter_memory.types import Fix, Run, RunError

CODE = "def cap(prices):\n    λ = prices.quantile(0.9)\n    return prices.clip(upper=λ)"
SHOWS = pytest.mark.parametrize(
    "render", [lambda frame: frame._repr_html_(), lambda frame: frame.memory.style().to_html()], ids=["html", "styled"]
)


@pytest.fixture
def mixed(store, tmp_path, monkeypatch):
    """A store with a notebook below the current folder, and notes with and without a title."""
    monkeypatch.chdir(tmp_path)
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [
        nbformat.v4.new_markdown_cell("# Capping\n\nWe *cap* the prices at **λ**, as in [the plan](plan.md)."),
        nbformat.v4.new_code_cell(CODE, id="c0de"),
    ]
    (tmp_path / "week").mkdir()
    nbformat.write(notebook, tmp_path / "week" / "caps of März.ipynb")
    memory = store()
    memory.index(tmp_path / "week", progress=False)
    ago = datetime.now(UTC) - timedelta(days=24)
    memory.add("Frau Müller wants *no* cap on prices of `bread` before June, see [the minutes](m.md).", event_at=ago)
    return memory


@pytest.mark.parametrize("cells", ["60", "80", "120"])
def test_nothing_important_falls_off(mixed, monkeypatch, cells):
    """No line is too wide; rank, title, notebook, words, badges, strength, age and the whole id are all there."""
    monkeypatch.setenv("COLUMNS", cells)
    tags = [f"a-tag-of-many-letters-{number}" for number in range(9)]
    note = mixed.add("東京都の価格を λ で正規化した " * 30, title="東京都の価格 " * 20, tags=tags)
    shown = repr(mixed.search("cap the prices λ 価格", limit=4))
    lines = shown.splitlines()
    assert max(map(width, lines)) <= max(80, int(cells))
    assert sum(width(line) > int(cells) for line in lines) <= 1  # the line below, with what to type
    for word in ("Capping", "caps of März.ipynb", "KW+SEM", "3 weeks ago", "just now", "東京都の価格", note.id):
        assert word in shown
    assert re.search(r"^ 1  .* KW\+SEM  +\d+%  ", shown, re.MULTILINE)


def test_markdown_is_read_and_not_shown(mixed):
    """Prose is shown without the marks of Markdown, with the words that matched marked; the column has it as it is."""
    frame = mixed.search("cap prices of bread before June")
    html = frame._repr_html_()
    assert "\n    before June, see the minutes.\n" in repr(frame)
    assert "wants no <mark>cap</mark> on <mark>prices</mark> of <mark>bread</mark>" in html
    assert "We <mark>cap</mark> the <mark>prices</mark> at λ, as in the plan." in html
    assert "`bread`" in frame.loc[1, "snippet"]
    # A note without a title has its first words, and in a terminal its text goes on from there.
    assert frame.loc[1, "title"] == "Frau Müller wants no cap on prices of bread before June, …"
    assert repr(frame).startswith("found\n\n 1  Frau Müller wants no cap on prices of bread befor…  ")
    assert repr(frame).count("Frau Müller") == 1


def test_a_title_is_a_link_that_opens_the_cell(mixed):
    links = {one["href"]: one for one in Page(mixed.search("quantile of the prices")._repr_html_()).all("a")}
    code = links["week/caps%20of%20M%C3%A4rz.ipynb#cell-id=c0de"]
    assert code["class"] == "jp-Memory-openSource" and len(code["data-memory"]) == 16
    assert code["title"].endswith("week/caps of März.ipynb")
    frame = mixed.search("quantile")
    assert "    def cap(prices):\n        λ = prices.quantile(0.9)\n" in repr(frame)
    assert re.search(r"<pre>def cap\(prices\):\n    λ = prices\.<mark>quantile</mark>\(0\.9\)\n", frame._repr_html_())
    # A page saved by nbconvert gives a <pre> in an output the letters of prose.
    style = re.search(r"\.jp-MemoryResult pre \{[^}]*\}", frame._repr_html_())
    assert style is not None and "monospace" in style[0]
    assert mixed.hits("quantile").hits[0].snippet == CODE
    for mode in ("full", "scan"):
        assert mixed.search("quantile", mode=mode).loc[1, "snippet"] == " ".join(CODE.split())


def test_badges_are_chips(found):
    spans = Page(found._repr_html_()).all("span")
    chips = [(one["class"], one["title"]) for one in spans if "chip" in one.get("class", "")]
    assert set(chips) == {
        ("jp-MemoryResult-chip jp-mod-keyword", "found by its words"),
        ("jp-MemoryResult-chip jp-mod-vector", "found by its meaning"),
    }
    assert len(chips) == found["kw_rank"].notna().sum() + found["sem_rank"].notna().sum()


@pytest.mark.parametrize("show", [repr, lambda frame: Page(frame._repr_html_()).text], ids=["text", "html"])
@pytest.mark.parametrize("options", [{}, {"mode": "scan"}], ids=["full", "scan"])
def test_the_verdict_stands_above_the_rows(week_store, show, options):
    sure = "why were prices scaled to zero mean"
    for query, verdict, said in (
        ("the volcano eruptions of prices in kamchatka", "none", "not found · Nothing here seems to answer this."),
        ("zero mean volcano", "weak", "perhaps · The results may answer this."),
        (sure, "strong", "found"),
    ):
        frame = week_store.search(query, **options)
        assert len(frame) and frame.attrs["memsearch"]["verdict"] == verdict
        assert show(frame).strip().startswith(said)
    assert "found" not in show(week_store.search(sure, **options).iloc[:0])


def test_a_saved_result_is_small_and_runs_nothing(mixed):
    """Ten rows take at most 20 KB; there is no script and no picture, and without styles it is a table with links."""
    mixed.add_many([{"text": f"λ of shop {number}: " + "the price was net of tax " * 9} for number in range(20)])
    html = mixed.search("λ price of the shop", limit=10)._repr_html_()
    tags = {tag for tag, _ in Page(html).tags}
    assert len(html.encode()) < 20_000 and not re.search(r"\son\w+=", html)
    assert not tags & {"script", "img", "iframe", "link", "object", "svg", "input", "form"}
    assert {"table", "thead", "th", "td", "mark", "small"} <= tags


def test_what_a_result_shows_and_what_it_holds(found, week_store):
    """The display has few columns, the frame all; other columns or shapes and lists are shown as pandas shows them."""
    page, plain = Page(found._repr_html_()), pd.DataFrame(found)
    assert "Joining orders" in page.text and "contrib_vector" not in page.text + repr(found)
    assert "df.iloc[:, :6]" in page.text and "3 memories" in repr(found.head(3))
    assert list(found.columns) == list(plain.columns) and found.to_csv() == plain.to_csv()
    assert isinstance(found[found["score"] > 0], pd.DataFrame) and "contrib_title" in found[found["score"] > 0]
    for columns in (["score"], ["title", "score"]):
        assert repr(found[columns]) == repr(plain[columns])
    assert found.drop(columns="snippet")._repr_html_() == plain.drop(columns="snippet")._repr_html_()
    assert "memory_id" in repr(pd.concat([found, found], axis=1))
    with pd.option_context("display.notebook_repr_html", False):
        assert found._repr_html_() is None
    assert "score" not in repr(week_store.browse(limit=2)) and "explain" not in repr(week_store.browse(limit=2))
    assert repr(week_store.search("λ", filters={"tag": "zz"})) == "No memories."


def test_rows_that_are_not_shown_are_told(found):
    with pd.option_context("display.max_rows", 2):
        assert repr(found).splitlines()[-1].startswith(f"the first 2 of {len(found)} memories ·")
        assert f"the first 2 of {len(found)} memories" in Page(found._repr_html_()).text
    with pd.option_context("display.max_rows", None):
        assert repr(found).splitlines()[-1].startswith(f"{len(found)} memories ·")
    old = pickle.loads(pickle.dumps(found))
    old.attrs["memsearch"]["query_id"] = "of another session"
    assert repr(old) == repr(found)
    assert "<mark>" in found._repr_html_() and "<mark>" not in old._repr_html_()
    assert Page(old._repr_html_()).text.split() == Page(found._repr_html_()).text.split()


class Screen:
    """A standard output that is a terminal, or none."""

    def __init__(self, is_terminal):
        self.isatty, self.write, self.flush = lambda: is_terminal, sys.stdout.write, sys.stdout.flush


@pytest.mark.parametrize(
    ("is_terminal", "variables", "coloured"),
    [(True, {}, True), (True, {"NO_COLOR": "1"}, False), (True, {"TERM": "dumb"}, False), (False, {}, False)],
)
def test_ipython_has_colours_where_the_terminal_can(found, monkeypatch, is_terminal, variables, coloured):
    """In IPython's terminal the words that matched are in colour; print, pipes and notebooks have none."""
    monkeypatch.setattr(sys, "stdout", Screen(is_terminal))
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in {"TERM": "xterm", **variables}.items():
        monkeypatch.setenv(name, value)
    shown = pretty(found)
    assert ("\x1b[1;31m" in shown) == coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", shown) == repr(found)


def test_style(week_store, found):
    html, whole = found.memory.style().to_html(), found.memory.style(evidence=True).to_html()
    page = Page(html)
    assert "Joining orders" in page.text and f"{found.loc[1, 'score']:.4f}" in page.text
    assert "contrib_semantic_margin" not in page.text and "value_recency" not in page.text
    assert whole.count("linear-gradient") > html.count("linear-gradient") > 0
    assert all(column in Page(whole).text for column in found.columns)
    assert "mathjax_ignore" in page.all("table")[0]["class"]
    # Columns that were left out are left out, and an empty result is an empty table.
    for some in (found[["title", "memory_id"]], week_store.search(JOINING, mode="scan")):
        assert "Joining orders" in some.memory.style().to_html()
    assert "contrib_title" in week_store.search("λ", filters={"tag": "zz"}).memory.style(evidence=True).to_html()


SCRIPT = "<script>alert('ü')</script>"
LIES = "λ \x1b[2J\x9b31m costs \u202e5\u2066 \x7f\u200f"


@SHOWS
def test_what_was_stored_is_not_run(store, render):
    memory = store()
    memory.add(f"λ {SCRIPT} costs $5 & $6", title=f"λ {SCRIPT}", tags=[SCRIPT], source=f'javascript:alert("{SCRIPT}")')
    hostile = memory.search("λ costs")
    page = Page(render(hostile))
    assert not page.all("script") and SCRIPT in page.text
    # A source that is a script is a link to a file of that name.
    page = Page(hostile.memory.open(1)._repr_html_())
    [(tag, attributes)] = page.tags
    assert tag == "a" and attributes["href"].startswith("javascript%3Aalert") and SCRIPT in page.text


@pytest.mark.parametrize(
    "render",
    [
        repr, lambda frame: frame._repr_html_(), lambda frame: frame.memory.style(evidence=True).to_html(),
        lambda frame: repr(frame[["title", "source"]]), lambda frame: frame[["title", "tags"]]._repr_html_(),
        lambda frame: repr(frame["title"]) + str(frame.loc[1]) + repr(frame["title"].str.upper()),
        lambda frame: repr(frame.memory.open(1)) + frame.memory.open(1)._repr_html_(),
        lambda frame: str(frame.memory.explain(1)) + repr(frame.memory.explain(1)),
        lambda frame: frame.memory.plot().to_json(ensure_ascii=False),
    ],
    ids=["text", "html", "styled", "columns", "columns as html", "one column", "place", "explanation", "chart"],
)  # fmt: skip
def test_what_nobody_sees_is_marked(store, render):
    memory = store()
    memory.add(f"{LIES} in prose", title=LIES, tags=[LIES.strip()], source=f"/reports/{LIES}.md")
    lying = memory.search("λ costs")
    assert not set(render(lying)) & set("\x1b\x9b\x7f\u202e\u2066\u200f")
    assert lying.loc[1, "title"] == LIES.strip()
    assert "λ ␛[2J[U+009B]31m costs [U+202E]5[U+2066] ␡[U+200F]" in Page(lying._repr_html_()).text


def places(html):
    return [one["data-memory"] for one in Page(html).all("span") if one.get("class") == "jp-Memory-outputPicture"]


@SHOWS
def test_only_rows_with_a_picture_have_a_place(store, tmp_path, render):
    memory = store()
    saved(
        tmp_path / "nb" / "zürich.ipynb", plotting("plt.plot(arrivals)", plot(1), plot(2)), plotting("arrivals.sum()")
    )
    memory.index(tmp_path / "nb", progress=False)
    found = memory.search("arrivals")
    [pictured] = found.attrs["memsearch"]["pictured"]
    html = render(found)

    assert len(found) == 2 and places(html) == [pictured]
    assert "data:" not in html and "<img" not in html and "thumbnail" not in html
    assert memory.thumbnail(pictured).image[:40].hex() not in html
    assert places(render(found[found["memory_id"] == pictured])) == [pictured]
    assert places(render(found[found["memory_id"] != pictured])) == []
    assert places(render(found.sort_values("title", ascending=False))) == [pictured]
    assert "thumbnails" not in found.columns and "picture" not in repr(found)
    memory.forget(everything=True)
    memory.add("arrivals")
    assert "pictured" not in memory.search("arrivals").attrs["memsearch"]


FAILED = Run(
    source='rate = rates["Genève"]\nprint(rate < 4)', started=datetime(2026, 3, 6, 9, 0, tzinfo=UTC), session="monday",
    number=1, outcome="error", error=RunError("KeyError", "'Genève'\nand more"), notebook="/week/λ & co.ipynb",
)  # fmt: skip
MENDED = replace(
    FAILED, source=FAILED.source.replace('["Genève"]', '.get("Genève", 0)'), outcome="ok", error=None, memory_id="aa01"
)
HOSTILE = "λ = rates[\"a\"]\n\tif λ < 3 and 'x' & 1:\n    print('</button><script>alert(1)</script>')\n"


def fixes(*mended):
    return fixes_frame([Fix(FAILED, one, 0.9) for one in mended], "/store.sqlite")


def test_a_fix_is_shown_with_its_difference_and_a_button():
    page = Page(fixes(MENDED)._repr_html_())
    [heads, [rank, error, change]] = page.rows
    [button] = page.all("button")

    assert heads == ["", "error", "code"]
    assert (rank, error[:18]) == ("1", "KeyError: 'Genève'") and "λ & co.ipynb" in error
    assert change.split("\n") == [
        '-rate = rates["Genève"]',
        '+rate = rates.get("Genève", 0)',
        " print(rate < 4)Insert as a new cell",
    ]
    assert (button["value"], button["data-memory"]) == (MENDED.source, "aa01")
    # Other columns, none at all, and no fix at all are shown by pandas.
    frame = fixes(MENDED)
    assert "Insert" not in frame[["error", "strength"]]._repr_html_() and fixes()._repr_html_().count("<tr") == 1
    assert list(frame.index) == [1] and frame.attrs["memfix"]["fixes"][0]["fix"] == MENDED.source
    note = Fix(replace(FAILED, source=""), replace(MENDED, source="Ask <Łukasz> for the key."), 0.8, "note")
    page = Page(fixes_frame([note], "/store.sqlite")._repr_html_())
    assert page.rows[1][2] == "Ask <Łukasz> for the key." and not page.all("button")
    # A cell of a copied notebook has no date.
    frame = fixes(replace(MENDED, started=datetime(1970, 1, 1, tzinfo=UTC)))
    assert frame["when"].isna().all() and frame.attrs["memfix"]["fixes"][0]["when"] is None
    assert repr(frame).startswith("1  KeyError: 'Genève' · λ & co.ipynb\n")


@pytest.mark.parametrize("code", [HOSTILE, HOSTILE.replace("\n", "\r\n")])
def test_a_fix_arrives_as_it_was_written(code):
    """The value is the code to the letter; nothing in it ends the button or becomes an element of its own."""
    page = Page(fixes(replace(MENDED, source=code))._repr_html_())
    [button] = page.all("button")
    assert button["value"] == HOSTILE and "hidden" in button and not page.all("script")


def test_the_panel_knows_the_elements(store, week_store, tmp_path, pytestconfig):
    """They hold what is asked, escaped, are hidden without a panel, and have the classes that it follows and shows."""
    [question] = Page(week_store.search('prices "net of tax" <b>')._repr_html_()).all("button")
    [fix] = Page(fixes(MENDED)._repr_html_()).all("button")
    pictured = store("pictured.sqlite")
    saved(tmp_path / "nb" / "one.ipynb", plotting('plt.plot(arrivals, label="a")', plot(1)))
    pictured.index(tmp_path / "nb", progress=False)
    spans = Page(pictured.search("arrivals")._repr_html_()).all("span")
    [place] = [one for one in spans if one["class"] == "jp-Memory-outputPicture"]
    assert question["value"] == 'prices "net of tax" <b>'
    assert len(place["data-memory"]) == 16 and '"a"' in place["title"]
    panel = pytestconfig.rootpath / "labextension"
    if not panel.exists():
        pytest.skip("the panel's source is not here")
    follows = (panel / "src/integrations/outputs.ts").read_text("utf-8")
    shows = (panel / "style/integrations.css").read_text("utf-8")
    for element in (question, fix, place):
        assert "hidden" in element and f".{element['class']}" in shows and element["class"] in follows


def test_excel_takes_a_result(week_store, tmp_path):
    """Its times are written without a zone; those of the result keep theirs."""
    found = week_store.search("prices")
    found.to_excel(tmp_path / "found.xlsx")
    assert list(pd.read_excel(tmp_path / "found.xlsx")["title"]) == list(found["title"])
    assert str(found["event_at"].dtype) == "datetime64[us, UTC]"
