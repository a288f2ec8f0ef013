"""How files and notes become memories: reading, chunking, redaction and preparation."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "discovery": "is_never_wanted is_wanted walk",
        "indexer": "Indexing",
        "moves": "DisconnectedDrives",
        "pictures": "Quota",
        "preparation": "clean prepare read_file",
        "readers.base": "Document Part",
        "readers.isolated": "Isolation",
        "readers.registry": "digest known_readers suffix_of",
        "readers.text": "read_text",
        "redaction.redactor": "redact suspicious",
        "runs": "drafted in_bounds is_excluded",
    },
)
