"""Odd texts, wrong records, bad queries, calls and paths: they are taken whole, or refused with what to do."""

import inspect

import pytest
from any_text import MEGABYTE, anything
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jupyter_memory import InputError, MemoryStore, QueryError, UnknownMemory, UnknownProfile, UnknownStore
from jupyter_memory.types import Filters

ODD = {
    "NUL bytes": "net\0 of \0tax", "lone surrogates": "net of \ud800 tax \udfff",
    "surrogate escape": b"net of \xff tax".decode("utf-8", "surrogateescape"),
    "emoji": "net 👩‍🔬 of 🏳️‍🌈 tax 🚚", "right to left": "net \u202eof\u202c مِن tax שלום",
    "combining": "net o\u0301\u0302\u0303\u0304f tax " + "Z\u0351\u036b\u0343\u036a\u0302",
    "zero width": "\ufeffnet\u200b of \u2060tax", "control": "net \x02of\x03 \x1b[31mtax\x7f",
    "line ends": "net\r\nof\rtax\u2028and\u2029more\x85",
    "quotes": """net "of' ` tax \\ %s {} $(rm) '; drop table memories; --""",
    "astral": "net of tax 𝒳 𠀀 \U0010ffff",
    "markup": "<script>alert('net')</script> of <b>tax</b> &amp;",
}  # fmt: skip


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_odd_text(store, text):
    """Odd text is kept but for what UTF-8 and SQLite cannot hold, wherever it stands, and found again."""
    memory = store()
    record = dict.fromkeys(("title", "source", "domain", "session", "space"), text)
    added = memory.add(text, tags=[text], metadata={text: [text]}, **record)
    kept = memory.get(added.id)
    expected = "".join("�" if "\ud800" <= c <= "\udfff" else c for c in text.replace("\0", ""))
    assert kept.text == expected and kept == added
    assert {kept.domain, kept.session, kept.space, kept.source} == {expected}
    assert kept.tags == (expected.strip(),) and kept.title == expected.strip()
    hit = memory.hits("net tax", filters={"space": text, "session": text, "path": text}).hits[0]
    assert hit.memory == kept and all(hit.snippet[start:end] for start, end in hit.highlights)
    memory.search(text).memory.style().to_html()
    assert memory.doctor() == [] and memory.forget(source=text) == 1


@settings(max_examples=40)
@given(text=anything, title=anything, tag=anything, value=anything)
def test_any_text_can_be_remembered(busy, text, title, tag, value):
    try:
        memory = busy.add(text, title=title, tags=[tag], domain=value, session=value, metadata={"x": value})
    except InputError as error:
        assert "the text is empty" in str(error)
        return
    assert busy.get(memory.id) == memory
    assert memory.id in {hit.memory.id for hit in busy.browsed(limit=1000, filters={"session": value}).hits}
    assert busy.forget(memory.id) == 1


@pytest.mark.parametrize("text", ["price λ in Zürich. " * 50_000, "x" * MEGABYTE, "東京" * 100_000], ids=len)
def test_a_megabyte_of_text(store, text):
    """A megabyte in one memory, with spaces or without, is stored whole, found, and forgotten."""
    memory = store()
    added = memory.add(text, title="Big")
    assert memory.get(added.id).text == text and memory.stats()["chunks"] > 300
    # A run of one letter is a word that no vocabulary holds.
    hits = memory.hits(f"Big {text[:20]}").hits
    assert [hit.memory.id for hit in hits] == [added.id] and len(hits[0].snippet) < 1000
    assert memory.forget(added.id) == 1 and memory.stats()["chunks"] == 0


@pytest.mark.parametrize(
    "query",
    [
        *("the of and", "?", "...", '"*"', "*", "NEAR(", ":", "-", "🚚", "\ufeff", "\ud800"),
        *("price λ " * 2_500, "x" * 20_000, "東" * 20_000, "_" * 20_000, "a." * 10_000),
    ],
    ids=lambda query: ascii(query[:9]),
)
def test_a_query_that_says_little_or_much(week_store, query):
    """Stop words, marks, FTS5's syntax and a pasted page are searched as they stand, and an answer comes."""
    answer = week_store.hits(query)
    assert answer.query.text and len(answer.hits) <= 10 and week_store.stats()["memories"] == 10


