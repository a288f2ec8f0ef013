"""The rows of a result as a text for a prompt."""

from __future__ import annotations

import pytest
from results import JOINING

from jupyter_memory import InputError
from jupyter_memory.dataframe import rows
from jupyter_memory.text import estimated_tokens


def test_a_text_has_the_rows_that_fit(week_store, found):
    """Texts of the memories, within the budget, with the question they answer."""
    text = found.memory.context(max_tokens=1000)

    assert f"for “{JOINING}”" in text
    assert found.memory.text(1) in text
    assert estimated_tokens(text) <= 1000


def test_a_filtered_or_sorted_frame_gives_its_own_rows(found):
    """What was left out stays out, and the order is that of the frame."""
    first, second, third = (found.memory.text(rank) for rank in (1, 2, 3))
    text = found.loc[[3, 1]].memory.context()

    assert text.index(third) < text.index(first)
    assert second not in text


def test_a_scan_frame_works_as_well(week_store):
    """A short result names the same memories."""
    scan, full = (week_store.search(JOINING, mode=mode).memory.context() for mode in ("scan", "full"))

    assert scan == full


def test_an_answer_that_is_no_longer_kept_is_read_anew(found, monkeypatch):
    """An old frame gives the same sources; where its words were is not known any more."""
    kept = found.memory.context()
    monkeypatch.setattr(rows, "_RECENT", {})

    assert found.memory.context() == kept


def test_a_result_that_was_emptied_says_so(week_store):
    """A result whose rows were taken out has nothing to quote, and does not say that the memory holds nothing."""
    nothing = week_store.search(JOINING).iloc[:0]

    assert nothing.memory.context() == "No result is left to quote."


def test_the_verdict_none_says_so(week_store):
    """What nothing stored answers is not answered with the nearest texts."""
    far = week_store.search("volcano eruptions in kamchatka")

    assert far.attrs["memsearch"]["verdict"] == "none"
    assert far.memory.context() == "The memory holds nothing that answers “volcano eruptions in kamchatka”."


def test_what_was_forgotten_is_not_quoted(week_store, found):
    """A memory that is gone is gone, whatever the frame still shows."""
    text = found.memory.text(1)
    week_store.forget(found.loc[1, "memory_id"])

    assert text not in found.memory.context()


@pytest.mark.parametrize("wrong", [0, -5, "2000", None])
def test_a_wrong_number_of_tokens(found, wrong):
    """The error says what is needed."""
    with pytest.raises(InputError, match="200 or more"):
        found.memory.context(max_tokens=wrong)
