"""How large a store is, by what its bytes are for, and how that compares with what it should not grow beyond."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jupyter_memory.text.layout import size

# The share of the budget from which on people are told.
_NEAR = 0.9
# Room that holds nothing which could be forgotten.
_EMPTY = ("free", "log")
# The share of the whole from which on a part is named in words.
_HARDLY = 0.02
_OTHER = "other"
_LABELS = {
    "words": "keyword index",
    "files": "list of files",
    "forgotten": "kept for undo",
    "log": "write-ahead log",
}


@dataclass(frozen=True, slots=True)
class StoreSize:
    """The bytes of a store by what they are for: texts, words, vectors, pictures, history, searches and so on.

    ``forgotten`` is what `undo` can bring back, ``free`` room in the file that what comes next will use, ``log`` what
    SQLite keeps beside the file. ``budget`` is the setting ``max_store_mb`` in bytes, None without one.
    """

    parts: Mapping[str, int]
    budget: int | None = None

    @property
    def bytes(self) -> int:
        """Return what the store takes on disk."""
        return sum(self.parts.values())

    @property
    def held(self) -> int:
        """Return what its content takes, which is what the budget is for."""
        return self.bytes - sum(self.parts.get(name, 0) for name in _EMPTY)

    @property
    def notice(self) -> str:
        """Return a sentence if the budget is nearly reached or exceeded, else nothing."""
        return budget_notice(self.held, self.budget)

    def __str__(self) -> str:
        """Return the parts in words; what is hardly anything is counted together."""
        least = _HARDLY * self.bytes
        named = {name: count for name, count in self.parts.items() if name != _OTHER and count >= least}
        others = self.bytes - sum(named.values())
        said = [f"{_LABELS.get(name, name)} {size(count)}" for name, count in named.items()]
        return ", ".join([*said, *([f"others {size(others)}"] if others else [])])


def budget_notice(held: int, budget: int | None) -> str:
    """Return what to say of a store whose content takes nearly all of its budget or more, else nothing.

    >>> budget_notice(93_000_000, 100_000_000)
    'The store holds 93.0 MB; the setting max_store_mb allows 100.0 MB. `status` says what they are used for.'
    >>> budget_notice(93_000_000, None)
    ''
    """
    if budget is None or held < _NEAR * budget:
        return ""
    said = f"The store holds {size(held)}; the setting max_store_mb allows {size(budget)}."
    if held < budget:
        return f"{said} `status` says what they are used for."
    return (
        f"{said} New texts are still stored, new pictures are not. Raise the setting, or forget what you no longer "
        "need: `status` says what takes the space."
    )
