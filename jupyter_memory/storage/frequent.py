"""The most frequent words of the keyword index, told by the pages that they fill, without reading all its words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import apsw

from jupyter_memory.storage import pages
from jupyter_memory.storage.pages import Segment

# Whole pages of a word in one segment, some 500 rows each: of fewer no page is looked at.
_PAGES = 1
# A word of more takes too long to be read while a person may go on at any moment: 100,000 rows in 30 ms.
_MOST_PAGES = 200


def frequent(connection: apsw.Connection, among: Sequence[Segment]) -> list[str]:
    """Return the words, as stems, that fill whole pages of these segments, those with the most pages first.

    A page on which no word begins is no entry of FTS5's list of pages, and belongs to the last word of the page before.
    """
    filled: Counter[bytes] = Counter()
    for segment in among:
        rows: Any = connection.execute(
            """
            select page, whole from (
                select pgno >> 1 as page, lead(pgno >> 1, 1, :last + 1) over (order by term) - (pgno >> 1) - 1 as whole
                from keyword_idx where segid = :segment
            ) where whole >= :least and page >= :first
            """,
            {"segment": segment.number, "first": segment.first, "last": segment.last, "least": _PAGES},
        )
        for page, whole in rows.fetchall():
            block: Any = connection.execute(
                "select block from keyword_data where id = ?", ((segment.number << 37) + page,)
            ).get
            *_, (term, _, _) = pages.terms(block)
            filled[term] += whole
    return [
        term[1:].decode()
        for term, whole in filled.most_common()
        if term[:1] == b"0" and len(term) <= pages.LONGEST and whole <= _MOST_PAGES
    ]
