"""Odd texts and wrong records: they are kept whole, or refused by name; nothing is lost or half-written."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta, timezone

import pytest
from any_text import MEGABYTE, anything
from hypothesis import given, settings

from jupyter_memory import InputError, JupyterMemoryError

ODD = {
    "NUL bytes": "net\0 of \0tax",
    "lone surrogates": "net of \ud800 tax \udfff",
    "surrogate escape": b"net of \xff tax".decode("utf-8", "surrogateescape"),
    "emoji": "net 👩‍🔬 of 🏳️‍🌈 tax 🚚",
    "right to left": "net \u202eof\u202c مِن tax שלום",
    "combining": "net o\u0301\u0302\u0303\u0304f tax " + "Z\u0351\u036b\u0343\u036a\u0302",
    "zero width": "\ufeffnet\u200b of \u2060tax",
    "control": "net \x02of\x03 \x1b[31mtax\x7f",
    "line ends": "net\r\nof\rtax\u2028and\u2029more\x85",
    "quotes": """net "of' ` tax \\ %s {} $(rm) '; drop table memories; --""",
    "astral": "net of tax 𝒳 𠀀 \U0010ffff",
    "markup": "<script>alert('net')</script> of <b>tax</b> &amp;",
}


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
    assert hit.memory == kept
    assert all(hit.snippet[start:end] for start, end in hit.highlights)
    memory.search(text).memory.style().to_html()
    assert memory.doctor() == []
    assert memory.forget(source=text) == 1


@settings(max_examples=40)
@given(text=anything, title=anything, tag=anything, value=anything)
def test_any_text_can_be_remembered(busy, text, title, tag, value):
    """Whatever is remembered comes back by its id and by its filters, or it was blank."""
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
    assert memory.get(added.id).text == text
    assert memory.stats()["chunks"] > 300
    # A run of one letter is a word that no vocabulary holds.
    hits = memory.hits(f"Big {text[:20]}").hits
    assert [hit.memory.id for hit in hits] == [added.id] and len(hits[0].snippet) < 1000
    assert memory.forget(added.id) == 1 and memory.stats()["chunks"] == 0


@pytest.mark.parametrize("text", ["", " \n\t ", "\0", "\u2003"])
def test_an_empty_text(store, text):
    """A text without anything in it is refused."""
    with pytest.raises(InputError, match="There is nothing to remember: the text is empty"):
        store().add(text)


NESTED: list = []
for _ in range(sys.getrecursionlimit() * 2):
    NESTED = [NESTED]


@pytest.mark.parametrize(
    "record",
    [
        {"metadata": {"x": object()}},
        {"metadata": {"x": b"bytes"}},
        {"metadata": [1, 2]},
        {"metadata": {"x": float("inf")}},
        pytest.param({"metadata": {"x": NESTED}}, id="nested"),
        {"tags": 5},
        {"tags": [None]},
        {"source": 5},
        {"severity": "urgent"},
        {"tier": ""},
        {"event_at": 5},
        {"event_at": "not a time"},
        {"event_at": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))},
        {"event_at": datetime.max.replace(tzinfo=timezone(timedelta(hours=-12)))},
        {"valid_until": "31.31.2026"},
        {"colour": "red"},
    ],
    ids=str,
)
def test_a_record_that_is_wrong(week_store, record):
    """A wrong value is refused by name, alone or in the middle of many, and nothing of its batch is stored."""
    for call in (
        lambda: week_store.add("good", **record),
        lambda: week_store.add_many([{"text": "good"}, {"text": "λ", **record}, {"text": "more"}], progress=False),
    ):
        with pytest.raises((JupyterMemoryError, TypeError)) as caught:
            call()
        assert isinstance(caught.value, JupyterMemoryError) or "colour" in record
    assert week_store.stats()["memories"] == 10


def test_an_update_that_makes_a_copy(week_store, week_memories):
    """A memory cannot become the copy of another; both stay."""
    one, other = week_memories["Poisson λ"], week_memories["Scaling the prices"]
    with pytest.raises(InputError, match="says the same already"):
        week_store.update(one.id, text=other.text, title=other.title)
    assert week_store.get(one.id) == one and week_store.doctor() == []


def test_times_without_a_zone_are_local(store):
    """A naive time is taken as local, an aware one as it is; both come back in UTC."""
    memory = store(embedder=None)
    naive = memory.add("λ", event_at=datetime(2026, 3, 2, 9, 0))
    aware = memory.add("ü", event_at=datetime(2026, 3, 2, 9, 0, tzinfo=timezone(timedelta(hours=5))))
    assert naive.event_at == datetime(2026, 3, 2, 9, 0).astimezone(UTC)
    assert aware.event_at == datetime(2026, 3, 2, 4, 0, tzinfo=UTC)
