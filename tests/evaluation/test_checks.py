"""A check of the bench: what it claims of an answer, and how it says that a claim does not hold."""

from __future__ import annotations

import pytest

from jupyter_memory.evaluation.bench import Check, check_from

FOUND = ["Müller", "λ", "v1.4-ROADMAP.md"]


@pytest.mark.parametrize(
    ("claims", "failed"),
    [
        ({"first": "Müller"}, ""),
        ({"first": "λ"}, "λ is not first but 2nd"),
        ({"first": "Zürich"}, "Zürich is not first but not found"),
        ({"among": [3, "λ", "v1.4-ROADMAP.md"]}, ""),
        ({"among": [2, "λ", "v1.4-ROADMAP.md"]}, "v1.4-ROADMAP.md is not among the first 2 but 3rd"),
        ({"above": ["Müller", "λ"]}, ""),
        ({"above": ["Müller", "Zürich"]}, ""),
        ({"above": ["λ", "Müller"]}, "Müller is before λ"),
        ({"above": ["Zürich", "Müller"]}, "Zürich is not found"),
        ({"absent": ["Zürich"]}, ""),
        ({"absent": ["Zürich", "λ"]}, "λ is found"),
        ({"space": "home"}, ""),
        ({"space": "work"}, "hits of the space 'home' are found"),
        ({"first": "λ", "absent": ["Müller"]}, "λ is not first but 2nd; Müller is found"),
    ],
)
def test_a_claim_holds_or_says_why_not(claims, failed):
    """Each claim is judged by itself, and all of them must hold."""
    check = check_from({"category": "c", "query": "q", "why": "w", **claims})

    assert check.judge(FOUND, {"home"}) == failed


def test_an_empty_answer_fails():
    """A search that finds nothing holds no claim but absence."""
    assert Check("c", "q", "w", first="λ").judge([]) == "λ is not first but not found"
    assert Check("c", "q", "w", absent=("λ",)).judge([]) == ""
