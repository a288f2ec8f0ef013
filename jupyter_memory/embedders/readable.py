"""Text as a tokenizer can take it."""

from __future__ import annotations

# What a text without words is embedded as.
NOTHING = "<unk>"


def readable(text: str) -> str:
    """Return a text as the tokenizer can take it: only spaces is empty, half a surrogate pair is `�`."""
    if not text or text.isspace():
        return ""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
