"""Where a store is: a file, or a database on a PostgreSQL server, whose URL holds no password."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

from jupyter_memory.errors import InputError
from jupyter_memory.text.paths import absolute

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
    """Return whether a URL or settings of libpq were written where a store is named; a file may not be called so.

    >>> is_address("postgresql://host/team"), is_address("notes/a.sqlite"), is_address("C://notes/a.sqlite")
    (True, False, False)
    """
    plain = str(written).lstrip()
    return _URL.match(plain) is not None or _SETTINGS.search(plain) is not None


def database_address(written: str | Path) -> DatabaseAddress:
    """Return the database that a URL names.

    The errors do not repeat it: what it is may hold a password.

    Raises:
        InputError: the URL is of no PostgreSQL server, is not spelt as one, or holds a password.
    """
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
    _check(rest)
    return DatabaseAddress(f"postgresql://{rest}")


def store_at(written: str | Path | DatabaseAddress) -> StorePath:
    """Return where a store is that was named by a path or a URL; a path is one from the root.

    Raises:
        InputError: the path is empty or cannot be understood, or the URL is none of a database that can hold a store.
    """
    if isinstance(written, DatabaseAddress):
        return written
    return database_address(written) if is_address(written) else absolute(written)


def may_exist(place: StorePath) -> bool:
    """Return whether a store may be at a place: of a server, only opening it can tell."""
    # A file that may not be read is no error here.
    return isinstance(place, DatabaseAddress) or os.path.exists(place)  # noqa: PTH110


def _check(rest: str) -> None:
    """Refuse a URL with a password, or one in which a password may hide, since it is not spelt as libpq reads it.

    Raises:
        InputError: it is one.
    """
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
