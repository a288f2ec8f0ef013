"""Which files of a folder are nobody's memories: what git ignores, what tools leave behind, what holds keys."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

IGNORE_FILES = (".gitignore", ".jupytermemoryignore")

# Left out everywhere, whatever an ignore file says.
_NEVER = GitIgnoreSpec.from_lines(
    (
        ".*",  # .git, .ipynb_checkpoints, .venv, .tox, caches, .env, .ssh, .aws, .netrc
        "venv/", "node_modules/", "__pycache__/", "site-packages/", "__pypackages__/", "*.egg-info/",
        "*.pem", "*.key", "*.p12", "*.pfx", "*.ppk", "*.kdbx", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rules:
    """The patterns of one folder's ignore files, for all below it; ``prefix`` is the folder with a slash behind."""

    prefix: str
    spec: GitIgnoreSpec

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """Return whether to ignore ``path``, or None where no pattern speaks of it."""
        if not path.startswith(self.prefix):
            return None
        relative = path[len(self.prefix) :]
        return self.spec.check_file(relative + "/" if is_folder else relative).include


def rules(folder: Path, patterns: Iterable[str]) -> Rules:
    """Return patterns as rules; one that git could not read either is passed over."""
    readable = []
    for pattern in patterns:
        try:
            GitIgnoreSpec.from_lines([pattern])
        except ValueError:
            continue
        readable.append(pattern)
    return Rules(str(folder).rstrip(os.sep) + os.sep, GitIgnoreSpec.from_lines(readable))


def rules_in(folder: Path) -> Rules | None:
    """Return the rules that a folder's own ignore files lay down.

    Raises:
        OSError: an ignore file is there and cannot be read.
    """
    lines: list[str] = []
    for name in IGNORE_FILES:
        file = folder / name
        if file.is_file():
            lines += file.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    return rules(folder, lines) if lines else None


def rules_above(root: Path) -> tuple[Rules, ...]:
    """Return the rules of the git work tree that ``root`` is in, from its top down to the folder above ``root``.

    There are none where the work tree ignores ``root`` itself: whoever asks for such a folder means what is in it.
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
    """Return whether ``path`` is ignored by rules in their order: as in git, the last that speaks of it decides."""
    for own in reversed(chain):
        verdict = own.verdict(path, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def is_never_wanted(name: str, *, is_folder: bool) -> bool:
    """Return whether a file or folder of this name is left out everywhere."""
    return _NEVER.match_file(name + "/" if is_folder else name)
