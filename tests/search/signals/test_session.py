"""What was said in the same sitting as a good match is more likely to answer."""

from __future__ import annotations

import pytest

from jupyter_memory.search.signals.neighbour import session_evidence
from jupyter_memory.types import Candidate


@pytest.fixture
def notes(memory):
    """Three notes of the session of the λ, one of another, one of none."""
    sessions = ["λ", "λ", "λ", "Zürich", None]
    return [Candidate(key, memory(key, session=session), key) for key, session in enumerate(sessions, start=1)]


def test_the_best_other_speaks(notes):
    """Each memory gets the best evidence among the others of its session, never its own."""
    assert session_evidence({1: 0.4, 2: 9.0, 3: 0.7, 4: 5.0, 5: 8.0}, notes) == {1: 9.0, 2: 0.7, 3: 9.0, 4: 0.0, 5: 0.0}


def test_a_bad_session_harms_nobody(notes):
    """Evidence against the others is none against a memory, and the order of the pool never matters."""
    evidence = {1: -1.0, 2: -2.0, 3: 0.5}

    assert session_evidence(evidence, notes) == session_evidence(evidence, notes[::-1])
    assert session_evidence(evidence, notes)[3] == 0.0


def test_spaces_are_kept_apart(memory):
    """Sessions of one number in two spaces are two sessions."""
    pool = [Candidate(key, memory(key, session="2", space=space), key) for key, space in ((1, "work"), (2, "home"))]

    assert session_evidence({1: 1.0, 2: 2.0}, pool) == {1: 0.0, 2: 0.0}


def test_kernels_say_little(memory):
    """What was run in the session of a kernel gets no evidence from it, and gives none."""
    ran = [Candidate(key, memory(key, session="k1", kind="history"), key) for key in (1, 2)]
    note = Candidate(3, memory(3, session="k1"), 3)

    assert session_evidence({1: 0.4, 2: 9.0, 3: 5.0}, [*ran, note]) == {1: 0.0, 2: 0.0, 3: 0.0}
