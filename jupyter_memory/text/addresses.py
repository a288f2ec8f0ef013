"""The address of a store on a database server, as people type it; a password is never part of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from jupyter_memory.errors import InputError

# Two letters and more: "c://" is a drive.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://?")
_SCHEMES = ("postgresql", "postgres")
_SECRETS = ("password", "sslpassword")
_INSTEAD = "Leave it out, and put it into ~/.pgpass, a service file or the variable PGPASSWORD."


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """Where a store lies on a database server, as libpq reads it; it may be shown, logged and kept."""

    url: str

    def __str__(self) -> str:
        return self.url

    @property
    def server(self) -> str:
        """Return the server by the name that messages give it."""
        parts = urlsplit(self.url)
        return parts.hostname or dict(parse_qsl(parts.query)).get("host", "") or "this machine"


def is_address(text: str) -> bool:
    """Return whether a text names a server rather than a file.

    >>> is_address("postgresql://db/team"), is_address("notes/memory.sqlite"), is_address("C:/memory.sqlite")
    (True, False, False)
    """
    return _SCHEME.match(text) is not None


def database_address(text: str) -> DatabaseAddress:
    """Return the address that a text is.

    Raises:
        InputError: it is of a database that cannot hold a store, it cannot be read, or a password is in it.

    >>> str(database_address("postgres://ana@db.example:5432/team"))
    'postgresql://ana@db.example:5432/team'
    """
    scheme = _SCHEME.match(text)
    if scheme is None or scheme[1].lower() not in _SCHEMES:
        raise InputError(
            "A store is a file, or a database whose address begins with postgresql:// — this is neither. "
            "Example: postgresql://db.example/team"
        )
    try:
        parts = urlsplit(text)
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        port = parts.port
    except ValueError:
        raise InputError("This address cannot be read. Example: postgresql://db.example:5432/team") from None
    if parts.password or any(name in _SECRETS for name, _ in options):
        raise InputError(f"The address of a store must not hold a password. {_INSTEAD}")
    user, at, place = parts.netloc.rpartition("@")
    host = place if port is not None or not place.endswith(":") else place[:-1]
    netloc = user.rstrip(":") + at + host
    # Written out, since without a host `urlunsplit` would drop the slashes.
    rest = urlunsplit(("", "", parts.path, urlencode(options), ""))
    return DatabaseAddress(f"postgresql://{netloc}{rest}")
