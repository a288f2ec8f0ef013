"""How many bytes of a database are for what: its tables with their indexes, those of all spaces."""

from __future__ import annotations

from jupyter_memory.storage.postgres.connection.session import Session

# What the tables are for, by their names; whatever is not here is small.
_KINDS = {
    "texts": ("memories", "texts", "tags", "chunks", "definitions"),
    "words": ("postings", "frequencies", "totals"),
    "vectors": ("vectors", "chunk_tokens", "models", "trust"),
    "pictures": ("thumbnails",),
    "history": ("runs",),
    "searches": ("searches", "feedback", "query_vectors", "query_keys"),
    "files": ("files", "folders"),
}
_OTHER = "other"


def sizes(session: Session) -> dict[str, int]:
    """Return the bytes of a store by kind, with room in its tables that the server uses again."""
    found = dict.fromkeys((*_KINDS, _OTHER), 0)
    for table, size in session.rows(
        """
        select relname, pg_total_relation_size(oid) from pg_class
        where relkind in ('r', 'p') and relnamespace = 'jupyter_memory'::regnamespace
        """
    ):
        found[next((kind for kind, tables in _KINDS.items() if table in tables), _OTHER)] += size
    return found


def held(session: Session) -> int:
    """Return the bytes of all tables."""
    return sum(sizes(session).values())
