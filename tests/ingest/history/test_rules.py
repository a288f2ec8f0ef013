"""Which cells stay out of the history."""

from __future__ import annotations

import pytest

from jupyter_memory.ingest import HistoryRules


@pytest.mark.parametrize(
    "source",
    [
        "%memory history on",
        "%memsearch λ",
        "%%memadd --tag λ\nnote",
        "df = %memeval run",
        "%memfix --insert 1",
        "get_ipython().run_line_magic('memfix', '')",
        "! jupyter-memory search λ",
        "%load_ext jupyter_memory",
    ],
)
def test_cells_that_use_this_memory(source):
    """A cell with one of our magics or commands uses this memory."""
    assert HistoryRules().exclude(source)


@pytest.mark.parametrize("source", ["memory = 3", "%memit fit(λ)", "print('%memory')", "%load_ext memory_profiler"])
def test_cells_that_only_look_like_it(source):
    """What only has a similar name is remembered."""
    assert not HistoryRules().exclude(source)


@pytest.mark.parametrize(
    "source",
    [
        "# memory: off\nλ = 3",
        "λ = 3  #memory:off",
        "x <- 3 # Memory : OFF",
        "select 1 -- memory: off",
        "f() // memory: off",
    ],
)
def test_a_comment_that_says_so(source):
    """A comment keeps a cell out, in the languages of other kernels too."""
    assert HistoryRules().exclude(source)


@pytest.mark.parametrize("source", ["# memory: offset 3", "# memory: on", "memory = 'off'"])
def test_other_comments(source):
    """Only that comment does."""
    assert not HistoryRules().exclude(source)


@pytest.mark.parametrize("tag", ["memory: off", "memory-off", "memory_off", "Memory:Off"])
def test_a_tag_that_says_so(tag):
    """A tag keeps a cell out, however it is spelled; other tags do not."""
    assert HistoryRules().exclude("λ = 3", tags=["raises-exception", tag])
    assert not HistoryRules().exclude("λ = 3", tags=["memory", "off", "hide-input"])


def test_patterns():
    """A cell stays out if any of its lines fits a pattern as a whole."""
    rules = HistoryRules(["%sql *", "*KUNDE*"])

    assert rules.exclude("x = 1\n  %sql select λ") and rules.exclude("load(KUNDEN)")
    assert not rules.exclude("print('%sql λ')") and not rules.exclude("load(kunden)")


def test_hostile_patterns_take_no_time():
    """A pattern of many stars and a line that almost fits are compared at once: no regular expression runs wild."""
    assert not HistoryRules(["*a" * 40 + "b"]).exclude("a" * 20_000)