@pytest.mark.parametrize("ask", ["search", "hits", "trace", "explain", "pooled"])
def test_a_query_that_is_too_long(week_store, week_memories, ask):
    more = [week_memories["Poisson λ"].id] if ask == "explain" else []
    with pytest.raises(QueryError, match=r"has 1,000,000 characters; it may have up to 20,000\. Search for the words"):
        getattr(week_store, ask)("x" * MEGABYTE, *more)
    # A megabyte is no time, and is not read as one; the message does not repeat it.
    for options in ({"since": "1 " * 500_000}, {"filters": {"until": "x" * MEGABYTE}}):
        with pytest.raises(QueryError, match=r"^A time has up to 100 characters; this one has 1,000,000\."):
            getattr(week_store, ask)("prices", *more, **options)


@settings(max_examples=40)
@given(text=anything)
@example(text="\x1a*")
def test_any_text_can_be_asked(busy, text):
    """Whatever is asked, there is an answer, or it was blank."""
    try:
        busy.hits(text)
    except QueryError:
        assert not text.strip("\0 \"'“”‘’").strip()


@pytest.mark.parametrize(
    "options",
    [
        {"filters": {"kinds": "cell"}}, {"filters": {5: "cell"}}, {"filters": {"kind": "novel"}},
        {"filters": {"tag": 5}}, {"filters": {"tag": [5]}}, {"filters": {"path": ""}},
        {"filters": {"path": ["/a", " "]}}, {"filters": ["cell"]}, {"filters": "kind:cell"}, {"filters": {"since": 5}},
        {"since": "someday"}, {"since": "2026-03-05", "until": "2026-03-01"}, {"limit": 0}, {"limit": -1},
        {"limit": "many"}, {"limit": 2.5}, {"mode": "quick"}, {"profile": "bogus"}, {"profile": 5}, {"now": "someday"},
    ],
    ids=str,
)  # fmt: skip
def test_options_that_are_wrong(week_store, options):
    """A filter, time, limit, mode or profile that cannot be read is refused; so it is when browsing and forgetting."""
    says = "mode is 'full' or 'scan', not 'quick'" if "mode" in options else None
    with pytest.raises((QueryError, UnknownProfile), match=says):
        week_store.search("prices", **options)
    if set(options) == {"filters"}:
        for refuse in (week_store.browse, week_store.forget):
            with pytest.raises(QueryError):
                refuse(**options)
    assert week_store.stats()["memories"] == 10


def test_as_much_as_there_is(week_store):
    """A limit beyond all bounds brings what there is; a filter takes any number of values, of paths a thousand."""
    assert len(week_store.hits("the prices λ", limit=10**30, profile="trovella").hits) == 10
    many = [f"tag {i}" for i in range(50_000)]
    assert len(week_store.browsed(filters={"tag": ["prices", *many]}).hits) == 3
    with pytest.raises(QueryError, match="up to 1,000 values"):
        week_store.browsed(filters={"path": many})


FACETS = st.sampled_from(["tag", "kind", "tier", "path", "lang", "space", "session", "since", "until", "tags"])
VALUES = anything | st.lists(anything, max_size=3) | st.none() | st.integers() | st.sampled_from(["cell", "core"])
VALUES |= st.dates() | st.floats()


@settings(max_examples=40)
@given(filters=st.dictionaries(FACETS, VALUES, max_size=3))
@example(filters={"path": "~nobody-of-this-name/x"})
@example(filters={"path": "a\0b"})
def test_any_filter_is_read_or_refused(busy, filters):
    """Whatever is given as a filter, there is an answer or a QueryError; forgetting by it removes nothing more."""
    try:
        chosen = busy.browsed(limit=1000, filters=filters).hits
    except QueryError:
        return
    assert len(busy.hits("prices", filters=filters, limit=1000).hits) <= len(chosen)


