"""Who may read and write a store that several people share; the database decides, not this package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

Level = Literal["reader", "writer", "owner"]


class Right(NamedTuple):
    """What a role of the database may do in a space; in every space if it is None."""

    role: str
    level: Level
    space: str | None


class Team(Protocol):
    """The rights in a store on a server; its owners alone change them."""

    def grant(self, role: str, level: Level, space: str | None, /) -> None:
        """Give a role a right in a space, in place of the one that it has there.

        Raises:
            InputError: there is no such role, or it is to own one space alone.
            StoreReadOnly: this user does not own the store.
        """
        ...

    def revoke(self, role: str, space: str | None, /) -> int:
        """Take away the rights of a role in a space, all of them if it is None; return how many it had.

        Raises:
            StoreReadOnly: this user does not own the store.
        """
        ...

    def rights(self) -> list[Right]:
        """Return the rights that this user may know of, by role and space."""
        ...

    def distribute(self) -> Sequence[str]:
        """Spread the tables over the machines of Citus, by space; return those that were not spread before.

        Raises:
            StoreError: the database has no Citus.
        """
        ...

    def close(self) -> None:
        """Close the connection."""
        ...
