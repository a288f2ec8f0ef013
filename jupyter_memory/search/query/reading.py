"""Filters that no index answers, so that texts are read: the part that is meant, how a run ended, and expressions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from time import monotonic
from typing import Any

from jupyter_memory.errors import QueryError
from jupyter_memory.storage.databases import SearchStorage
from jupyter_memory.storage.sql import all_of
from jupyter_memory.storage.words import highlights
from jupyter_memory.text.code import is_code
from jupyter_memory.text.markdown import outputs_of, source_of
from jupyter_memory.types import Filters, Memory, Terms

# Characters and bytes of an expression, typed and made ready; texts that are read at once, and seconds for all of them.
_LONGEST, _LARGEST = 1_000, 1 << 20
_AT_ONCE, _SECONDS = 1_000, 20.0
_MARKED = 50  # matches of a text
# What an output shows of an exception of Python, and of an error of R or Julia.
_FAILED = re.compile(
    r"^(?:(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit)(?:: |$)|Error(?: in |: )|ERROR: )", re.MULTILINE
)
_HINTS = {
    "perl operator": " What stands before or after a match cannot be asked for.",
    "escape sequence": " A group cannot be referred to.",
}


def expression(written: str) -> Any:
    """Return an expression that takes linear time: RE2's, in any case of letters, ``^`` and ``$`` at each line."""
    # Imported where it is used: most searches have none.
    import re2

    options = re2.Options()
    options.log_errors, options.max_mem = False, _LARGEST
    try:
        if len(written) > _LONGEST:
            raise re2.error(b"it is too long")
        return re2.compile(f"(?im){written}", options)
    except re2.error as error:
        why, _, where = error.args[0].decode("utf-8", "replace").partition(": ")
        hint = next((said for what, said in _HINTS.items() if what in why), "")
        told = f"The expression cannot be read: {why}"
        at = f" ({where.removeprefix('(?im)')})" if where else ""
        raise QueryError(f"{told}{at}.{hint}", unquoted=f"{told}.{hint}") from None


def read_through(filters: Filters, terms: Terms, storage: SearchStorage) -> Filters:
    """Return filters with the keys of what they leave of a store, whose texts must be read to know that.

    ``in:output`` asks for one of the words there, unless the query has none, or has an expression.
    """
    asked = [(one, list(map(expression, one.regex))) for one in all_of(filters)]
    found, until = list[int](), monotonic() + _SECONDS
    with storage.snapshot() as snapshot:
        keys = snapshot.keys(_indexed(filters))
        for start in range(0, len(keys), _AT_ONCE):
            memories = snapshot.whole(keys[start : start + _AT_ONCE])
            found += [
                key
                for key, memory in memories.items()
                if all(_fits(memory, one, patterns, terms) for one, patterns in asked)
            ]
            if monotonic() > until:
                raise QueryError(f"Reading {len(keys):,} texts takes too long. Add a filter, such as path: or after:.")
    return replace(filters, only=tuple(found))


def _indexed(filters: Filters) -> Filters:
    # What an index answers of them, and what follows from the rest.
    also = None if filters.also is None else _indexed(filters.also)
    kinds = ("cell",) if filters.part == ("output",) else ("cell", "history") if filters.outcome else ()
    plain = replace(filters, part=(), not_part=(), outcome=(), not_outcome=(), regex=(), only=None, also=also)
    return plain & Filters(kind=kinds, only=filters.only)


def _fits(memory: Memory, one: Filters, patterns: Sequence[Any], terms: Terms) -> bool:
    if one.outcome or one.not_outcome:
        outcome = _outcome(memory)
        if outcome in one.not_outcome or (one.outcome and outcome not in one.outcome):
            return False
    if one.part or one.not_part:
        parts = {"code" if is_code(memory.kind, memory.lang) else "text"}
        if memory.kind == "cell" and outputs_of(memory.text):
            parts.add("output")
        if not parts.isdisjoint(one.not_part) or (one.part and parts.isdisjoint(one.part)):
            return False
    if one.part in (("output",), ("code",)) and not one.regex and terms:
        return _has_words(memory, terms, one.part[0])
    return all(pattern.search(_read(memory, one)) for pattern in patterns)


def _read(memory: Memory, filters: Filters) -> str:
    if memory.kind != "cell" or filters.part not in (("output",), ("code",)):
        return memory.text
    return outputs_of(memory.text) if filters.part == ("output",) else source_of(memory.text)


def _has_words(memory: Memory, terms: Terms, wanted: str) -> bool:
    # Code may also be found by what it means, but not by the words of its output.
    if not (outputs := outputs_of(memory.text)) or memory.kind != "cell":
        return wanted == "code"
    found = highlights({0: source_of(memory.text), 1: outputs}, terms)
    return bool(found[1]) if wanted == "output" else bool(found[0]) or not found[1]


def _outcome(memory: Memory) -> str:
    if memory.kind != "cell" or memory.metadata.get("cell_type") != "code":
        return memory.outcome
    outputs = outputs_of(memory.text)
    if _FAILED.search(outputs):
        return "error"
    return "ok" if outputs or memory.metadata.get("execution_count") is not None else ""


def found_by(filters: Filters, memory: Memory) -> list[tuple[int, int]]:
    """Return where the expressions of filters match a text, in code points."""
    spans = []
    for one in all_of(filters):
        text = _read(memory, one)
        # The outputs are the end of a text, and the source its beginning.
        before = memory.text.rindex(text) if one.part == ("output",) else 0
        for pattern in map(expression, one.regex):
            places = (match.span() for match in islice(pattern.finditer(text), _MARKED))
            spans += [(before + a, before + b) for a, b in places if b > a]
    return sorted(spans)
