"""The whole text of a memory: a string that a notebook shows as what it is, Markdown or code."""

from __future__ import annotations

import re
from typing import Any

from jupyter_memory.text.code.languages import is_code
from jupyter_memory.text.rendering.markdown import is_markdown, plain
from jupyter_memory.text.structure import outputs_of, source_of
from jupyter_memory.text.unicode import marked

_FENCE = re.compile(r"`{3,}")


class WholeText(str):
    """A text as it is stored; only how it is shown depends on what it is.

    JupyterLab renders Markdown with its own renderer, which removes what would run, and shows formulas and tables.
    """

    kind: str
    lang: str

    @classmethod
    def of(cls, text: str, kind: str, lang: str) -> WholeText:
        """Return the text of a memory of this kind and language."""
        whole = cls(text)
        whole.kind, whole.lang = kind, lang
        return whole

    def _repr_markdown_(self) -> str:
        if is_markdown(self.kind, self.lang):
            return marked(self)
        source, outputs = source_of(self), outputs_of(self)
        lang = self.lang if is_code(self.kind, self.lang) else ""
        return "\n\n".join(_fenced(marked(part), name) for part, name in ((source, lang), (outputs, "")) if part)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(marked(plain(self)[0] if is_markdown(self.kind, self.lang) else self))


def _fenced(text: str, lang: str) -> str:
    """Return a text as a block of code, within more backticks than it has in a row."""
    fence = "`" * max(3, 1 + max(map(len, _FENCE.findall(text)), default=0))
    return f"{fence}{lang}\n{text}\n{fence}"
