"""The encoding of a text that is not UTF-8: what the file declares, else a guess by the letters of 35 languages."""

from __future__ import annotations

import re
import tomllib
from codecs import lookup
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from math import log
from pathlib import Path
from unicodedata import category

# `# -*- coding: cp1251 -*-` on one of the first two lines, and what a LaTeX file declares.
_DECLARED = re.compile(
    rb"\A(?:[^\n]{0,200}\n)?[^\n]{0,200}?coding[:=][ \t]{0,4}([\w.-]{1,40})|\\usepackage\[(\w{1,40})\]\{inputenc\}"
)
_DECLARED_WITHIN = 4_000
# Bytes that a guess looks at.
_LOOKED_AT = 4_000
# How likely letters are that a language does not have, by their kind; natural logarithms, as all that follows.
_RARE, _FOREIGN, _CAPITAL = log(2e-5), log(1e-7), log(0.03)
_SIGNS = dict.fromkeys("–—…„“”‘’‚«»‹›•·°§©®€£№½²³µ×±\u00a0¿¡ªº、。，：；（）「」『』・！？～　", log(4e-3))
# A letter of another script, and a capital, within a word.
_MIXED, _INNER = -5.0, -3.0
# The last letters of Latin.
_LATIN = "\u024f"
# Western files are the most frequent ones.
_USUAL = {"cp1252": 3.0}
# By how much the best guess is better than any other if it is certain.
_CERTAIN = 6.0


def declared(data: bytes, charset: str = "") -> str:
    """Return the encoding that a file names, if its bytes are text in it; ``charset`` is one that its reader found."""
    found = _DECLARED.search(data, 0, _DECLARED_WITHIN)
    named = charset or ((found[1] or found[2]).decode("ascii", "ignore") if found else "")
    try:
        name = lookup(named or "utf-8").name
        # As the Web reads what says that it is Latin-1 or ASCII. UTF would have been recognised.
        name = "cp1252" if name in ("iso8859-1", "ascii") else name
        return name if not name.startswith("utf") and isinstance(data.decode(name), str) else ""
    except (LookupError, ValueError):
        return ""


def wide(data: bytes) -> str:
    """Return UTF-16 with the order of its bytes if data is text in it without a mark, else nothing."""
    part = data[: 2 * _LOOKED_AT]
    found = []
    for encoding in ("utf-16-le", "utf-16-be"):
        try:
            text = part[: len(part) // 2 * 2].decode(encoding, "strict" if len(part) == len(data) else "ignore")
        except UnicodeDecodeError:
            continue
        if not any(category(one) in ("Cc", "Cn", "Co", "Cs") and one not in "\t\n\f\r" for one in set(text)):
            found.append((sum(map(str.isascii, text)), encoding))
    return max(found, default=(0, ""))[1]


def guessed(data: bytes) -> tuple[str, bool]:
    """Return the encoding that bytes are most likely in, and whether that is certain."""
    # Lines without letters beyond ASCII say nothing.
    part = b"\n".join(line for line in data.split(b"\n") if not line.isascii())
    if len(part) > _LOOKED_AT:
        part = part[: part.rfind(b"\n", 0, _LOOKED_AT) + 1] or part
    scores: dict[str, tuple[float, str]] = {}
    for encoding, languages in _languages().items():
        try:
            text = part.decode(encoding)[:_LOOKED_AT]
        except UnicodeDecodeError:
            continue
        score = _USUAL.get(encoding, 0.0) + max(sum(_likelihood(text, likely)) for likely in languages)
        scores[text] = max(scores.get(text, (score, encoding)), (score, encoding))
    best = sorted(scores.values(), reverse=True)
    if not best:
        return "latin-1", False
    return best[0][1], len(best) == 1 or best[0][0] - best[1][0] > _CERTAIN


@cache
def _languages() -> Mapping[str, list[dict[str, float]]]:
    found: dict[str, list[dict[str, float]]] = {}
    for row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).values():
        letters = row["letters"]
        # The frequency of a letter falls with its rank, slower where there are thousands of them.
        flat = 2 if len(letters) < 100 else 10
        total = 1.2 * sum(1 / (rank + flat) for rank in range(len(letters)))
        likely = {letter: -log((rank + flat) * total) for rank, letter in enumerate(letters)}
        for encoding in row["encodings"]:
            found.setdefault(encoding, []).append(likely)
    return found


def _likelihood(text: str, likely: Mapping[str, float]) -> Iterator[float]:
    for before, letter in pairwise(f" {text} "):
        if letter.isascii() and before.isascii():
            continue
        if not letter.isascii():
            value = likely.get(letter)
            if value is None and letter.isupper():
                value = likely.get(letter.lower(), _FOREIGN) + _CAPITAL
            yield value or _SIGNS.get(letter, _RARE if letter.isalpha() else _FOREIGN)
        if letter.isalpha() and before.isalpha():
            if letter.isascii() != before.isascii() and max(letter, before) > _LATIN:
                yield _MIXED
            if letter.isupper() and before.islower():
                yield _INNER
