"""A plot is described as it looks, by what Python reads in its code."""

from __future__ import annotations

import pytest

from jupyter_memory.text import look


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        ("ax2 = ax.twinx()", ["two y axes"]),
        ("%matplotlib inline\nax.twiny()", ["two x axes"]),
        ("df.plot(y=['a', 'b'], secondary_y=True)", ["two y axes"]),
        ("df.plot(secondary_y='b')", ["two y axes"]),
        ("df.plot(secondary_y=['b'])", ["two y axes"]),
        ("fig = make_subplots(specs=[[{'secondary_y': True}]])", ["two y axes"]),
        ("fig.update_layout(yaxis2={'overlaying': 'y', 'side': 'right'})", ["two y axes"]),
        ("fig.update_layout(yaxis2=dict(overlaying='y'))", ["two y axes"]),
        ("ax.set_yscale('log')\nplt.loglog(x, y)", ["logarithmic scale"]),
        ("df.plot(logy=True)", ["logarithmic scale"]),
        ("ax = plt.subplot(projection='polar')", ["polar plot"]),
        ("chart.resolve_scale(y='independent')", ["two y axes"]),
        ("df.plot(secondary_y=False, logy=False)", []),
        ("df.plot(secondary_y=[], logy=[1])", []),
        ("ax.set_yscale('linear')", []),
        ("# ax.twinx()\nprint('twinx')", []),
        ("twinx(", []),
        ("", []),
    ],
)
def test_what_is_seen(source, seen):
    """Second axes, scales and dimensions are named; what is switched off, commented out or no Python is not."""
    assert look(source) == seen
