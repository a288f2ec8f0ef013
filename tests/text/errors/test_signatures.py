"""What two errors of one cause have in common, and what each has of its own."""

from __future__ import annotations

import pytest

from jupyter_memory.text import Raised, Words, message_words, quoted, signature

NOTHING = Words(frozenset(), frozenset())


@pytest.mark.parametrize(
    "one, other",
    [
        ("could not convert string to float: '12,500'", "could not convert string to float: '24,330'"),
        ("[Errno 2] No such file or directory: '/data/a b.csv'", "[Errno 2] No such file or directory: 'x.txt'"),
        (
            "Length of values (3) does not match length of index (4)",
            "Length of values (9) does not match length of index (1)",
        ),
        ("Can't pickle <f at 0x7f61a47d2c00>", "Can't pickle <f at 0x1>"),
        ("\"['SAAB'] not in index\"", "'[2012] not in index'"),
        (
            "'Axes' object has no attribute 'set_zlabel'. Did you mean: 'set_xlabel'?",
            "'Axes' object has no attribute 'b'",
        ),
    ],
)
def test_numbers_names_and_paths_are_alike(one, other):
    """Messages that differ in numbers, quoted names, paths and addresses alone have the same words."""
    assert signature("E", one, None, NOTHING).words == signature("E", other, None, NOTHING).words


def test_dimensions_are_words():
    """A digit within a word says something: "2D" is no number."""
    assert {"2d", "1d"} <= message_words("Expected 2D array, got 1D array instead: array=[1. 2.].")


def test_names_of_ones_own_are_not_the_library_s():
    """Of the quoted names those remain that the code does not call its own."""
    own = Words(frozenset({"price"}), frozenset({"city"}))

    assert signature("KeyError", "'price' and 'city' of 'DataFrame'", None, own).named == {"DataFrame"}


def test_list_of_what_would_be_right_is_not_named():
    """A message that lists what could be meant names nothing by it."""
    message = "'x' is not a valid value; supported values are 'a', 'b', 'c', 'd'"

    assert signature("ValueError", message, None, NOTHING).named == frozenset()


def test_module_of_a_type_is_left_out():
    """Python prints a type with its module, and IPython without."""
    assert signature("json.decoder.JSONDecodeError", "x", None, NOTHING).name == "JSONDecodeError"


def test_apostrophe_opens_no_quote():
    """The apostrophe of "can't" is no quotation mark."""
    assert quoted("can't decode 'utf-8', won't try") == ["utf-8"]


def test_group_is_what_it_holds():
    """Groups of one message differ by the exceptions that they hold."""
    keys, values = (
        signature("ExceptionGroup", "many (1 sub-exception)", Raised("ExceptionGroup", "", inner=(one,)), NOTHING)
        for one in (Raised("KeyError", "'a'"), Raised("ValueError", "no number: 'a'"))
    )

    assert keys.words ^ values.words == {"keyerror", "valueerror", "no", "number"}
