"""The kinds of documents, and what reads each: libraries of the extra `documents`."""

from __future__ import annotations

from jupyter_memory.ingest.readers.isolated.isolation import IsolatedReader

_MODULES = "jupyter_memory.ingest.readers.documents"
_EXTRA = "documents"

DOCUMENTS = (
    IsolatedReader((".pdf",), "PDF", f"{_MODULES}.pdf", needs=("pypdfium2",), extra=_EXTRA, version=1),
    IsolatedReader((".docx",), "Word document", f"{_MODULES}.word", needs=("docx",), extra=_EXTRA, version=1),
    IsolatedReader(
        (".pptx",),
        "PowerPoint presentation",
        f"{_MODULES}.slides",
        needs=("pptx",),
        extra=_EXTRA,
        version=1,
    ),
)
