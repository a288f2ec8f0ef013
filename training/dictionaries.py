"""Pairs from WordNet, from dictionaries in dictd's format, and from manual pages."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

from training.pairs import LONGEST_PROSE, Pair, sampled
from training.text import asks, first_sentence, one_line

# Half of WordNet's examples: they are short, and their words are met by chance.
_EXAMPLES = 0.5
_MACRO = re.compile(r"^\.\S+\s*|\\f[BIRP]|\\&|\\-|\\\((?:en|em|aq|dq)|\\e")


def wordnet_pairs(folder: Path) -> Iterator[Pair]:
    """Yield the words of each sense with its gloss, two of its words, and an example with the gloss; no names."""
    for part in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{part}").read_text(encoding="utf-8").splitlines():
            if not line.startswith("  "):
                yield from _sense(line)


def _sense(line: str) -> Iterator[Pair]:
    fields, _, gloss = line.partition(" | ")
    head = fields.split()
    words = [head[4 + 2 * place].split("(")[0].replace("_", " ") for place in range(int(head[3], 16))]
    if any(word[0].isupper() for word in words):
        return
    meaning, examples = gloss.split('; "')[0].strip(), re.findall(r'"([^"]+)"', gloss)
    yield Pair(", ".join(words[:3]), meaning, "gloss")
    if len(words) > 1:
        yield Pair(words[0], words[1], "synonym")
    if examples and sampled(examples[0], _EXAMPLES):
        yield Pair(examples[0], meaning, "usage")


def dictd_pairs(path: Path) -> Iterator[Pair]:
    """Yield each headword with what is said of it; an entry begins at the margin."""
    text = gzip.decompress(path.read_bytes()).decode("utf-8", errors="replace")
    for entry in re.split(r"\n(?=\S)", text):
        word, _, said = entry.partition("\n")
        if not word.startswith("00-") and len(one_line(said)) > 30:
            yield Pair(word.strip(" :"), one_line(said)[:LONGEST_PROSE], "gloss")


def manual_pairs(text: str) -> Iterator[Pair]:
    """Yield what a page written with mdoc is about: its one line, its description, and each option's meaning."""
    name = re.search(r"(?m)^\.Nm (\S+)", text)
    about = re.search(r"(?m)^\.Nd (.+)$", text)
    if not (name and about):
        return
    yield Pair(_said(about.group(1)), name.group(1), "command")
    described = re.search(r"(?ms)^\.Sh DESCRIPTION\n(.+?)(?=^\.Sh |\Z)", text)
    if described:
        prose = _said(described.group(1))
        yield Pair(_said(about.group(1)), f"{name.group(1)} {prose}"[:LONGEST_PROSE], "command")
    for option in re.finditer(r"(?ms)^\.It Fl (\S.*?)\n(.+?)(?=^\.It |^\.El)", text):
        meaning = first_sentence(_said(option.group(2)))
        if asks(meaning, 3):
            yield Pair(meaning, f"{name.group(1)} -{_said(option.group(1))}", "option")


def _said(source: str) -> str:
    """Return the words of a page's source without its macros."""
    lines = (line for line in source.splitlines() if not line.startswith('.\\"'))
    return one_line(" ".join(_MACRO.sub("", line) for line in lines))
