"""Hidden elements in outputs, as the panel finds them."""

from __future__ import annotations

import pytest
from pages import Tables
from pictures import plot, plotting, saved
from results import Page

from jupyter_memory.dataframe import picture
from jupyter_memory.dataframe.frame import insert_button, open_button

CODE = "λ = rates[\"a\"]\n\tif λ < 3 and 'x' & 1:\n    print('</button><script>alert(1)</script>')\n"


@pytest.mark.parametrize("code", [CODE, CODE.replace("\n", "\r\n")])
def test_a_fix_arrives_as_it_was_written(code):
    """The value is the code to the letter; nothing in it ends the button or becomes an element of its own."""
    [(tag, attributes)] = Tables(insert_button(code, "aa01")).tags

    assert (tag, attributes["value"]) == ("button", CODE)
    assert attributes["data-memory"] == "aa01" and "hidden" in attributes
    assert "\n" not in insert_button(code)


def test_a_question_arrives_as_it_was_typed():
    """The value is the question, whatever is in it."""
    [(tag, attributes)] = Tables(open_button('prices "net of tax" <b>')).tags

    assert (tag, attributes["value"]) == ("button", 'prices "net of tax" <b>')


def test_the_panel_knows_the_buttons(pytestconfig):
    """The classes are those that the panel follows and shows."""
    panel = pytestconfig.rootpath / "labextension"
    if not panel.exists():
        pytest.skip("the panel's source is not here")
    follows = (panel / "src/integrations/outputs.ts").read_text("utf-8")
    shows = (panel / "style/integrations.css").read_text("utf-8")
    for button in (open_button("λ"), insert_button("λ")):
        [(_, attributes)] = Tables(button).tags
        assert f"'{attributes['class']}'" in follows
        assert f".{attributes['class']}" in shows


TITLE = "λ \"of\" <Zürich> & 'Genève'"


@pytest.fixture
def plots(store, tmp_path):
    """A store of a notebook: a cell with a picture, and one without."""
    memory = store()
    path = tmp_path / "nb" / "zürich.ipynb"
    saved(path, plotting("plt.plot(arrivals)", plot(1), plot(2)), plotting("arrivals.describe()"))
    memory.index(path.parent, progress=False)
    return memory


def places(html):
    """Return the places of pictures on a page, by the ids of their memories."""
    return [
        found["data-memory"] for tag, found in Page(html).tags if found.get("class", "") == "jp-Memory-outputPicture"
    ]


def test_a_place_says_its_memory_and_is_hidden():
    """The place has the id and the title, escaped, and is hidden where no panel shows it."""
    [(tag, attributes)] = Page(picture('a"1', TITLE)).tags

    assert tag == "span" and "hidden" in attributes
    assert (attributes["data-memory"], attributes["title"]) == ('a"1', TITLE)


@pytest.mark.parametrize("render", [lambda frame: frame._repr_html_(), lambda frame: frame.memory.style().to_html()])
def test_only_rows_with_a_picture_have_a_place(plots, render):
    """A result has a place in the row of each memory with pictures, and no data of a picture."""
    found = plots.search("arrivals")
    [pictured] = [hit.memory.id for hit in plots.hits("arrivals").hits if hit.memory.thumbnails]
    html = render(found)

    assert len(found) == 2 and places(html) == [pictured]
    assert "data:" not in html and "<img" not in html and "thumbnail" not in html
    assert plots.thumbnail(pictured).image[:40].hex() not in html


def test_rows_keep_their_pictures_when_they_are_chosen(plots):
    """Rows that were sorted or filtered show their own pictures."""
    found = plots.search("arrivals")
    [pictured] = found.attrs["memsearch"]["pictured"]
    rows = found[found["memory_id"] == pictured]
    assert places(rows._repr_html_()) == [pictured]
    assert places(found[found["memory_id"] != pictured]._repr_html_()) == []
    assert places(found.sort_values("title", ascending=False).memory.style().to_html()) == [pictured]


def test_columns_and_text_are_as_they_were(plots, store):
    """Pictures add no column and no line of text, and a result without any says nothing of them."""
    found = plots.search("arrivals")
    assert "thumbnails" not in found.columns
    assert "picture" not in repr(found)
    plots.forget(everything=True)
    plots.add("arrivals")
    assert "pictured" not in plots.search("arrivals").attrs["memsearch"]


def test_the_panel_knows_the_place(pytestconfig):
    """The class stands in the panel's sources too."""
    panel = pytestconfig.rootpath / "labextension"
    sources = [panel / "src" / "integrations" / "outputs.ts", panel / "style" / "integrations.css"]
    if not panel.exists():
        pytest.skip("the panel's sources are not here")
    assert all("jp-Memory-outputPicture" in source.read_text(encoding="utf-8") for source in sources)
