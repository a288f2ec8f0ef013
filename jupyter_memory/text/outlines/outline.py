"""Which blocks a text has, by its language."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from jupyter_memory.text.code.definitions import Place
from jupyter_memory.text.code.languages import PYTHON
from jupyter_memory.text.outlines.blocks import Block
from jupyter_memory.text.outlines.documents import DOCUMENTS, sections
from jupyter_memory.text.outlines.patterns import code_blocks
from jupyter_memory.text.outlines.python import python_blocks

# Sections are cut at every level; the methods of a class belong together.
_ALL_LEVELS = 9


def outline(lang: str, text: str, places: Sequence[Place] = ()) -> list[Block]:
    """Return the blocks of a text in their order, none where its language has no outline.

    ``places`` are the definitions that Python found in a source of its own.
    """
    if lang == PYTHON:
        return python_blocks(text, places)
    return sections(lang, text) if lang in DOCUMENTS else code_blocks(lang, text)


def stretches(lang: str, blocks: Sequence[Block], length: int) -> list[tuple[int, int]]:
    """Return the stretches into which the blocks of a text cut it: functions and classes, or sections of any level."""
    deepest = _ALL_LEVELS if lang in DOCUMENTS else 1
    edges = {edge for one in blocks if one.level <= deepest for edge in (one.start, one.end)}
    cuts = sorted({0, length, *edges})
    return list(pairwise(cuts))
