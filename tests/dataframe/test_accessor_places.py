"""From a row of a result to its place, and to a picture of all rows."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from results import Page

from jupyter_memory import InputError, MissingExtra


@pytest.mark.parametrize("name", ["week one/Müller's λ.ipynb", 'say "hi" <b>.ipynb', "50%#1?.ipynb", "a:b.ipynb"])
@pytest.mark.parametrize("cell", ["3f2a9c1b", 'a "b" & c'])
def test_open_leads_to_the_cell(store, tmp_path, monkeypatch, name, cell):
    """The link of a cell is the path from here, quoted, with the cell's id; elsewhere it is the path itself."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    source = tmp_path / name
    frame = _located(store(), kind="cell", source=str(source), location=cell)
    place = frame.memory.open(1)
    page = Page(place._repr_html_())
    [(_, attributes)] = page.tags
    path, _, fragment = attributes["href"].partition("#")

    assert Path(unquote(path)) == Path("..") / name
    assert unquote(fragment) == f"cell-id={cell}"
    assert repr(place) == page.text == f"{source}:{cell}"


def _located(memory, *, kind, source, location):
    """Store one memory at a place, as the indexer would, and search for it."""
    from jupyter_memory.ingest import clean, prepare
    from jupyter_memory.types import Draft

    draft = clean(Draft("λ of the prices", kind=kind, tier="file", source=source, location=location), redacting=True)
    memory._storage.writer.add(prepare([draft], None), None)
    return memory.search("λ prices")


def test_open_without_a_cell_id(store):
    """A cell without an id is named, but a link can only lead to its notebook."""
    place = _located(store(), kind="cell", source="/week/prices.ipynb", location="#7").memory.open(1)

    assert repr(place) == "/week/prices.ipynb:#7"
    assert "cell-id" not in place._repr_html_()


def test_open_a_page_of_a_pdf(store):
    """Browsers and JupyterLab open a PDF at the page that the fragment names."""
    place = _located(store(), kind="file", source="/week/report.pdf", location="page 3").memory.open(1)
    [(_, attributes)] = Page(place._repr_html_()).tags

    assert repr(place) == "/week/report.pdf:page 3"
    assert attributes["href"].endswith("report.pdf#page=3")


def test_open_a_page(store):
    """A memory that came from the web links there."""
    memory = store()
    memory.add("λ of the prices", source="https://example.org/λ?a=1&b=2")
    [(_, attributes)] = Page(memory.search("λ").memory.open(1)._repr_html_()).tags

    assert attributes["href"] == "https://example.org/λ?a=1&b=2"


def test_open_a_note(found):
    """What was typed in has no place; the error says how to read it."""
    with pytest.raises(InputError, match=r"Rank 1 is a note without a source; df\.memory\.text\(1\) shows it whole"):
        found.memory.open(1)
    with pytest.raises(InputError, match="without a source"):
        found[["memory_id"]].memory.open(1)


def test_open_needs_only_the_id(week_store, week_memories):
    """A frame of which only ids are left still finds the place."""
    frame = week_store.search("mean of its shop")[["memory_id"]]
    rank = frame.index[frame["memory_id"] == week_memories["Means by shop"].id][0]

    assert repr(frame.memory.open(rank)) == week_memories["Means by shop"].source


def test_plot_needs_its_extra(found, monkeypatch):
    """Without altair the error says what to install."""
    monkeypatch.setitem(sys.modules, "altair", None)

    with pytest.raises(MissingExtra, match=r"pip install 'jupyter-memory\[plots\]'"):
        found.memory.plot()


def test_plot(found):
    """The chart has a bar for each hit, made of its contributions."""
    pytest.importorskip("altair", reason="plotting needs the extra plots")
    chart = found.memory.plot().to_dict()

    assert chart["mark"]["type"] == "bar"
    assert chart["encoding"]["x"]["aggregate"] == "sum"
    [values] = chart["datasets"].values()
    assert sum(row["contribution"] for row in values) == pytest.approx(found["score"].sum())
    drawn = {row["signal"] for row in values}
    assert drawn == {row["signal"] for row in values if row["contribution"]}  # each has something to show
    assert drawn < set(found.memory.breakdown()["signal"])


def test_plot_is_drawn_by_jupyterlab(found):
    """Whatever altair writes, the output is of the kind that JupyterLab 4 draws, with no script in it."""
    pytest.importorskip("altair", reason="plotting needs the extra plots")
    bundle = found.memory.plot()._repr_mimebundle_()

    assert set(bundle) == {"application/vnd.vegalite.v5+json", "text/plain"}
    assert bundle["application/vnd.vegalite.v5+json"]["$schema"].endswith("/v5.json")
