"""Checks of texts: a changed letter is noticed, and so is a chunk that is no part of its text."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "statement",
    [
        "update texts set text = replace(text, 'Zürich', 'Zurich') where memory = 1",
        "update memories set title = 'mu' where key = 1",
        "update memories set content_hash = 'feed' where key = 1",
        "update texts set text = cast(x'c3c3' as text) where memory = 1",
    ],
)
def test_another_text(found, statement):
    """Title and text are those that were hashed when they were stored."""
    assert ["1 memory has another text or title" in finding for finding in found(statement)] == [True]


@pytest.mark.parametrize(
    "change", ["text = 'not a part'", "start = 90000, stop = 90010", "stop = start", "text = null"]
)
def test_a_chunk_that_is_no_part(found, change):
    """A chunk of a long text is a part of it, at its place."""
    findings = found(f"update chunks set {change} where id = 7")
    assert ["chunks that are no part of the text" in finding for finding in findings] == [True], findings
