"""Filters inside each retriever: no row that does not match, and none missing that does."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from operator import and_

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.storage import Database, Prepared, SqliteStorage
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


class Made:
    """A model whose vectors the test makes."""

    name, dimensions, threshold, fingerprint = "made", 64, 0.0, "made/64"


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A store of memories of all sorts, with one to three chunks each, and their drafts by key.

    They have more chunks than are compared one by one, so that filters that leave most of them search the codes.
    """
    rng, chance = np.random.default_rng(1), random.Random(1)

    def some(values):
        return tuple(sorted(chance.sample(values, chance.randint(0, 2))))

    prepared = []
    for number in range(3_000):
        parts = [f"shared {number}.{part} " for part in range(number % 3 + 1)]
        edges = np.cumsum([0, *map(len, parts)]).tolist()
        draft = Draft(
            text="".join(parts),
            kind=chance.choice(KINDS),
            tier=chance.choice(("file", "mcp", "note")),
            pinned=chance.random() < 0.2,
            space=chance.choice(SPACES),
            source=chance.choice(SOURCES),
            location=f"#{number}",
            lang=chance.choice(LANGS),
            session=chance.choice(SESSIONS),
            tags=some(TAGS),
            event_at=MONDAY + timedelta(days=chance.randint(0, 6)),
            chunks=tuple(Chunk(start, end) for start, end in pairwise(edges)),
        )
        drawn = rng.normal(size=(len(parts), 64)).astype(np.float32)
        prepared.append(Prepared(draft, drawn / np.linalg.norm(drawn, axis=1, keepdims=True)))
    storage = SqliteStorage(Database(tmp_path_factory.mktemp("many") / "memory.sqlite"))
    memories = storage.writer.add(prepared, Made())
    with storage.snapshot() as snapshot:
        assert snapshot.is_large(snapshot.active_model())
        keys = [snapshot.key_of(memory.id) for memory in memories]
    yield storage, {key: one.draft for key, one in zip(keys, prepared, strict=True)}
    storage.close()


@given(chosen=filters | st.builds(and_, filters, filters), count=st.integers(1, 5))
def test_both_retrievers_search_what_matches(many, chosen, count):
    """Whatever is filtered, each retriever returns exactly what matches, up to the count asked for."""
    storage, held = many
    expected = {key for key, draft in held.items() if fits(draft, chosen)}
    query = np.ones(64, np.float32) / 8
    with storage.snapshot() as snapshot:
        model = snapshot.active_model()

        def by_words(limit):
            return snapshot.keyword_matches(Terms(words=("shared",)), WEIGHTS, chosen, limit)

        def by_meaning(limit):
            return snapshot.vector_matches(model, query, chosen, limit, None)

        for retrieve in (by_words, by_meaning):
            everything = [one.memory for one in retrieve(10_000)]
            assert len(everything) == len(expected) and set(everything) == expected, retrieve.__name__
            assert len({one.memory for one in retrieve(count)}) == min(count, len(expected)), retrieve.__name__
        assert set(snapshot.keys(chosen)) == expected and snapshot.count(chosen) == len(expected)


@given(draft=drafts, one=filters, other=filters, third=filters)
def test_filters_together(draft, one, other, third):
    """Filters that are put together let through what each of them does: neither widens nor forgets the other."""
    assert fits(draft, one & other) == (fits(draft, one) and fits(draft, other))
    assert fits(draft, one & other & third) == fits(draft, one & (other & third))
    assert fits(draft, one & other & third) == all(fits(draft, each) for each in (one, other, third))


def test_times_to_the_microsecond(sqlite, remember):
    """A time comes back as it went in, and times keep their order."""
    chance, first, last = random.Random(1), datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
    drawn = [first + timedelta(microseconds=chance.randrange((last - first) // timedelta(microseconds=1)))
             for _ in range(200)]  # fmt: skip
    moments = [first, last, *drawn, *(moment + timedelta(microseconds=1) for moment in drawn)]
    opened = sqlite()
    remember(opened, *(Draft(text=f"{moment}", event_at=moment) for moment in moments))
    with opened.snapshot() as snapshot:
        listed = snapshot.browse(Filters(), 1_000)

    assert [memory.event_at for memory in listed] == sorted(moments, reverse=True)
    assert all(memory.text == str(memory.event_at) for memory in listed)


def test_a_path_of_this_machine(sqlite, remember, tmp_path, monkeypatch):
    """A relative path, or one from the user's home, means the file of this machine; an unknown user's means itself."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    opened = sqlite()
    remember(opened, Draft(text="λ", source=str(tmp_path / "notes" / "a.md")))
    remember(opened, Draft(text="ü", source="~nobody-here/a.md"))

    # The working folder is above both, but a source that looks like no path may be a file in it.
    expected = {"notes": 1, "notes/a.md": 1, "~/notes": 1, "~nobody-here": 1, "note": 0, ".": 1}
    with opened.snapshot() as snapshot:
        assert {path: len(snapshot.keys(Filters(path=(path,)))) for path in expected} == expected
