"""Where memories are kept: what a database must do, and how SQLite and PostgreSQL do it."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "base": "Arriving Corpus EmbeddedParts Level Model Noted NotedFile NotedFolder Passage "
        "Prepared QueryVector RunFilter Stored mismatch",
        "databases": "SearchStorage Storage open_storage open_team versions",
        "foreign": "ipython_runs",
        "journal": "Journal abandoned empty ending note recording refusal runs",
        "postgres.storage": "keyword",
        "snapshot": "Snapshot",
        "sql": "Cache",
        "sqlite.database": "Database",
        "transfer": "Contents",
    },
)
