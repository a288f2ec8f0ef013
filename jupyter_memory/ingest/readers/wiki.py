"""The marks that Obsidian and its like add to Markdown: links in double brackets, callouts, tags among the words."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
# `[[1]](url)` is an ordinary link, and `[[1, 2], [3, 4]]` a matrix.
_LINK = re.compile(r"!?\[\[([^\[\]|\n]+)(?:\\?\|([^\[\]\n]*))?\]\](?!\()")
_CALLOUT = re.compile(r"((?:[ \t]*+>)++[ \t]*+)\[!([\w-]+)\][+-]?[ \t]*+(.*)")
_BACKTICKS = re.compile(r"`+")
# At least one letter, so that no issue's number is one; after a blank, so that no anchor of a link is one.
_TAG = re.compile(r"(?<!\S)#(?=[\w/-]*[^\W\d_])([\w][\w/-]*)(?=[\s.,;:!?)]|$)")


def read_as_text(markdown: str) -> str:
    """Return Markdown with wiki links and callouts as their reader sees them, line by line; code stays as it is.

    The target of a link stays beside its alias, so that both are found.

    >>> read_as_text("> [!tip] Ask [[People/Zoë Müller|Zoë]] about ![[rates.png]]")
    '> Ask Zoë (People/Zoë Müller) about rates.png'
    """
    if "[[" not in markdown and "[!" not in markdown:
        return markdown
    return "\n".join(_plain(line) if is_prose else line for is_prose, line in _lines(markdown))


def inline_tags(markdown: str) -> tuple[str, ...]:
    """Return the tags among the words of Markdown, each once; not those in code.

    >>> inline_tags("Fixed #12 for #team/prices, see [part](#intro) and `#define`")
    ('team/prices',)
    """
    if "#" not in markdown:
        return ()
    prose = (_without_code(line) for is_prose, line in _lines(markdown) if is_prose and "#" in line)
    return tuple(dict.fromkeys(tag.rstrip("/") for line in prose for tag in _TAG.findall(line)))


def _lines(markdown: str) -> Iterator[tuple[bool, str]]:
    """Yield each line, and whether it is prose: not in a fence."""
    fence = ""
    for line in markdown.split("\n"):
        found = _FENCE.match(line)
        if found and not fence:
            fence = found[1]
            yield False, line
        elif fence:
            if found and found[1].startswith(fence):
                fence = ""
            yield False, line
        else:
            yield True, line


def _without_code(line: str) -> str:
    pieces, done = [], 0
    for start, end in _code_spans(line):
        pieces.append(line[done:start])
        done = end
    return "".join([*pieces, line[done:]])


def _code_spans(line: str) -> Iterator[tuple[int, int]]:
    """Yield where code between backticks begins and ends: as many close it as opened it."""
    runs = [match.span() for match in _BACKTICKS.finditer(line)]
    # By length, the next one last. A regular expression would try every part of a long run.
    left: dict[int, list[int]] = {}
    for place in reversed(range(len(runs))):
        left.setdefault(runs[place][1] - runs[place][0], []).append(place)
    place = 0
    while place < len(runs):
        start, end = runs[place]
        alike = left[end - start]
        while alike and alike[-1] <= place:
            alike.pop()
        if alike:
            place = alike.pop()
            yield start, runs[place][1]
        place += 1


def _plain(line: str) -> str:
    """Return a line of prose without marks of links and callouts; code between backticks stays."""
    if callout := _CALLOUT.fullmatch(line):
        line = callout[1] + (callout[3] or callout[2])
    if "[[" not in line:
        return line
    pieces, done = [], 0
    for start, end in _code_spans(line):
        pieces += [_LINK.sub(_said, line[done:start]), line[start:end]]
        done = end
    return "".join([*pieces, _LINK.sub(_said, line[done:])])


def _said(link: re.Match[str]) -> str:
    target = link[1].strip().replace("#", " > ").strip(" >")
    alias = (link[2] or "").strip()
    return target if not alias or alias == target else f"{alias} ({target})"
