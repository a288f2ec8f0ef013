"""What stands next to a good match is more likely to answer."""

from __future__ import annotations

import pytest

from jupyter_memory.search.signals.neighbour import neighbour_evidence
from jupyter_memory.types import Candidate


@pytest.fixture
def cells(memory):
    """Three cells of Preise.ipynb in a row, then one of another notebook."""
    sources = ["Preise.ipynb"] * 3 + ["Zürich.ipynb"]
    return [Candidate(key, memory(key, kind="cell", source=source), key) for key, source in enumerate(sources, start=1)]


def test_the_better_neighbour_speaks(cells):
    """A cell between two gets the evidence of the better one, never its own, nor that of another notebook."""
    assert neighbour_evidence({1: 0.4, 2: 9.0, 3: 0.7, 4: 5.0}, cells) == {1: 9.0, 2: 0.7, 3: 9.0, 4: 0.0}


def test_a_bad_neighbour_harms_nobody(cells):
    """Evidence against a neighbour is none against the cell beside it."""
    assert neighbour_evidence({1: 1.0, 2: -2.0, 3: 0.5}, cells)[1] == 0.0


def test_only_the_pool_counts(cells):
    """A neighbour that no retriever found says nothing, and order of the pool never matters."""
    evidence = {1: 1.0, 3: 3.0}

    assert neighbour_evidence(evidence, [cells[2], cells[0]]) == {1: 0.0, 3: 0.0}


@pytest.mark.parametrize(("first", "second", "near"), [("λ", "λ", 2.0), ("λ", "μ", 0.0), (None, None, 0.0)])
def test_notes_are_neighbours_within_a_session(memory, first, second, near):
    """Notes one after the other belong together only where both are of one session."""
    pool = [Candidate(1, memory(1, session=first), 1), Candidate(2, memory(2, session=second), 2)]

    assert neighbour_evidence({1: 1.0, 2: 2.0}, pool)[1] == near


def test_spaces_are_kept_apart(memory):
    """Memories of one session in two spaces are no neighbours."""
    pool = [Candidate(key, memory(key, session="λ", space=space), key) for key, space in ((1, "work"), (2, "home"))]

    assert neighbour_evidence({1: 1.0, 2: 2.0}, pool) == {1: 0.0, 2: 0.0}
