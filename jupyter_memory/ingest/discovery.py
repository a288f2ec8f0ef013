"""The files to index below a folder, without those that ignore files name."""

from __future__ import annotations

import fnmatch
import os
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from errno import EACCES, EFBIG, ELOOP, ENOENT
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import NamedTuple

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.notebook import NOTEBOOK, is_half, without_halves
from jupyter_memory.ingest.readers.registry import Readers, known_readers, suffix_of
from jupyter_memory.text.display import count_of
from jupyter_memory.text.paths import plain_path
from jupyter_memory.types.report import NO_READER, PAIRED

_IGNORE_FILES = (".gitignore", ".jupytermemoryignore")

# Larger ones are no lists of rules, and take too long to compare with every name; longer lines match no usual path.
_MOST_RULES, _LONGEST_RULE = 100_000, 1_024
_ESCAPED, _NOTHING = re.compile(r"\\(.)"), re.compile(r"(?!)")


class _Rule(NamedTuple):
    # Whether a pattern ignores or re-includes, whether it is for folders only, and what matches each name of a path;
    # None is any number of names.

    ignores: bool
    folders_only: bool
    names: Sequence[re.Pattern[str] | None]

    def matches(self, path: Sequence[str]) -> bool:
        if len(self.names) == 2 and self.names[0] is None and self.names[1] is not None:  # most rules
            return self.names[1].match(path[-1]) is not None
        # Of several `**`, only the last one takes more names where the rest does not fit.
        at = place = 0
        again: tuple[int, int] | None = None
        while place < len(path):
            wanted = self.names[at] if at < len(self.names) else _NOTHING
            if wanted is None:
                at, again = at + 1, (at + 1, place + 1)
            elif wanted.match(path[place]):
                at, place = at + 1, place + 1
            elif again is not None:
                at, place = again
                again = (at, place + 1)
            else:
                return False
        return all(one is None for one in self.names[at:])


class _Rules(NamedTuple):
    # The patterns of one folder's ignore files, for everything below it; ``prefix`` is the folder with a slash.

    prefix: str
    patterns: Sequence[_Rule]


def _rules(folder: Path, lines: Iterable[str]) -> _Rules:
    found: list[_Rule] = []
    for written in dict.fromkeys(reversed(list(lines))):  # of equal lines the last one decides
        line = written if written.endswith("\\ ") else written.rstrip()
        pattern = line.removeprefix("!").rstrip("/")
        # Git cannot read every line either.
        if line.startswith("#") or len(line) > _LONGEST_RULE or not pattern or "//" in pattern:
            continue
        names = pattern.removeprefix("/").split("/")
        if "/" not in pattern:
            names.insert(0, "**")
        if names[-1] == "**":
            names.append("*")
        # In linear time: what Python makes of a glob never goes back behind a star.
        plain = (_ESCAPED.sub(lambda one: f"[{one[1]}]" if one[1] in "*?[" else one[1], name) for name in names)
        globs = (None if name == "**" else re.compile(fnmatch.translate(name.replace("[^", "[!"))) for name in plain)
        found.append(_Rule(not line.startswith("!"), line.endswith("/"), tuple(globs)))
    return _Rules(str(folder).rstrip(os.sep) + os.sep, found[::-1])


# Left out everywhere, whatever an ignore file says.
_NEVER = _rules(Path(os.sep), tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["never"])


def _rules_in(folder: Path) -> tuple[_Rules, ...]:
    lines = [line for name in _IGNORE_FILES for line in _lines(folder / name)]
    return (_rules(folder, lines),) if lines else ()


def _lines(file: Path) -> list[str]:
    if not file.is_file():
        return []
    if file.stat().st_size > _MOST_RULES:
        raise OSError(EFBIG, f"its rules are more than {_MOST_RULES // 1000} kB, so it is left out", str(file))
    return file.read_text("utf-8-sig", errors="replace").splitlines()


