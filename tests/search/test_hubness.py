"""Hubness: how near a text is to many others, and what that takes off its cosine."""

from __future__ import annotations

import numpy as np
import pytest

from jupyter_memory.search.sample import NEAREST, Background, hubness
from jupyter_memory.search.signals.semantic_margin import margins


def turned(*degrees):
    """Return vectors of length 1 in a plane, ``(n, 2)``."""
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_the_nearest_count():
    """Among texts about λ a text is a hub, and the far ones of the sample make no difference."""
    sample = turned(0, 10, 20, 30, 170)
    hub, alone = hubness(turned(10, 100), np.array([91, 92]), sample, np.arange(1, 6))

    assert hub == pytest.approx((1 + 2 * np.cos(np.radians(10))) / NEAREST, abs=1e-5)
    assert alone < 0.4


def test_a_memory_is_not_its_own_neighbour():
    """The other chunks of a long page about Zürich, and the page itself, are not its neighbours."""
    own = hubness(turned(0), np.array([7]), turned(0, 1, 90), np.array([7, 7, 8]))

    assert own == pytest.approx([0.0], abs=1e-6)


def test_nobody_else_is_no_crowd():
    """In a store of one memory nothing is near."""
    assert hubness(turned(0, 5), np.array([7, 7]), turned(0), np.array([7])).tolist() == [0.0, 0.0]


@pytest.fixture
def hub(context, memory):
    """Two memories as near to the question, the first of them a hub."""

    def make(calibration):
        of_chunks = {1: 0.9, 2: 0.3}
        return context([memory(1), memory(2)], {1: 0.5, 2: 0.5}, calibration=calibration, hubness=of_chunks)

    return make


def test_a_hub_is_held_back_where_the_model_is_trusted(hub):
    """Of two equal cosines that of a hub stands out less, and more so the more the model can be trusted."""
    background = Background(0.1, 0.2)
    differences = [np.diff(margins(hub(calibration), background))[0] for calibration in (1.2, 4.0)]

    assert 0 < differences[0] < differences[1]


@pytest.mark.parametrize("calibration", [0.3, 1.0])
def test_no_hub_is_held_back_elsewhere(hub, calibration):
    """Where words are as good a guide, a cosine is what it is."""
    assert margins(hub(calibration), Background(0.1, 0.2)) == pytest.approx([2.0, 2.0])
