"""Secrets found by hints, patterns and values, and replaced."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.ingest.redaction.patterns import SETTINGS, SHAPES, assigned, columns, places
from jupyter_memory.ingest.redaction.values import OF_ABROAD
from jupyter_memory.text.unicode import REDACTED as MARK

# The words that hint at a secret: those of all texts are found at once, by arithmetic on their bytes.
_OF_COLUMNS = ("passw", "passphrase", "pwd")
_OF_NAMES = (
    *("pass", "pwd", "pw:", "pw=", "pw =", 'pw"', "pw'", "pw\\", "token", "key", "secret", "credential", "mdp"),
    *OF_ABROAD,
)
_ALL = tuple(dict.fromkeys((*(hint for shape in SHAPES for hint in shape.hints), *_OF_NAMES, *_OF_COLUMNS)))
_ANYWHERE = tuple(shape for shape in SHAPES if not shape.settings)
# Up to so many characters it is faster to look for one hint after the other.
_SHORT = 300

# The first three bytes of a hint give its slot; most slots have no hint.
_FACTOR, _SHIFT = np.uint32(0x9E3779B1), np.uint32(16)
_THREE = np.uint32(0xFFFFFF)


def _hints(texts: Sequence[str]) -> list[set[str]]:
    if len(texts) == 1 and len(texts[0]) < _SHORT:
        return [{hint for hint in _ALL if hint in texts[0]}]
    # No hint has a line break, so none crosses from one text to the next.
    data = "\n".join(texts).encode("utf-8", "surrogatepass")
    taken, behind = _by_begin()
    places = np.flatnonzero(taken.take(_slots(data)))
    lengths = [len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")) for text in texts]
    owners = np.searchsorted(np.cumsum([length + 1 for length in lengths]), places, side="right")
    found: list[set[str]] = [set() for _ in texts]
    for owner, place in zip(owners.tolist(), places.tolist(), strict=True):
        for hint, written in behind.get(data[place : place + 3], ()):
            if data.startswith(written, place):
                found[owner].add(hint)
    return found


def _slots(data: bytes) -> NDArray[np.uint32]:
    whole = np.frombuffer(data + b"\0\0\0", np.uint8)
    slots: NDArray[np.uint32] = np.ndarray((len(data),), "<u4", whole, strides=(1,)) & _THREE
    slots *= _FACTOR
    slots >>= _SHIFT
    return slots


@cache
def _by_begin() -> tuple[NDArray[np.bool_], Mapping[bytes, list[tuple[str, bytes]]]]:
    taken = np.zeros(1 << 16, np.bool_)
    behind: dict[bytes, list[tuple[str, bytes]]] = {}
    for hint in _ALL:
        written = hint.encode()
        taken[_slots(written)[0]] = True
        behind.setdefault(written[:3], []).append((hint, written))
    return taken, behind


# Hiding one secret can uncover another one next to it, but not forever.
_ROUNDS = 5


def redact(text: str, found: Collection[str] | None = None, language: str = "") -> tuple[str, int]:
    """Return a text with its secrets replaced by ``[redacted: <what>]``, and how many there were.

    ``found`` is what ``suspicious`` returned for the text, if it was called. If its ``language`` is one of settings,
    such as YAML, a password is hidden there even if it is a word.

    It hides tokens of common services, private keys, passwords in URLs and in commands such as ``mysql -p…``,
    authorization headers, and values of names such as ``api_key`` or ``password``. What only refers to a secret (a
    variable, a call, a placeholder) stays. Redacting twice changes nothing more.

    >>> redact('connect("postgres://anna:k4ffee@db/prices", api_key=os.environ["API_KEY"])')
    ('connect("postgres://anna:[redacted: password]@db/prices", api_key=os.environ["API_KEY"])', 1)
    """
    total = 0
    shapes = SHAPES if language in SETTINGS else _ANYWHERE
    for _ in range(_ROUNDS):
        low, before = _lower(text), total
        in_text = set(_hints([low])[0] if found is None else found)
        found = None
        named: list[int] | None = None
        for shape in shapes if in_text else ():
            if in_text.isdisjoint(shape.hints):
                continue
            if shape.tail and named is None:
                named = places(text, low if total == before else _lower(text), in_text)
            text, count = _without(text, shape.secrets(text, named or ()))
            if count:
                named = None
            total += count
        if total == before and in_text.isdisjoint(_OF_NAMES):
            break
        text, count = _without(text, assigned(text, low if total == before else _lower(text)))
        total += count
        if not in_text.isdisjoint(_OF_COLUMNS):
            text, count = _without(text, columns(text, low if total == before else _lower(text)))
            total += count
        if total == before:
            break
    return text, total


def suspicious(texts: Sequence[str]) -> list[set[str]]:
    """Return for each text the hints at secrets in it; it is faster to check many texts together."""
    return _hints([_lower(text) for text in texts])


def redact_values(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a mapping of JSON values with the secrets in its strings replaced, also those known only by their name.

    >>> redact_values({"owner": "Zoë", "connection": {"password": "k4ffee"}})
    {'owner': 'Zoë', 'connection': {'password': '[redacted: password]'}}
    """
    if not values:
        return values
    text, count = redact(json.dumps(values, ensure_ascii=False))
    if not count:
        return values
    try:
        hidden: dict[str, Any] = json.loads(text)
    except ValueError:
        # A secret that began in one string ended in another.
        hidden = _each(dict(values))
    return hidden


def _each(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)[0]
    if isinstance(value, list):
        return [_each(item) for item in value]
    return {_each(name): _each(item) for name, item in value.items()} if isinstance(value, dict) else value


def _lower(text: str) -> str:
    return text.replace("İ", "I").lower()


def _without(text: str, secrets: Iterator[tuple[int, int, str]]) -> tuple[str, int]:
    pieces: list[str] = []
    done = count = 0
    for start, end, what in secrets:
        if start < done:
            continue
        # Line breaks stay, so that everything after them keeps its line.
        pieces += [text[done:start], f"{MARK}{what}]", "\n" * text.count("\n", start, end)]
        done = end
        count += 1
    return ("".join(pieces) + text[done:], count) if count else (text, 0)
