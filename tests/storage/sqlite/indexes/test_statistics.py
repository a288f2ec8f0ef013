"""What the store tells of words is kept from search to search, and only for the index that was counted."""

from __future__ import annotations

from jupyter_memory.storage.sqlite.indexes.statistics import StatisticsCache


def told(database, counts):
    with database.read() as connection:
        known = counts.of(connection)
        return known.chunks, dict(known.frequencies(["λ", "zurich", "nowhere"]))


def test_counts_are_those_of_the_index_as_it_is(database, remember):
    """What came or went since the last search is counted, and what one snapshot saw stays so within it."""
    opened, counts = database(), StatisticsCache()
    remember(opened, "λ was 0.3", "λ in Zürich")
    assert told(opened, counts) == told(opened, counts) == (2, {"λ": 2, "zurich": 1, "nowhere": 0})

    other = database()
    with opened.read() as connection:
        before = counts.of(connection)
        remember(other, "prices of Zürich")
        assert (before.chunks, before.frequencies(["zurich"])) == (2, {"zurich": 1})
    assert told(opened, counts) == told(other, counts) == (3, {"λ": 2, "zurich": 2, "nowhere": 0})
