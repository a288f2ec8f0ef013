"""Paths and the addresses of stores."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from itertools import product
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import TypeAlias
from unicodedata import normalize
from urllib.parse import unquote

from jupyter_memory.errors import InputError, StoreError
from jupyter_memory.text.unicode import encodable

# Up to so many names of a path are tried in every mix of their forms; of more names, all have the same form.
_MOST_MIXED = 4
# A drive, or a server with a share.
_WINDOWS = re.compile(r"[A-Za-z]:\\|\\\\[^\\]")


def absolute(path: str | Path) -> Path:
    """Return a path from the root, with ``~`` spelled out; ``InputError`` if that cannot be done."""
    # pathlib takes "" for the working folder, but it usually comes from a variable that was never set.
    if path == "":
        raise InputError("The path is empty. Name a file or a folder; a dot is the folder you are in.")
    try:
        return _utf8(Path(path).expanduser().absolute())
    except (RuntimeError, OSError):
        raise InputError(
            f"{path} cannot be understood here. Write the path from the root, such as /home/ada/notes."
        ) from None


def _utf8(path: Path) -> Path:
    if (shown := encodable(str(path))) != str(path):
        raise InputError(f"{shown} is not a valid UTF-8 path. Rename the file or folder.")
    return path


def plain_path(path: str | Path) -> Path:
    """Return a path from the root without ``.``, ``..`` and doubled slashes; the disk is not looked at."""
    written = str(path)
    if "\0" in written:
        raise InputError("A path cannot hold a NUL character. Check the path.")
    # A filter may name a thousand files, most of them from the root.
    from_root = os.sep == "/" and written.startswith("/")
    found = os.path.normpath(written if from_root else absolute(path))
    # POSIX lets exactly two slashes at the beginning mean something else, so they stay; here they mean one.
    return Path("/" + found.lstrip("/") if found.startswith("//") else found)


def normal(path: str | Path) -> Path:
    """Return the one spelling of a path by which indexed files are kept: ``plain_path`` as the disk has it; links stay.

    Where ``NOTES`` and ``notes`` are two files, only another form of ``ü`` is tried, if nothing has the name as typed.
    """
    found = _utf8(plain_path(path))
    if sys.platform in ("darwin", "win32"):
        # c: is C:, a server has one name in any case.
        there = Path(found.anchor.upper() if found.drive else found.anchor)
        for name in found.parts[1:]:
            try:
                # What does not exist is spelt as it was typed.
                there /= spelling(name, (one.name for one in there.iterdir())) if (there / name).exists() else name
            except OSError:
                there /= name
        return there
    # Unlike Path.exists, it is False for what cannot be a path: far too long, or with a NUL in it.
    exists = os.path.exists
    if str(found).isascii() or exists(found):
        return found
    return next((Path(one) for one in path_forms(str(found)) if exists(one)), found)


def is_at_or_below(path: str, folder: str) -> bool:
    """Return whether a path is that of a folder, or lies in it, going by their names."""
    return path == folder or path.startswith(inside(folder))


def separator(path: str) -> str:
    r"""Return what separates the folders of a path on the machine that indexed it: a backslash on Windows, or a slash.

    >>> separator(r"C:\notes"), separator(r"\\server\share"), separator("/home/a\\b"), separator("https://x")
    ('\\', '\\', '/', '/')
    """
    return "\\" if _WINDOWS.match(path) else "/"


def pure(path: str) -> PurePath:
    """Return a path of a store as one of the system that it is of, whichever system this is."""
    return PurePosixPath(path) if separator(path) == "/" else PureWindowsPath(path)


def inside(folder: str) -> str:
    r"""Return how the paths begin that lie in a folder: its own, which ends in a separator only at the root.

    >>> inside("/notes"), inside("/"), inside("C:\\"), inside(r"C:\notes")
    ('/notes/', '/', 'C:\\', 'C:\\notes\\')
    """
    mark = separator(folder)
    return folder.rstrip(mark) + mark


def is_from_root(path: str) -> bool:
    """Return whether a source is a path from the root, on any system."""
    return path.startswith("/") or bool(_WINDOWS.match(path))


def is_missing(path: str) -> bool:
    """Return whether a file or folder is not on this disk; the address of something else is not looked for."""
    return "://" not in path and not Path(path).exists()


def make_private(folder: Path) -> None:
    """Make a folder with those above it that are missing, each for its owner alone."""
    # `mkdir(mode=0o700, parents=True)` would give that mode to the last folder only.
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def write_private(file: Path, content: bytes, instead: str = "set JUPYTER_DATA_DIR to another one") -> None:
    """Write a file whole or not at all, for its owner alone, with the folders above it that are missing.

    ``instead`` is what else to do where its folder cannot be made writable.
    """
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        make_private(file.parent)
        # Created with its permissions rather than given them afterwards: no other user can open it in between.
        with os.fdopen(os.open(temporary, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as written:
            written.write(content)
        temporary.replace(file)
    except OSError as error:
        told = f"{file} cannot be written: {error.strerror}. Make its folder writable, or {instead}."
        raise StoreError(told) from None


def write_new(file: Path, text: str) -> None:
    """Write a text into a new file; raise ``InputError`` if there is one of this name."""
    try:
        with file.open("x", encoding="utf-8") as written:
            written.write(text)
    except FileExistsError:
        raise InputError(f"{file} already exists: name a new one.") from None


def called_before(path: Path, known: Iterable[str]) -> Path:
    """Return a path below the known name of its folder, so that a folder with two names, by a link, is indexed once."""
    names = list(known)
    try:
        folder = path if path.is_dir() else path.parent
        # It was indexed by both names before: each is kept up to date.
        if not names or str(path) in names or str(folder) in names:
            return path
        real = folder.resolve(strict=True)
        # Of several names, one that the path already begins with: its name stays.
        for name in sorted(names, key=lambda name: not path.is_relative_to(name)):
            top = Path(name).resolve()
            if real.is_relative_to(top):
                inside = Path(name) / real.relative_to(top)
                return inside if folder is path else inside / path.name
    except (OSError, RuntimeError):
        pass
    return path


def spelling(name: str, entries: Iterable[str]) -> str:
    """Return the entry of a folder that a name means, if exactly one differs only by case and form of letters."""
    alike = [entry for entry in entries if _folded(entry) == _folded(name)]
    return alike[0] if len(alike) == 1 and name not in alike else name


def path_forms(path: str) -> list[str]:
    """Return a path with letters such as ü in either form, one character or u and dots, as in a zip file from a Mac."""
    if path.isascii():
        return [path]
    mark = separator(path)
    names = [list(dict.fromkeys((name, normalize("NFC", name), normalize("NFD", name)))) for name in path.split(mark)]
    several = sum(len(one) > 1 for one in names)
    if several > _MOST_MIXED:
        return list(dict.fromkeys((path, normalize("NFC", path), normalize("NFD", path))))
    return [mark.join(one) for one in product(*names)]


def _folded(name: str) -> str:
    return normalize("NFC", name).casefold()


# Two letters at least: `C://` begins a path of Windows.
_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):/(?P<second>/)?")
_SCHEMES = ("postgresql", "postgres")
_HOST = re.compile(r"(?:\[[^\]]*\]|[^:\[\]@]*)(?::\d*)?")
# The other form in which libpq takes an address, `host=… password=…`, by the commoner of its names.
_SETTINGS = re.compile(
    r"(?<!\S)(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode|sslpassword|options|application_name"
    r"|connect_timeout|target_session_attrs)\s{0,9}=",
    re.IGNORECASE,
)
# What libpq takes from a URL and nobody else may read.
_SECRETS = frozenset(["password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret"])
_ELSEWHERE = (
    "Write it into ~/.pgpass or a service file, or set PGPASSWORD, and leave it out of the URL: "
    "postgresql://USER@HOST/DATABASE"
)
_PASSWORDS = "A password goes into ~/.pgpass, a service file or PGPASSWORD."


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """The URL of a database on a PostgreSQL server, as libpq reads it; it may be shown and stored."""

    url: str

    def __str__(self) -> str:
        return self.url

    @property
    def server(self) -> str:
        """Return the server by the name that messages give it."""
        place, _, query = self.url.removeprefix("postgresql://").partition("?")
        hosts = place.partition("/")[0].rpartition("@")[2]
        named = dict(part.partition("=")[::2] for part in query.split("&"))
        return hosts or unquote(named.get("host", "")) or "this machine"

    @property
    def digest(self) -> str:
        """Return a short name for it, as a part of the name of a file."""
        return blake2b(self.url.encode(), digest_size=8).hexdigest()


# Where a store is.
StorePath: TypeAlias = Path | DatabaseAddress


def is_address(written: str | Path) -> bool:
    """Return whether a URL or settings of libpq were written where a store is named; a file may not be called so."""
    plain = str(written).lstrip()
    return _URL.match(plain) is not None or _SETTINGS.search(plain) is not None


def database_address(written: str | Path) -> DatabaseAddress:
    """Return the database that a URL names; ``InputError`` if it is of no PostgreSQL server or holds a password."""
    # The errors do not repeat it: what it is may hold a password.
    plain = str(written).strip()
    if _SETTINGS.search(plain):
        raise InputError(
            "A store on a server is named by a URL, and not by settings such as host=…: write "
            f"postgresql://USER@HOST/DATABASE. {_PASSWORDS} A file of that name is ./NAME."
        )
    match = _URL.match(plain)
    scheme = "" if match is None else match["scheme"].lower()
    if match is None or scheme not in _SCHEMES:
        raise InputError(
            f"A store is a file or a database on a PostgreSQL server, and {scheme}:// is neither. Name the file by its "
            "path, or write postgresql://USER@HOST/DATABASE."
        )
    if match["second"] is None:
        raise InputError(f"{scheme}: is followed by two slashes: give a URL as a string, since Path() takes one away.")
    # `ada:@` is a user without a password.
    rest = re.sub(r"^([^:/?@]*):@", r"\1@", plain[match.end() :])

    place, _, query = rest.partition("?")
    authority, slash, _ = place.partition("/")
    user, at, hosts = authority.rpartition("@")
    names = [unquote(part.partition("=")[0]).strip().lower() for part in query.split("&")]
    if (at and ":" in user) or not _SECRETS.isdisjoint(names):
        raise InputError(f"The URL of the store holds a password, which would be shown and stored. {_ELSEWHERE}")
    odd = any(not _HOST.fullmatch(host) for host in hosts.split(",")) or (slash and "@" in place[len(authority) :])
    if odd or not rest.isprintable() or " " in rest:
        raise InputError(
            "The URL of the store is not spelt as PostgreSQL does: postgresql://USER@HOST:PORT/DATABASE?NAME=VALUE. "
            "Write other characters as %40 for @, %3A for :, %2F for /."
        )

    return DatabaseAddress(f"postgresql://{rest}")


def store_at(written: str | Path | DatabaseAddress) -> StorePath:
    """Return where a store is that was named by a path or a URL; a path is one from the root."""
    if isinstance(written, DatabaseAddress):
        return written
    return database_address(written) if is_address(written) else absolute(written)


def may_exist(place: StorePath) -> bool:
    """Return whether a store may be at a place: of a server, only opening it can tell."""
    # A file that may not be read is no error here.
    return isinstance(place, DatabaseAddress) or os.path.exists(_utf8(place))  # noqa: PTH110