@pytest.mark.parametrize(
    "choice",
    [
        {}, {"everything": False}, {"filters": {}}, {"filters": None}, {"filters": Filters()}, {"filters": {"tag": ()}},
        {"filters": {"tag": [], "kind": None}}, {"source": ""}, pytest.param({"source": "\0"}, id="NUL"),
        {"ids": None, "everything": False},
    ],
    ids=str,
)  # fmt: skip
def test_forget_needs_a_choice(week_store, choice):
    with pytest.raises((InputError, QueryError), match=r"needs to know what: ids, source=, filters=|'path' is empty"):
        week_store.forget(**choice)
    assert week_store.stats()["memories"] == 10


def test_forget_takes_one_kind_of_choice(week_store, week_memories):
    """ids together with another choice are refused: it is not said which of the two counts."""
    known = week_memories["Poisson λ"].id
    for more in ({"source": "/projects"}, {"filters": {"kind": "cell"}}, {"everything": True}):
        with pytest.raises(InputError, match="not both"):
            week_store.forget(known, **more)
    with pytest.raises(InputError, match="takes one path"):
        week_store.forget(source="/projects", filters={"path": "/projects"})
    with pytest.raises(InputError, match="source= is empty"):  # from a variable that was never set
        week_store.forget(source="", filters={"tag": "draft"})
    # A choice that fits nothing forgets nothing; an empty list of ids, too.
    for nothing in ({"ids": []}, {"source": "/nowhere"}, {"filters": {"tag": "no"}}):
        assert week_store.forget(**nothing) == 0
    assert week_store.stats()["memories"] == 10


@pytest.mark.parametrize("memory_id", ["", "nope", 5, "\ud800", "' or 1=1 --", "x" * MEGABYTE])
def test_an_unknown_id(week_store, week_memories, memory_id):
    known = week_memories["Poisson λ"].id
    for call in (
        lambda: week_store.get(memory_id),
        lambda: week_store.get([known, memory_id]),
        lambda: week_store.update(memory_id, title="x"),
        lambda: week_store.pin(memory_id),
        lambda: week_store.unpin(memory_id),
        lambda: week_store.explain("prices", memory_id),
        lambda: week_store.forget(memory_id),
        lambda: week_store.forget([known, memory_id]),
    ):
        with pytest.raises(UnknownMemory, match="No memory has the id"):
            call()
    assert week_store.get(known)


SIGNATURES = {
    "add": "self text title tags tier kind source event_at severity domain valid_from valid_until "
    "session space metadata",
    "forget": "self ids source filters everything dry_run now",
    "search": "self query mode stores limit filters since until as_of profile now tags domain",
    "browse": "self limit filters since until as_of",
}


def test_the_signature_is_the_one_of_the_documents(week_store):
    """The names that scripts depend on are those of the interface; another keyword is refused with those there are."""
    # Completion and help read the keywords one by one.
    assert {
        name: " ".join(inspect.signature(getattr(MemoryStore, name)).parameters) for name in SIGNATURES
    } == SIGNATURES
    assert inspect.signature(MemoryStore.search).parameters["mode"].default == "full"
    with pytest.raises(TypeError, match=r"no keyword lmit\. Did you mean 'limit'\?.*since, until, as_of, profile, now"):
        week_store.search("λ", lmit=3)
    with pytest.raises(UnknownStore, match="No store on the list is called 5"):
        week_store.search("λ", stores=5)
    with pytest.raises(TypeError, match=r"no keyword now.*limit, filters, since, until"):
        week_store.browse(now="today")


@pytest.mark.parametrize("embedder", ["auto", None])
def test_files_without_anything_in_them(store, tmp_path, embedder):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "empty.ipynb").write_text('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}')
    for name in ("empty.md", "empty.py", "empty.txt"):
        (tmp_path / "notes" / name).touch()
    memory = store(embedder=embedder)
    first, again = (memory.index(tmp_path / "notes", progress=False) for _ in range(2))
    assert (first.cells, first.failed, again.files, again.failed) == (0, (), 0, ())
    assert memory.stats()["memories"] == 0 and memory.doctor() == []
