"""The whole text of a memory: a string that a notebook shows as what it is, Markdown or code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Self

from jupyter_memory.text.code.languages import is_code
from jupyter_memory.text.rendering.markdown import is_markdown, plain
from jupyter_memory.text.structure import outputs_of, source_of
from jupyter_memory.text.unicode import marked

_FENCE = re.compile(r"`{3,}")


class WholeText(str):
    """A text as it is stored; only how it is shown depends on what it is.

    ``markdown`` is what a notebook shows: JupyterLab's own renderer removes what would run, and shows formulas and
    tables. ``shown`` is for a terminal.
    """

    markdown: str
    shown: str

    @classmethod
    def of(cls, text: str, kind: str, lang: str) -> Self:
        """Return the text of a memory of this kind and language."""
        whole = cls(text)
        if is_markdown(kind, lang):
            whole.markdown, whole.shown = marked(text), marked(plain(text)[0])
        else:
            code = _fenced(source_of(text), lang if is_code(kind, lang) else "")
            whole.markdown = "\n\n".join((code, *map(_fenced, filter(None, [outputs_of(text)]))))
            whole.shown = marked(text)
        return whole

    @classmethod
    def joined(cls, texts: Sequence[tuple[str, WholeText]]) -> Self:
        """Return several texts as one, each below its heading."""
        whole = cls("\n\n".join(f"{heading}\n{text}" for heading, text in texts))
        whole.markdown = "\n\n".join(f"{_fenced(heading)}\n\n{text.markdown}" for heading, text in texts)
        whole.shown = "\n\n".join(f"{marked(heading)}\n{text.shown}" for heading, text in texts)
        return whole

    def __repr__(self) -> str:
        return self.shown

    def _repr_markdown_(self) -> str:
        return self.markdown

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(self.shown)


def _fenced(text: str, lang: str = "") -> str:
    """Return a text as a block of code, within more backticks than it has in a row."""
    fence = "`" * max(3, 1 + max(map(len, _FENCE.findall(text)), default=0))
    return f"{fence}{lang}\n{marked(text)}\n{fence}"
