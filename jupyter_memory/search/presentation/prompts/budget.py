"""How many tokens a text for a prompt may have, and the text itself; commands import it before anything is searched."""

from __future__ import annotations

from jupyter_memory.errors import InputError

BUDGET = 2_000
# What is above the sources takes up to half of it.
SMALLEST_BUDGET = 200


class PromptText(str):
    """A text for a prompt; a notebook shows it as it is, with its line breaks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def checked_budget(tokens: object) -> int:
    """Return a number of tokens.

    Raises:
        InputError: it is no whole number, or it leaves no room for a source.
    """
    if isinstance(tokens, int) and not isinstance(tokens, bool) and tokens >= SMALLEST_BUDGET:
        return tokens
    least = f"A text for a prompt needs a whole number of tokens, {SMALLEST_BUDGET} or more, such as {BUDGET}"
    raise InputError(f"{least}; it was {tokens}." if isinstance(tokens, int) else f"{least}.")
