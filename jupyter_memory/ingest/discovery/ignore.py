"""Files that are left out of a folder: what git ignores, what tools leave behind, and what holds keys."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pathspec import GitIgnoreSpec

IGNORE_FILES = (".gitignore", ".jupytermemoryignore")

# pathspec's name for the slash after a match that continues below it.
_BELOW = "ps_d"

# Left out everywhere, whatever an ignore file says.
_NEVER = GitIgnoreSpec.from_lines(
    (
        ".*",  # .git, .ipynb_checkpoints, .venv, .tox, caches, .env, .ssh, .aws, .netrc
        "venv/", "node_modules/", "__pycache__/", "site-packages/", "__pypackages__/", "*.egg-info/",
        "*.pem", "*.key", "*.p12", "*.pfx", "*.ppk", "*.kdbx", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Pattern:
    """One line of an ignore file: whether it ignores or re-includes, and what it matches."""

    ignores: bool
    folders_only: bool
    matcher: Any

    def matches(self, path: str, *, is_folder: bool) -> bool:
        """Return whether the line matches ``path`` itself, not only a folder above it."""
        if self.folders_only and not is_folder:
            return False
        found = self.matcher.match_file(path)
        return found is not None and found.match.groupdict().get(_BELOW) is None


@dataclass(frozen=True, slots=True)
class Rules:
    """The patterns of one folder's ignore files, for everything below it; ``prefix`` is the folder with a slash."""

    prefix: str
    patterns: tuple[_Pattern, ...]

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """Return whether to ignore ``path``, or None if no pattern matches it."""
        if not path.startswith(self.prefix):
            return None
        relative = path[len(self.prefix) :].replace(os.sep, "/")
        for pattern in reversed(self.patterns):
            if pattern.matches(relative, is_folder=is_folder):
                return pattern.ignores
        return None


def rules(folder: Path, lines: Iterable[str]) -> Rules:
    """Return the lines of an ignore file as rules, without lines that git could not read either."""
    prefix = str(folder).rstrip(os.sep) + os.sep
    return Rules(prefix, tuple(pattern for line in lines if (pattern := _pattern(line))))


def _pattern(line: str) -> _Pattern | None:
    """Return one line as pathspec understands it."""
    line = line if line.endswith("\\ ") else line.rstrip()
    # pathspec decides for whole paths. We go down folder by folder, as git does, and ask only about a folder's entries,
    # so the slash that restricts a line to folders is read here.
    bare = line.rstrip("/")
    try:
        [matcher] = GitIgnoreSpec.from_lines([bare]).patterns
    except ValueError:
        return None
    return None if matcher.include is None else _Pattern(matcher.include, bare != line, matcher)


def rules_in(folder: Path) -> Rules | None:
    """Return the rules of a folder's own ignore files, None if it has none.

    Raises:
        OSError: an ignore file exists and cannot be read.
    """
    lines: list[str] = []
    for name in IGNORE_FILES:
        file = folder / name
        if file.is_file():
            lines += file.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    return rules(folder, lines) if lines else None


def rules_above(root: Path) -> tuple[Rules, ...]:
    """Return the rules of the git work tree that ``root`` is in, from its top down to the folder above ``root``.

    There are none if the work tree ignores ``root`` itself: someone who indexes such a folder wants what is in it.
    """
    top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), None)
    if top is None:
        return ()
    found: list[Rules] = []
    exclude = top / ".git" / "info" / "exclude"
    if exclude.is_file():
        found.append(rules(top, exclude.read_text(encoding="utf-8", errors="replace").splitlines()))
    for folder in reversed([folder for folder in root.parents if folder.is_relative_to(top)]):
        if is_ignored(str(folder), found, is_folder=True):
            return ()
        found += [own for own in (rules_in(folder),) if own]
    return () if is_ignored(str(root), found, is_folder=True) else tuple(found)


def is_ignored(path: str, chain: Sequence[Rules], *, is_folder: bool) -> bool:
    """Return whether ``path`` is ignored by rules in their order: as in git, the last one that matches decides."""
    for own in reversed(chain):
        verdict = own.verdict(path, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def is_never_wanted(name: str, *, is_folder: bool) -> bool:
    """Return whether a file or folder of this name is left out everywhere."""
    return _NEVER.match_file(name + "/" if is_folder else name)
