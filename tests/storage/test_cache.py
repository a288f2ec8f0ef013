"""What is kept between searches: for one version of the store, and no more than there is room for."""

from __future__ import annotations

from jupyter_memory.storage import Cache
from jupyter_memory.storage.sqlite.indexes.keyword_upkeep import rebuild
from jupyter_memory.storage.sqlite.indexes.vectors import VectorIndex
from jupyter_memory.storage.sqlite.sql import removals, version
from jupyter_memory.storage.sqlite.writing.writer import SqliteWriter


def test_a_value_of_another_version_is_not_returned():
    """Each version has its values; the first of a new version takes the place of all others."""
    cache = Cache(10)
    cache.put("1", "λ", 3)
    assert (cache.get("1", "λ"), cache.get("2", "λ"), cache.get("1", "μ")) == (3, None, None)
    assert (cache.of("2", "λ", lambda: 4), cache.of("2", "λ", lambda: 5)) == (4, 4)
    assert cache.get("1", "λ") is None


def test_the_least_recently_used_go_first():
    """Sizes are added up, also of a value that takes the place of another."""
    cache = Cache(6, len)
    cache.put("", "a", "xx")
    cache.put("", "b", "yy")
    cache.put("", "a", "xxx")
    assert cache.room == 1
    cache.get("", "b")
    cache.put("", "c", "zz")
    assert [cache.get("", key) for key in "abc"] == [None, "yy", "zz"]
    cache.put("", "d", "too long for it")
    assert cache.get("", "d") is None and cache.room == 6


def test_versions_of_a_store(database, remember):
    """Every change is another version; only what takes something away, or builds it anew, counts as a removal."""
    opened = database()

    def now():
        with opened.read() as connection:
            return version(connection), removals(connection)

    seen = [now()]
    [first] = remember(opened, "λ in Zürich")
    seen.append(now())
    remember(opened, "prices")
    seen.append(now())
    assert len({one for one, _ in seen}) == 3 and len({removed for _, removed in seen}) == 1
    SqliteWriter(opened, VectorIndex()).forget([first.id])
    seen.append(now())
    with opened.write() as connection:
        rebuild(connection)
    seen.append(now())
    assert len({one for one, _ in seen}) == 5 and len({removed for _, removed in seen}) == 3
