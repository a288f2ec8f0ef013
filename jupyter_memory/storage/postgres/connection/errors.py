"""PostgreSQL's errors as ours, which say what happened and what to do, and hold neither a password nor a user's text.

The server's own words are not repeated, except for its code: they may quote a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from json import JSONDecodeError

import psycopg
from psycopg import errors

from jupyter_memory.errors import (
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
)
from jupyter_memory.text.paths import DatabaseAddress

_NO_ROOM = (errors.DiskFull, errors.OutOfMemory, errors.ConfigurationLimitExceeded)


class UnreadableRow(Exception):
    """A row that is not what was ever written."""


class Overtaken(Exception):
    """What a change was about to alter was removed by another one since it was looked up."""


# A transaction that ended with one of these did nothing, and may succeed when it is run again.
PASSING = (
    Overtaken,
    errors.DeadlockDetected,
    errors.SerializationFailure,
    errors.UniqueViolation,
    errors.ForeignKeyViolation,
)


@contextmanager
def translate_errors(address: DatabaseAddress) -> Iterator[None]:
    """Turn the errors that the driver raises within into ours."""
    try:
        yield
    except Overtaken:
        raise _others_write(address) from None
    except (UnreadableRow, JSONDecodeError):
        raise StoreDamaged(
            f"The store at {address} holds rows that cannot be read. `jupyter-memory doctor` shows what is wrong."
        ) from None
    except psycopg.Error as error:
        raise translated(address, error) from None


def translated(address: DatabaseAddress, error: psycopg.Error) -> Exception:
    """Return an error of the driver as one of ours."""
    match error:
        case errors.QueryCanceled():
            return StoreError(
                f"The server of {address} stopped a statement: it took longer than its setting statement_timeout "
                "allows, or an administrator ended it. Nothing was changed; ask for less at a time, or for more time."
            )
        case errors.LockNotAvailable() | errors.DeadlockDetected() | errors.SerializationFailure():
            return _others_write(address)
        case errors.InsufficientPrivilege() | errors.ReadOnlySqlTransaction():
            return StoreReadOnly(
                f"Your role may not do this in the store at {address}. Nothing was changed; "
                "ask the owner of the store for the role that may."
            )
        case errors.UndefinedTable() | errors.UndefinedColumn() | errors.InvalidSchemaName():
            return StoreDamaged(f"Tables of the store at {address} are missing. Restore them with pg_restore.")
        case errors.AdminShutdown() | errors.CrashShutdown() | errors.CannotConnectNow():
            return gone(address)
        case psycopg.OperationalError() if isinstance(error, _NO_ROOM):
            return StoreFull(f"The server of {address} has no room left. Nothing was changed; make room and try again.")
        case errors.TooManyConnections():
            return StoreLocked(f"The server of {address} has no connection left. Nothing was changed; try again later.")
        # Who lost the connection hears no more of the server than that.
        case psycopg.OperationalError() if error.sqlstate is None or error.sqlstate.startswith("08"):
            return gone(address)
        case _:
            return StoreError(f"The database at {address} refused a statement (SQLSTATE {error.sqlstate or 'none'}).")


def _others_write(address: DatabaseAddress) -> StoreLocked:
    return StoreLocked(f"Others are writing to {address}. Nothing was changed; try again in a moment.")


def gone(address: DatabaseAddress) -> StoreError:
    """Return the error for a server that went away."""
    return StoreClosed(
        f"The connection to the server of {address} was lost. What was being written was not stored; "
        "try again when the server runs."
    )


def unsure(address: DatabaseAddress) -> StoreError:
    """Return the error for a server that went away while it was storing."""
    return StoreClosed(
        f"The connection to the server of {address} was lost while it stored a change. Look whether the change is "
        "there before you repeat it: it is there whole or not at all."
    )


def not_connected(address: DatabaseAddress, error: psycopg.Error) -> StoreError:
    """Return the error for a connection that could not be made, by what libpq knows of it: its words are translated."""
    attempt = error.pgconn
    if attempt is not None and attempt.needs_password:
        return StoreError(
            f"The server of {address} asks for a password, and none was found. Put it into ~/.pgpass, a service file "
            "or the variable PGPASSWORD."
        )
    if attempt is not None and attempt.used_password:
        return StoreError(
            f"The server of {address} refused the connection. The password in ~/.pgpass, the service file or "
            "PGPASSWORD may be wrong, or the user may not use this database."
        )
    return StoreError(
        f"No store can be opened at {address}: the server {address.server} does not answer, or has no such database or "
        "user, or no connection left for this user. Check the address, and that the server runs."
    )


def another_encoding(address: DatabaseAddress, encoding: str) -> StoreError:
    """Return the error for a database that cannot hold every text."""
    return StoreError(
        f"The database at {address} has the encoding {encoding}, which cannot hold every text. Make another one with "
        "UTF8: create database NAME encoding 'UTF8' template template0"
    )
