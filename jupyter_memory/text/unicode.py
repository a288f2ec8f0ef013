"""Text that UTF-8 and SQLite can hold, and text that shows what it holds: surrogates, colours, pictures, controls."""

from __future__ import annotations

import json
import re
from typing import Any

_HALF = re.compile(r"[\ud800-\udfff]")
# What colours text in a terminal.
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\-_])")
# A picture within a text, as Colab writes them: `![](data:image/png;base64,…)`.
_EMBEDDED = re.compile(r"(data:[\w.+-]{1,40}/[\w.+-]{1,80}(?:;[\w.=-]{1,60})?;base64,)[A-Za-z0-9+/=]{64,}+")
# Archives and pictures pasted as base64 or hexadecimal, on one line or wrapped. The first pattern is a quick look.
_LEAST = 1_000
_MAYBE_WRAPPED = re.compile(r"\n[ \t\"'#>]*+[A-Za-z0-9+/]{60}")
# Of a long run, one of these is at a multiple of its length.
_HALF_RUN = re.compile(r"[A-Za-z0-9+/_-]{500}")
_LONG_RUN = re.compile(r"[A-Za-z0-9+/_-]{1000,}+=*")
_WRAPPED = re.compile(
    r"(?:^[ \t\"'#>]*+[A-Za-z0-9+/]{60,}+=*[\"'\\n,+ \t]*+\n){16,}+(?:^[ \t\"'#>]*+[A-Za-z0-9+/]+=*)?", re.M
)
_HEXADECIMAL = re.compile(r"[0-9a-fA-F\s]+")
ENCODED = "[encoded data]"
# What begins the mark of a secret that was replaced.
REDACTED = "[redacted: "

# What nobody sees, but makes a terminal or a page show something else than the text says: C0 controls except for tabs
# and line breaks, DEL, C1 controls, and the characters that change the direction of writing.
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# Unicode has pictures of the C0 controls and of DEL: ␛ for ESC.
_PICTURES = {chr(code): chr(0x2400 + code) for code in range(0x20)} | {"\x7f": "␡"}


def encodable(text: str) -> str:
    """Return a text of the same length with ``�`` for every half of a surrogate pair, which UTF-8 does not have."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)


def storable(text: str) -> str:
    """Return an encodable text without NUL, where SQLite's functions would stop reading."""
    return encodable(text).replace("\0", "")


def clean(text: str) -> str:
    """Return a text that UTF-8 and SQLite can hold."""
    return storable(text.replace("\r\n", "\n").replace("\r", "\n"))


def uncoloured(text: str) -> str:
    """Return a text without the sequences that colour a terminal: with them, a word is not the word."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def without_data(text: str) -> str:
    """Return a text without the bytes of pictures and files embedded in it: they are useless for a search.

    >>> without_data("![chart](data:image/png;base64," + "iVBORw0K" * 9 + ")")
    '![chart](data:image/png;base64,…)'
    """
    text = _EMBEDDED.sub(r"\1…", text) if ";base64," in text else text
    # Keys are for redaction.
    if len(text) < _LEAST or "-----BEGIN" in text:
        return text
    if _MAYBE_WRAPPED.search(text):
        text = _WRAPPED.sub(_without_encoded, text)
    is_long = any(_HALF_RUN.match(text, at) for at in range(0, len(text), _LEAST // 2))
    return _LONG_RUN.sub(_without_encoded, text) if is_long else text


def _without_encoded(run: re.Match[str]) -> str:
    # Sequences of genes have no digits. The lines stay, so that those below keep their numbers.
    data = run[0]
    widths = [len(line) for line in data.split("\n")[:-1]]
    mixed = any(map(str.isupper, data)) and any(map(str.islower, data))
    is_data = any(map(str.isdigit, data)) and (mixed or (_HEXADECIMAL.fullmatch(data) and not data.isdigit()))
    return ENCODED + "\n" * len(widths) if is_data and len(set(widths)) < 3 else data


def marked(text: str) -> str:
    """Return a text with a mark for each character that is not seen or reorders others, as a person may be shown it."""
    # A mark has nothing that HTML escapes.
    if text.isprintable():
        return text
    return _UNSEEN.sub(lambda found: _PICTURES.get(found[0]) or f"[U+{ord(found[0]):04X}]", text)


def json_text(value: Any, *, indent: int | None = None, allow_nan: bool = True, compact: bool = False) -> str:
    """Return a value as JSON that is safe to print: what ``marked`` marks is escaped, so it is read back unchanged."""
    separators = (",", ":") if compact else None
    text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=allow_nan, separators=separators)
    # They can only be inside of strings: JSON itself is ASCII, with line breaks as its only controls.
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
