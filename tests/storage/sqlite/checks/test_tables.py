"""Checks of tables and rows: each kind of damage is named, with what to do."""

from __future__ import annotations

import pytest


def test_a_sound_store(found):
    """A sound store has no findings."""
    assert found() == []


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("drop table vectors_1", "The table vectors_1 is missing"),
        ("drop view chunk_texts", "The view chunk_texts is missing"),
        ("drop index memories_identity", "The index memories_identity is missing"),
        ("delete from models", "The vectors in codes_1 belong to no model"),
        ("update models set active = 0", "0 models are in use instead of one"),
        ("delete from texts where memory = 2", "1 row of memories has no text"),
        ("delete from chunks where memory = 2", "1 row of memories has no chunk"),
        ("delete from memories where key = 2", "1 row of texts belongs to no row of memories"),
        ("insert into tags values (99, 'lost')", "1 row of tags belongs to no row of memories"),
        ("update memories set metadata = '{'", "6 rows of memories have metadata that is no JSON object"),
        ("update memories set metadata = '[1]' where key = 1", "metadata that is no JSON object"),
        ("update memories set kind = 'kund' where key = 1", "an unknown kind"),
        ("update memories set tier = 'tear' where key = 1", "an unknown tier"),
        ("update memories set severity = 'odd' where key = 1", "an unknown severity"),
        ("update memories set event_at = 9e17 where key = 1", "a time beyond the calendar in event_at"),
        ("update memories set event_at = 'soon' where key = 1", "no integer in event_at"),
        ("update texts set text = x'c3' where memory = 1", "no text in text"),
        ("insert into trust values (1, 5, 'much')", "no real in value"),
        ("insert into searches values (1, 'a', 'b', 'auto', 'x', 5, '[', '', '')", "a list of hits that is no JSON"),
        (
            "insert into runs (memory, session, number, started, outcome) values (1, 'k', 1, 5, 'fine')",
            "an unknown outcome",
        ),
        (
            "insert into runs (memory, session, number, started, outcome) values (1, 'k', 1, 9e17, 'ok')",
            "a time beyond the calendar in started",
        ),
        (
            "insert into runs (memory, session, number, started, outcome) values (99, 'k', 1, 5, 'ok')",
            "1 row of runs belongs to no row of memories",
        ),
        ("delete from counters", "The counter of removals is missing"),
        ("delete from query_key", "The key of the stored questions is missing"),
    ],
)
def test_damage(found, statement, named):
    """What no row of a sound store has is named, with what to do about it."""
    findings = found(statement)
    assert any(named in finding for finding in findings), findings
    assert all("jupyter-memory " in finding or "store." in finding for finding in findings)


def test_a_damaged_memory_by_its_id(found):
    """The finding says which memory to forget."""
    (finding,) = found("update memories set id = 'abc', kind = 'kund' where key = 3")
    assert finding.endswith("or forget them: jupyter-memory forget abc")
