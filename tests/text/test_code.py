"""Code: its language, the names that it defines, its statements, how its plots look, and its outline."""

import ast
import pickle
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import kinds
import pytest

import jupyter_memory
from jupyter_memory.text import (
    Block,
    Definitions,
    around,
    changed_names,
    definitions,
    definitions_and_places,
    features,
    language,
    look,
    origins,
    outline,
    own_nodes,
    statement_at,
    syntax_tree,
    with_outputs,
    words_of,
)

PACKAGE = Path(jupyter_memory.__file__).parent
SOURCES = tomllib.loads(Path(__file__).with_name("sources.toml").read_text("utf-8"))


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("def umsatz_in_zürich(λ=0.3):\n    return λ", "python"),
        ("# Prices of the week\nimport pandas as pd\nprices = pd.read_csv('zürich.csv')", "python"),
        ("from sklearn.linear_model import Ridge", "python"), ("class Prices:\n    pass", "python"),
        ("    async def fetch(self):\n        ...", "python"),
        ("Import duties rose in March, as the table from Zürich shows.", ""), ("import duties rose", ""),
        ("The class of λ: see below. We def do this from Monday on.", ""),
        ("from Monday on we import the prices", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_note_is_known_by_its_look(text, known):
    """What defines or imports as Python does is Python; words of English that Python uses too are no code."""
    assert language("", text) == known
    # A cell is in the language of its kernel, whatever it looks like.
    assert (language("markdown", text), language("R", text)) == ("markdown", "r")


def defined_by(source):
    return definitions("note", "python", source)


def test_every_definition_once():
    """Classes and functions, variables, and what is within others, each in its order; no import, comment or string."""
    found = defined_by(SOURCES["definitions"])
    assert found.defined.split() == ["conditional", "Meter", "λ", "read"]
    assert found.assigned.split() == ["RATE", "first", "second", "rest", "chosen", "text", "handle", "number"]
    assert found.nested.split() == ["read", "inner", "__flush", "Config"]


@pytest.mark.parametrize(
    ("source", "defined", "assigned"),
    [
        ("%matplotlib inline\ndef mean(x):\n    %timeit x\n    return x", "mean", ""),
        ("!pip install pandas\nprices = 1", "", "prices"),
        ("files = !ls *.csv\ntimes = %timeit -o 1\nprices = 2", "", "files times prices"),
        ("pd.read_csv?\nprices?? \nprices = 1", "", "prices"), ("%%time\nclass Meter: ...", "Meter", ""),
        ("await fetch()\nprices = await fetch()", "", "prices"),
        ("share = 7 % 3\nprices = (7\n % 3)", "", "share prices"),
        ("ﬁle = 1", "", "file"), ("def half(:\n  ...", "", ""), ("SELECT x FROM y WHERE z = 1", "", ""),
        ("print(1)", "", ""), ("", "", ""),
    ],
)  # fmt: skip
def test_cells(source, defined, assigned):
    """Magics and commands of the shell are passed over; what is not Python defines nothing."""
    assert defined_by(source) == Definitions(defined, assigned)


def test_only_the_source_of_a_cell():
    """Outputs and other languages define nothing; of very many names the first count, and what is very long is data."""
    text = with_outputs("def mean(x): ...", "def printed(): ...")
    assert definitions("cell", "python", text) == Definitions("mean")
    assert definitions("note", "Python", "x = 1") == Definitions("", "x")
    assert definitions("file", "markdown", "x = 1") is None
    assert definitions("note", "", "x = 1") is None
    many = defined_by("\n".join(f"def f{i}(): ..." for i in range(5_000)))
    assert 1_000 < len(many.defined.split()) < 5_000 and many.defined.startswith("f0 f1 ")
    assert defined_by("x = 1\n" + "#" * 500_000) == Definitions()
    assert defined_by(f"{'x' * 1_000} = 1\ny = 2") == Definitions("", "y")


HOSTILE = [
    "x = " + "(" * 100_000, "x = " + "[" * 150 + "]" * 150, "x = " + "-" * 100_000 + "1", "x = " + "-" * 4_000 + "1",
    "x = " + "not " * 100_000 + "1", "x = " + "lambda:" * 50_000 + "1", "x = a" + ".a" * 100_000,
    "x = 1" + "+1" * 100_000, "if 1: pass\n" + "elif 1: pass\n" * 20_000, "@a\n" * 30_000, "x = " + "f(" * 100,
    "x = " + "{1:" * 100, "match x:\n case " + "[" * 150, "".join(f"def f{i}(): ...\n" for i in range(15_000)),
    "\n".join(" " * i + "def f():" for i in range(150)), "x = " + "9" * 100_000, "x = 1\0", "x = '\ud800'",
    "x" + " " * 200_000 + "!", "x = 1\n" + "a." * 100_000 + "?" * 100_000, "a, " * 60_000 + "= !ls",
]  # fmt: skip


def test_hostile_sources():
    program = (
        "import pickle, sys; from jupyter_memory.text import definitions\n"
        "for source in pickle.load(sys.stdin.buffer): definitions('note', 'python', source)\n"
        "print('well')"
    )
    given = pickle.dumps(HOSTILE)
    done = subprocess.run([sys.executable, "-c", program], input=given, capture_output=True, timeout=100)
    assert (done.stdout.strip(), done.stderr) == (b"well", b"")


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


def test_statements():
    """The smallest statement that has the line is meant; a loop has the features of its first line alone."""
    module = syntax_tree("for row in rows:\n    total += row\nprint(total)")
    assert ast.unparse(statement_at(module, 2)) == "total += row"
    assert ast.unparse(statement_at(module, None)) == "print(total)"
    assert statement_at(syntax_tree(""), 1) is None
    loop = syntax_tree("for row in table.rows(limit=3):\n    store.put(row)").body[0]
    found = features(own_nodes(loop))
    assert {"call rows", "kw limit", "kw limit=3"} <= found and "call put" not in found
    # The same statement about other things is the same statement.
    one, other = (features(ast.walk(syntax_tree(text))) for text in ("a[b > 1] & c", "left[right > 9] & mask"))
    assert one == other


@pytest.mark.parametrize(
    "source, names",
    [
        ("frame.columns = ['a']", {"frame"}), ("del rows", {"rows"}),
        ("import numpy as np\nfrom os import path", {"np", "path"}),
        ("def load(): ...", {"load"}), ("frame['a']['b'] += 1", {"frame"}), ("frame.head()", set()),
    ],
)  # fmt: skip
def test_changed_names(source, names):
    """Assignments to parts change the whole; what is only shown is not changed."""
    assert changed_names(ast.walk(syntax_tree(source))) == names


def test_origins_go_back_step_by_step():
    code = "raw = pd.read_csv('a.csv')\nother = pd.read_json('b')\ngrouped = raw.groupby('x').sum()"
    found = origins(syntax_tree("grouped['x']").body[0], syntax_tree(code).body)
    assert {"call groupby", "call read_csv"} <= found and "call read_json" not in found
    # A statement that has the quoted name in a text may have made the thing.
    earlier = syntax_tree("Path('data/meters.csv').write_text('x')").body
    assert "call write_text" in origins(syntax_tree("open('meters.csv')").body[0], earlier, {"meters"})
    code = "Path('lib/hives.py').write_text('')\nfrom hives import frames\nimport numpy"
    words = words_of(ast.walk(syntax_tree(code)))
    assert {"hives", "frames"} <= words.own | words.within and "numpy" not in words.own | words.within


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        ("ax2 = ax.twinx()", ["two y axes"]), ("%matplotlib inline\nax.twiny()", ["two x axes"]),
        ("df.plot(y=['a', 'b'], secondary_y=True)", ["two y axes"]),
        ("df.plot(secondary_y='b')", ["two y axes"]), ("df.plot(secondary_y=['b'])", ["two y axes"]),
        ("fig = make_subplots(specs=[[{'secondary_y': True}]])", ["two y axes"]),
        ("fig.update_layout(yaxis2={'overlaying': 'y', 'side': 'right'})", ["two y axes"]),
        ("fig.update_layout(yaxis2=dict(overlaying='y'))", ["two y axes"]),
        ("ax.set_yscale('log')\nplt.loglog(x, y)", ["logarithmic scale"]),
        ("df.plot(logy=True)", ["logarithmic scale"]), ("ax = plt.subplot(projection='polar')", ["polar plot"]),
        ("chart.resolve_scale(y='independent')", ["two y axes"]), ("df.plot(secondary_y=False, logy=False)", []),
        ("df.plot(secondary_y=[], logy=[1])", []), ("ax.set_yscale('linear')", []),
        ("# ax.twinx()\nprint('twinx')", []), ("twinx(", []), ("", []),
    ],
)  # fmt: skip
def test_what_is_seen(source, seen):
    """Second axes, scales and dimensions are named; what is switched off, commented out or no Python is not."""
    assert look(source) == seen


