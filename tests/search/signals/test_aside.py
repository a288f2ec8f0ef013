"""Tests, earlier versions and the like come after what they are about."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from jupyter_memory.search import parse
from jupyter_memory.search.signals import Aside


def asked(context, memory, query, source, kind="file"):
    parsed = parse(query, now=datetime.now(UTC))
    of = context([memory(1, kind=kind, source=source)], query=parsed)
    return Aside()(parsed, of).get(1), Aside().reason(parsed, of, of.candidates[0])


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("/lib/tests/client.py", "tests"),
        ("/lib/tests/data/client.py", "tests"),
        ("/lib/test_client.py", "test_client"),
        ("/lib/client_test.py", "client_test"),
        ("/lib/__init__.py", "__init__"),
        ("/lib/_compat.py", "_compat"),
        ("/lib/v1/models.py", "v1"),
        ("/lib/Deprecated/notes.md", "Deprecated"),
        ("/lib/conftest.py", "conftest"),
    ],
)
def test_told_by_the_path(memory, context, source, name):
    """The name of the file, or of one of two folders above it, puts it aside."""
    assert asked(context, memory, "the retries", source) == (-1.0, f"`{name}` in its path")


@pytest.mark.parametrize(
    "source", ["/lib/client.py", "/tests/a/b/client.py", "/lib/testing.py", "/lib/latest.py", "/lib/v1x/models.py"]
)
def test_anything_else(memory, context, source):
    """Other names do not, nor does a folder further up."""
    assert asked(context, memory, "the retries", source) == (0.0, Aside.label)


@pytest.mark.parametrize(
    ("query", "source"),
    [
        ("tests of the retries", "/lib/tests/retry.py"),
        ("models of v1", "/lib/v1/models.py"),
        ("__init__", "/lib/__init__.py"),
        ("what is deprecated", "/lib/deprecated.py"),
        ("the client", "/lib/test_client.py"),
    ],
)
def test_unless_asked_for(memory, context, query, source):
    """A file whose name the query has, or a part of it, is not put aside."""
    assert asked(context, memory, query, source)[0] == 0.0


def test_only_files(memory, context):
    """A cell has no value."""
    assert asked(context, memory, "the retries", "/lib/tests/a.ipynb", "cell")[0] is None
