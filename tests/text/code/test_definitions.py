"""The names that a source defines, however it is written, and nothing where nobody could read it."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import pytest

from jupyter_memory.text import Definitions, definitions, with_outputs

SOURCE = '''
"""A module, in which the words class Docstring: and def docstring(): stand."""
import os
from typing import Any as Anything

RATE: float = 0.3
first, (second, *rest) = os.path.split(RATE)
os.environ["A"] = 1
os.sep = 2
if RATE:
    import json
    def conditional(argument, other=lambda hidden: 1): local = 1
else:
    chosen = 2
@os.decorated
class Meter(dict):
    attribute = 1
    @property
    def read(self):
        def inner(): ...
        return [comprehended for comprehended in self]
    async def __flush(self): ...
    class Config: ...
async def λ(): ...
def read(): ...
# def commented(): ...
text = """
def quoted():
"""
with open("f") as handle:
    for number in handle: ...
'''


def defined_by(source):
    return definitions("note", "python", source)


def test_every_definition_once():
    """Classes and functions, variables, and what is within others, each in its order; no import, comment or string."""
    found = defined_by(SOURCE)

    assert found.defined.split() == ["conditional", "Meter", "λ", "read"]
    assert found.assigned.split() == ["RATE", "first", "second", "rest", "chosen", "text", "handle", "number"]
    assert found.nested.split() == ["read", "inner", "__flush", "Config"]


@pytest.mark.parametrize(
    ("source", "defined", "assigned"),
    [
        ("%matplotlib inline\ndef mean(x):\n    %timeit x\n    return x", "mean", ""),
        ("!pip install pandas\nprices = 1", "", "prices"),
        ("files = !ls *.csv\ntimes = %timeit -o 1\nprices = 2", "", "files times prices"),
        ("pd.read_csv?\nprices?? \nprices = 1", "", "prices"),
        ("%%time\nclass Meter: ...", "Meter", ""),
        ("await fetch()\nprices = await fetch()", "", "prices"),
        ("share = 7 % 3\nprices = (7\n % 3)", "", "share prices"),
        ("ﬁle = 1", "", "file"),
        ("def half(:\n  ...", "", ""),
        ("SELECT x FROM y WHERE z = 1", "", ""),
        ("print(1)", "", ""),
        ("", "", ""),
    ],
)
def test_cells(source, defined, assigned):
    """Magics and commands of the shell are passed over; what is not Python defines nothing."""
    assert defined_by(source) == Definitions(defined, assigned)


def test_only_the_source_of_a_cell():
    """What a cell printed defines nothing; a text in another language has no definitions at all."""
    text = with_outputs("def mean(x): ...", "def printed(): ...")

    assert definitions("cell", "python", text) == Definitions("mean")
    assert definitions("note", "Python", "x = 1") == Definitions("", "x")
    assert definitions("file", "markdown", "x = 1") is None
    assert definitions("note", "", "x = 1") is None


HOSTILE = {
    "brackets": "x = " + "(" * 100_000,
    "closed brackets": "x = " + "[" * 150 + "]" * 150,
    "minus": "x = " + "-" * 100_000 + "1",
    "deep minus": "x = " + "-" * 4_000 + "1",
    "not": "x = " + "not " * 100_000 + "1",
    "lambda": "x = " + "lambda:" * 50_000 + "1",
    "attributes": "x = a" + ".a" * 100_000,
    "sum": "x = 1" + "+1" * 100_000,
    "elif": "if 1: pass\n" + "elif 1: pass\n" * 20_000,
    "decorators": "@a\n" * 30_000,
    "calls": "x = " + "f(" * 100,
    "mappings": "x = " + "{1:" * 100,
    "patterns": "match x:\n case " + "[" * 150,
    "functions": "".join(f"def f{i}(): ...\n" for i in range(15_000)),
    "levels": "\n".join(" " * i + "def f():" for i in range(150)),
    "a number": "x = " + "9" * 100_000,
    "null": "x = 1\0",
    "half a pair": "x = '\ud800'",
    "blanks": "x" + " " * 200_000 + "!",
    "questions": "x = 1\n" + "a." * 100_000 + "?" * 100_000,
    "commas": "a, " * 60_000 + "= !ls",
}


def test_hostile_sources():
    """Sources made to break a parser neither end the process nor keep it busy: all of them take seconds together."""
    program = (
        "import pickle, sys; from jupyter_memory.text import definitions\n"
        "for source in pickle.load(sys.stdin.buffer): definitions('note', 'python', source)\n"
        "print('well')"
    )
    given = pickle.dumps(list(HOSTILE.values()))
    done = subprocess.run([sys.executable, "-c", program], input=given, capture_output=True, timeout=100)

    assert done.stdout.strip() == b"well", done.stderr[-500:]
    assert done.stderr == b""


def test_bounds():
    """Of a source with very many names the first ones count; a very long source or name is data."""
    many = defined_by("\n".join(f"def f{i}(): ..." for i in range(5_000)))

    assert 1_000 < len(many.defined.split()) < 5_000 and many.defined.startswith("f0 f1 ")
    assert defined_by("x = 1\n" + "#" * 500_000) == Definitions()
    assert defined_by(f"{'x' * 1_000} = 1\ny = 2") == Definitions("", "y")


def test_no_warning_reaches_anybody():
    """Python's warnings about a source are nobody's concern, whatever filters are set; others still are shown."""
    source = 'pattern = "\\d+"\ndef f(): return 1if pattern else 2\n'
    for action in ("error", "always"):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter(action)
            assert defined_by(source) == Definitions("f", "pattern")
            assert seen == []
            if action == "always":
                warnings.warn("mine", stacklevel=1)
                assert [str(one.message) for one in seen] == ["mine"]
