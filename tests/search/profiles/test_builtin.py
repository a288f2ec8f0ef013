"""Profiles: named recipes, changed into others without a mistake going by unseen."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from jupyter_memory import InputError, UnknownProfile
from jupyter_memory.search import PROFILES, ReciprocalRank, profile_named
from jupyter_memory.search.fusion import Weighted
from jupyter_memory.search.profiles import covalence, trovella
from jupyter_memory.search.signals import Recency


@dataclass(frozen=True)
class Length:
    """Longer memories before shorter ones."""

    name: str = "length"

    def __call__(self, query, pool, /):
        return {one.key: float(len(one.memory.text)) for one in pool}


def test_by_name():
    """A name gives its profile, and a profile itself."""
    assert profile_named("covalence") is covalence
    assert profile_named(trovella) is trovella
    assert list(PROFILES) == ["auto", "covalence", "vault", "trovella", "memini", "memini-rrf"]
    assert all(profile.name == name and profile.summary.endswith(".") for name, profile in PROFILES.items())


def test_a_slip_of_the_pen_is_answered_with_the_nearest_name():
    """An unknown profile is an error that guesses what was meant and names what there is."""
    with pytest.raises(UnknownProfile, match=r"no profile 'covalenc'. Did you mean 'covalence'\? Known: auto, "):
        profile_named("covalenc")
    with pytest.raises(UnknownProfile, match=r"no profile 'λ'\. Known: auto, covalence, vault"):
        profile_named("λ")
    with pytest.raises(UnknownProfile, match="no profile 3"):
        profile_named(3)


def test_a_signal_of_ones_own_counts(rank, memory):
    """with_signal adds weight * value to every score, under the signal's name, and leaves the profile as it was."""
    mine = trovella.with_signal(Length(), weight=0.001)
    long, short = memory(1, text="ü" * 50), memory(2, text="ü" * 10)
    retrieved = {"keyword": {2: 5.0, 1: 4.0}}
    result = rank(mine, retrieved, long, short)

    assert [row.candidate.key for row in result.ranked] == [1, 2]
    assert result.ranked[0].score == pytest.approx(1 / 62 + 0.05)
    assert result.ranked[0].evidence["length"].value == 50.0
    assert mine.name == "trovella+length"
    assert [row.candidate.key for row in rank(trovella, retrieved, long, short).ranked] == [2, 1]


def test_two_signals_of_ones_own(rank):
    """Signals can be added one after the other."""
    twice = covalence.with_signal(Length(), 0.1).with_signal(Length("words"), 0.2)

    assert twice.name == "covalence+length+words"
    assert [term.name for term in twice.terms[-2:]] == ["length", "words"]
    assert {"length", "words"} <= set(rank(twice, {"keyword": {1: 1.0}}).ranked[0].evidence)


def test_replace_changes_a_copy():
    """replace() gives another profile; the first stays what it was."""
    heavy = covalence.replace(name="heavy", columns={"title": 9.0, "text": 1.0})

    assert (heavy.name, heavy.columns["title"]) == ("heavy", 9.0)
    assert (covalence.name, covalence.columns["title"]) == ("covalence", 5.0)
    assert heavy.terms == covalence.terms


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: covalence.with_signal(Recency(), 1.0), "two signals called 'recency'"),
        (lambda: covalence.with_signal(Length("keyword"), 1.0), "two signals called 'keyword'"),
        (lambda: trovella.replace(terms=(ReciprocalRank("vector", 1.0),) * 2), "two terms called 'vector'"),
        (lambda: covalence.replace(signals=()), "no signal 'tier', which its term 'tier' reads"),
        (lambda: trovella.replace(terms=(Weighted("fame", 1.0, reads="λ"),)), "no signal 'λ', which its term 'fame'"),
        (lambda: covalence.replace(columns={}), "columns= maps one or more of title, context, text, tags, ident"),
        (lambda: covalence.replace(columns={"titel": 5.0}), "columns= maps one or more of"),
    ],
)
def test_a_profile_that_cannot_work_is_refused(change, message):
    """A profile that would lose a contribution, or find nothing, says so when it is made."""
    with pytest.raises(InputError, match=message):
        change()


def test_the_formula_can_be_read():
    """A profile writes its score as the sum that it is."""
    assert trovella.formula == "1/(60 + keyword_rank) + 1/(60 + vector_rank)"
    assert covalence.formula == (
        "0.9/(60 + vector_rank) + 0.9/(60 + keyword_rank) + 0.18/(60 + tier) + 0.009*title + 0.0033*recency"
    )


def test_the_columns_of_the_systems():
    """The BM25 weights are those that the systems publish; only covalence drops finds below a threshold."""
    assert dict(covalence.columns) == {"title": 5.0, "text": 1.0}
    assert dict(trovella.columns) == {"title": 1.0, "context": 1.0, "text": 1.0}
    assert covalence.threshold and not trovella.threshold
