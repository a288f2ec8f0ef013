"""How files and notes become memories: reading, chunking, redaction and preparation."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "catalog": "FileCatalog",
        "discovery.ignore": "is_never_wanted",
        "discovery.walker": "is_wanted walk",
        "history.drafts": "drafted in_bounds",
        "history.rules": "HistoryRules",
        "indexer": "changed index",
        "moves.freshness": "changes_notice with_freshness",
        "pictures.quota": "Quota quota_of",
        "preparation": "clean prepare",
        "readers.base": "Document Part",
        "readers.fingerprint": "digest",
        "readers.isolated.isolation": "Isolation",
        "readers.registry": "known_readers suffix_of",
        "readers.text": "read_text",
        "reading": "read_file",
        "redaction.redactor": "redact suspicious",
    },
)
