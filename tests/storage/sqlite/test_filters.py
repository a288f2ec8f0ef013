"""Filters inside each retriever: no row that does not match, and none missing that does."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from operator import and_
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.storage import Prepared
from jupyter_memory.storage.shared.rows import from_micros, to_micros
from jupyter_memory.storage.sqlite.connection.database import Database
from jupyter_memory.storage.sqlite.indexes import keyword, vectors
from jupyter_memory.storage.sqlite.indexes.vectors import VectorIndex
from jupyter_memory.storage.sqlite.tables import memories as rows
from jupyter_memory.storage.sqlite.writing.writer import SqliteWriter
from jupyter_memory.types import KINDS, Chunk, Draft, Filters, Terms

WEIGHTS = {"title": 5.0, "text": 1.0}
MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
TAGS = ("λ", "ü b", "prices")
SPACES = ("", "shops", "Shops")
LANGS = ("", "python", "markdown")
SESSIONS = (None, "s1", "s2")
SOURCES = (
    "",
    "/a",
    "/a/b",
    "/a/bc",
    "/a/b/c.md",
    "/a/b/d/e.md",
    "/a/b.md",
    "/a/b%",
    "/a/b-c/x.md",
    "/a/b0",
    "/A/b/c.md",
    "/a/ü/λ.md",
    "https://a/b/c",
    "chat:42",
)
moments = st.integers(0, 6).map(lambda days: MONDAY + timedelta(days=days))


def several(*values):
    """Draw none, one or more of these values."""
    return st.lists(st.sampled_from(values), max_size=2, unique=True).map(tuple)


drafts = st.builds(
    Draft,
    text=st.just(""),
    kind=st.sampled_from(KINDS),
    tier=st.sampled_from(("file", "mcp", "note")),
    pinned=st.booleans(),
    space=st.sampled_from(SPACES),
    source=st.sampled_from(SOURCES),
    lang=st.sampled_from(LANGS),
    session=st.sampled_from(SESSIONS),
    tags=several(*TAGS),
    event_at=moments,
)
# Every filter is drawn alone often enough; several at once leave little.
filters = st.one_of(
    *(
        st.builds(Filters, **{name: values})
        for name, values in {
            "tag": several(*TAGS, "no such"),
            "kind": several(*KINDS),
            "tier": several("core", "file", "mcp", "note"),
            "space": several(*SPACES),
            "path": several(*SOURCES[1:], "/", "/a/", "/a/b/", "/a/b/d", "https://a", "https://a/b/"),
            "lang": several(*LANGS),
            "session": several("s1", "s2", "s3"),
            "since": moments,
            "until": moments,
        }.items()
    ),
    *(
        st.builds(Filters, **{name: values})
        for name, values in {
            "not_tag": several(*TAGS, "no such"),
            "not_kind": several(*KINDS),
            "not_tier": several("core", "file", "mcp", "note"),
            "not_space": several(*SPACES),
            "not_path": several(*SOURCES[1:], "/", "/a/", "/a/b/d", "https://a"),
            "not_lang": several(*LANGS),
            "not_session": several("s1", "s2", "s3"),
        }.items()
    ),
    st.builds(Filters, tag=several(*TAGS), tier=several("core", "file", "note"), until=moments),
    st.builds(Filters, tag=several(*TAGS), not_tag=several(*TAGS), not_session=several("s1"), not_lang=several("")),
    st.builds(Filters, path=several("/a", "/a/b", "https://a"), kind=several("note", "file"), since=moments),
)


def is_below(source, path):
    """Return whether a source is what a path names, or lies below it."""
    folder = path if path.endswith("/") else path + "/"
    return source == (path.rstrip("/") or path) or source.startswith(folder)


def fits(draft, chosen):
    """Return whether a memory is to be searched, in plain Python."""
    return (
        (not chosen.tag or bool(set(chosen.tag) & set(draft.tags)))
        and (not chosen.kind or draft.kind in chosen.kind)
        and (not chosen.tier or ("core" if draft.pinned else draft.tier) in chosen.tier)
        and (not chosen.space or draft.space in chosen.space)
        and (not chosen.path or any(is_below(draft.source, path) for path in chosen.path))
        and (not chosen.lang or draft.lang in chosen.lang)
        and (not chosen.session or draft.session in chosen.session)
        and (chosen.since is None or draft.event_at >= chosen.since)
        and (chosen.until is None or draft.event_at < chosen.until)
        and not set(chosen.not_tag) & set(draft.tags)
        and draft.kind not in chosen.not_kind
        and ("core" if draft.pinned else draft.tier) not in chosen.not_tier
        and draft.space not in chosen.not_space
        and not any(is_below(draft.source, path) for path in chosen.not_path)
        and draft.lang not in chosen.not_lang
        and draft.session not in chosen.not_session
        and (chosen.also is None or fits(draft, chosen.also))
    )


def unit(rng, count, dimensions=64):
    """Return random vectors of length 1."""
    drawn = rng.normal(size=(count, dimensions)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def written(draft, number, rng):
    """Return a draft with a text of its own and one to three chunks, each with a vector and the word that all share."""
    parts = [f"shared {number}.{part} " for part in range(number % 3 + 1)]
    edges = np.cumsum([0, *map(len, parts)]).tolist()
    chunks = tuple(Chunk(start, end) for start, end in pairwise(edges))
    return Prepared(replace(draft, text="".join(parts), location=f"#{number}", chunks=chunks), unit(rng, len(chunks)))


@given(
    many=st.lists(drafts, min_size=1, max_size=12),
    chosen=filters | st.builds(and_, filters, filters),
    count=st.integers(1, 5),
)
def test_both_retrievers_search_what_matches(many, chosen, count):
    """Whatever is stored and filtered, each retriever returns exactly what matches, up to the count asked for."""
    rng = np.random.default_rng(len(many))
    embedder, index = StaticEmbedder(64), VectorIndex()
    with TemporaryDirectory() as folder:
        database = Database(Path(folder, "memory.sqlite"))
        memories = SqliteWriter(database, index).add([written(draft, i, rng) for i, draft in enumerate(many)], embedder)
        expected = {memory.id for memory, draft in zip(memories, many, strict=True) if fits(draft, chosen)}
        query = unit(rng, 1)[0]
        with database.read() as connection:
            model = index.active(connection)

            def by_words(limit):
                return keyword.search(connection, Terms(words=("shared",)), WEIGHTS, chosen, limit)

            def by_meaning(limit):
                return index.search(connection, model, query, chosen, limit)

            def by_code(limit):
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(vectors, "EXACT", 0)
                    patch.setattr(vectors, "_CANDIDATES", 2)
                    return by_meaning(limit)

            for retrieve in (by_words, by_meaning, by_code):
                everything = retrieve(1000)
                ids = [memory.id for memory in rows.load(connection, [one.memory for one in everything]).values()]
                assert len(everything) == len(expected) and set(ids) == expected, retrieve.__name__
                assert len({one.memory for one in retrieve(count)}) == min(count, len(expected)), retrieve.__name__
            assert len(rows.keys_where(connection, chosen)) == len(expected)
        database.close()


@given(draft=drafts, one=filters, other=filters, third=filters)
def test_filters_together(draft, one, other, third):
    """Filters that are put together let through what each of them does: neither widens nor forgets the other."""
    assert fits(draft, one & other) == (fits(draft, one) and fits(draft, other))
    assert fits(draft, one & other & third) == fits(draft, one & (other & third))
    assert fits(draft, one & other & third) == all(fits(draft, each) for each in (one, other, third))


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC)))
def test_times_to_the_microsecond(moment):
    """A time comes back as it went in, and times keep their order."""
    assert from_micros(to_micros(moment)) == moment
    assert to_micros(moment) < to_micros(moment + timedelta(microseconds=1))


def test_a_path_of_this_machine(database, remember, tmp_path, monkeypatch):
    """A relative path, or one from the user's home, means the file of this machine; an unknown user's means itself."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    opened = database()
    remember(opened, Draft(text="λ", source=str(tmp_path / "notes" / "a.md")))
    remember(opened, Draft(text="ü", source="~nobody-here/a.md"))

    for path, texts in (("notes", 1), ("notes/a.md", 1), ("~/notes", 1), ("~nobody-here", 1), ("note", 0), (".", 2)):
        found = rows.keys_where(opened.connection, Filters(path=(path,)))
        # The working folder is above both: a source that looks like no path may be a file in it.
        assert len(found) == (1 if path == "." else texts), path