@pytest.mark.parametrize(
    ("lang", "source", "names"),
    [
        ("r", kinds.R, [(1, "Load data"), (1, "net_of_tax")]),
        ("julia", kinds.JULIA, [(1, "Tariffs"), (1, "net!"), (1, "area")]),
        ("sql", kinds.SQL, [(1, "net.tariffs"), (1, ""), (1, "log")]),
        ("bash", kinds.BASH, [(1, "build"), (1, "deploy")]),
        ("javascript", kinds.JAVASCRIPT, [(1, "Store"), (2, "get"), (1, "clean")]),
        ("java", kinds.JAVA, [(1, "Store"), (2, "add")]),
        ("cpp", kinds.CPP, [(1, "tariffs"), (1, "Store"), (2, "get"), (1, "Store::add")]),
        ("rust", kinds.RUST, [(1, "Store"), (1, "impl<T> Store<T>"), (2, "add")]),
        ("go", kinds.GO, [(1, "Add"), (1, "Store")]),
        ("matlab", kinds.SAMPLES[".m"], [(1, "net")]),
        ("sas", kinds.SAMPLES[".sas"], [(1, "data work.prices"), (1, "proc means")]),
        ("stan", kinds.SAMPLES[".stan"], [(1, "data"), (1, "model")]),
        ("scala", kinds.SAMPLES[".scala"], [(1, "Main"), (2, "net")]),
        ("cobol", "IDENTIFICATION DIVISION.", []),
        # Titles are as people read them, without commands, states and tags.
        ("latex", kinds.LATEX, [(3, "Net of tax"), (4, "Rates")]),
        ("org", kinds.ORG, [(1, "Net of tax"), (2, "Rates")]),
        ("asciidoc", kinds.ASCIIDOC, [(1, "Tariffs"), (2, "Net of tax")]),
        ("markdown", "# Tariffs", []),
    ],
)
def test_the_blocks_of_code_and_the_sections_of_documents_are_named(lang, source, names) -> None:
    """Functions and types are found in each language; what is within one has the second level."""
    assert [(one.level, one.name) for one in outline(lang, source)] == names


