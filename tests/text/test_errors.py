"""Errors: tracebacks as they are printed, and what two errors of one cause have in common."""

import traceback
from contextlib import redirect_stdout
from io import StringIO

import pytest
import shells

from jupyter_memory.text import Raised, Words, message_words, quoted, read_traceback, signature

LOADS = "import json\ntext = '{'\njson.loads(text)"
CHAIN = "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise ValueError('bad 3') from error"
GROUP = "raise ExceptionGroup('many', [ValueError('a 1'), KeyError('z')])"


@pytest.fixture(scope="module")
def shell():
    ip = shells.made()
    yield ip
    ip.restore_sys_module_state()


def printed(shell, cell, mode="Context"):
    shell.run_line_magic("xmode", f"{mode}")
    out = StringIO()
    with redirect_stdout(out):
        shell.run_cell(cell)
    return out.getvalue()


@pytest.mark.parametrize("mode", ["Context", "Verbose", "Plain"])
def test_frames_of_a_library_and_of_the_cell(shell, mode, capsys):
    raised = read_traceback(printed(shell, LOADS, mode))
    assert raised.name.endswith("JSONDecodeError")
    assert raised.message.startswith("Expecting property name enclosed in double quotes")
    assert (raised.of_user.is_cell, raised.of_user.line, raised.of_user.source) == (True, 3, "json.loads(text)")
    frames = [f"{frame.module}:{frame.function}" for frame in raised.of_libraries]
    assert frames == ["json.decoder:raw_decode", "json.decoder:decode", "json:loads"]


def test_python_s_own_traceback_says_the_same(shell):
    """What Python prints and what IPython prints of one error have the same frames."""
    text = printed(shell, LOADS)
    own = "".join(traceback.format_exception(shell.user_ns.get("unused") or _raised(shell, LOADS)))
    assert read_traceback(own).of_libraries[0].function == read_traceback(text).of_libraries[0].function
    assert read_traceback(own).of_user.source == "json.loads(text)"


def _raised(shell, cell):
    with redirect_stdout(StringIO()):
        return shell.run_cell(cell).error_in_exec


def test_modes_and_chains(shell):
    """One line of the minimal mode is read, of a chain the last exception counts; a syntax error has its line."""
    raised = read_traceback(printed(shell, LOADS, "Minimal"))
    assert (raised.name, raised.frames) == ("JSONDecodeError", ())
    raised = read_traceback(printed(shell, CHAIN))
    assert (raised.name, raised.message) == ("ValueError", "bad 3")
    assert [(one.name, one.message) for one in raised.before] == [("ZeroDivisionError", "division by zero")]
    raised = read_traceback(printed(shell, "x = 1\nvalues = [1 2]"))
    assert (raised.name, raised.message) == ("SyntaxError", "invalid syntax. Perhaps you forgot a comma?")
    assert (raised.of_user.line, raised.of_user.source) == (2, "values = [1 2]")
    # A message with lines, colons and blanks in it, and a note, is kept as it is.
    cell = "error = ValueError('first\\nsecond: x\\n\\nthird')\nerror.add_note('a note')\nraise error"
    assert read_traceback(printed(shell, cell)).message == "first\nsecond: x\n\nthird\na note"


def test_group_holds_its_exceptions(shell, capfd):
    """A group, which IPython leaves Python to print, is read with what it holds."""
    raised = read_traceback("".join(traceback.format_exception(_raised(shell, GROUP))))
    assert (raised.name, raised.message) == ("ExceptionGroup", "many (2 sub-exceptions)")
    assert [(one.name, one.message) for one in raised.inner] == [("ValueError", "a 1"), ("KeyError", "'z'")]
    assert raised.of_user.source == GROUP


