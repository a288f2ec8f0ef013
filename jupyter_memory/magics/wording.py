"""Commands that the library names in its messages, as they are typed in a notebook."""

from __future__ import annotations

import re

# What every caller can be told, such as `index`, is a word of %memory here, but for the note that %memadd adds.
_COMMAND = re.compile(r"`(index|add|model (?:list|use|drop|remove)\b[^`]*)`")
_AS_TYPED = {"index": "%memory index FOLDER", "add": "%memadd TEXT"}


def as_typed(text: str) -> str:
    """Return a message with its commands as magics.

    >>> as_typed("add files with `index`, or a note with `add`")
    'add files with `%memory index FOLDER`, or a note with `%memadd TEXT`'
    """
    return _COMMAND.sub(lambda found: f"`{_AS_TYPED.get(found[1], f'%memory {found[1]}')}`", text)
