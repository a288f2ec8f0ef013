"""Paths of this machine and paths of Lab: which of them Lab shows, and which files the server may look at."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePath

from jupyter_core.paths import is_hidden

from jupyter_memory.server.validation import ClientError, invalid
from jupyter_memory.text.paths import normal, plain_path

_OUTSIDE = (
    "it lies outside the folder that this Lab shows. Index it with %memory index in a notebook, or allow such paths in "
    "jupyter_server_config.py: c.JupyterMemoryServer.allow_outside_root = True"
)
_HIDDEN = (
    "it is hidden, or lies in a hidden folder, and this Lab shows none. Index it with %memory index in a notebook, or "
    "allow such paths in jupyter_server_config.py: c.ContentsManager.allow_hidden = True"
)


@dataclass(frozen=True, slots=True)
class Root:
    """The folder that the contents manager shows, None where it shows no folder of this machine.

    ``hidden`` says whether it shows hidden files, and ``outside`` whether a request may name paths elsewhere.
    """

    folder: str | None
    hidden: bool = False
    outside: bool = False

    def contents_path(self, source: str) -> tuple[str | None, str | None]:
        """Return the contents path of a file, or None with the reason, for a person.

        >>> Root("/home/ada/work").contents_path("/home/ada/other/prices.md")
        (None, 'It lies outside the folder that this Lab shows.')
        """
        if "\0" in source or not Path(source).is_absolute():
            return None, "It is in no file."
        relative = self._below(source)
        if relative is None:
            return None, "It lies outside the folder that this Lab shows."
        if not self.hidden and _has_hidden_name(relative):
            return None, "It lies in a hidden folder, which this Lab does not show."
        # Only here: whether a file elsewhere exists is nothing that a request may learn.
        if not os.path.exists(source):  # noqa: PTH110  a folder without permission is no error
            return None, "The file is gone: it was moved, renamed or removed."
        return relative.as_posix(), None

    def admitted(self, path: str) -> Path:
        """Return the file or folder that a typed path names, if a request may have it looked at."""
        given = typed(path)
        if not given.is_absolute() or not path.strip("/"):
            found = self.within(path)
        else:
            relative = self._below(str(given))
            if relative is None and not self.outside:
                raise invalid("path", _OUTSIDE)
            found = plain_path(given) if relative is None else Path(self.folder or "", relative)
        if not self.hidden:
            top = self.folder if self.folder is not None and found.is_relative_to(self.folder) else found.anchor
            try:
                hidden = _has_hidden_name(found.relative_to(top)) or is_hidden(found, top)
            except OSError:  # there can be nothing at such a path
                hidden = False
            if hidden:
                raise invalid("path", _HIDDEN)
        return normal(found)

    def admits(self, path: str) -> bool:
        try:
            self.admitted(path)
        except ClientError:
            return False
        return True

    def within(self, path: str) -> Path:
        """Return the file or folder that a contents path names."""
        typed(path)
        if self.folder is None:
            raise invalid("path", "this Lab shows no folder of this machine, so it must be an absolute path")
        found = plain_path(Path(self.folder, path.strip("/")))
        if not found.is_relative_to(self.folder):
            raise invalid("path", _OUTSIDE)
        return found

    def _below(self, source: str) -> PurePath | None:
        if self.folder is None:
            return None
        # With links followed as well: Lab may have been started through a link, or the file be named through one.
        for one, top in ((plain_path(source), self.folder), (os.path.realpath(source), os.path.realpath(self.folder))):
            try:
                return PurePath(one).relative_to(top)
            except ValueError:
                continue
        return None


def _has_hidden_name(relative: PurePath) -> bool:
    return any(part.startswith(".") for part in relative.parts)


def typed(path: str) -> Path:
    """Return a typed path with ``~`` spelled out; ``~name`` is as good a name for a file of Lab as any."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise invalid("path", "it is not valid Unicode, so no file has this name") from None
    if "\0" in path:
        raise invalid("path", "it holds a NUL character, so no file has this name")
    home = path.partition("/")[0] == "~"
    return Path(os.path.expanduser(path)) if home else Path(path)  # noqa: PTH111  without a home it stays
