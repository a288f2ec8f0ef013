"""Errors become plain text in bounds, whatever they are."""

from __future__ import annotations

import pytest

from jupyter_memory.history.failure import failure


def raised(code: str) -> BaseException:
    """Return the error that a piece of code ends with."""
    try:
        exec(compile(code, "<cell>", "exec"), {})
    except BaseException as error:  # noqa: BLE001  any error is a case
        return error
    raise AssertionError("it ended well")


def named(name: str) -> tuple[str, str] | None:
    """Return the name of a cell as a shell gives it."""
    return ("Cell", "In[7]") if name == "<cell>" else None


def shown(file: str) -> bool:
    """Let every line be shown."""
    return True


def test_a_deep_stack_keeps_where_it_began_and_where_it_failed():
    """Of 900 frames the first and the last are kept."""
    deep = "def first():\n    f(0)\ndef f(n):\n    return f(n + 1) if n < 900 else g()\ndef g():\n    int('λ')\nfirst()"
    found = failure(raised(deep), named, shown, ran=True)

    assert found.traceback.count("Cell In[7]") < 60
    assert "in first" in found.traceback and "in g" in found.traceback


def test_causes_are_kept():
    """The error that an error came from is in the traceback."""
    found = failure(
        raised("try:\n    {}['b']\nexcept KeyError as e:\n    raise ValueError('λ') from e"), named, shown, ran=True
    )

    assert (found.name, found.message) == ("ValueError", "λ")
    assert "KeyError: 'b'" in found.traceback and "direct cause" in found.traceback


def test_groups_are_kept():
    """The errors of a group are in the traceback, and their cells are named."""
    found = failure(raised("raise ExceptionGroup('both', [ValueError('λ'), KeyError('b')])"), named, shown, ran=True)

    assert "ValueError: λ" in found.traceback and "KeyError: 'b'" in found.traceback
    assert "| Cell In[7]" in " ".join(found.traceback.split())


@pytest.mark.parametrize("raising", ["ValueError('no')", "RecursionError", "MemoryError"])
def test_a_message_that_cannot_be_read_is_said_to_be_so(raising):
    """An error whose message raises is recorded all the same."""
    found = failure(
        raised(f"class Odd(Exception):\n    def __str__(self): raise {raising}\nraise Odd"), named, shown, ran=True
    )

    assert found.name == "Odd" and found.message.startswith("<no message: ")


def test_a_cell_that_did_not_begin_has_no_frames():
    """The frames of a syntax error are those of the shell's parser, and are left out."""
    found = failure(raised("compile('x = = 1', '<cell>', 'exec')"), named, shown, ran=False)

    assert "Traceback" not in found.traceback
    assert found.traceback.startswith("  Cell In[7], line 1") and "SyntaxError: invalid syntax" in found.traceback
