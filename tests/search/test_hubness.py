"""How crowded it is around a text."""

from __future__ import annotations

import numpy as np
import pytest

from jupyter_memory.search.evidence import Background
from jupyter_memory.search.hubness import NEAREST, crowding
from jupyter_memory.search.pool import Pool
from jupyter_memory.search.signals.semantic_margin import margins
from jupyter_memory.search.surroundings import Sample, Surroundings
from jupyter_memory.types import Candidate


def turned(*degrees):
    """Return vectors of length 1 in a plane, ``(n, 2)``."""
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_the_nearest_count():
    """Among texts about λ a text is crowded, and the far ones of the sample make no difference."""
    sample = turned(0, 10, 20, 30, 170)
    crowded, alone = crowding(turned(10, 100), np.array([91, 92]), sample, np.arange(1, 6))

    assert crowded == pytest.approx((1 + 2 * np.cos(np.radians(10))) / NEAREST, abs=1e-5)
    assert alone < 0.4


def test_one_is_no_crowd():
    """The other chunks of a long page about Zürich, and the page itself, are not its neighbours."""
    own = crowding(turned(0), np.array([7]), turned(0, 1, 90), np.array([7, 7, 8]))

    assert own == pytest.approx([0.0], abs=1e-6)


def test_nobody_else_is_no_crowd():
    """In a store of one memory nothing is near."""
    assert crowding(turned(0, 5), np.array([7, 7]), turned(0), np.array([7])).tolist() == [0.0, 0.0]


@pytest.fixture
def crowd(memory):
    """Two memories as near to the question, the first in a crowd."""

    def make(trust):
        around = Surroundings(
            found={"keyword": (), "vector": ()},
            vector=None,
            trust=trust,
            sample=Sample(np.empty((0, 2), np.float32), np.zeros(1, np.int32), 2, 1.0),
            asked=np.empty(0, np.int64),
            tokens=lambda chunks: {},
            table=turned(0),
            crowding=lambda chunks: {1: 0.9, 2: 0.3},
        )
        both = [Candidate(key, memory(key), key, 0.5) for key in (1, 2)]
        return Pool(both, lambda chunks: {}, lambda keys: {}, None, lambda: around)

    return make


def test_a_crowd_is_held_back_where_the_model_is_trusted(crowd):
    """Of two equal cosines the one in a crowd stands out less, and more so the more the model can be trusted."""
    background = Background(0.1, 0.2)
    differences = [np.diff(margins(crowd(trust), background, trust))[0] for trust in (1.2, 4.0)]

    assert 0 < differences[0] < differences[1]


@pytest.mark.parametrize("trust", [0.3, 1.0])
def test_no_crowd_is_held_back_elsewhere(crowd, trust):
    """Where words are as good a guide, a cosine is what it is."""
    assert margins(crowd(trust), Background(0.1, 0.2), trust) == pytest.approx([2.0, 2.0])
