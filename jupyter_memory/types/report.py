"""What a change or a look at a store reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from jupyter_memory.text.display import count_of, size, visible
from jupyter_memory.types.search import Filters

# Where a search can come from.
ORIGINS = ("magic", "panel", "command line", "python", "mcp")
# Reasons that a report counts by kind: nothing reads such files, or a notebook beside them holds the same.
NO_READER, PAIRED = "no reader", "paired with a notebook"
# Kinds of files that a report names.
_KINDS = 12


@dataclass(frozen=True, slots=True)
class PictureReport:
    """What indexing did with pictures; ``left_out`` pairs a reason with a number, ``removed`` counts earlier ones."""

    kept: int = 0
    left_out: tuple[tuple[str, int], ...] = ()
    removed: int = 0

    def parts(self) -> list[str]:
        parts = [f"{count_of(self.kept, 'picture')} kept"] if self.kept else []
        if self.left_out:
            parts.append(f"{count_of(sum(number for _, number in self.left_out), 'picture')} left out")
        return [*parts, f"{count_of(self.removed, 'picture')} removed"] if self.removed else parts

    def lines(self) -> list[str]:
        """Return why pictures were left out, a line for each reason."""
        return [f"  left out {count_of(number, 'picture')} {why}" for why, number in self.left_out]


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What indexing did; what is not said otherwise counts files."""

    files: int = 0
    cells: int = 0  # the memories written
    unchanged: int = 0
    forgotten: int = 0
    redacted: int = 0  # secrets
    skipped: tuple[tuple[str, str], ...] = ()  # paths with the reason; so is ``failed``
    failed: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0
    moved: int = 0
    unpinned: int = 0  # memories that were pinned, and went with their files
    failed_before: int = 0  # in an earlier run, and unchanged since
    # Path and reason of all that was not read: for a whole file with its kind, the ending of its name, else with an
    # empty one: that of the file is left out or uncertain.
    left_out: tuple[tuple[str, str, str], ...] = field(default=(), repr=False)
    pictures: PictureReport = field(default_factory=PictureReport)
    notice: str = ""  # that the store is nearly as large as the settings allow, or larger

    def __str__(self) -> str:
        indexed = f"{count_of(self.files, 'file')} indexed ({count_of(self.cells, 'memory', 'memories')})"
        parts = [indexed, f"{self.unchanged:,} unchanged"]
        # Files that exist but are no longer wanted are forgotten too; nobody should think that they were deleted.
        pinned = f", with {count_of(self.unpinned, 'pinned memory', 'pinned memories')}" if self.unpinned else ""
        parts += [f"{count_of(self.forgotten, 'file')} forgotten (gone or left out{pinned})"] if self.forgotten else []
        parts += [f"{count_of(self.moved, 'moved file')} recognised"] if self.moved else []
        parts += [f"{count_of(self.redacted, 'secret')} redacted"] if self.redacted else []
        parts += self.pictures.parts()
        counts = {"skipped": len(self.skipped), "failed": len(self.failed), "failed before": self.failed_before}
        noted = [(path, what) for path, what, kind in self.left_out if not kind]
        counts["noted"] = len(dict(noted))
        parts += [f"{count:,} {what}" for what, count in counts.items() if count]
        lines = [", ".join(parts) + f" in {self.seconds:.1f} s", *([f"  {self.notice}"] if self.notice else [])]
        if kinds := self.kinds_left_out:
            lines.append(f"  left out: {kinds}; index with --details lists them")
        if self.failed_before:
            failed = count_of(self.failed_before, "file")
            lines.append(f"  {failed} could not be read before; index with --retry reads again")
        lines += self.pictures.lines()
        lines += [f"  skipped {visible(path)}: {visible(why)}" for path, why in self.skipped]
        lines += [f"  failed  {visible(path)}: {visible(why)}" for path, why in self.failed]
        lines += [f"  noted   {visible(path)}: {visible(what)}" for path, what in noted]
        return "\n".join(lines)

    @property
    def details(self) -> str:
        """Return the report with a line for each file that was left out."""
        lines = (f"  left out {visible(path)}: {visible(why)}" for path, why, kind in self.left_out if kind)
        return "\n".join([str(self), *lines])

    @property
    def kinds_left_out(self) -> str:
        """Return what was left out by kind and number: ``.png 12, .sav 3 (no reader)``."""
        kinds = Counter(kind for _, why, kind in self.left_out if why == NO_READER)
        counts = sorted(kinds.items(), key=lambda one: (-one[1], one[0]))
        named = [f"{visible(kind)} {count:,}" for kind, count in counts[:_KINDS]]
        if rest := [count for _, count in counts[_KINDS:]]:
            named.append(f"{count_of(sum(rest), 'file')} of {count_of(len(rest), 'other kind')}")
        paired = sum(why == PAIRED for _, why, _ in self.left_out)
        said = [f"{', '.join(named)} ({NO_READER})"] if named else []
        return "; ".join([*said, *([f"{paired:,} {PAIRED}"] if paired else [])])

    def __repr__(self) -> str:
        return f"<IndexReport: {str(self).splitlines()[0]}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        # A folder may have thousands of skipped files; `skipped` and `failed` list them all.
        lines = str(self).splitlines()
        printer.text("\n".join([*lines[:21], *([f"  … and {len(lines) - 21} more"] if len(lines) > 21 else [])]))


