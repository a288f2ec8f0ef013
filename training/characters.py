"""Chinese and Japanese characters that the teacher's vocabulary lacks, in the places that it keeps free.

The vocabulary has 244 of them, and 994 tokens without a use: two of three characters of a Chinese note are unknown to
it. The rows of the characters that take these places point in directions of chance, so they say only that two texts
share a character.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from training.tables import Floats, unit

# The packages with Chinese or Japanese texts in them.
READ = ("apache2-doc", "jupyterlab-language-pack-ja-jp", "jupyterlab-language-pack-zh-cn")

_CHARACTER = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_FREE = re.compile(r"\[unused\d+\]")


def counted(packages: Iterable[Path]) -> Counter[str]:
    """Return how often each character comes in wheels of translations and folders of translated pages."""
    texts = (text for package in packages for text in _texts(package))
    return Counter(character for text in texts for character in _CHARACTER.findall(text))


def extended(vocabulary: Sequence[str], counts: Mapping[str, int]) -> list[str]:
    """Return the vocabulary with its free tokens replaced by the most frequent characters that it lacks."""
    frequent = sorted(counts, key=lambda one: (-counts[one], one))
    lacking = (character for character in frequent if character not in vocabulary)
    return [next(lacking, token) if _FREE.fullmatch(token) else token for token in vocabulary]


def with_characters(table: Floats, before: Sequence[str], after: Sequence[str]) -> Floats:
    """Return the table with a direction of chance, as long as the median row, for each token that was replaced."""
    rows = [row for row, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    length = np.median(np.linalg.norm(table, axis=1))
    placed = table.copy()
    placed[rows] = unit(np.random.default_rng(0).normal(size=(len(rows), table.shape[1]))) * length
    return placed


def _texts(package: Path) -> Iterator[str]:
    if package.is_dir():
        for path in sorted(package.rglob("*.html")):
            yield path.read_text(encoding="utf-8", errors="replace")
    else:
        with zipfile.ZipFile(package) as wheel:
            for name in wheel.namelist():
                if name.endswith(".json"):
                    yield wheel.read(name).decode("utf-8", errors="replace")
