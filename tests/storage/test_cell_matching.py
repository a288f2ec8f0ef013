"""The cells of a changed notebook keep the ids of what they were."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jupyter_memory import FileState
from jupyter_memory.ingest import prepare
from jupyter_memory.types import Draft

PATH = "/λ.ipynb"
TEXTS = (
    "prices = pd.read_csv('Zürich.csv')",
    "prices = prices.dropna(subset=['kwh'])\n\nOut:\n120 rows",
    "model = Ridge(alpha=0.3).fit(X, y)",
    "model.score(X, y)\n\nOut:\n0.93",
    "plot(prices)",
)
EDITED = "model = Ridge(alpha=0.5).fit(X_train, y_train)"
OTHER = "%timeit np.linalg.svd(np.random.rand(500, 500))"
AGAIN = [text.replace("120", "98").replace("0.93", "0.71") for text in TEXTS]


@pytest.mark.parametrize(
    ("texts", "were"),
    [
        (TEXTS, [0, 1, 2, 3, 4]),
        # Without cell ids, an edited cell is known by what it still says, wherever it moved.
        (["import antigravity", *TEXTS[:2], EDITED, *TEXTS[3:]], [None, 0, 1, 2, 3, 4]),
        # Other outputs make no other cell.
        (AGAIN, [0, 1, 2, 3, 4]),
        # A cell that says something else carries nothing on.
        ([*TEXTS[:4], OTHER], [0, 1, 2, 3, None]),
    ],
    ids=["unchanged", "edited, below a new one", "run again", "another"],
)
def test_a_cell_is_itself(sqlite, texts, were):
    """Each cell of a notebook that is read again has the id of the cell that it was; a new cell has a new one."""
    opened, cell = sqlite(), Draft(text="", kind="cell", source=PATH, lang="python")

    def ids(of):
        cells = [replace(cell, text=text, location=f"#{place}") for place, text in enumerate(of)]
        opened.writer.replace_files([(FileState(PATH, 1, 1, str(of)), prepare(cells, None))], None, "")
        with opened.snapshot() as snapshot:
            held = snapshot.memories(snapshot.file_keys([PATH], "")).values()
        return {memory.text: memory.id for memory in held}

    held, after = ids(TEXTS), ids(texts)
    before = [held[text] for text in TEXTS]
    expected = [None if place is None else before[place] for place in were]

    assert [after[text] if after[text] in before else None for text in texts] == expected
