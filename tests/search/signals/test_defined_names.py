"""A file in which something is called what the query asks for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from jupyter_memory.search import parse
from jupyter_memory.search.signals import DefinedNames

SOURCE = "client_pool = 1\nclass ClientSession:\n    def close_all(self): ...\ndef request(): ..."


# Files in which nothing is called so: what is usual is then a quarter of what the other one has, and a deviation.
OTHERS = 3


def asked(context, memory, query, others=OTHERS, **changes):
    parsed = parse(query, now=datetime.now(UTC))
    code = {"kind": "file", "lang": "python"}
    found = [memory(1, **{**code, "text": SOURCE, **changes})]
    found += [memory(key, **code, text="def tariff(): ...") for key in range(2, 2 + others)]
    of = context(found, query=parsed)
    return DefinedNames()(parsed, of), DefinedNames().reason(parsed, of, of.candidates[0])


@pytest.mark.parametrize(
    ("query", "value", "name"),
    [
        ("how does the client session", 1.0, "ClientSession"),
        ("close all", 0.5**0.5, "close_all"),
        ("request", 1.0, "request"),
        ("client pool", 0.5, "ClientSession"),
        ("prices", 0.0, ""),
    ],
)
def test_the_best_name(memory, context, query, value, name):
    """The name of a class, function or method that answers best counts; that of a variable does not."""
    found, reason = asked(context, memory, query)

    assert found[1] - found[2] == pytest.approx(value)
    assert reason == (f"its definition of `{name}`" if name else DefinedNames.label)


@pytest.mark.parametrize(("others", "usual"), [(0, 0.5), (1, 0.5), (99, 0.01 + 0.0099**0.5)])
def test_what_is_usual_does_not_count(memory, context, others, usual):
    """The mean of the files and a deviation are subtracted, one half at most: a file has no advantage as such."""
    found, _ = asked(context, memory, "request", others)

    assert found[1] == pytest.approx(1 - usual)
    assert all(value == pytest.approx(-usual) for key, value in found.items() if key != 1)


def test_only_python_files(memory, context):
    """Cells and other files have no value."""
    assert 1 not in asked(context, memory, "request", kind="cell")[0]
    assert 1 not in asked(context, memory, "request", lang="markdown")[0]
    assert asked(context, memory, "request", 0, kind="cell")[0] == {}
