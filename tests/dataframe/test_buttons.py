"""Buttons in outputs: what a browser reads of them."""

from __future__ import annotations

import pytest
from pages import Tables

from jupyter_memory.dataframe.buttons import insert_button, open_button

CODE = "λ = rates[\"a\"]\n\tif λ < 3 and 'x' & 1:\n    print('</button><script>alert(1)</script>')\n"


@pytest.mark.parametrize("code", [CODE, CODE.replace("\n", "\r\n")])
def test_a_fix_arrives_as_it_was_written(code):
    """The value is the code to the letter; nothing in it ends the button or becomes an element of its own."""
    [(tag, attributes)] = Tables(insert_button(code, "aa01")).tags

    assert (tag, attributes["value"]) == ("button", CODE)
    assert attributes["data-memory"] == "aa01" and "hidden" in attributes
    assert "\n" not in insert_button(code)


def test_a_question_arrives_as_it_was_typed():
    """The value is the question, whatever is in it."""
    [(tag, attributes)] = Tables(open_button('prices "net of tax" <b>')).tags

    assert (tag, attributes["value"]) == ("button", 'prices "net of tax" <b>')


def test_the_panel_knows_the_buttons(pytestconfig):
    """The classes are those that the panel follows and shows."""
    panel = pytestconfig.rootpath / "labextension"
    if not panel.exists():
        pytest.skip("the panel's source is not here")
    follows = (panel / "src/integrations/outputs.ts").read_text("utf-8")
    shows = (panel / "style/integrations.css").read_text("utf-8")
    for button in (open_button("λ"), insert_button("λ")):
        [(_, attributes)] = Tables(button).tags
        assert f"'{attributes['class']}'" in follows
        assert f".{attributes['class']}" in shows