def _rules_above(root: Path) -> tuple[_Rules, ...]:
    # Those of the git work tree, from its top down to the folder above; none if it ignores ``root`` itself: someone who
    # indexes such a folder wants what is in it.
    top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), None)
    if top is None:
        return ()
    found: list[_Rules] = []
    if lines := _lines(top / ".git" / "info" / "exclude"):
        found.append(_rules(top, lines))
    for folder in reversed([folder for folder in root.parents if folder.is_relative_to(top)]):
        if _is_ignored(str(folder), found, is_folder=True):
            return ()
        found += _rules_in(folder)
    return () if _is_ignored(str(root), found, is_folder=True) else tuple(found)


def _is_ignored(path: str, chain: Sequence[_Rules], *, is_folder: bool) -> bool:
    # As in git, the last pattern that matches decides.
    for prefix, patterns in reversed(chain):
        if not path.startswith(prefix):
            continue
        names = path[len(prefix) :].split(os.sep)  # noqa: PTH206  a Path for each entry would take long
        for rule in reversed(patterns):
            if (is_folder or not rule.folders_only) and rule.matches(names):
                return rule.ignores
    return False


def is_never_wanted(name: str, *, is_folder: bool) -> bool:
    """Return whether a file or folder of this name is left out everywhere."""
    return _is_ignored(os.sep + name, (_NEVER,), is_folder=is_folder)


# What a folder holds that is an environment of Python or conda.
_ENVIRONMENT = ("pyvenv.cfg", "conda-meta")
# What Quarto and R Markdown put beside a page: `report_files/libs` has the programs of `report.html`.
_BESIDE = "_files"
_PROGRAMS = "libs"
# Files are counted by endings such as `.tex`; `.20261104` says nothing of the kind.
_LONGEST_ENDING = 12
_ENDLESS = "a device, a FIFO or a socket, and reading it may never end"


@dataclass(frozen=True, slots=True)
class Walk:
    """The files found, as absolute paths in order."""

    files: list[Path] = field(default_factory=list)
    links: list[Path] = field(default_factory=list)  # to files that are found under their own names
    skipped: list[tuple[str, str]] = field(default_factory=list)  # paths with the reason; so is ``failed``
    failed: list[tuple[str, str]] = field(default_factory=list)
    left_out: list[tuple[str, str, str]] = field(default_factory=list)  # path, reason and kind of what need not be read
    readers: Readers = field(default_factory=known_readers)


def walk(root: Path, *, ignore: Sequence[str] = (), max_bytes: int = 20_000_000) -> Walk:
    """Return the files at or below ``root`` that some reader reads and nothing says to ignore.

    ``.gitignore`` and ``.jupytermemoryignore`` apply at every level, as in git, also those above ``root`` in the same
    work tree; ``ignore`` is decided last. Hidden files, environments, caches and keys are never taken. Links to folders
    are not followed. Links to files are followed if the file is wanted below ``root``; a file that is found without its
    link is taken under its own name only. A single file is taken whatever the ignore files say.
    """
    root, found = plain_path(root), Walk()
    found.skipped.extend(found.readers.problems)
    try:
        if not root.is_dir():
            _check_kind(root, found.readers)
            _take(root, root.stat().st_size, max_bytes, found)
            return found
    except OSError as error:
        raise InputError(f"{_shown(root)} cannot be read: {error.strerror}. Check the path.") from None
    last = (_rules(root, ignore),) if ignore else ()
    try:
        waiting = [(root, _rules_above(root))]
    except OSError as error:
        _fail(root, error, found)
        waiting = []
    while waiting:
        folder, above = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                listing = sorted(entries, key=lambda entry: entry.name)
            chain = (*above, *_rules_in(folder))
        except OSError as error:
            _fail(folder, error, found)
            continue
        if folder != root and _is_installed(folder, {entry.name for entry in listing}):
            continue
        folders, files = _wanted_of(listing, (*chain, *last), found)
        waiting += [(one, chain) for one in folders]
        wanted = without_halves(files)
        found.left_out.extend((_shown(path), PAIRED, path.suffix) for path in sorted(set(files).difference(wanted)))
        for path in wanted:
            _look_at(path, root, max_bytes, found)
    _finish(found)
    return found


