"""How files and notes become memories: reading, chunking, redaction and preparation."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "discovery": "is_never_wanted is_wanted walk",
        "indexer": "FileCatalog changed index",
        "moves": "DisconnectedDrives",
        "pictures": "Quota quota_of",
        "preparation": "clean prepare read_file",
        "readers.base": "Document Part",
        "readers.isolated": "Isolation",
        "readers.registry": "digest known_readers suffix_of",
        "readers.text": "read_text",
        "redaction.redactor": "redact suspicious",
        "run_rules": "HistoryRules",
        "runs": "drafted in_bounds",
    },
)
