"""What was run is not shown beside the cell that holds it."""

from __future__ import annotations

from jupyter_memory.search.postprocessing import DeduplicateRuns
from jupyter_memory.search.profiles import auto
from jupyter_memory.text import with_outputs

FIT = "forecast = ridge.fit(prices)  # λ of Zürich"


def deduplicated(rank, *memories):
    """Return which of these memories, found in their order, are left, and what was left out for which."""
    found = {number: float(100 - number) for number in range(1, len(memories) + 1)}
    profile = auto.replace(terms=auto.terms[:1], signals=auto.signals[:1], steps=(DeduplicateRuns(),))
    result = rank(profile, {"keyword": found}, *memories)
    return [row.candidate.key for row in result.ranked], dict(result.duplicates)


def test_the_cell_stays(rank, memory):
    """The cell is shown even if its run ranks higher, whatever its outputs and white space."""
    run = memory(1, kind="history", text=f"{FIT}\n")
    other = memory(2, kind="history", text="forecast = lasso.fit(prices)")
    cell = memory(3, kind="cell", text=with_outputs(f"{FIT} ", "λ = 0.3"), source="/w/λ.ipynb")

    assert deduplicated(rank, run, other, cell) == ([2, 3], {1: 3})


def test_the_best_of_several_cells(rank, memory):
    """Of several cells with the text, the best is named as the one that is shown."""
    cells = [memory(key, kind="cell", text=FIT, source=f"/w/{key}.ipynb") for key in (1, 2)]

    assert deduplicated(rank, *cells, memory(3, kind="history", text=FIT)) == ([1, 2], {3: 1})


def test_only_cells(rank, memory):
    """A note or a file with the same text takes no place, and without history nothing changes."""
    same = [memory(1, text=FIT), memory(2, kind="file", text=FIT), memory(3, kind="history", text=FIT)]

    assert deduplicated(rank, *same) == ([1, 2, 3], {})
    assert deduplicated(rank, memory(1, kind="cell", text=FIT), memory(2, kind="cell", text=FIT)) == ([1, 2], {})


def test_the_step_in_words():
    """The step says what it does, as the profile is shown."""
    assert DeduplicateRuns() in auto.steps
    assert str(DeduplicateRuns()) == "what was run is not shown beside the cell that holds it"
