"""How a result is shown: as HTML that runs nothing, in lines of a terminal, and as a styled table."""

from __future__ import annotations

import pandas as pd
import pytest
from results import JOINING, Page

SCRIPT = "<script>alert('ü')</script>"


@pytest.fixture
def hostile(store):
    """A result whose every text would run if it were not escaped."""
    memory = store()
    memory.add(f"λ {SCRIPT} costs $5 & $6", title=f"λ {SCRIPT}", tags=[SCRIPT], source=f'javascript:alert("{SCRIPT}")')
    return memory.search("λ costs")


@pytest.mark.parametrize("render", [lambda frame: frame._repr_html_(), lambda frame: frame.memory.style().to_html()])
def test_what_was_stored_is_not_run(hostile, render):
    """Titles, snippets and tags come out as text, in the plain table and in the styled one."""
    page = Page(render(hostile))

    assert "script" not in {tag for tag, _ in page.tags}
    assert SCRIPT in page.text


def test_the_place_is_escaped(hostile):
    """A source that is a script is a link to a file of that name, and no script."""
    page = Page(hostile.memory.open(1)._repr_html_())
    [(tag, attributes)] = page.tags

    assert tag == "a" and attributes["href"].startswith("javascript%3Aalert")
    assert SCRIPT in page.text


def test_style(found):
    """The styled table shows what people read, on request every number, and takes no price for a formula."""
    html = found.memory.style().to_html()
    page = Page(html)

    assert "Joining orders" in page.text and f"{found.loc[1, 'score']:.4f}" in page.text
    assert "contrib_semantic_margin" not in page.text and "value_recency" not in page.text
    whole = found.memory.style(evidence=True).to_html()
    assert whole.count("linear-gradient") > html.count("linear-gradient") > 0
    assert all(column in Page(whole).text for column in found.columns)
    assert "mathjax_ignore" in dict(page.tags)["table"]["class"]


def test_style_of_some_columns(week_store, found):
    """Columns that were left out are left out, and an empty result is an empty table."""
    assert "Joining orders" in found[["title", "memory_id"]].memory.style().to_html()
    assert "Joining orders" in week_store.search(JOINING, mode="scan").memory.style().to_html()
    assert "contrib_title" in week_store.search("λ", filters={"tag": "zz"}).memory.style(evidence=True).to_html()


def test_what_a_result_shows_and_what_it_holds(found, week_store):
    """The display has few columns, the frame all of them; parts of it and lists are shown as they are."""
    page = Page(found._repr_html_())

    assert "Joining orders" in page.text and "contrib_vector" not in page.text
    assert "style(evidence=True)" in page.text
    assert (
        isinstance(found[found["score"] > 0], pd.DataFrame) and "contrib_semantic_margin" in found[found["score"] > 0]
    )
    assert repr(found[["title", "score"]]) == repr(pd.DataFrame(found)[["title", "score"]])
    assert "score" not in repr(week_store.browse(limit=2)) and "explain" not in repr(week_store.browse(limit=2))
    assert repr(week_store.search("λ", filters={"tag": "zz"})) == "No memories."


def test_rows_that_are_not_shown_are_told(found):
    """Where pandas is set to fewer rows than there are, the footer says how many are shown, in both forms."""
    with pd.option_context("display.max_rows", 2):
        assert repr(found).splitlines()[-1].startswith(f"the first 2 of {len(found)} memories ·")
        assert f"the first 2 of {len(found)} memories" in Page(found._repr_html_()).text
    with pd.option_context("display.max_rows", None):
        assert repr(found).splitlines()[-1].startswith(f"{len(found)} memories ·")


def test_code_is_one_line_in_a_frame(store):
    """A DataFrame, which would print the breaks of a snippet as \\n, has code in one line; the hit keeps its lines."""
    memory = store()
    memory.add_many([{"text": "for λ in prices:\n    if λ > 3:\n        λ = 3\n", "lang": "python"}])

    assert memory.hits("λ").hits[0].snippet == "for λ in prices:\n    if λ > 3:\n        λ = 3"
    assert memory.search("λ").loc[1, "snippet"] == "for λ in prices: if λ > 3: λ = 3"
    assert memory.search("λ", mode="scan").loc[1, "snippet"] == "for λ in prices: if λ > 3: λ = 3"


LIES = "λ \x1b[2J\x9b31m costs \u202e5\u2066 \x7f\u200f"


@pytest.fixture
def lying(store):
    """A result whose every text would clear a terminal, or be read from the wrong end."""
    memory = store()
    memory.add(f"{LIES} in prose", title=LIES, tags=[LIES.strip()], source=f"/reports/{LIES}.md")
    return memory.search("λ costs")


@pytest.mark.parametrize(
    "render",
    [
        repr,
        lambda frame: frame._repr_html_(),
        lambda frame: frame.memory.style(evidence=True).to_html(),
        lambda frame: repr(frame[["title", "source"]]),
        lambda frame: frame[["title", "tags"]]._repr_html_(),
        lambda frame: repr(frame["title"]) + str(frame.loc[1]) + repr(frame["title"].str.upper()),
        lambda frame: repr(frame.memory.open(1)) + frame.memory.open(1)._repr_html_(),
        lambda frame: str(frame.memory.explain(1)) + repr(frame.memory.explain(1)),
        lambda frame: frame.memory.plot().to_json(ensure_ascii=False),
    ],
    ids=["text", "html", "styled", "columns", "columns as html", "one column", "place", "explanation", "chart"],
)
def test_what_nobody_sees_is_marked(lying, render):
    """Wherever a result is shown, controls and changes of direction are marks; the data keep them."""
    shown = render(lying)

    assert not set(shown) & set("\x1b\x9b\x7f\u202e\u2066\u200f")
    assert lying.loc[1, "title"] == LIES.strip()


def test_the_marks_are_readable(lying):
    """A reader of the table sees what is there."""
    assert "λ ␛[2J[U+009B]31m costs [U+202E]5[U+2066] ␡[U+200F]" in Page(lying._repr_html_()).text
