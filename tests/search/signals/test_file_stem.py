"""A file that is called what the query asks for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from jupyter_memory.search import parse
from jupyter_memory.search.signals import FileStem


def value(context, memory, query, source, kind="file"):
    parsed = parse(query, now=datetime.now(UTC))
    return FileStem()(parsed, context([memory(1, kind=kind, source=source)], query=parsed)).get(1)


@pytest.mark.parametrize(
    ("query", "source", "expected"),
    [
        ("client session", "/lib/client_session.py", 1.0),
        ("client session", "/lib/client.py", 0.5**0.5),
        ("default transport", "/httpx/_transports/default.py", 1.0),
        ("transport", "/httpx/_transports/base.py", 0.5),
        ("client", "/client/client.py", 1.0),
        ("prices", "/lib/meters.md", 0.0),
    ],
)
def test_file_and_folder(memory, context, query, source, expected):
    """The name of the file counts in full, that of its folder by half, both together 1 at most."""
    assert value(context, memory, query, source) == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["cell", "note", "history"])
def test_only_files(memory, context, kind):
    """A cell or a note has no value, whatever its source is called."""
    assert value(context, memory, "prices", "/lib/prices.ipynb", kind) is None
