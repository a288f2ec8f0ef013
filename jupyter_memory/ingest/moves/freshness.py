"""Whether the file of a memory is still what was indexed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from jupyter_memory.ingest.moves.drives import DisconnectedDrives
from jupyter_memory.text.markdown import day
from jupyter_memory.types import Answer, Hit

if TYPE_CHECKING:  # it loads NumPy, which the server does without until somebody searches
    from jupyter_memory.types.protocols import FileState

Freshness = Literal["current", "changed", "gone", "unknown"]
# Bytes of a file that is read again if only its time differs: more would take longer than a search may.
_READ = 1_000_000


def with_freshness(answer: Answer, states: Callable[[list[Hit]], Mapping[tuple[str, str], FileState]]) -> Answer:
    """Return an answer that says of its hits, and in a notice, which files changed or went since they were indexed.

    ``states`` returns what is known of the files of hits, by path and space. No other files are looked
    at.
    """
    from_files = [hit for hit in answer.hits if hit.memory.kind in ("file", "cell") and hit.memory.source]
    if not from_files:
        return answer
    drives = DisconnectedDrives()
    seen = {place: freshness(state, drives) for place, state in states(from_files).items()}
    hits = tuple(
        replace(hit, freshness=seen.get((hit.memory.source, hit.memory.space), "unknown")) for hit in answer.hits
    )
    notice = changes_notice(hits)
    return replace(answer, hits=hits, notices=(*answer.notices, notice) if notice else answer.notices)


def freshness(state: FileState, drives: DisconnectedDrives) -> Freshness:
    """Return whether a file is still as it was indexed; ``"unknown"`` if it is on a drive that is not connected."""
    path = Path(state.path)
    try:
        status = path.stat()
        if (status.st_mtime_ns, status.st_size) == (state.mtime_ns, state.size):
            return "current"
        if status.st_size != state.size or status.st_size > _READ:
            return "changed"
        # Imported late: a search does not need what walks through folders.
        from jupyter_memory.ingest.readers.fingerprint import digest

        # What an earlier version of the reader read is current too: the file is the same.
        same = digest(path).partition(".")[0] == state.content_hash.partition(".")[0]
        return "current" if same else "changed"
    except (FileNotFoundError, NotADirectoryError):
        return "gone" if drives.folder_of(state) is None else "unknown"
    except (OSError, ValueError):
        return "unknown"


def changes_notice(hits: Iterable[Hit]) -> str:
    """Return a notice of the files of hits that changed or went since they were indexed; nothing where none did."""
    files = {(hit.memory.source, hit.memory.space): hit for hit in hits}.values()
    changed = [hit.memory.indexed_at for hit in files if hit.freshness == "changed"]
    gone = sum(hit.freshness == "gone" for hit in files)
    parts = []
    if changed:
        on = day(min(changed)).partition(" ")[2]
        parts.append(f"{len(changed)} of these files {'has' if len(changed) == 1 else 'have'} changed since {on}")
    if gone:
        of_these = "" if changed else " of these files"
        parts.append(f"{gone}{of_these} no longer {'exists' if gone == 1 else 'exist'}")
    return f"{' and '.join(parts)}. `index` brings the store up to date." if parts else ""
