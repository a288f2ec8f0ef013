"""The title of a memory against the words of the query."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isnan
from unicodedata import normalize

import nbformat
import pytest

from jupyter_memory import MemoryStore
from jupyter_memory.search import parse
from jupyter_memory.search.signals import Title
from jupyter_memory.types import Candidate


@pytest.mark.parametrize(
    ("query", "title", "value"),
    [
        ("roadmap 1.4", "plans/v1.4-ROADMAP.md", 1.0),
        ("roadmap 1.5", "plans/v1.4-ROADMAP.md", 0.0),
        ("ROADMAP", "roadmap", 1.0),
        ('the "roadmap"?', "The roadmap", 1.0),
        ("the roadmap", "Roadmap", 0.0),
        ("preise (zürich)", "Preise in Zürich", 1.0),
        ("STRASSE", "Straße der Kühlung", 1.0),
        ("λ", "Poisson Λ", 1.0),
        ("正規化", "価格の正規化", 1.0),
        ("?!", "Anything?!", 0.0),
        ("prices", "", 0.0),
        (normalize("NFD", "zürich"), "Zürich", 1.0),
        ("zürich", normalize("NFD", "Zürich.ipynb"), 1.0),
    ],
)
def test_all_words_or_nothing(memory, query, title, value):
    """Each word of the query, whatever its case and the punctuation around it, has to be in the title."""
    pool = [Candidate(1, memory(1, title=title), 1)]

    assert Title()(parse(query, now=datetime.now(UTC)), pool) == {1: value}


@pytest.fixture
def store(tmp_path):
    with MemoryStore(tmp_path / "λ.sqlite") as store:
        yield store


def values(store, query):
    """Return what the signal says of each memory, by its title."""
    return {hit.memory.title: hit.signals["title_match"].value for hit in store.hits(query, limit=20).hits}


def test_what_the_title_has_and_what_it_lacks_both_count(store):
    """The nearer the words of the title are to those of the query, the more; stop words of a title do not count."""
    for title in ("Delta types", "What are the delta types?", "Streaming of deltas with tool use", "Pricing in Zürich"):
        store.add("Deltas of a stream are text or λ.", title=title)

    found = values(store, "types of deltas")

    assert found["Delta types"] == found["What are the delta types?"] == 1.0
    assert 0.0 == found["Pricing in Zürich"] < found["Streaming of deltas with tool use"] < 0.7


def test_a_short_section_with_the_right_title_comes_first(store):
    """A long section that holds the words of the query more often does not hide the one that is about them."""
    store.add("There are two: text and input.", title="Delta types")
    store.add(
        "Each event of the stream has a type. A delta has a type too. The types of events and deltas are named in the "
        "event, and the types of blocks in the block.",
        title="Streaming request with tools in Zürich",
    )
    store.add("Prices are listed in λ.", title="Pricing")

    assert store.hits("which delta types are there?").hits[0].memory.title == "Delta types"


def test_only_notes_are_called_something(tmp_path, store):
    """A cell shares its title with its section, a file has a path, and a note without a title has no value."""
    cells = [nbformat.v4.new_markdown_cell("# Delta types"), nbformat.v4.new_code_cell("delta = types['λ']")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "delta types.ipynb")
    (tmp_path / "delta types.md").write_text("The delta types of Zürich.", "utf-8")
    store.index(tmp_path)
    store.add("delta types without a title")

    found = values(store, "delta types")
    assert len(found) == 3 and all(map(isnan, found.values()))
