"""What a text in a table is: a number, a date, an address, and so on, or perhaps the name of a column."""

from __future__ import annotations

import re
from collections.abc import Iterable

from jupyter_memory.ingest.redaction.values import looks_random

INTEGER, NUMBER, DATE, TIME, BOOLEAN, TEXT, EMPTY = "integer", "number", "date", "time", "boolean", "text", "empty"

_NOTHING = "na n/a nan nat none null nil missing unknown unbekannt inconnu desconocido undefined tbd ? - -- — . … #n/a"
_MISSING = frozenset(_NOTHING.split())
_YES_NO = "true false yes no ja nein oui non sí wahr falsch"
_BOOLEAN = frozenset(_YES_NO.split())
_INTEGER = re.compile(r"[-+]?\d{1,18}")
_NUMBER = re.compile(
    r"[-+]?(?:\d{1,3}(?:[,.' \u00a0\u202f]\d{3})+|\d{1,30})?(?:[.,]\d{1,30})?(?:[eE][-+]?\d{1,4})?\s?%?"
    r"|[-+]?inf(?:inity)?",
    re.IGNORECASE,
)
_MONTH = r"(?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-zéû]{0,8}\.?"
_DATE = re.compile(
    rf"\d{{4}}[-/.]\d{{1,2}}(?:[-/.]\d{{1,2}})?|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}"
    rf"|(?:\d{{1,2}}\.?[ -])?{_MONTH}[ -](?:\d{{1,2}},? )?\d{{2,4}}|\d{{4}}[- ]?(?:q|kw|w)\d{{1,2}}|q[1-4][ -]?\d{{4}}",
    re.IGNORECASE,
)
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:\s?[ap]m)?(?:\s?(?:Z|UTC|[-+]\d{2}:?\d{2}))?"
_TIME = re.compile(
    rf"(?:\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}})[T ]{_CLOCK}|{_CLOCK}",
    re.IGNORECASE,
)

# Values by their look, whole or within a text: addresses of mail and of the web, of hosts and files, and codes.
_ADDRESS = re.compile(r"\S@\S+\.\w|\w://|\bwww\.|^/\w+/|^[A-Za-z]:\\|\b\d{1,3}(?:\.\d{1,3}){3}\b")
_CODE = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{13,}|(?=[0-9A-F]*\d)[0-9A-F]{12,}", re.IGNORECASE)
# The name of a variable or feature with its number: V28, x_100, feature 12.
_NUMBERED = re.compile(r"[^\W\d_]++(?:[_. -][^\W\d_]++){0,3}[_. -]?\d{1,3}")
# Longer ones are sentences, or data.
_LONGEST, _MOST_WORDS = 100, 12


def type_of(cell: str) -> str:
    """Return the type of a text in a table.

    >>> type_of("12"), type_of("1,204.5"), type_of("2026-03-02"), type_of("09:15"), type_of("Zürich"), type_of("n/a")
    ('integer', 'number', 'date', 'time', 'text', 'empty')
    """
    cell = cell.strip()
    if not cell or cell.lower() in _MISSING:
        return EMPTY
    if len(cell) > 60:
        return TEXT
    if _INTEGER.fullmatch(cell):
        return INTEGER
    if _NUMBER.fullmatch(cell):
        return NUMBER
    if _DATE.fullmatch(cell):
        return DATE
    if _TIME.fullmatch(cell):
        return TIME
    return BOOLEAN if cell.lower() in _BOOLEAN else TEXT


def type_of_all(types: Iterable[str]) -> str:
    """Return the type of a column by the types of its cells.

    >>> type_of_all(["integer", "empty", "number"]), type_of_all(["date", "text"]), type_of_all(["empty"])
    ('number', 'text', 'empty')
    """
    found = set(types) - {EMPTY}
    if not found:
        return EMPTY
    if len(found) == 1:
        return found.pop()
    if found == {INTEGER, NUMBER}:
        return NUMBER
    return TIME if found == {DATE, TIME} else TEXT


def is_value(name: str) -> bool:
    """Return whether what names a column looks like a value: a number, a date, an address, a code, a sentence.

    >>> [is_value(one) for one in ("customer_id", "2m_temperature", "V28", "churn date", "price [EUR]")]
    [False, False, False, False, False]
    >>> [is_value(one) for one in ("anna@example.org", "2026-03", "+49 170 1234567", "DE4418", "9f8c1e2ab7d04c55e1f0")]
    [True, True, True, True, True]
    """
    name = name.strip()
    if len(name) > _LONGEST or len(name.split()) > _MOST_WORDS:
        return True
    if not any(character.isalpha() for character in name) or type_of(name) != TEXT:
        return True
    if _ADDRESS.search(name) or _CODE.fullmatch(name) or looks_random(name):
        return True
    digits = sum(character.isdigit() for character in name)
    letters = sum(character.isalpha() for character in name)
    return digits >= letters and not _NUMBERED.fullmatch(name)