@dataclass(frozen=True, slots=True)
class Selection:
    """Memories that were chosen and counted, but not forgotten yet; ``store.forget(selection)`` forgets these alone."""

    ids: tuple[str, ...]
    kinds: Mapping[str, int] = field(default_factory=dict)  # how many of each, the most frequent first
    pinned: int = 0
    tagged: int = 0
    filters: Filters = field(default_factory=Filters)  # these, or all, are what chose them; for ids they are empty
    everything: bool = False

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def parts(self) -> str:
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in self.kinds.items())
        return f"{kinds}; {self.pinned:,} pinned, {self.tagged:,} with tags"

    def __str__(self) -> str:
        counted = count_of(len(self.ids), "memory", "memories")
        return f"{counted} ({self.parts})" if self.ids else counted

    def __repr__(self) -> str:
        return f"<Selection: {self}>"


@dataclass(frozen=True, slots=True)
class Undoable:
    """A forgetting that can be taken back: how many memories went, and until when their texts are kept (in UTC)."""

    memories: int
    until: datetime
    moved: tuple[str, ...] = ()  # where to, if they were: the store, and the ids that it did not have before

    def __str__(self) -> str:
        return f"{count_of(self.memories, 'memory', 'memories')} until {self.until.astimezone():%Y-%m-%d %H:%M}"


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder, or a single file, that was indexed."""

    path: str
    watched: bool
    files: int
    memories: int
    changed: int | None  # the files that are new, gone or different; None if they were not compared
    indexed_at: datetime | None  # in UTC
    exists: bool


@dataclass(frozen=True, slots=True)
class Recent:
    """A past search of a person, or a call of a connected program such as an agent, of which every one is kept."""

    query_id: str
    query: str  # what a call was about
    profile: str
    at: datetime  # aware, in UTC
    origin: str  # one of ``ORIGINS``
    hits: int  # how many were shown
    client: str = ""  # the name of the program and what it called; both are empty for a person's search
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a person said of a hit: if it was right, at which rank, by which profile."""

    memory_id: str
    accepted: bool
    query: str
    query_id: str
    profile: str
    rank: int | None
    at: datetime


