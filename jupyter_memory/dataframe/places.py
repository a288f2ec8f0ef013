"""Where a memory comes from: a link in a notebook, a path elsewhere."""

from __future__ import annotations

from html import escape
from os.path import relpath
from pathlib import Path, PurePath
from urllib.parse import quote

from jupyter_memory.text.unicode import marked

_WEB = ("https://", "http://")


class Place:
    """Where a memory comes from: a link in a notebook, a path elsewhere."""

    def __init__(self, source: str, location: str, kind: str) -> None:
        self.source = source
        self.location = location
        self.kind = kind

    def __repr__(self) -> str:
        return marked(f"{self.source}:{self.location}" if self.location else self.source)

    def _repr_html_(self) -> str:
        return f'<a href="{escape(self.href)}" target="_blank" rel="noopener">{escape(repr(self))}</a>'

    @property
    def href(self) -> str:
        """Return a link from the folder of the notebook; of a cell, one that JupyterLab opens at the cell."""
        if self.source.startswith(_WEB):
            return self.source
        path = Path(self.source)
        # Quoted whole: a source is any text, and a colon in it must not make a scheme such as javascript.
        href = _address(path) if path.is_absolute() else quote(path.as_posix())
        if self.source.lower().endswith(".pdf") and self.location.startswith("page "):
            return f"{href}#page={quote(self.location.removeprefix('page '))}"
        # JupyterLab opens a notebook at the cell that the fragment names.
        notebook = self.kind == "cell" and self.source.lower().endswith(".ipynb")
        cell = notebook and self.location and not self.location.startswith("#")
        return f"{href}#cell-id={quote(self.location)}" if cell else href

    @property
    def name(self) -> str:
        """Return the file by its name alone, with the line or the page; the id of a cell tells a person nothing.

        >>> Place("/work/rates.md", "12", "file").name, Place("/work/λ.ipynb", "89ce8ae6", "cell").name
        ('rates.md:12', 'λ.ipynb')
        """
        name = self.source if self.source.startswith(_WEB) else PurePath(self.source).name or self.source
        if self.location.isdecimal():
            return f"{name}:{self.location}"
        return f"{name}, {self.location}" if self.location.startswith(("page ", "slide ")) else name


def _address(path: Path) -> str:
    """Return a path as a link from the working folder; from its root if that is gone or on another drive of Windows."""
    try:
        return quote(Path(relpath(path)).as_posix())
    except OSError:
        return quote(path.as_posix())
    except ValueError:
        return path.as_uri()
