"""Filters that nothing in a store fits are told, with what is nearest."""

from __future__ import annotations


def test_typed_filters_that_nothing_fits(week_store):
    """What is typed in the query beside other filters is told as well, and so is leaving out what is not there."""
    beside = week_store.hits("prices tag:prcies", filters={"tag": "decision"})
    without = week_store.hits("prices -tag:decison -kind:cell")

    assert not beside.hits
    assert beside.notices[-1] == "Nothing in this store has the tag 'prcies'. Did you mean 'prices'?"
    assert without.hits
    assert [notice for notice in without.notices if "tag" in notice] == [
        "Nothing in this store has the tag 'decison', so nothing is left out for it. Did you mean 'decision'?"
    ]


def test_filters_alone(week_store):
    """Filters that are typed without a question are checked as well."""
    answer = week_store.hits("tag:prcies kind:note")

    assert not answer.hits
    assert answer.notices == ("Nothing in this store has the tag 'prcies'. Did you mean 'prices'?",)


def test_filters_that_leave_everything_out(week_store):
    """Where each filter fits something and all of them nothing, it says so; so it does where only the time is off."""
    together = week_store.hits("prices tag:decision -tag:prices -tag:model").notices[-1]
    late = week_store.hits("prices after:2027-01-01", filters={"since": "2026-01-01"}).notices[-1]

    assert together == "Nothing in this store fits all of these filters together: leave one of them out."
    assert late == "Nothing in this store is from that time: its memories are from 2026-03-02 to 2026-03-06."
