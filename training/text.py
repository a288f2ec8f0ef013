"""What extraction and decontamination share: words, sentences, and text freed of its markup."""

from __future__ import annotations

import re

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[A-Za-z]+|[0-9]+|[^\x00-\x7f\s]+")
_ROLE = re.compile(r":[a-zA-Z:]+:`~?([^`<]*?)(?:\s*<[^>]*>)?`")
_LITERAL = re.compile(r"`+([^`<]*?)(?:\s*<[^>`]*>)?`+_*")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_SENTENCE = re.compile(r"(.{15,}?[.!?])(\s|$)")
# A question is a sentence, not a paragraph.
_LONGEST_SENTENCE = 300
_LONGEST_QUESTION = 400


def parted(text: str) -> str:
    """Return a text with the words of camelCase apart.

    >>> parted("TCPConnector of aioHTTP")
    'TCP Connector of aio HTTP'
    """
    return _CAMEL.sub(" ", text)


def words(text: str) -> list[str]:
    """Return the words and numbers of a text in lower case, identifiers split.

    >>> words("def readCSV_fast(x1):")
    ['def', 'read', 'csv', 'fast', 'x', '1']
    """
    return [word.lower() for word in _WORD.findall(parted(text))]


def one_line(text: str) -> str:
    """Return a text with every run of white space as one space."""
    return " ".join(text.split())


def first_sentence(text: str) -> str:
    """Return the first sentence of the first paragraph, or all of it where no sentence ends."""
    paragraph = one_line(re.split(r"\n\s*\n", text.strip(), maxsplit=1)[0])
    found = _SENTENCE.match(paragraph)
    return (found.group(1) if found else paragraph)[:_LONGEST_SENTENCE]


def plain(text: str) -> str:
    """Return the words of reStructuredText, Markdown or HTML without roles, links, tags and emphasis.

    >>> plain("See :func:`~numpy.dot` and [the guide](x.md), **now**.")
    'See numpy.dot and the guide, now.'
    """
    text = _LITERAL.sub(r"\1", _ROLE.sub(r"\1", text))
    return _TAG.sub(" ", _LINK.sub(r"\1", text)).replace("**", "")


def asks(text: str, least: int = 2) -> bool:
    """Return whether a text can stand for a question: some words, and not too many, mostly in Latin letters."""
    ascii_characters = sum(map(str.isascii, text))
    several = len(re.findall(r"[A-Za-z]{2,}", text)) >= least
    return several and len(text) < _LONGEST_QUESTION and ascii_characters > 0.9 * len(text)