def test_a_block_begins_with_its_comments_and_ends_with_its_brace() -> None:
    """What documents a function belongs to it; what comes after it does not."""
    source = kinds.R + "prices <- net_of_tax(tariffs)\n"
    [_, found] = outline("r", source)
    assert (
        source[found.start : found.end].startswith("#' Net of tax")
        and source[found.end :] == "prices <- net_of_tax(tariffs)\n"
    )


def blocks(source: str) -> list[Block]:
    return outline("python", source, definitions_and_places("file", source)[1])


def test_the_blocks_of_python() -> None:
    """Decorators and comments belong to what they decorate, a constant below does not; levels are those of nesting."""
    source = SOURCES["blocks"]
    found = blocks(source)
    store, net, fetch, _ = found
    assert [(one.level, one.name) for one in found] == [(1, "Store"), (2, "net"), (1, "fetch"), (2, "inner")]
    assert source[store.start :].startswith("# Keeps tariffs.\n@final")
    assert source[store.end :].startswith("RATE = 0.081")
    assert source[net.start :].startswith("    @property") and fetch.end == len(source)
    # The chunk in the middle of a long function has its signature and the first line of its docstring.
    long = blocks(source + "    x = 1\n" * 200)[2]
    assert long.about == "async def fetch( url: str, ) -> bytes: Fetch the tariffs of a city." and fetch.about == ""
    # A place within a method has the class before it, one between functions has nothing around it.
    places = [0, source.index("return 1.0"), source.index("RATE = 0.081"), source.index("return b")]
    names = [[one.name for one in of_it] for of_it in around(found, places)]
    assert names == [[], ["Store", "net"], [], ["fetch"]]
    # A syntax error, or another version of Python, leaves the text as it is.
    assert blocks("def f(:\n    pass\n") == []


def test_a_pattern_that_is_wrong_names_its_language(tmp_path):
    for file in PACKAGE.joinpath("text").glob("outlines.*"):
        written = file.read_text("utf-8")
        tmp_path.joinpath(file.name).write_text(written.replace("[beginnings]", "[beginnings]\nawk = ['(']"), "utf-8")
    done = subprocess.run([sys.executable, "outlines.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert "ValueError: The patterns of awk in outlines.toml are not a regular expression" in done.stderr
