"""What the properties of a document say of it, and how much text is read from one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.readers.base import Part

# Characters of all parts together.
_MOST = 20_000_000
# What programs write as a title when nobody gave one.
_NO_TITLE = re.compile(
    r"untitled.*|powerpoint.*|microsoft (?:word|powerpoint|excel)\b.*|(?:word )?document ?\d*"
    r"|presentation ?\d*|slide \d+|.*\.\w{2,5}",
    re.IGNORECASE,
)
# When the templates of python-docx and python-pptx were made: documents that programs write with them keep these dates.
_TEMPLATES = (datetime(2013, 12, 23, 23, 15, tzinfo=UTC), datetime(2013, 1, 27, 9, 15, 58, tzinfo=UTC))


def titled(stated: str, path: Path) -> str:
    """Return a document's own title with the name of its file; nothing where it has none that says more.

    >>> titled("Annual report", Path("ar_26.pdf")), titled("Microsoft Word - ar_26.docx", Path("ar_26.pdf"))
    ('Annual report (ar_26.pdf)', '')
    """
    title = " ".join(stated.split())
    return f"{title} ({path.name})" if title and not _NO_TITLE.fullmatch(title) else ""


def dated(stated: object) -> datetime | None:
    """Return a date of the properties as an aware time, None where there is none in living memory."""
    if not isinstance(stated, datetime) or not 1985 <= stated.year <= datetime.now(UTC).year + 1:
        return None
    # Office writes times in UTC without saying so.
    moment = stated.astimezone(UTC) if stated.tzinfo is not None else stated.replace(tzinfo=UTC)
    return None if moment in _TEMPLATES else moment


def limited(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the parts of a document.

    Raises:
        InputError: they have more text than any document.
    """
    size = 0
    for part in parts:
        size += len(part.text)
        if size > _MOST:
            raise InputError(f"The document has more than {_MOST // 1_000_000} million characters, so it is left out.")
        yield part
