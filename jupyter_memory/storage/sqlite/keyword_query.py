"""What FTS5 is asked, and its upkeep."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from jupyter_memory.storage.sqlite.sql import Session
from jupyter_memory.storage.tables.memories import ChunkWords
from jupyter_memory.storage.words import stems
from jupyter_memory.text.identifiers import COLUMNS
from jupyter_memory.types import Terms

# Below this many chunks a frequent word takes no time, and leaving it out could lose a badge.
_SMALL = 5_000


def expression(terms: Terms, weights: Mapping[str, float]) -> str | None:
    """Return the FTS5 expression for the terms, any of them enough; None where there are none.

    Every term is quoted, so that no character of a user's query is FTS5 syntax.
    """
    either = []
    words = list(map(_quoted, (*terms.phrases, *terms.words)))
    if terms.prefix:
        words.append(_quoted(terms.prefix) + "*")
    if words:
        columns = " ".join(filter(weights.__contains__, COLUMNS))
        either.append(f"{{{columns}}} : ({' OR '.join(words)})")
    if terms.ident:
        # A single character is looked for as the first of any pair.
        pairs = (_quoted(term) + "*" * (len(term) == 1) for term in terms.ident)
        either.append(f"ident : ({' OR '.join(pairs)})")
    return " OR ".join(either) or None


def listed(weights: Mapping[str, float]) -> str:
    """Return the weights in the order of the index's columns; ``ident`` counts 1 where the profile leaves it out.

    Without ``ident`` in the profile only CJK bigrams are searched there, since no other column has them.
    """
    return ", ".join(str(float(weights.get(column, 1.0 if column == "ident" else 0.0))) for column in COLUMNS)


def begun(connection: Session, terms: Terms) -> Terms:
    """Return the terms with the stem of what is being typed in place of a prefix that no stem has.

    "electri" is longer than the stem "electr" of the words that begin with it.
    """
    stem = stems(terms.prefix)[-1:] if terms.prefix else []
    if not stem:
        return terms
    open_vocabulary(connection)
    at_least = "select term from temp.vocabulary where term >= ? limit 1"
    if str(connection.execute(at_least, stem).get or "").startswith(stem[0]):
        return terms
    for length in range(len(stem[0]) - 1, max(3, len(stem[0]) - 4), -1):
        if connection.execute(at_least, (stem[0][:length],)).get == stem[0][:length]:
            return replace(terms, words=(*terms.words, stem[0][:length]), prefix=None)
    return terms


def without_common(
    connection: Session,
    terms: Terms,
    columns: Collection[str],
    frequency: Callable[[str], int] | None = None,
) -> Terms:
    """Leave out words that more than half of the chunks hold: FTS5 gives them no weight, yet reads all their rows."""
    total = connection.execute("select coalesce(max(id), 0) from chunks").get
    if total < _SMALL or len(terms.words) < 2:
        return terms
    if frequency is None:
        rare = tuple(word for word in terms.words if document_frequency(connection, word, columns) * 2 <= total)
    else:
        rare = tuple(word for word in terms.words if frequency(word) * 2 <= total)
    return replace(terms, words=rare) if rare else terms


def document_frequency(connection: Session, word: str, columns: Collection[str]) -> int:
    """Return how many chunks hold a word in the one of these columns where most do, so that no chunk counts twice.

    It is 0 for what the index's tokenizer splits into several words.
    """
    open_vocabulary(connection)
    stem = stems(word)
    if len(stem) != 1:
        return 0
    found = connection.execute("select col, doc from temp.vocabulary where term = ?", (stem[0],))
    return max((count for column, count in found if column in columns), default=0)


def open_vocabulary(connection: Session) -> None:
    """Make ``temp.vocabulary``, which counts the chunks that hold each word, column by column."""
    connection.execute("create virtual table if not exists temp.vocabulary using fts5vocab(main, keyword, col)")


def open_places(connection: Session) -> None:
    """Make ``temp.places``, which lists each occurrence of each word; its first row comes at once."""
    connection.execute("create virtual table if not exists temp.places using fts5vocab(main, keyword, instance)")


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


# The keyword index as changes leave it: chunks put in again, no trace of removed words, built anew.
#
# FTS5's ``secure-delete`` removes the words of a deleted row from the pages of the index. The words between the pages,
# which say on what page a word is, are left to this module.


def has_traces(connection: Session) -> bool:
    """Return whether a removed word still separates two pages of the index: FTS5 never removes it there."""
    open_places(connection)
    signs: list[Any] = connection.execute("select term from keyword_idx").fetchall()
    for (sign,) in signs:
        # One byte of kind, then enough of a word to distinguish the pages.
        word = sign[1:].decode("utf-8", "ignore")
        found: str | None = connection.execute("select term from temp.places where term >= ? limit 1", (word,)).get
        if found is None or not found.startswith(word):
            return True
    return False


def clear_traces(connection: Session) -> None:
    """Merge the index's segments into a new one, without the words that only separated pages.

    The caller's transaction holds nothing else.
    """
    # FTS5 does not optimise a single segment, so it gets a second one.
    connection.execute("insert into keyword (rowid, text) values (0, 'x')")
    connection.execute("insert into keyword (keyword) values ('optimize')")
    connection.execute("insert into keyword (keyword, rowid, text) values ('delete', 0, 'x')")


def put_in(connection: Session, words: Sequence[ChunkWords]) -> None:
    """Index chunks that are not in the index."""
    rows = [{"rowid": chunk, **dict(zip(COLUMNS, columns, strict=True))} for _, chunk, *columns in words]
    connection.insert("keyword", rows)


def rebuild(connection: Session) -> None:
    connection.execute("insert into keyword (keyword) values ('rebuild')")
    # What any process has cached of the index is no longer valid.
    connection.execute("update counters set value = value + 1 where name = 'removals'")
