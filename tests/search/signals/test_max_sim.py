"""How near the candidate's nearest token comes to each token of the query."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from jupyter_memory.embedders import tokens as pieces
from jupyter_memory.search import parse
from jupyter_memory.search.signals.max_sim import LONGEST, MOST_TELLING, max_sim, of_the_whole, rarity, written_in
from jupyter_memory.types import Candidate

# Tokens 0 and 1 are near each other (cosine 0.8), 2 is like nothing else.
TABLE = np.array([[1, 0, 0], [0.8, 0.6, 0], [0, 0, 1]], dtype=np.float32)
EVEN = np.ones(2, dtype=np.float32)


def tokens(*ids):
    return np.array(ids, dtype=np.int32)


def test_the_nearest_token_of_a_text_speaks():
    """A text that holds a token meets it fully, one with a relative of it by their cosine, any other not at all."""
    found = max_sim(tokens(0), np.ones(1, np.float32), [tokens(0), tokens(1), tokens(2)], TABLE, 1)

    assert found == pytest.approx([1.0, 0.8, 0.0])


def test_rare_tokens_count_more():
    """Of two texts that meet one token each, the one that meets the rarer token is the better match."""
    weights = rarity(np.array([900, 3]), 1_000)

    common, rare = max_sim(tokens(0, 2), weights, [tokens(0), tokens(2)], TABLE, 1)

    assert rare > 0.9 > 0.1 > common


def test_a_long_text_has_something_near_to_everything():
    """A near match in a long text is worth less than in a short one, an exact one the same; order says nothing."""
    short, long = tokens(1, 2), tokens(1, *[2] * 49)

    near = max_sim(tokens(0), np.ones(1, np.float32), [short, long, long[::-1]], TABLE, 10)
    exact = max_sim(tokens(1), np.ones(1, np.float32), [short, long], TABLE, 10)

    assert near[0] > near[1] == near[2]
    assert exact == pytest.approx([1.0, 1.0])


def test_one_chunk_says_less_of_a_long_memory():
    """The longer a memory, the nearer two chunks' matches come to each other; their order stays, and short ones do."""
    lengths = (LONGEST, 4 * LONGEST, 64 * LONGEST)
    high, low = ([of_the_whole(match, length) for length in lengths] for match in (0.9, 0.3))

    assert (high[0], low[0]) == (0.9, 0.3)
    assert high[0] > high[1] > high[2] > low[2] > low[1] > low[0]


def test_nothing_meets_nothing():
    """A text without tokens, a query without tokens and a query of worthless tokens match 0."""
    assert max_sim(tokens(0, 2), EVEN, [tokens(), tokens(0)], TABLE, 5)[0] == 0
    assert max_sim(tokens(), np.empty(0, np.float32), [tokens(0)], TABLE, 5).tolist() == [0]
    assert max_sim(tokens(0), np.zeros(1, np.float32), [tokens(0)], TABLE, 5).tolist() == [0]
    assert max_sim(tokens(0), np.ones(1, np.float32), [], TABLE, 5).tolist() == []


def test_rarity_is_never_negative():
    """A token that every chunk holds has next to no weight, one that none holds the most."""
    everywhere, nowhere = rarity(np.array([50, 0]), 50)

    assert 0 <= everywhere < 0.02
    assert nowhere > 4


def test_only_the_most_telling_tokens_are_looked_for():
    """In a long question the rarest tokens count, wherever they stand; the others change nothing."""
    table = np.eye(30, dtype=np.float32)
    query, weights = np.arange(30), np.arange(1, 31, dtype=np.float32)

    rare, common = max_sim(query, weights, [np.arange(30 - MOST_TELLING, 30), np.arange(10)], table, 12)

    assert rare == pytest.approx(1, abs=1e-6)
    assert common == pytest.approx(0, abs=0.02)


def test_what_a_text_is_meets_a_token():
    """A token that is met by what a text is counts as one that it holds; one whose words are too few is not asked."""
    met = np.array([[True, False], [False, False], [False, False]])

    found = max_sim(tokens(0, 2), EVEN, [tokens(2), tokens(2), tokens()], TABLE, 1, met)

    assert found == pytest.approx([1.0, 0.5, 0.0])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("python read λ from csv", True),
        ("read λ from csv in Python", True),
        ("read λ from csv", False),
        ('"python" read λ from csv', False),
        ("text of λ", False),
    ],
)
def test_the_name_of_a_language_is_met_by_code_in_it(memory, text, named):
    """Who asks for Python gets code in it, although it does not say so; a quoted name is looked for as it stands."""
    ones = [
        Candidate(1, memory(1, text="prices = pd.read_csv('zürich.csv')", lang="python"), 1),
        Candidate(2, memory(2, text="def read(path):\n    return path"), 2),
        Candidate(3, memory(3, text="We read the prices of Zürich.", lang="text"), 3),
    ]
    asked = np.unique(pieces([text]).ids)

    found = written_in(parse(text, now=datetime(2026, 3, 6, tzinfo=UTC)), asked, ones)

    if named:
        [told] = np.isin(asked, pieces([text.split()[0 if text[0] == "p" else -1]]).ids).nonzero()
        assert found is not None
        assert found.any(axis=1).tolist() == [True, True, False]
        assert found.any(axis=0).nonzero()[0].tolist() == told.tolist()
    else:
        assert found is None
