"""Words of several scripts, short ones and very long ones, and marks of some of them, for properties of snippets."""

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

WORDS = st.text(st.sampled_from("abλüŁ東🚚"), min_size=1, max_size=12) | st.text(
    st.sampled_from("xy"), min_size=150, max_size=400
)


def some(draw: Callable[[Any], Any], edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Draw marks, in order and apart, each of one to three of the words that have these edges."""
    spans, after = [], 0
    for first in draw(st.lists(st.integers(0, max(0, len(edges) - 1)), unique=True, max_size=12).map(sorted)):
        last = min(first + draw(st.integers(0, 2)), len(edges) - 1)
        if edges and edges[first][0] >= after:
            spans.append((edges[first][0], edges[last][1]))
            after = edges[last][1]
    return spans
