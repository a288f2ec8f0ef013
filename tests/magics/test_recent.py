"""Searches by magic are noted, can be switched off, and are forgotten on request."""

from __future__ import annotations

import pytest


def recent(week):
    """Return the recent searches of the shell's store as pairs."""
    store = week.ip.magics_manager.registry["MemoryMagics"].session.store
    return [(one.query, one.origin) for one in store.recent()]


def test_a_search_is_noted(week):
    """%memsearch notes what was asked, with its typed filters; a bare one asks nothing."""
    week.run("%memsearch λ in the ridge model tag:people")
    week.run("%memsearch")
    week.run("%%memsearch\nMüller")

    assert recent(week) == [("Müller", "magic"), ("λ in the ridge model tag:people", "magic")]


def test_forgotten(week, capsys):
    """%memory forget --searches says how many went; together with anything else it is refused."""
    week.run("%memsearch λ")
    week.run("%memory forget --searches")

    assert "forgot 1 search\n" in capsys.readouterr().out
    assert recent(week) == []
    assert "leave the rest out" in week.mistake("%memory forget --searches --tag draft")


def test_switched_off(week):
    """%config switches it off at once, and the next search removes what is there."""
    week.run("%memsearch λ")
    week.run("%config JupyterMemory.log_searches = False")
    week.run("%memsearch Müller")

    assert recent(week) == []


@pytest.mark.parametrize(
    "line", ["prices in the model -prices", "-n5 prices in the model -prices", "-prices the model"]
)
def test_a_minus_leaves_out(week, line, capsys):
    """A word with a minus is left out, although it begins like the option -p."""
    assert "Prices" in week.titles("%memsearch prices in the model")

    after = week.titles(f"%memsearch {line}")
    assert after and "Prices" not in after
    assert "Memories that contain “prices” are excluded" in capsys.readouterr().err
