"""Where memories are kept: what a database must do, and how SQLite does it."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "base": "Corpus EmbeddedParts Model Noted Passage Prepared QueryVector RunFilter Snapshot Texts mismatch",
        "cache": "Cache Lock",
        "databases": "foreign_tables ipython_runs open_storage open_team versions",
        "journal": "CAN_RECORD Journal abandoned empty ending note recording runs",
        "postgres.snapshot": "keyword vectors",
        "sqlite.database": "Database",
        "sqlite.vectors": "BITS codes distances",
        "writing": "Arriving Contents Level NotedFile NotedFolder SearchStorage Storage Stored Team Thumbnails",
    },
)
