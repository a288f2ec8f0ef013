"""A word put together from the tokens of a vocabulary, as byte-pair encoding does it, for words that are few."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

# The sign for a space; that of several in a row is merged last, whatever its number.
_SPACE, _SPACES = "\u2581", "\u2581\u2581"
# Merging takes the square of a word's length.
_LONGEST = 40


def merged(word: str, vocabulary: Mapping[str, int]) -> list[int] | None:
    """Return the tokens of a word by a vocabulary whose numbers say what is merged first.

    None where only the tokenizer knows: the word is long, or has letters that are no token, spaces in a row, or two
    ways to the same merge.

    >>> merged("aab", {"a": 0, "b": 1, "ab": 2, "aa": 3})
    [0, 2]
    """
    parts = list(word.replace(" ", _SPACE))
    if len(parts) > _LONGEST or _SPACES in "".join(parts) or any(part not in vocabulary for part in parts):
        return None
    while joins := [(vocabulary[a + b], i) for i, (a, b) in enumerate(pairwise(parts)) if a + b in vocabulary]:
        token, place = min(joins)
        if any(other == token and parts[i] != parts[place] for other, i in joins):
            return None
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return [vocabulary[part] for part in parts]
