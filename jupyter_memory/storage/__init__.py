"""Where memories are kept: what a database must do, and how SQLite does it."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "base.runs": "Noted RunFilter",
        "base.snapshot": "Snapshot",
        "base.storage": "SearchStorage Storage Thumbnails",
        "base.team": "Level Team",
        "base.texts": "Corpus Texts",
        "base.transfer": "Arriving Contents NotedFile NotedFolder Stored",
        "base.values": "EmbeddedParts Model Passage Prepared QueryVector mismatch",
        "cache": "Cache Lock",
        "databases": "foreign_tables ipython_runs open_storage open_team versions",
        "journal.files": "CAN_RECORD Journal abandoned empty recording",
        "journal.records": "ending note runs",
        "postgres.indexes.keyword": "pruning",
        "postgres.storage": "vectors",
        "sqlite.connection.background": "BackgroundReader",
        "sqlite.connection.database": "Database",
        "sqlite.connection.migrations": "Migration migrations",
        "sqlite.indexes.quantization": "BITS codes distances",
        "sqlite.storage": "SqliteStorage",
        "sqlite.writing.writer": "undo",
    },
)
