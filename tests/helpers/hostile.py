"""Queries that try to break something: syntax of others, odd characters, great lengths, filters, times, SQL."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

# In many queries: no log may hold it.
MARK = "qx7zanzibar"
WORDS = (
    "prices", "λ", "Zürich", "東京", "売上", "FileSyncService", "df.groupby", "the", "of", "net", "tax", "price_eur",
    "it's", "m²", "ﬁle", "Ｆｕｌｌ", "한국어", "สวัสดี", "مرحبا", "שלום", "👩‍🔬", MARK,
)  # fmt: skip
SYNTAX = (
    '"', "'", "*", "^", ":", "-", "+", "(", ")", "{", "}", "NEAR(a b, 5)", "AND", "OR", "NOT", "title:",
    "{title text}:", "NEAR/2", '""', '"a" * ', "col : x", "%", "_", "\\", "`", "$(ls)", "{1+1}", "${HOME}", "!ls",
    "?", "??", ";", "--", "-h", "--limit", "--json", "--profile=vault", "--tag", "@", "#", "~/", "../../etc/passwd",
    "<script>", "&amp;", "\x1b[31m", "'; drop table memories; --", "1 or 1=1", "union select * from texts",
    "rowid:1", 'x" or "1"="1', "json_each('[]')",
)  # fmt: skip
ODD = (
    "\0", "\ud800", "\udfff", "\u202e", "\u2066", "\u200b", "\ufeff", "\ufffe", "\U0010ffff", "\x85", "\u2028", "\r",
    "\n", "\t", "\x1a", "\x7f", "e" + "\u0301" * 30, "\u0301", "\u1100\u1161\u11a8", "\u00ad", "\ufdd0", "İ", "ß",
    "ǆ",
)  # fmt: skip
FILTERS = (
    "tag:decision", '-tag:"two words"', "kind:cell", "kind:novel", "tier:", "path:~nobody/x", "path:..",
    "lang:python", "space:x", "session:monday", "after:2026-03", "before:yesterday", "on:", "since:last week",
    "until:9999-12-31", "after:31.31.2026", "on:½", "before:10000-01-01", "since:0000", "-after:2026", "-pandas",
    'tag:"', "tag:a,b,,",
)  # fmt: skip
TIMES = (
    "last Tuesday", "between March and May", "20 sessions ago", "in our second session", "early 2025",
    "the end of last month", "three weeks ago", "999999999 years ago", "from May 3-5", "since 99/99/99",
    "on the 31st of February", "H3 2025", "yesterday yesterday", "the last " * 20, "in 0 days",
    "sessions 5 through 2", "1" * 400 + " days ago",
)  # fmt: skip
REPEATED = (
    "_", "a", ".", "'", '"', "(", "東", "a.", "_a", "A", "7", " ", "-", "λ", "tag:a ", "-word ", "\u0301", "”", "`",
)  # fmt: skip


def query_of(random: Random) -> str:
    """Return a query put together from such pieces, or a run of one of them."""
    way = random.random()
    if way < 0.06:
        return (random.choice(REPEATED) * random.choice((50, 1_000, 20_000, 100_000)))[
            : random.choice((20_000, 20_001, 10**6))
        ]
    if way < 0.16:
        return "".join(chr(_any_character(random)) for _ in range(random.randrange(60)))
    kinds = random.choices((WORDS, SYNTAX, ODD, FILTERS, TIMES), (8, 4, 2, 3, 2), k=random.randrange(1, 9))
    return random.choice((" ", " ", "")).join(random.choice(kind) for kind in kinds)


def _any_character(random: Random) -> int:
    return random.randrange(random.choice((0x80, 0x500, 0x3000, 0x10000, 0x110000)))


def filters_of(random: Random) -> Mapping[Any, Any]:
    """Return filters, some of which no store can read."""
    names = (
        "tag", "kind", "tier", "path", "lang", "space", "session", "since", "until", "not_tag", "not_word", "bogus",
        5,
    )  # fmt: skip
    values: tuple[Any, ...] = (
        *WORDS, *ODD, *TIMES, "cell", "note", None, 5, [], ["cell", "file"], [None], b"x", {"a": 1}, "x" * 5_000,
        [query_of(random)],
    )  # fmt: skip
    return {random.choice(names): random.choice(values) for _ in range(random.randrange(1, 4))}
