"""Statements by what they do."""

from __future__ import annotations

import ast

import pytest

from jupyter_memory.text import changed_names, features, origins, own_nodes, statement_at, syntax_tree, words_of


def test_statement_at_is_the_smallest_that_has_the_line():
    """Of a loop that fails in its body, the statement in the body is meant; without a line, the last of the cell."""
    module = syntax_tree("for row in rows:\n    total += row\nprint(total)")

    assert ast.unparse(statement_at(module, 2)) == "total += row"
    assert ast.unparse(statement_at(module, None)) == "print(total)"
    assert statement_at(syntax_tree(""), 1) is None


def test_features_of_a_loop_are_those_of_its_first_line():
    """What stands in the body of a loop failed by itself, or not at all."""
    loop = syntax_tree("for row in table.rows(limit=3):\n    store.put(row)").body[0]

    found = features(own_nodes(loop))

    assert {"call rows", "kw limit", "kw limit=3"} <= found
    assert "call put" not in found


def test_features_do_not_depend_on_the_names_of_variables():
    """The same statement about other things is the same statement."""
    one, other = (features(ast.walk(syntax_tree(text))) for text in ("a[b > 1] & c", "left[right > 9] & mask"))

    assert one == other


@pytest.mark.parametrize(
    "source, names",
    [
        ("frame.columns = ['a']", {"frame"}),
        ("del rows", {"rows"}),
        ("import numpy as np\nfrom os import path", {"np", "path"}),
        ("def load(): ...", {"load"}),
        ("frame['a']['b'] += 1", {"frame"}),
        ("frame.head()", set()),
    ],
)
def test_changed_names(source, names):
    """Assignments to parts change the whole; what is only shown is not changed."""
    assert changed_names(ast.walk(syntax_tree(source))) == names


def test_origins_go_back_step_by_step():
    """The frame was grouped, and what was grouped was read from a file: both are origins, another frame is not."""
    earlier = syntax_tree(
        "raw = pd.read_csv('a.csv')\nother = pd.read_json('b')\ngrouped = raw.groupby('x').sum()"
    ).body

    found = origins(syntax_tree("grouped['x']").body[0], earlier)

    assert {"call groupby", "call read_csv"} <= found
    assert "call read_json" not in found


def test_origins_have_what_wrote_the_file_that_is_named():
    """A statement that has the quoted name in a text may have made the thing."""
    earlier = syntax_tree("Path('data/meters.csv').write_text('x')").body

    assert "call write_text" in origins(syntax_tree("open('meters.csv')").body[0], earlier, {"meters"})


def test_module_that_a_text_writes_is_ones_own():
    """A module of one's own is imported like a library's, but its file was written here."""
    words = words_of(
        ast.walk(syntax_tree("Path('lib/hives.py').write_text('')\nfrom hives import frames\nimport numpy"))
    )

    assert {"hives", "frames"} <= words.own | words.within
    assert "numpy" not in words.own | words.within