def test_what_is_very_long_is_bounded():
    frames = "".join(f'  File "/home/ida/deep.py", line {line}, in f{line}\n    f()\n' for line in range(5_000))
    raised = read_traceback(f"Traceback (most recent call last):\n{frames}RecursionError: too deep")
    assert (raised.name, len(raised.frames)) == ("RecursionError", 200)
    assert (raised.frames[0].function, raised.frames[-1].function) == ("f0", "f4999")
    # A message of megabytes costs no more than its ends.
    for size in (300_000, 5_000_000):
        text = f'Traceback (most recent call last):\n  File "a.py", line 2\n    f()\nValueError: {"x" * size}'
        raised = read_traceback(text)
        assert raised.name == "ValueError" and len(raised.message) <= 4_000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Error in library(dplyr) : there is no package called ‘dplyr’\nTraceback:\n\n1. library(dplyr)\n",
        "UndefVarError: `x` not defined\n\nStacktrace:\n [1] top-level scope\n   @ In[2]:1\n",
        "error: no method named `push` found\n --> src/lib.rs:2:3\n",
        "The meeting is at 10: bring the figures",
        "\x00\x01\x02" * 50,
    ],
)
def test_what_is_no_traceback_of_python_is_said_to_be_none(text):
    """Tracebacks of R, Julia and others, prose and bytes give nothing: their name and message are compared alone."""
    raised = read_traceback(text)
    assert raised is None or not raised.frames


@pytest.mark.parametrize(
    "text, module",
    [
        ("/opt/venv/lib/python3.12/site-packages/pandas/core/frame.py", "pandas.core.frame"),
        (r"C:\Users\Ida\venv\Lib\site-packages\numpy\linalg\__init__.py", "numpy.linalg"),
        ("/usr/lib/python3.11/json/decoder.py", "json.decoder"),
        ("<frozen codecs>", "codecs"),
        ("pandas/_libs/tslibs/offsets.pyx", "pandas._libs.tslibs.offsets"),
    ],
)
def test_module_of_a_file_is_the_same_on_every_machine(text, module):
    [frame] = read_traceback(f'  File "{text}", line 3, in call\n    x()\nValueError: no').frames
    assert (frame.module, frame.is_library) == (module, True)


NOTHING = Words(frozenset(), frozenset())


@pytest.mark.parametrize(
    "one, other",
    [
        ("could not convert string to float: '12,500'", "could not convert string to float: '24,330'"),
        ("[Errno 2] No such file or directory: '/data/a b.csv'", "[Errno 2] No such file or directory: 'x.txt'"),
        ("Length of values (3) does not match index (4)", "Length of values (9) does not match index (1)"),
        ("Can't pickle <f at 0x7f61a47d2c00>", "Can't pickle <f at 0x1>"),
        ("\"['SAAB'] not in index\"", "'[2012] not in index'"),
        ("'Axes' has no attribute 'set_zlabel'. Did you mean: 'set_xlabel'?", "'Axes' has no attribute 'b'"),
    ],
)
def test_numbers_names_and_paths_are_alike(one, other):
    """Messages that differ in numbers, quoted names, paths and addresses alone have the same words."""
    assert signature("E", one, None, NOTHING).words == signature("E", other, None, NOTHING).words


def test_the_words_of_a_message():
    """A word with a digit counts; an apostrophe quotes nothing; quoted names count unless they are the code's own."""
    assert {"2d", "1d"} <= message_words("Expected 2D array, got 1D array instead: array=[1. 2.].")
    assert quoted("can't decode 'utf-8', won't try") == ["utf-8"]
    own = Words(frozenset({"price"}), frozenset({"city"}))
    assert signature("KeyError", "'price' and 'city' of 'DataFrame'", None, own).named == {"DataFrame"}
    message = "'x' is not a valid value; supported values are 'a', 'b', 'c', 'd'"
    assert signature("ValueError", message, None, NOTHING).named == frozenset()
    # Python prints a type with its module, and IPython without.
    assert signature("json.decoder.JSONDecodeError", "x", None, NOTHING).name == "JSONDecodeError"


def test_group_is_what_it_holds():
    """Groups of one message differ by the exceptions that they hold."""
    keys, values = (
        signature("ExceptionGroup", "many (1 sub-exception)", Raised("ExceptionGroup", "", inner=(one,)), NOTHING)
        for one in (Raised("KeyError", "'a'"), Raised("ValueError", "no number: 'a'"))
    )
    assert keys.words ^ values.words == {"keyerror", "valueerror", "no", "number"}
