"""Answers that one can believe: titles that name a hit, verbs, runs, and questions about notebooks that are shared."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from small_notebooks import write

from jupyter_memory import MemoryStore
from jupyter_memory.types import Run, RunError

DATA = Path(os.environ.get("JUPYTER_MEMORY_TEST_DATA", Path(__file__).parents[3] / "shared" / "data"))


@pytest.mark.parametrize(
    ("cells", "titles"),
    [
        # Its own heading, also below other lines; what only counts is joined with what is above it.
        (["# Prices", "Some words first.\n\n## Cleaning\n\nMore words."], ["Prices", "Cleaning"]),
        (["# Exercises\n## 10. Autoencoders", "## 8."], ["Exercises › 10. Autoencoders", "Exercises › 8."]),
        (["# Where λ > 2\n## 8. A > B", "## 9."], ["Where λ >\u00a02 › 8. A >\u00a0B", "Where λ >\u00a02 › 9."]),
        (["# Part 2\n### 3.\n#### a.\n\nλ is fitted."], ["Part 2 › 3. › a."]),
        (["# 税\n## 価格"], ["価格"]),
        # Cells of one section are told apart by what they define or a comment; without a heading, by how they begin.
        (
            ["## Clipping", "import nn\nclass Net(nn.M):\n    x = 1", "# Two λ\nx = 1", "#x = f(1)\nx", "It **λ**."],
            ["Clipping", "Clipping › Net", "Clipping › Two λ", "Clipping", "Clipping"],
        ),
        (["@cached\ndef far(λ):\n    return λ", "x = load()"], ["far", "x = load()"]),
    ],
)  # fmt: skip
def test_a_title_names_a_cell(store, tmp_path, cells, titles):
    """A cell is called by what names it, in every list; the title that is stored and searched stays."""
    # A code cell has code after its comment.
    kinds = [("markdown" if one[0] in "SI" or (one[0] == "#" and "=" not in one) else "code", one) for one in cells]
    memories = store()
    memories.index(write(tmp_path / "n.ipynb", *kinds), progress=False)
    shown = {hit.memory.location: hit for hit in memories.browsed().hits}
    hits = [shown[f"c{number}"] for number in range(len(cells))]
    assert (
        [hit.title for hit in hits]
        == [hit.to_json()["title"] for hit in hits]
        == [f"n.ipynb – {one}" for one in titles]
    )
    found = {hit.memory.location: hit.title for hit in memories.hits("λ prices x clips 価格").hits}
    assert found.items() <= {place: hit.title for place, hit in shown.items()}.items()
    assert not any("›" in hit.memory.title for hit in hits)


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("where do I read a csv file", "frame = pd.read_csv(path)", "save_to_csv_files(frame, 'csv file')  # csv file"),
        ("how do I write a csv", "frame.to_csv(path)", "frame = pd.read_csv('a csv')  # a csv, csv"),
        ("remove a column of prices", "del prices['column']", "prices.insert(1, 'column', 0)  # a column of prices"),
        ("addColumn to prices", "prices.insert(1, 'column', 0)", "prices = dropColumn(prices)  # column to prices"),
    ],
)  # fmt: skip
def test_what_does_the_opposite_comes_later(store, tmp_path, query, first, last):
    """Of two cells, the one that only does the opposite of what is asked has points against it, with the reason."""
    memories = store()
    memories.index(write(tmp_path / "n.ipynb", ("code", last), ("code", first)), progress=False)
    hits = {hit.memory.text: hit for hit in memories.hits(query).hits}
    assert hits[last].signals["aside"].contribution < 0 and not hits[first].signals["aside"].contribution
    assert "doing the opposite of what is asked" in str(memories.explain(query, hits[last].memory.id).whole())
    # What names both asks for both.
    both = memories.hits("open or save, drop or add a column of a csv").hits
    assert both and not any(hit.signals["aside"].contribution for hit in both)


def test_runs_come_after_what_explains_them(store):
    """A note comes before a run with the same words, and a run that worked before one that failed."""
    memories = store()
    memories.add("prices = scaled(prices)  # the λ of the zone", title="")
    began, failed = datetime(2026, 3, 2, tzinfo=UTC), RunError("ValueError", "λ")
    runs = [
        Run("prices = scaled(prices) # λ of the zone", began, "s", 1, "error", error=failed),
        Run("prices = scaled(prices) # the λ of zone", began, "s", 2, "ok"),
    ]
    memories.history.record(runs)
    hits = memories.hits("scaled prices λ of the zone").hits
    assert [(hit.memory.kind, hit.memory.outcome) for hit in hits] == [
        ("note", ""),
        ("history", "ok"),
        ("history", "error"),
    ]
    assert hits[1].signals["tier"].value == 4 and hits[2].signals["tier"].value == 5


NOTES = (
    ("We rescaled the tariffs to zero mean and unit variance.", "Price scaling"),
    ("The smart meters in Malmö report in UTC, the tariff table in local time.", "Meter clocks"),
    ("Prices are net of tax before they are scaled.", "Net prices"),
)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_notes_answer(store, count):
    """In a store of a few notes, what answers is not called none, and what nothing answers is."""
    memories = store()
    memories.add_many([{"text": text, "title": title} for text, title in NOTES[-count:]])
    assert memories.hits("net prices").verdict == "strong"
    assert memories.hits("is tax included in the prices").verdict == "weak"
    for query in ("how do I bake bread", "train a random forest", "connect to the postgres database"):
        answer = memories.hits(query)
        assert not answer.hits or answer.verdict == "none"


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStore]:
    """The 28 notebooks that quality is measured on."""
    notebooks = DATA / "notebooks"
    if not notebooks.is_dir():
        pytest.skip(f"{notebooks} is not there: JUPYTER_MEMORY_TEST_DATA names the folder that has it")
    with MemoryStore(tmp_path_factory.mktemp("book") / "memory.sqlite", embedder="static") as memories:
        memories.index(notebooks, progress=False)
        yield memories


@pytest.mark.parametrize(
    ("query", "holds", "rank", "verdicts"),
    [
        ("where do I read a csv file", "read_csv(", 1, "strong"),
        ("that plot with two y axes", ".twinx(", 18, "weak"),
        ("MCDropout", "class MCDropout(", 1, "strong"),
        ("where is OneCycleScheduler defined", "class OneCycleScheduler(", 1, "strong"),
        ("missing values", "Handling missing data", 1, "strong"),
    ],
)
def test_questions_about_the_book(book, query, holds, rank, verdicts):
    """Questions that a first answer was wrong or doubted for: the right cell is no later, and its verdict no other."""
    answer = book.hits(query, limit=20)
    assert next(hit.rank for hit in answer.hits if holds in hit.memory.text) <= rank
    assert answer.verdict in verdicts.split()
