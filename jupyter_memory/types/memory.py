"""What is kept: memories, their chunks and thumbnails, and what was run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from difflib import unified_diff
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal

from jupyter_memory.text.dates import UNKNOWN, iso_day
from jupyter_memory.text.display import placed, preview
from jupyter_memory.text.markdown import first_line, first_words, is_markdown

if TYPE_CHECKING:
    # The tokens of chunks need it, and a kernel that only notes what it runs does without.
    import numpy as np
    from numpy.typing import NDArray

LARGEST_THUMBNAIL = 12_000  # bytes
MOST_THUMBNAILS = 8  # of a memory


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A picture, scaled down and encoded anew, its size in pixels; ``origin`` is a digest of what it was made from."""

    media_type: str
    width: int
    height: int
    image: bytes
    origin: str = ""

    def __repr__(self) -> str:
        return f"<Thumbnail: {self.width} x {self.height}, {self.media_type}, {len(self.image):,} bytes>"


@dataclass(frozen=True, slots=True)
class Pictures:
    """The pictures of one memory: thumbnails in their order, and for each that has none the reason."""

    thumbnails: tuple[Thumbnail, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return sum(len(one.image) for one in self.thumbnails)


NO_PICTURES = Pictures()

KINDS = ("note", "file", "cell", "history")
TIERS = ("core", "file", "mcp", "note")
SEVERITIES = ("critical", "warning", "suggestion")
PINNED_BY = "pinned_by"  # in the metadata of a memory that a program pinned, and no person: its name


@dataclass(frozen=True, slots=True)
class Memory:
    """A note, a file, a history entry or one notebook cell; its times are aware and in UTC."""

    id: str
    text: str
    title: str
    kind: str
    tier: str  # ``core`` while it is pinned
    pinned: bool
    space: str
    source: str
    location: str  # within its source: a cell id, ``#index``, a name, or nothing
    lang: str
    tags: tuple[str, ...]
    severity: str | None
    domain: str | None
    event_at: datetime  # when it happened; of a copied file the epoch: ``UNKNOWN``
    indexed_at: datetime
    stored_at: datetime  # when the text that it has now came
    valid_from: datetime | None
    valid_until: datetime | None
    session: str | None
    content_hash: str
    metadata: Mapping[str, Any]
    accessed: int = 0
    thumbnails: int = 0  # how many pictures it has

    @property
    def outcome(self) -> str:
        """Return how the last run of what was run ended: ``ok``, ``error`` or ``unknown``; empty for other kinds."""
        outcome = self.metadata.get("outcome")
        return "" if self.kind != "history" else outcome if outcome in ("ok", "error") else "unknown"

    @property
    def error(self) -> str:
        """Return the name of the error that the last run of what was run ended with; empty where it ended otherwise."""
        error = self.metadata.get("error")
        return error if isinstance(error, str) and self.outcome == "error" else ""

    @property
    def dated(self) -> datetime | None:
        """Return when it happened, None where nobody knows."""
        return None if self.event_at == UNKNOWN else self.event_at

    @property
    def failure(self) -> str:
        """Return the mark of a run that ended with an error, such as ``failed: KeyError``, else nothing."""
        ended = "interrupted" if RunError(self.error, "").is_interruption else "failed"
        return f"{ended}: {self.error}" if self.error else ""

    def outside(self, now: datetime) -> str:
        """Return the mark of a memory that holds at other times, such as ``not valid after 2026-03-31``."""
        if self.valid_from is not None and now < self.valid_from:
            return f"not valid before {iso_day(self.valid_from)}"
        if self.valid_until is not None and now >= self.valid_until:
            # The end of a day is the beginning of the next.
            return f"not valid after {iso_day(self.valid_until - timedelta(microseconds=1))}"
        return ""

    @property
    def packages(self) -> str:
        """Return the packages that the last run of what was run used, with their versions; empty where unknown."""
        packages = self.metadata.get("packages")
        return packages if isinstance(packages, str) and self.kind == "history" else ""

    @property
    def headline(self) -> str:
        """Return the title, or of what has none its first words."""
        return self.title or first_words(self.text, markdown=is_markdown(self.kind, self.lang))

    @property
    def token_estimate(self) -> int:
        """Return about how many tokens the text has, at four characters each."""
        return len(self.text) // 4

    def place(self, line: int | None = None) -> str:
        """Return its line in its source, or that of a chunk; its location where it has no line there."""
        first = first_line(self.metadata)
        found = first if line is None else line
        return self.location if found is None or (self.location and first is None) else str(found)

    @property
    def cell(self) -> int | None:
        """Return the position of a cell in its notebook, from 1; None where it is none."""
        index = self.metadata.get("index")
        return index + 1 if self.kind == "cell" and isinstance(index, int) else None

    def placed(self, path: str, location: str | None = None) -> str:
        """Return a path to its source with its place there, or the one of its parts that ``location`` is."""
        return placed(path, self.place() if location is None else location, self.kind, self.cell)

    def __repr__(self) -> str:
        return f"<Memory {self.id}: {self.kind} “{preview(self.title or self.text)}”>"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of a memory's text, ``memory.text[start:end]``, and the line of its source where it begins, from 1."""

    start: int
    end: int
    # Document name, headings, the Markdown just above a code cell, weekday and date: indexed and embedded with the
    # text, never shown as part of it.
    context: str = ""
    line: int | None = None


# Begins the bytes of a chunk's tokens. Another vocabulary or layout gets another number; none is a token.
MARK = (31_998).to_bytes(2, "little")
_VOCABULARY = 30_522
FEW = 256  # up to so many different tokens, the place of one takes a byte


class ChunkTokens(bytes):
    """The tokens of a chunk as stored: a mark, how many are different, these, and the order of those of its text.

    >>> import numpy as np
    >>> ChunkTokens.of(np.array([3, 5, 9], np.uint16), bytes([2, 1, 2])).text.tolist()
    [9, 5, 9]
    """

    __slots__ = ()

    @staticmethod
    def of(different: NDArray[np.uint16], order: bytes) -> ChunkTokens:
        """Return those of ``different``, ascending, and of ``order``, the text as places among these, 8 or 16 bits."""
        import numpy as np

        return ChunkTokens(MARK + np.append(len(different), different).astype("<u2").tobytes() + order)

    @property
    def size(self) -> int:
        """Return how many different tokens there are, with those of the head (a title or prefix)."""
        return int.from_bytes(self[2:4], "little")

    @property
    def different(self) -> NDArray[np.uint16]:
        import numpy as np

        return np.frombuffer(self, "<u2", self.size, 4)

    @property
    def text(self) -> NDArray[np.uint16]:
        """Return the tokens of the text, ``(n,)``, in their order."""
        ids: NDArray[np.uint16] = self.different[self.places]
        return ids

    @property
    def places(self) -> NDArray[np.integer]:
        import numpy as np

        return np.frombuffer(self, np.uint8 if self.size <= FEW else "<u2", offset=4 + 2 * self.size)


def is_damaged(data: object) -> bool:
    """Return whether these bytes are not those of a chunk's tokens."""
    import numpy as np

    if not isinstance(data, bytes) or not data.startswith(MARK):
        return True
    found = ChunkTokens(data)
    count = found.size
    if len(data) < 4 + 2 * count or (count > FEW and len(data) % 2):
        return True
    ascending = (np.diff(found.different.astype(np.int64), append=_VOCABULARY) > 0).all()
    return bool(not ascending or (found.places >= count).any())


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory before it has an id."""

    text: str
    title: str = ""
    kind: str = "note"
    tier: str = "note"
    pinned: bool = False
    space: str = ""
    source: str = ""
    location: str = ""
    lang: str = ""
    tags: tuple[str, ...] = ()
    severity: str | None = None
    domain: str | None = None
    event_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    session: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    context: str = ""
    dated_by_file: bool = False  # ``event_at`` is not its own: of its notebook, a commit or the file
    pictures: Pictures = NO_PICTURES
    chunks: tuple[Chunk, ...] = ()


Outcome = Literal["ok", "error", "unknown"]
FixKind = Literal["history", "cell", "note"]


@dataclass(frozen=True, slots=True)
class RunError:
    """The exception that ended a run: its name and message, and its traceback as plain text, without colours."""

    name: str
    message: str
    traceback: str = ""

    @property
    def is_interruption(self) -> bool:
        """Return whether nothing failed: the run was interrupted, or ended by itself."""
        return self.name.rpartition(".")[2] in ("KeyboardInterrupt", "SystemExit")


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of a cell."""

    source: str
    started: datetime  # aware and in UTC
    session: str  # the kernel's
    number: int  # of the runs in the session, from 1
    outcome: Outcome = "unknown"  # until it ends, and for ever if the kernel dies first
    seconds: float | None = None
    error: RunError | None = None
    notebook: str = ""  # a path; like ``cell_id`` empty where the kernel does not know it
    cell_id: str = ""
    language: str = "python"
    environment: str = ""
    packages: str = ""  # those that its code uses, with their versions: "numpy 2.4.6, pandas 3.1.1"
    result: str = ""  # what it printed and its value, where both are short and the setting history_outputs is on
    characters: int = 0  # the length of a source that was shortened
    memory_id: str = ""  # of the memory of its text, once a store has noted the run
    space: str = ""  # where it goes until then

    @property
    def dated(self) -> datetime | None:
        """Return when it ran, None where nobody knows: of a cell or a note in a copied file."""
        return None if self.started == UNKNOWN else self.started


def changed(old: str, new: str, was: str = "before", now: str = "after") -> str:
    """Return how a text changed, as a unified diff; empty if it did not."""
    if old == new:
        return ""
    return "\n".join(unified_diff(old.strip("\n").split("\n"), new.strip("\n").split("\n"), was, now, lineterm=""))


DURATIONS = 3  # of the last runs: whether the next will take long


@dataclass(frozen=True, slots=True)
class Version:
    """Runs of one text in a cell, the newest first, and the text that ran there before them."""

    number: int  # from 1, the oldest
    runs: tuple[Run, ...]
    before: str | None = None
    elsewhere: str = ""  # how other cells of the notebook changed since the run before

    @property
    def diff(self) -> str:
        """Return what changed since the text before, as a unified diff; empty for the first."""
        return "" if self.before is None else changed(self.before, self.runs[0].source)

    @property
    def code(self) -> str:
        """Return the lines that changed here, else in other cells; of the first, its text."""
        if self.before is None:
            return self.runs[0].source
        return "\n".join(line for line in self.diff.split("\n")[2:] if not line.startswith("@@")) or self.elsewhere

    @property
    def durations(self) -> list[float]:
        """Return how many seconds its last runs took, the newest first."""
        return [run.seconds for run in self.runs if run.seconds is not None][:DURATIONS]

    @property
    def told(self) -> str:
        """Return a line about its last run: when and how it ended, how long the last ones took, and where."""
        last = self.runs[0]
        facts = (
            f"{last.started.astimezone():%Y-%m-%d %H:%M}",
            last.error.name if last.error else last.outcome,
            ", ".join(f"{seconds:,.1f} s" for seconds in self.durations),
            f"ran {len(self.runs)} times" if len(self.runs) > 1 else "",
            PurePath(last.notebook).name,
            last.result.replace("\n", " "),
            last.memory_id,
        )
        return " · ".join(fact for fact in facts if fact)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values: those of the last run, and how often it ran."""
        last = self.runs[0]
        return {
            "version": self.number,
            "when": last.started.isoformat(),
            "outcome": last.outcome,
            "error": last.error.name if last.error else "",
            "seconds": last.seconds,
            "durations": self.durations,
            "runs": len(self.runs),
            "diff": self.diff,
            "elsewhere": self.elsewhere,
            "text": last.source,
            "packages": last.packages,
            "result": last.result,
            "notebook": last.notebook,
            "memory_id": last.memory_id,
        }


@dataclass(frozen=True, slots=True)
class Fix:
    """A run that mended an error, and the run that had failed."""

    failed: Run  # without a source in a note that tells of an error
    mended: Run  # with the text of such a note
    strength: float  # how alike its error and the new one are, up to 1
    kind: FixKind = "history"

    @property
    def error(self) -> str:
        """Return the name of the error, and the first line of its message."""
        error = self.failed.error or RunError("", "")
        return ": ".join(part for part in (error.name, error.message.strip().partition("\n")[0]) if part)

    @property
    def diff(self) -> str:
        """Return what the mending run changed, as a unified diff."""
        return changed(self.failed.source, self.mended.source, "failed", "mended") if self.failed.source else ""

    def to_json(self) -> dict[str, Any]:
        return {
            "memory_id": self.mended.memory_id,
            "failed_id": self.failed.memory_id,
            "error": self.error,
            "strength": self.strength,
            "kind": self.kind,
            "failed": self.failed.source,
            "fix": self.mended.source,
            "diff": self.diff,
            "notebook": self.mended.notebook,
            "when": self.mended.dated and self.mended.dated.isoformat(),
            "lang": self.mended.language,
        }
