"""The signature of an error: what it shares with the same error elsewhere, with other names, numbers and paths."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass

from jupyter_memory.text.code.statements import Words
from jupyter_memory.text.errors.tracebacks import Raised

# The rest of a long message is a listing or advice.
_LONGEST = 600
# More quoted names than these are a list of what would be right.
_MOST_NAMED = 3
_QUOTED = re.compile(r"(?<!\w)'([^'\n]*)'(?!\w)|\"([^\"\n]*)\"|`([^`\n]*)`")
_PATH = re.compile(r"(?<![~.\w-])(?:[~.\w-]*[/\\])+[\w.-]*")
_NUMBER = re.compile(r"\b0x[0-9a-fA-F]+|(?<!\w)[-+]?\d[\d.,:e+-]*(?!\w)")
_NAME = re.compile(r"[^\W\d][\w.]*")
# What Python proposes instead belongs to the names at hand.
_PROPOSED = re.compile(r"[.?]? Did you mean:? .*", re.DOTALL)
# Words, also with a digit as in "2D", and the signs that say something.
_WORD = re.compile(r"[^\W_][\w.']*\w|[^\W_]|<=|>=|!=|[+*/]")


@dataclass(frozen=True, slots=True)
class Signature:
    """An error without what is its own.

    ``words`` are those of the message without numbers, paths and what it quotes; ``named`` are the quoted names that
    are a library's or Python's, such as a type or a module. ``frames`` are the library's, ``module:function``, the
    innermost first.
    """

    name: str
    words: frozenset[str]
    named: frozenset[str] = frozenset()
    frames: tuple[str, ...] = ()


def signature(name: str, message: str, raised: Raised | None, words: Words) -> Signature:
    """Return the signature of an error; ``words`` are those of the code that failed.

    >>> own = Words(frozenset({"city"}), frozenset())
    >>> sorted(signature("KeyError", "column 'city' not in 3 of 'DataFrame'", None, own).named)
    ['DataFrame']
    """
    text = _told(message)
    shared = frozenset(one for one in quoted(message) if _NAME.fullmatch(one) and one not in words.own | words.within)
    frames = [f"{frame.module}:{frame.function}" for frame in raised.of_libraries] if raised else []
    return Signature(
        name.rpartition(".")[2],
        message_words(text).union(*(_inner(one) for one in raised.inner) if raised else ()),
        shared if len(shared) <= _MOST_NAMED else frozenset(),
        tuple(dict.fromkeys(frames)),
    )


def _inner(one: Raised) -> frozenset[str]:
    """Return the words of an exception in a group: what the group itself says is seldom more than their number."""
    return message_words(f"{one.name.rpartition('.')[2]} {_told(one.message)}")


def message_words(message: str) -> frozenset[str]:
    """Return the words of a message in lower case, without numbers, paths and what stands in quotes.

    >>> sorted(message_words("could not convert string to float: '12,500' in /data/a.csv at 3"))
    ['at', 'convert', 'could', 'float', 'in', 'not', 'string', 'to']
    """
    for pattern in (_QUOTED, _PATH, _NUMBER):
        message = pattern.sub(" ", message)
    return frozenset(_WORD.findall(message.lower()))


def fixed(words: Set[str], other: Set[str], own: Set[str]) -> frozenset[str]:
    """Return the words of a message that no code calls its own; those that the other message has as well count.

    >>> sorted(fixed({"cannot", "insert", "room"}, {"cannot", "insert", "meter"}, {"room", "meter"}))
    ['cannot', 'insert']
    """
    return frozenset(word for word in words if word in other or word not in own)


def quoted(message: str) -> list[str]:
    """Return what a message quotes.

    >>> quoted("could not convert string to float: '12,500'")
    ['12,500']
    """
    return [text for one in _QUOTED.finditer(_told(message)) if (text := next(filter(None, one.groups()), ""))]


def _told(message: str) -> str:
    """Return what a message tells of the error: one that stands in quotes as a whole, as a KeyError's, without them."""
    message = _PROPOSED.sub("", message[:_LONGEST].strip())
    whole = len(message) > 1 and message[0] in "'\"" and message.count(message[0]) == 2 and message[0] == message[-1]
    # A few words are a key.
    return message[1:-1] if whole and len(message.split()) > 2 else message
