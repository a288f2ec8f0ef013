"""Adding to a store: what is kept, merged, refused and redacted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from results import titles, words_of_the_index

from jupyter_memory import InputError, JupyterMemory, QueryError


def test_add_gives_the_memory_back(store):
    """What add returns is what was stored, with its defaults."""
    before = datetime.now(UTC)
    memory = store().add("The λ of the Poisson model is 3.2.")

    assert (memory.text, memory.title, memory.tags) == ("The λ of the Poisson model is 3.2.", "", ())
    assert (memory.kind, memory.tier, memory.pinned, memory.space) == ("note", "note", False, "")
    assert (memory.severity, memory.domain, memory.session, memory.source) == (None, None, None, "")
    assert memory.metadata == {}
    assert before - timedelta(milliseconds=1) <= memory.event_at <= datetime.now(UTC)


def test_everything_that_was_given_is_kept(store):
    """Every keyword of add comes back from get."""
    memory = store()
    given = {
        "title": "Preise für Zürich",
        "tags": ("decision", "λ"),
        "tier": "mcp",
        "kind": "history",
        "source": "chat:42",
        "event_at": datetime(2026, 3, 2, 9, 15, 1, 123456, tzinfo=UTC),
        "severity": "critical",
        "domain": "sales",
        "valid_from": datetime(2026, 3, 1, tzinfo=UTC),
        "valid_until": datetime(2026, 4, 1, tzinfo=UTC),
        "session": "s1",
        "space": "shops",
        "metadata": {"rows": 3, "ü": [1.5, None, {"deep": True}]},
    }
    kept = memory.get(memory.add("Prices are net of tax.", **given).id)

    assert {name: getattr(kept, name) for name in given} == given


def test_pandas_values_are_taken(store):
    """The records of a DataFrame go in as they are: Timestamps are times; NaT and NaN are no value."""
    frame = pd.DataFrame(
        {
            "text": ["λ rose", "λ fell"],
            "title": ["Up", None],
            "tags": [np.array(["a", "ü"]), np.nan],
            "event_at": [pd.Timestamp("2026-03-02", tz="UTC"), pd.NaT],
        }
    )
    rose, fell = store().add_many(frame.to_dict("records"), progress=False)

    assert rose.event_at == datetime(2026, 3, 2, tzinfo=UTC)
    assert fell.event_at > datetime(2026, 3, 3, tzinfo=UTC)
    assert (rose.title, rose.tags, fell.title, fell.tags) == ("Up", ("a", "ü"), "", ())


def test_known_content_is_merged(store):
    """Said twice, a memory is stored once: tags and metadata are merged, the newer value wins, the time stays."""
    memory = store()
    first = memory.add("λ is 3.2", title="λ", tags=["a"], metadata={"x": 1, "y": 1}, event_at="2026-03-02")
    again = memory.add("λ is 3.2", title="λ", tags=["ü", "a"], metadata={"y": 2}, event_at="2026-03-05")

    assert again.id == first.id
    assert again.tags == ("a", "ü") and dict(again.metadata) == {"x": 1, "y": 2}
    assert again.event_at == first.event_at
    assert memory.stats()["memories"] == 1 and words_of_the_index(memory) == (1, 1)
    assert titles(memory.search("ü", profile="auto")) == ["λ"]  # the merged tag is searched


@pytest.mark.parametrize("change", [{"title": "other"}, {"text": "λ is 3.3"}, {"source": "x.md"}, {"space": "lab"}])
def test_other_content_is_another_memory(store, change):
    """Another title, text, source or space makes another memory."""
    memory = store()
    record = {"text": "λ is 3.2", "title": "λ"}
    memory.add_many([record, {**record, **change}], progress=False)

    assert memory.stats()["memories"] == 2


def test_core_is_a_pinned_note(store):
    """tier="core" stores a note and pins it; said again it pins what is there."""
    memory = store()
    first = memory.add("Never join on names", tier="core")
    second = memory.add("Check the zone")
    again = memory.add("Check the zone", tier="core")

    assert (first.tier, first.pinned) == (again.tier, again.pinned) == ("core", True)
    assert again.id == second.id
    assert memory.unpin(first.id).tier == "note"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"text": "  \n"}, "There is nothing to remember: the text is empty"),
        ({"text": None}, "There is nothing to remember"),
        ({"text": 7}, "text must be a string, not int"),
        ({"text": "x", "tier": "gold"}, "tier is 'gold'; it must be one of core, file, mcp, note"),
        ({"text": "x", "kind": "cells"}, "kind is 'cells'; it must be one of note, file, cell, history"),
        ({"text": "x", "severity": "bad"}, "severity is 'bad'; it must be one of critical, warning, suggestion"),
        ({"text": "x", "metadata": {"λ": {1}}}, "metadata must be a mapping of JSON values"),
        ({"text": "x", "metadata": {"λ": float("nan")}}, "metadata must be a mapping of JSON values"),
        ({"text": "x", "tags": 5}, r"tags must be a string or several, such as \['decision', 'prices'\]"),
        ({"text": "x", "tags": ["a", 5]}, "tags must be a string or several"),
        ({"text": "x", "title": 5}, "title must be a string, not int"),
        ({"text": "x", "colour": "red"}, "A memory has no colour. It has: text, title, "),
        ({"text": "x", "event_at": "blue moon"}, "'blue moon' is not a time"),
    ],
)
def test_what_cannot_be_stored(store, given, message):
    """A value that cannot be stored is refused with what could be, and nothing of its batch is stored."""
    memory = store()

    with pytest.raises((InputError, QueryError), match=message):
        memory.add_many([{"text": "λ is 3.2"}, given], progress=False)
    assert memory.stats()["memories"] == 0


@pytest.mark.parametrize("records", [["λ is 3.2"], pd.DataFrame({"text": ["λ"]})], ids=["strings", "frame"])
def test_records_are_dicts(store, records):
    """Strings, and the column names that a DataFrame iterates over, are refused with the way to do it."""
    with pytest.raises(InputError, match=r"A record is a dict such as .* df.to_dict\('records'\)"):
        store().add_many(records, progress=False)


def test_add_many(week_store, week):
    """Many at once come back in their order, repeats as what they repeat."""
    again = week_store.add_many([*reversed(week), week[0]], progress=False)

    assert [memory.title for memory in again] == [record["title"] for record in (*reversed(week), week[0])]
    assert again[-1].id == again[-2].id
    assert week_store.stats()["memories"] == len(week)


def test_a_copy_within_a_batch(store):
    """Two records of one batch that say the same are one memory with both tags."""
    one, two = store().add_many([{"text": "λ is 3.2", "tags": "a"}, {"text": "λ is 3.2", "tags": "b"}], progress=False)

    assert one.id == two.id and two.tags == ("a", "b")


def test_redaction_can_be_left_out(store):
    """Secrets are replaced before they are stored, unless the settings say otherwise."""
    text = "postgres://anna:hunter2secret@db.example.org/prices"

    assert "hunter2secret" not in store("a.sqlite").add(text).text
    assert store("b.sqlite", settings=JupyterMemory(redact=False)).add(text).text == text


def test_redaction_of_tags_and_metadata(store):
    """A secret in a tag or in metadata is replaced like one in the text; the path that a memory came from stays."""
    token = "ghp_9f8c1e2ab7d04c55e1f02a3b4d"
    metadata = {"Zürich": {"password": "k4ffee77"}, "λ": 3}
    source = f"/data/{token}/prices.csv"
    written = store("a.sqlite").add("λ", tags=["prices", token], metadata=metadata, source=source)

    assert written.tags == ("[redacted: GitHub token]", "prices")
    assert written.metadata == {"Zürich": {"password": "[redacted: password]"}, "λ": 3}
    assert written.source == source
    assert token in store("b.sqlite", settings=JupyterMemory(redact=False)).add("λ", tags=[token]).tags


def test_redaction_of_an_address(store):
    """A password in the address that a note came from is replaced."""
    written = store().add("λ is 3.2", source="https://ada:k4ffee77tasse@git.example.org/preise")

    assert "k4ffee77tasse" not in written.source
    assert written.source.endswith("@git.example.org/preise")


def test_sessions_and_domains_are_redacted(store):
    """A secret in the name of a session or of a domain is hidden like one in the text, when added and when changed."""
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2eF5hJ7"
    told = {"session": f"run with {secret}", "domain": f"repo {secret}"}
    opened = store()
    added = opened.add("λ is 3.2", **told)
    [many] = opened.add_many([{"text": "μ is 4", **told}], progress=False)
    changed = opened.update(opened.add("ν is 5", session="monday", domain="prices").id, **told)
    filtered = opened.browse(filters={"session": added.session})

    for memory in (added, many, changed):
        assert "run with [redacted: " in memory.session and "repo [redacted: " in memory.domain
    assert len(filtered) == 3
    opened.close()
    assert not any(secret.encode() in file.read_bytes() for file in opened.path.parent.iterdir())


def test_sessions_stay_where_nothing_is_redacted(store):
    """With the setting off they are what was typed."""
    opened = store(settings=JupyterMemory(redact=False))
    assert opened.add("λ is 3.2", session="password=hunter2abcXYZ").session == "password=hunter2abcXYZ"
