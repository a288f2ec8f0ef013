"""Text that UTF-8 and SQLite can hold, without what is no text: lone surrogates, NUL, colours, embedded pictures."""

from __future__ import annotations

import re

_HALF = re.compile(r"[\ud800-\udfff]")
# What colours text in a terminal.
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\-_])")
# A picture within a text, as Colab writes them: `![](data:image/png;base64,…)`.
_EMBEDDED = re.compile(r"(data:[\w.+-]{1,40}/[\w.+-]{1,80}(?:;[\w.=-]{1,60})?;base64,)[A-Za-z0-9+/=]{64,}+")


def encodable(text: str) -> str:
    r"""Return a text of the same length with ``�`` for every half of a surrogate pair, which UTF-8 does not have.

    >>> encodable("Zürich \ud83d")
    'Zürich �'
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _HALF.sub("\ufffd", text)
    return text


def storable(text: str) -> str:
    """Return an encodable text without NUL, where SQLite's functions would stop reading."""
    return encodable(text).replace("\0", "")


def clean(text: str) -> str:
    """Return a text that UTF-8 and SQLite can hold."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return storable(text)


def uncoloured(text: str) -> str:
    """Return a text without the sequences that colour a terminal: with them, a word is not the word."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def without_data(text: str) -> str:
    """Return a text without the bytes of pictures and files embedded in it: nobody searches for them.

    >>> without_data("![chart](data:image/png;base64," + "iVBORw0K" * 9 + ")")
    '![chart](data:image/png;base64,…)'
    """
    return _EMBEDDED.sub(r"\1…", text) if ";base64," in text else text
