"""The cells of a changed notebook, matched with what they were."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jupyter_memory.storage.cell_matching import content_hash, predecessors
from jupyter_memory.types import Draft

CELLS = [
    Draft(text=text, kind="cell", source="/λ.ipynb", lang="python", location=f"#{place}")
    for place, text in enumerate(
        [
            "prices = pd.read_csv('Zürich.csv')",
            "prices = prices.dropna(subset=['kwh'])\n\nOut:\n120 rows",
            "model = Ridge(alpha=0.3).fit(X, y)",
            "model.score(X, y)\n\nOut:\n0.93",
            "plot(prices)",
        ]
    )
]


@pytest.fixture
def before(memory_of):
    """The cells as they were stored, with ids that name their place."""
    return [memory_of(cell, f"id{place}") for place, cell in enumerate(CELLS)]


@pytest.fixture
def memory_of():
    """Make a memory of a draft, as the store would give it back."""
    from jupyter_memory.types import Memory

    def make(draft, id_):
        given = {name: getattr(draft, name) for name in Memory.__dataclass_fields__ if hasattr(draft, name)}
        return Memory(
            **given | {"event_at": None, "indexed_at": None},
            id=id_,
            content_hash=content_hash(draft),
        )

    return make


def ids(before, after):
    return [None if one is None else one.id for one in predecessors(before, after)]


def moved(cells):
    return [replace(cell, location=f"#{place}") for place, cell in enumerate(cells)]


def test_nothing_changed(before):
    """Every cell is itself."""
    assert ids(before, CELLS) == ["id0", "id1", "id2", "id3", "id4"]


def test_an_edit_and_a_new_cell_above(before):
    """Without cell ids, an edited cell is known by what it still says, wherever it moved."""
    edited = replace(CELLS[2], text="model = Ridge(alpha=0.5).fit(X_train, y_train)")
    new = replace(CELLS[0], text="import antigravity")

    assert ids(before, moved([new, *CELLS[:2], edited, *CELLS[3:]])) == [None, "id0", "id1", "id2", "id3", "id4"]


def test_run_again(before):
    """Other outputs make no other cell."""
    again = [replace(cell, text=cell.text.replace("120", "98").replace("0.93", "0.71")) for cell in CELLS]

    assert ids(before, again) == ["id0", "id1", "id2", "id3", "id4"]


def test_one_went_and_another_came(before):
    """A cell that says something else carries nothing on."""
    other = replace(CELLS[4], text="%timeit np.linalg.svd(np.random.rand(500, 500))")

    assert ids(before, [*CELLS[:4], other]) == ["id0", "id1", "id2", "id3", None]