def _is_installed(folder: Path, names: Container[str]) -> bool:
    if folder.name == _PROGRAMS and folder.parent.name.endswith(_BESIDE):
        return True
    return any(mark in names for mark in _ENVIRONMENT)


def _finish(found: Walk) -> None:
    # Second names are left out. They have the same device and inode: a folder on the way may have one too.
    links = sorted(found.links)
    named = {_identity(path) for path in set(found.files).difference(links)} if links else set()
    found.links.clear()
    for link in links:
        if (one := _identity(link)) in named:
            found.links.append(link)
        named.add(one)
    found.files[:] = sorted(set(found.files).difference(found.links))

    lacking = Counter(kind for _, _, kind in found.left_out if kind in found.readers.extras)
    by_need: dict[str, dict[str, int]] = defaultdict(dict)
    for suffix, count in sorted(lacking.items(), key=lambda one: (-one[1], one[0])):
        by_need[found.readers.extras[suffix]][suffix] = count
    for need, counts in sorted(by_need.items()):
        kinds = ", ".join(f"{suffix} {count:,}" if count > 1 else suffix for suffix, count in counts.items())
        total = sum(counts.values())
        how = f"to read {'it' if total == 1 else 'them'}: {need}"
        found.skipped.append((f"{count_of(total, 'file')} ({kinds})", how))


def _check_kind(path: Path, readers: Readers) -> None:
    if not path.exists():
        raise InputError(f"There is nothing at {_shown(path)}. Check the path; ~ stands for your home folder.")
    if not path.is_file():
        raise InputError(f"{_shown(path)} is {_ENDLESS}. Name a file.")
    if need := readers.extras.get(suffix_of(path)):
        raise InputError(f"{_shown(path)} cannot be read yet. To read it: {need}")
    known = readers.suffixes
    if suffix_of(path) not in known:
        raise InputError(f"{_shown(path)} is not a file of a known kind. Known are {', '.join(known)}, and folders.")
    if _shown(path) != str(path):
        raise InputError(f"The name of {_shown(path)} is not valid Unicode. Rename the file.")


def _wanted_of(
    listing: Sequence[os.DirEntry[str]], chain: Sequence[_Rules], found: Walk
) -> tuple[list[Path], list[Path]]:
    folders, files, suffixes = [], [], {*found.readers.suffixes, *found.readers.extras}
    for entry in listing:
        is_folder = entry.is_dir(follow_symlinks=False)
        if is_never_wanted(entry.name, is_folder=is_folder) or _is_ignored(entry.path, chain, is_folder=is_folder):
            continue
        if is_folder:
            folders.append(Path(entry.path))
        elif suffix_of(entry.name) in suffixes:
            files.append(Path(entry.path))
        elif not entry.is_symlink():
            ending = suffix_of(entry.name)
            says_kind = ending.isascii() and ending.isprintable() and not ending[1:].isdigit()
            is_kind = 0 < len(ending) <= _LONGEST_ENDING and says_kind
            found.left_out.append((_shown(Path(entry.path)), NO_READER, ending if is_kind else "others"))
    return folders, files


def _look_at(path: Path, root: Path, max_bytes: int, found: Walk) -> None:
    kind = suffix_of(path)
    if kind in found.readers.extras:
        found.left_out.append((_shown(path), f"to read it: {found.readers.extras[kind]}", kind))
        return
    try:
        status = path.stat()
        is_link = path.is_symlink()
        if not S_ISREG(status.st_mode):
            found.skipped.extend([] if S_ISDIR(status.st_mode) else [(_shown(path), f"it is {_ENDLESS}")])
            return
        if is_link:
            # It leads to a file that is wanted below the root.
            target, top = path.resolve(), root.resolve()
            if not target.is_relative_to(top):
                return
            *folders, name = target.relative_to(top).parts
            if any(is_never_wanted(one, is_folder=True) for one in folders) or is_never_wanted(name, is_folder=False):
                return
    except OSError as error:
        _fail(path, error, found)
        return
    if _shown(path) != str(path):
        found.failed.append((_shown(path), "its name is not valid Unicode; rename it"))
    elif not os.access(path, os.R_OK):
        found.failed.append((str(path), os.strerror(EACCES)))
    elif _take(path, status.st_size, max_bytes, found) and is_link:
        found.links.append(path)


