"""What to say of files that could be read if an extra of this package were installed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from jupyter_memory.text.display import count_of


def install(extra: str) -> str:
    """Return what to type to install an extra.

    >>> install("documents")
    "pip install 'jupyter-memory[documents]'"
    """
    return f"pip install 'jupyter-memory[{extra}]'"


def unread(counts: Mapping[str, int], extras: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield which files were left out and what would read them, by the number of files of each suffix.

    >>> list(unread({".pdf": 12, ".docx": 1}, {".pdf": "documents", ".docx": "documents"}))
    [('13 files (.pdf 12, .docx)', "to read them: pip install 'jupyter-memory[documents]'")]
    """
    by_extra: dict[str, dict[str, int]] = defaultdict(dict)
    for suffix, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])):
        by_extra[extras[suffix]][suffix] = count
    for extra, of_it in sorted(by_extra.items()):
        kinds = ", ".join(f"{suffix} {count:,}" if count > 1 else suffix for suffix, count in of_it.items())
        total = sum(of_it.values())
        yield f"{count_of(total, 'file')} ({kinds})", f"to read {'it' if total == 1 else 'them'}: {install(extra)}"
