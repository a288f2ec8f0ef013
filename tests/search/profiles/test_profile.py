"""Every number of a profile has a name."""

from __future__ import annotations

import pytest

from jupyter_memory.search import PROFILES, constants, vault
from jupyter_memory.search.profiles import covalence


def test_covalence_number_by_number():
    """Weights, k, columns, fetch, threshold and half-life are all there, by part and name."""
    held = {(one.part, one.name, one.constant): one.value for one in constants(covalence)}

    assert held["term", "vector", "weight"] == 0.9
    assert held["term", "vector", "k"] == 60.0
    assert held["column", "title", "weight"] == 5.0
    assert held["fetch", "", "minimum"] == 20
    assert held["rule", "", "threshold"] is True
    assert held["signal", "recency", "half_life_hours"] == 8760.0


def test_what_counts_where_only_words_are_searched():
    """The terms without a model are told apart from the others."""
    held = {(one.part, one.name): one.value for one in constants(vault) if one.constant == "weight"}

    assert held["term", "semantic"] == 0.25
    assert held["term, words alone", "semantic"] == 0.40


@pytest.mark.parametrize("name", PROFILES)
def test_no_part_is_missing(name):
    """Each term, signal, step and column of a profile has at least one row."""
    profile, found = PROFILES[name], constants(PROFILES[name])

    assert {one.name for one in found if one.part == "term"} == {term.name for term in profile.terms}
    assert {one.name for one in found if one.part == "signal"} == {signal.name for signal in profile.signals}
    assert {one.name for one in found if one.part == "column"} == set(profile.columns)
    assert {one.form for one in found if one.part == "step"} == {type(step).__name__ for step in profile.steps}