def _identity(path: Path) -> tuple[int, int] | Path:
    with suppress(OSError):  # it may have been deleted since it was found
        status = path.stat()
        return status.st_dev, status.st_ino
    return path


# A notebook's pictures do not count, unless it is so many times as large as the setting allows.
_LARGEST = 10
_PICTURE = re.compile(rb"(?:[A-Za-z0-9+/=]{60,}+(?:\\n)?)++")


def _take(path: Path, size: int, max_bytes: int, found: Walk) -> bool:
    counted = size
    if path.suffix.lower() == NOTEBOOK and max_bytes < size <= _LARGEST * max_bytes:
        with suppress(OSError), path.open("rb") as opened:
            counted = 0
            while counted <= max_bytes and (piece := opened.read(1 << 20)):
                counted += len(_PICTURE.sub(b"", piece))
    if counted > max_bytes and not any(found.readers.traits_of(path)[1:]):
        megabytes = f"{size / 1e6:,.0f}" if size >= 1e9 else f"{size / 1e6:.3g}"
        reason = f"{megabytes} MB is more than the setting max_file_mb allows ({max_bytes / 1e6:.3g} MB)"
        found.skipped.append((str(path), reason))
        return False
    found.files.append(path)
    return True


def _fail(path: Path, error: OSError, found: Walk) -> None:
    reason = error.strerror or type(error).__name__
    if error.errno == ELOOP:
        reason = "it is a link that leads back to itself; remove it"
    elif error.errno == ENOENT and path.is_symlink():
        reason = "it is a link to a missing file; remove the link or restore the file"
    if error.filename and (name := Path(os.fsdecode(error.filename)).name) in (*_IGNORE_FILES, "exclude"):
        reason += f" ({name})"
    found.failed.append((_shown(path), reason))


def _shown(path: Path) -> str:
    return os.fsencode(path).decode("utf-8", "replace")


def is_wanted(path: Path, root: Path, *, ignore: Sequence[str] = ()) -> bool:
    """Return whether ``walk(root)`` visits a file or folder at or below it; its size and links are not checked."""
    if path == root:
        return True
    try:
        chain, last = list(_rules_above(root)), (_rules(root, ignore),) if ignore else ()
        folder = root
        for name in path.relative_to(root).parts:
            chain += _rules_in(folder)
            one = folder / name
            is_folder = one.is_dir() and not one.is_symlink()
            applied = (*chain, *last)
            if is_never_wanted(name, is_folder=is_folder) or _is_ignored(str(one), applied, is_folder=is_folder):
                return False
            if is_folder and _is_installed(one, {mark for mark in _ENVIRONMENT if (one / mark).exists()}):
                return False
            folder = one
    except OSError:
        return False
    if path.is_dir():
        return True
    if is_half(path) and is_wanted(path.with_suffix(NOTEBOOK), root, ignore=ignore):
        return False
    return suffix_of(path) in known_readers().suffixes


def own_name(path: Path, root: Path, *, ignore: Sequence[str] = ()) -> Path:
    """Return the name under which ``walk(root)`` finds a file: for a link, its target's name if that is wanted."""
    if path == root or not os.path.islink(path):  # noqa: PTH114  Path raises OSError for a name that is too long
        return path
    try:
        target, top = path.resolve(strict=True), root.resolve()
    except (OSError, RuntimeError):
        return path
    if not target.is_relative_to(top):
        return path
    named = root / target.relative_to(top)
    return named if is_wanted(named, root, ignore=ignore) else path
