"""What a memory defines counts for who asks for it by its name."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from jupyter_memory.search import parse
from jupyter_memory.search.signals import Defines

METERS = "RATE = 3\nclass Meter:\n    def read_all(self): ...\ndef flush(): ..."


def asked(context, memory, query, text=METERS, **changes):
    parsed = parse(query, now=datetime.now(UTC))
    of = context([memory(1, **{"kind": "cell", "lang": "python", "text": text, **changes})], query=parsed)
    return Defines()(parsed, of)[1], Defines().reason(parsed, of, of.candidates[0])


@pytest.mark.parametrize(
    ("query", "value", "name"),
    [
        ("Meter", 1.0, "Meter"),
        ("flush", 1.0, "flush"),
        ("RATE", 0.8, "RATE"),
        ("read_all", 0.6, "read_all"),
        ("meters.Meter", 1.0, "Meter"),
        ("how is Meter used", 0.5, "Meter"),
        ("what calls read_all here", 0.3, "read_all"),
        ("the RATE of a Meter", 0.5, "Meter"),
        ("how does flush work", 0.0, ""),
        ("meter", 0.0, ""),
        ("Mete", 0.0, ""),
        ("self", 0.0, ""),
        ("?!", 0.0, ""),
    ],
)
def test_by_its_name(memory, context, query, value, name):
    """The name alone counts in full, and half in a sentence, where a word counts only if it looks like a name."""
    found, reason = asked(context, memory, query)

    assert found == pytest.approx(value)
    assert reason == (f"its definition of `{name}`" if name else Defines.label)


def test_what_is_not_python(memory, context):
    """A note, and a source that nobody can read, define nothing."""
    assert asked(context, memory, "Meter", lang="")[0] == 0.0
    assert asked(context, memory, "Meter", text="class Meter(")[0] == 0.0
    assert asked(context, memory, "Meter", kind="file")[0] == 1.0


def test_names_as_python_compares_them(memory, context):
    """A ligature in the query is the letters that it stands for, as in a source."""
    assert asked(context, memory, "ﬁle", text="file = 1")[0] == 0.8
