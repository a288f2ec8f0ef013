"""What says the same is shown once: copied notebooks, cells that were run, duplicates among the hits."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from small_notebooks import write
from week import NOW

from jupyter_memory.search import Deduplicate, DeduplicateFiles, DeduplicateRuns, OverFetch, Profile, Weighted, auto
from jupyter_memory.text import with_outputs

SCALED = "prices = prices - prices.mean() # the λ of Zürich is fitted on prices of zero mean and unit variance"
FIT = "forecast = ridge.fit(prices)  # λ of Zürich"
CELLS = (
    "# How the prices are scaled\n\nBefore the forecast every price loses the mean of its zone.",
    "scaled = (prices - prices.groupby('zone').transform('mean')) / prices.groupby('zone').transform('std')",
    "forecast = ridge.fit(scaled, demand)  # λ = 0.3 for Zürich",
)


@dataclass(frozen=True)
class Placed:
    """The order in which the test gives its memories."""

    name: str = "placed"

    def __call__(self, query, context, /):
        return {one.key: -float(one.memory.domain) for one in context}


@pytest.fixture
def shown(filled_with):
    """Return which of these memories are shown, ranked as they are given, and the notices."""

    def show(*records, steps=auto.steps, limit=10):
        profile = Profile(
            "placed", "As given.", (Weighted("placed", 1.0),), {"text": 1.0}, (Placed(),),
            steps=steps, fetch=OverFetch(1, 100), threshold=False,
        )  # fmt: skip
        memories = filled_with(*({**one, "domain": str(place)} for place, one in enumerate(records, start=1)))
        answer = memories.hits("zebra", profile=profile, limit=limit, now=NOW)
        return [int(hit.memory.domain) for hit in answer.hits], answer.notices

    return show


@pytest.mark.parametrize(
    ("one", "other", "copies"),
    [
        ("prices.ipynb", "prices-Copy1.ipynb", True), ("/week/prices.ipynb", "/old/prices.ipynb", True),
        ("prices.ipynb", "Copy of Prices (3).ipynb", True), ("prices.ipynb", "prices_final_v2.ipynb", True),
        ("prices.ipynb", "prices copy 2.ipynb", True), ("report_2026-02.ipynb", "report_2026-03.ipynb", True),
        ("prices.ipynb", "prices.nbconvert.ipynb", True), ("prices.ipynb", "prices - Kopie (2).ipynb", True),
        ("prices.ipynb", "Copie de prices.ipynb", True), ("prices.ipynb", "prices 副本.ipynb", True),
        ("prices.ipynb", "pricesのコピー.ipynb", True), ("prices.ipynb", "prices — копия.ipynb", True),
        ("prices.ipynb", "prices.sync-conflict-20260301-101500-ABCDEFG.ipynb", True),
        ("prices.ipynb", "prices (Zoë's conflicted copy 2026-03-01).ipynb", True),
        ("notes.md", "notes.bak.md", True), ("λ.md", "λ" + " -copy 7" * 20 + ".md", True),
        # Another name is another file, however much of it both share; so is what is no file.
        ("prices.ipynb", "demand.ipynb", False), ("04_prices.ipynb", "05_demand.ipynb", False),
        ("renewal.md", "new.md", False), ("2026-03-02.md", "2026-03-03.md", False), ("turn_1", "turn_2", False),
        # Each piece of such a name can be read in two ways; a hundred of them are read in one.
        ("λ.md", "λ" + " -copy 7" * 100 + "a.md", False),
    ],
)  # fmt: skip
def test_names_of_copies(shown, one, other, copies):
    """A copy has the name of its original, with the marks of a copy or a version, or stands in another folder."""
    found, _ = shown({"source": one, "text": SCALED}, {"source": other, "text": SCALED})
    assert found == ([1] if copies else [1, 2])


WORDS = [f"w{number}" for number in range(43)]


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        # One word of 43 changed leaves 40 of 44 pairs in common; two apart from each other 38 of 46.
        (" ".join(WORDS), " ".join([*WORDS[:20], "λ", *WORDS[21:]]), True),
        (" ".join(WORDS), " ".join([*WORDS[:10], "λ", *WORDS[11:30], "ü", *WORDS[31:]]), False),
        ("df.head()", "DF.head() ", True),
        ("a = b", "b = a", False),
    ],
)
def test_alike(shown, one, other, alike):
    """A copy shares nine of ten pairs of neighbouring words with its original."""
    found, _ = shown({"source": "λ.ipynb", "text": one}, {"source": "λ-Copy1.ipynb", "text": other})
    assert found == ([1] if alike else [1, 2])


def test_the_best_copy_stays(shown):
    """Of copied cells the better is shown, of a file and its copy the file; the same words elsewhere are left alone."""
    sources = ("/week/prices.ipynb", "/week/prices-Copy1.ipynb", "/week/demand.ipynb", "", "/week/prices-Copy1.ipynb")
    records = [{"source": source, "text": SCALED} for source in sources]
    records[4]["text"] = "another cell of the copy: λ"
    assert shown(*records, {"source": "/week/prices.ipynb", "text": SCALED.upper()}) == (
        [1, 3, 4, 5, 6], ("1 duplicate of a result is not shown.",),
    )  # fmt: skip
    for sources, stays in (
        (("prices-Copy1.ipynb", "prices.ipynb"), [2]),
        (("prices_v2.ipynb", "prices_v1.ipynb"), [1]),
    ):
        assert shown(*({"source": f"/week/{source}", "text": SCALED} for source in sources))[0] == stays


def test_many_copies_leave_room_for_others(shown):
    """However many copies a cell has, and however far down they are, it takes one place."""
    cells = [{"source": f"/week/{key}/prices.ipynb", "text": SCALED} for key in range(60)]
    others = [{"source": "", "text": f"note {key}"} for key in range(39)]
    assert shown(*cells, *others, limit=10)[0] == [1, *range(61, 70)]


def test_an_export_that_holds_a_cell(shown):
    """A script or page of a notebook's name is dropped where it holds a cell that was found, even if it is better."""
    cell = {"kind": "cell", "source": "/week/prices.ipynb", "text": with_outputs(SCALED, "λ = 0.3")}
    export, other = ({"kind": "file", "source": f"/{folder}/prices.py", "text": f"# In[1]:\n{SCALED}\nλ = 1"}
                     for folder in ("week", "old"))  # fmt: skip
    assert shown(export, cell)[0] == [2]
    assert shown(other, cell)[0] == [1, 2] and shown({**export, "text": "λ = 1\n" * 9}, cell)[0] == [1, 2]