@dataclass(frozen=True, slots=True)
class HistoryStatus:
    """What a store holds of the history: how many runs of how many texts, and when the first and last began, in UTC."""

    runs: int = 0
    texts: int = 0
    since: datetime | None = None
    last: datetime | None = None

    def __str__(self) -> str:
        if not self.runs or self.since is None or self.last is None:
            return "no runs"
        counted = f"{count_of(self.runs, 'run')} of {count_of(self.texts, 'text')}"
        return f"{counted}, {self.since.astimezone():%Y-%m-%d %H:%M} to {self.last.astimezone():%Y-%m-%d %H:%M}"


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export wrote, in numbers. ``notes`` are those of the memories that are there as Markdown too."""

    folder: Path
    memories: int
    notes: int
    runs: int
    files: int
    folders: int
    feedback: int
    pictures: int = 0

    def __str__(self) -> str:
        counted = count_of(self.memories, "memory", "memories")
        parts = [counted, count_of(self.runs, "run"), count_of(self.files, "file")]
        parts += [count_of(self.pictures, "picture")] if self.pictures else []
        return f"exported {', '.join(parts)} to {visible(str(self.folder))}"


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What became of the memories of a folder."""

    added: int = 0  # new ones
    kept: int = 0  # there with their ids
    updated: int = 0  # likewise, and changed
    merged: int = 0  # there under another id
    left_out: int = 0  # of files that the store has indexed itself
    pictures: PictureReport = field(default_factory=PictureReport)

    def __str__(self) -> str:
        return self.said("imported")

    def said(self, done: str, where: str = "") -> str:
        """Return the report as a line that begins with what was done with the memories that are new, and where."""
        said = [f"{done} {count_of(self.added, 'memory', 'memories')}{where}"]
        said += [f"{self.updated:,} updated"] if self.updated else []
        said += [f"{self.kept:,} known already and kept"] if self.kept else []
        said += [f"{self.merged:,} merged with the same content"] if self.merged else []
        said += [f"{self.left_out:,} left out, since their files are indexed here"] if self.left_out else []
        return "\n".join([", ".join(said), *self.pictures.lines()])


@dataclass(frozen=True, slots=True)
class CopyReport:
    """What was copied to ``target``: what became of the memories, how many new ones have no vectors, searches."""

    target: str
    memories: ImportReport
    without_vectors: int = 0
    searches: int = 0
    masked: int = 0  # memories in which secrets were found
    removed: int | None = None  # from the source, after a move
    stayed: int = 0  # there, since they are not the same in ``target``

    def __str__(self) -> str:
        line = self.memories.said("copied", f" to {visible(self.target)}")
        line += f", {count_of(self.searches, 'search', 'searches')}" if self.searches else ""
        line += f", secrets redacted in {self.masked:,}" if self.masked else ""
        line += f"; removed {self.removed:,} from the source" if self.removed is not None else ""
        return line + (f", but not {self.stayed:,} that differ there" if self.stayed else "")


# The share of the budget from which on people are told, and that of the whole from which on a part is named.
_NEAR, _HARDLY = 0.9, 0.02
_LABELS = {"words": "keyword index", "files": "list of files", "forgotten": "kept for undo", "log": "write-ahead log"}


@dataclass(frozen=True, slots=True)
class StoreSize:
    """The bytes of a store by what they are for: texts, words, vectors, pictures, history, searches and so on."""

    # ``forgotten`` is what `undo` can restore, ``free`` room in the file that what comes next will use, ``log`` what
    # SQLite keeps beside the file.
    parts: Mapping[str, int]
    budget: int | None = None  # the setting ``max_store_mb`` in bytes, None without one

    @property
    def bytes(self) -> int:
        """Return what the store takes on disk."""
        return sum(self.parts.values())

    @property
    def held(self) -> int:
        """Return what its content takes, which is what the budget is for."""
        return self.bytes - self.parts.get("free", 0) - self.parts.get("log", 0)

    def __str__(self) -> str:
        least = _HARDLY * self.bytes
        named = {name: count for name, count in self.parts.items() if name != "other" and count >= least}
        others = self.bytes - sum(named.values())
        said = [f"{_LABELS.get(name, name)} {size(count)}" for name, count in named.items()]
        return ", ".join([*said, *([f"others {size(others)}"] if others else [])])


def budget_notice(held: int, budget: int | None) -> str:
    """Return what to say of a store whose content takes nearly all of its budget or more, else nothing.

    >>> budget_notice(93_000_000, 100_000_000)
    'The store holds 93.0 MB; the setting max_store_mb allows 100.0 MB. `status` says what they are used for.'
    >>> budget_notice(93_000_000, None)
    ''
    """
    if budget is None or held < _NEAR * budget:
        return ""
    said = f"The store holds {size(held)}; the setting max_store_mb allows {size(budget)}."
    if held < budget:
        return f"{said} `status` says what they are used for."
    return (
        f"{said} New texts are still stored, new pictures are not. Raise the setting, or forget what you no longer "
        "need: `status` says what takes the space."
    )
