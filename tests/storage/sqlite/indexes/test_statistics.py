"""Statistics of words are cached from search to search, and only for the state of the index that was counted."""

from __future__ import annotations

from jupyter_memory.storage.sqlite.indexes.statistics import StatisticsCache


def counted(database, counts):
    with database.read() as connection:
        known = counts.of(connection)
        return known.chunks, dict(known.frequencies(["λ", "zurich", "nowhere"]))


def test_counts_are_those_of_the_index_as_it_is(database, remember):
    """Changes since the last search are counted, and a snapshot keeps its own counts."""
    opened, counts = database(), StatisticsCache()
    remember(opened, "λ was 0.3", "λ in Zürich")
    assert counted(opened, counts) == counted(opened, counts) == (2, {"λ": 2, "zurich": 1, "nowhere": 0})

    other = database()
    with opened.read() as connection:
        before = counts.of(connection)
        remember(other, "prices of Zürich")
        assert (before.chunks, before.frequencies(["zurich"])) == (2, {"zurich": 1})
    assert counted(opened, counts) == counted(other, counts) == (3, {"λ": 2, "zurich": 2, "nowhere": 0})
