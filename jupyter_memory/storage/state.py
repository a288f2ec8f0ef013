"""What tells two states of the keyword index, and with it of the chunks, apart."""

from __future__ import annotations

import apsw


def index_state(connection: apsw.Connection) -> str:
    """Return what differs between any two states of the keyword index."""
    # FTS5 writes its averages (1) and its structure (10) anew with every change. An index built anew may look just
    # like an earlier one, so that is counted.
    return str(
        connection.execute(
            """
            select group_concat(part) from (
                select hex(block) as part from keyword_data where id in (1, 10)
                union all select value from counters where name = 'removals'
            )
            """
        ).get
    )