CELL, RUN = {"kind": "cell", "text": FIT}, {"kind": "history", "text": FIT}


@pytest.mark.parametrize(
    ("records", "left"),
    [
        # The cell is shown even if its run ranks higher, whatever its outputs and white space.
        (({**RUN, "text": f"{FIT}\n"}, {**RUN, "text": "forecast = lasso.fit(prices)"},
          {**CELL, "text": with_outputs(f"{FIT} ", "λ = 0.3"), "source": "/w/λ.ipynb"}), [2, 3]),
        (({**CELL, "source": "/w/1.ipynb"}, {**CELL, "source": "/w/2.ipynb"}, RUN), [1, 2]),
        # A note or a file with the same text takes no place, and without history nothing changes.
        (({"text": FIT}, {"kind": "file", "text": FIT}, RUN), [1, 2, 3]),
        ((CELL, {**CELL, "source": "/w/2.ipynb"}), [1, 2]),
    ],
)  # fmt: skip
def test_a_run_beside_its_cell(shown, records, left):
    """What was run is not shown beside a cell that holds it; each step of a profile says in words what it does."""
    assert shown(*records, steps=(DeduplicateRuns(),))[0] == left
    assert {DeduplicateFiles(), DeduplicateRuns()} <= set(auto.steps)
    assert "copied notebooks" in str(DeduplicateFiles()) and "duplicate memories" in str(Deduplicate())
    assert str(DeduplicateRuns()) == "what was run is not shown beside the cell that holds it"


def test_a_copied_notebook(store, tmp_path):
    """A notebook that was copied does not double a hit: by default each cell comes once, and why can be asked."""
    book = write(tmp_path / "week" / "prices.ipynb", *CELLS)
    shutil.copy(book, book.with_name("prices-Copy1.ipynb"))
    memories = store()
    memories.index(book.parent, progress=False)
    question = "how are the prices scaled before the forecast"
    answer, doubled = memories.hits(question), memories.hits(question, profile=auto.replace(steps=()))

    assert len(doubled.hits) == 6 and len(answer.hits) == 3
    assert {hit.memory.text.split("\n")[0] for hit in answer.hits} == {cell.split("\n")[0] for cell in CELLS}
    assert "3 duplicates of results are not shown." in answer.notices
    assert {Path(hit.memory.source).name for hit in answer.hits} == {"prices.ipynb"}
    shown = {hit.memory.id: hit for hit in answer.hits}
    copy = next(hit.memory for hit in doubled.hits if hit.memory.id not in shown)
    [reason] = memories.explain(question, copy.id).reasons
    assert reason.startswith("It is a duplicate of “prices") and "at rank" in reason
