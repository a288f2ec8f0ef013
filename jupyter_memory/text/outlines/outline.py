"""Which blocks a text has, by its language."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_memory.text.code.definitions import Place
from jupyter_memory.text.code.languages import PYTHON
from jupyter_memory.text.outlines.blocks import Block
from jupyter_memory.text.outlines.python import python_blocks


def outline(lang: str, text: str, places: Sequence[Place] = ()) -> list[Block]:
    """Return the blocks of a text in their order, none where its language has no outline.

    ``places`` are the definitions that Python found in a source of its own.
    """
    if lang.lower() == PYTHON:
        return python_blocks(text, places)
    return []
