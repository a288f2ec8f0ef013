"""Memories as JSON lines in a folder: written, read, taken in. Whatever is wrong in it raises ``InputError``."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Any, TypeVar, get_args

from jupyter_memory.errors import InputError
from jupyter_memory.runtime import batches
from jupyter_memory.storage.base import NotedFile, NotedFolder, Stored
from jupyter_memory.storage.databases import Storage
from jupyter_memory.types import KINDS, SEVERITIES, TIERS, Chunk, Draft, Filters, Memory, Outcome, Run, RunError
from jupyter_memory.types.memory import LARGEST_THUMBNAIL, MOST_THUMBNAILS, Pictures, Thumbnail
from jupyter_memory.types.protocols import FileState
from jupyter_memory.types.report import Feedback

_LARGEST = 2**63
Value = TypeVar("Value")
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a JSON record, which may hold anything; errors name its file and line, ``where``, and no values.

    ``place`` is the byte at which its line begins.
    """

    values: Mapping[str, Any]
    where: str
    place: int = 0

    def wrong(self, name: str, must: str) -> InputError:
        """Return the error of a field that is not what it must be."""
        return InputError(f"{self.where}: {name} must be {must}. Nothing was imported.")

    def _of(self, kind: type[Value], name: str, must: str) -> Value:
        value = self.values.get(name)
        if not isinstance(value, kind):
            raise self.wrong(name, must)
        return value

    def text(self, name: str) -> str:
        return self._of(str, name, "a string")

    def words(self, name: str) -> str:
        if not (found := self.text(name)).strip():
            raise self.wrong(name, "more than blanks")
        return found

    def id(self, name: str) -> str:
        if not re.fullmatch(r"[0-9A-Za-z_-]{1,64}", found := self.text(name)):
            raise self.wrong(name, "an id of letters and digits")
        return found

    def digest(self, name: str) -> str:
        if not re.fullmatch(r"[0-9a-f]{0,64}", found := self.text(name)):
            raise self.wrong(name, "a digest")
        return found

    def flag(self, name: str) -> bool:
        return self._of(bool, name, "true or false")

    def integer(self, name: str, *, least: int = 0) -> int:
        value = self.values.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value < _LARGEST:
            raise self.wrong(name, f"a whole number from {least}" if least >= 0 else "a whole number")
        return value

    def number(self, name: str) -> float:
        value = self.values.get(name)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self.wrong(name, "a number")
        return float(value)

    def moment(self, name: str) -> datetime:
        try:
            found = datetime.fromisoformat(self.text(name))
        except ValueError:
            raise self.wrong(name, "a time such as 2026-03-06T18:00:00+00:00") from None
        if found.tzinfo is None:
            raise self.wrong(name, "a time with its zone, such as 2026-03-06T18:00:00+00:00")
        return found

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.values.get(name)
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self.wrong(name, "a list of strings")
        return tuple(value)

    def mapping(self, name: str) -> dict[str, Any]:
        return self._of(dict, name, "an object")

    def path(self, name: str) -> str:
        """Return a path as the catalog has it: from the root, and without ways back up."""
        value = self.text(name)
        rooted = PurePosixPath(value).is_absolute() or PureWindowsPath(value).is_absolute()
        if "\0" in value or not rooted or {".", ".."} & set(value.replace("\\", "/").split("/")):
            raise self.wrong(name, "a path from the root, without . and ..")
        return value

    def error(self, name: str) -> RunError | None:
        found = self.texts(name)
        if found and len(found) != 3:
            raise self.wrong(name, "a list of name, message and traceback")
        return RunError(*found) if found else None

    def chunk(self, value: object, length: int) -> Chunk:
        """Return a chunk of the text of this record, which has ``length`` characters."""
        must = "a list of [start, end, line, prefix] within the text"
        if not isinstance(value, list) or len(value) != 4:
            raise self.wrong("chunks", must)
        one = Fields(dict(zip(("start", "end", "line", "context"), value, strict=True)), f"{self.where}, chunks")
        start, end = one.integer("start"), one.integer("end")
        if not start < end <= length:
            raise self.wrong("chunks", must)
        return Chunk(start, end, one.text("context"), _maybe(Fields.integer)(one, "line"))


_Reader = Callable[[Fields, str], Any]


def _maybe(read: _Reader) -> _Reader:
    return lambda record, name: None if record.values.get(name) is None else read(record, name)


def _one_of(known: Sequence[str | None]) -> _Reader:
    def read(record: Fields, name: str) -> Any:
        if (value := record.values.get(name)) not in known:
            raise record.wrong(name, f"one of {', '.join(map(str, known))}")
        return value

    return read


_any_integer = partial(Fields.integer, least=-_LARGEST)
# The fields of records in their order, each with what reads it. A record may have others besides.
_MEMORY: Mapping[str, _Reader] = {
    "id": Fields.id,
    "kind": _one_of(KINDS),
    **dict.fromkeys(("space", "source", "location", "lang", "title"), Fields.text),
    "text": Fields.words,
    "severity": _one_of((*SEVERITIES, None)),
    **dict.fromkeys(("domain", "session"), _maybe(Fields.text)),
    "tier": _one_of(TIERS),
    "pinned": Fields.flag,
    "tags": Fields.texts,
    **dict.fromkeys(("event_at", "indexed_at"), Fields.moment),
    **dict.fromkeys(("valid_from", "valid_until"), _maybe(Fields.moment)),
    "accessed": Fields.integer,
    "metadata": Fields.mapping,
}
_RUN: Mapping[str, _Reader] = {
    "session": Fields.text,
    "number": _any_integer,
    "started": Fields.moment,
    "seconds": _maybe(Fields.number),
    "outcome": _one_of(get_args(Outcome)),
    "error": _maybe(Fields.error),
    **dict.fromkeys(("notebook", "cell_id", "language", "environment"), Fields.text),
}
# How the pictures begin that are kept, by their type; a browser shows them.
_IMAGES = {"image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL), "image/png": re.compile(rb"\x89PNG\r\n\x1a\n")}
_PICTURE: Mapping[str, _Reader] = {
    "media_type": _one_of(tuple(_IMAGES)),
    "width": partial(Fields.integer, least=1),
    "height": partial(Fields.integer, least=1),
    "origin": Fields.digest,
    "image": Fields.text,
}
_FILE: Mapping[str, _Reader] = {
    "mtime_ns": _any_integer,
    "size": Fields.integer,
    "content_hash": Fields.text,
    "indexed_at": _maybe(Fields.integer),
    "pictures": Fields.flag,
    "dated": Fields.flag,
}
_FEEDBACK: Mapping[str, _Reader] = {
    "memory_id": Fields.id,
    "accepted": Fields.flag,
    **dict.fromkeys(("query", "query_id", "profile"), Fields.text),
    "rank": _maybe(Fields.integer),
    "at": Fields.moment,
}


def _read(record: Fields, readers: Mapping[str, _Reader]) -> dict[str, Any]:
    return {name: read(record, name) for name, read in readers.items()}


def _values(one: object, readers: Mapping[str, _Reader]) -> dict[str, Any]:
    return {name: getattr(one, name) for name in readers}


def of_memory(stored: Stored) -> dict[str, Any]:
    """Return the record of a memory, without its runs."""
    chunks = [[chunk.start, chunk.end, chunk.line, chunk.context] for chunk in stored.chunks]
    return {**_values(stored.memory, _MEMORY), "tier": stored.tier, "chunks": chunks}


def to_memory(record: Fields) -> Stored:
    """Return the memory of a record."""
    memory = Memory(**_read(record, _MEMORY), content_hash="")
    found = record.values.get("chunks", [])
    if not isinstance(found, list):
        raise record.wrong("chunks", "a list")
    return Stored(memory, memory.tier, tuple(record.chunk(one, len(memory.text)) for one in found))


def of_run(run: Run) -> dict[str, Any]:
    """Return the record of a run; its text is that of its memory."""
    return {"memory": run.memory_id, **_values(run, _RUN)}


def to_run(record: Fields) -> Run:
    """Return the run of a record, without its text."""
    return Run(source="", memory_id=record.id("memory"), **_read(record, _RUN))


def of_pictures(stored: Stored) -> Iterator[dict[str, Any]]:
    """Yield the records of the pictures that a memory shows."""
    for one in stored.thumbnails:
        yield {"memory": stored.memory.id, **_values(one, _PICTURE), "image": b64encode(one.image).decode()}


def to_picture(record: Fields) -> tuple[str, Thumbnail]:
    """Return a picture of a record with the id of its memory."""
    fields = _read(record, _PICTURE)
    try:
        image = b64decode(fields["image"], validate=True)
    except ValueError:
        image = b""
    if not _IMAGES[fields["media_type"]].match(image) or len(image) > LARGEST_THUMBNAIL:
        raise record.wrong("image", f"base64 of a picture of at most {LARGEST_THUMBNAIL:,} bytes")
    return record.id("memory"), Thumbnail(**{**fields, "image": image})


def of_file(file: NotedFile) -> dict[str, Any]:
    """Return the record of an indexed file."""
    state = file.state
    known = {**_values(state, _FILE), "pictures": bool(state.pictures), "dated": bool(state.dated)}
    return {"path": state.path, "space": file.space, **known}


def to_file(record: Fields) -> NotedFile:
    """Return the indexed file of a record."""
    return NotedFile(record.text("space"), FileState(record.path("path"), **_read(record, _FILE)))


def to_folder(record: Fields) -> NotedFolder:
    """Return the folder of a record, not watched: an export may come from another person, or another machine."""
    record.flag("watched")
    return NotedFolder(record.path("path"), record.text("space"), False, _maybe(Fields.moment)(record, "indexed_at"))


def of_feedback(said: Feedback) -> dict[str, Any]:
    """Return the record of what was said of a hit."""
    return _values(said, _FEEDBACK)


def to_feedback(record: Fields) -> Feedback:
    """Return what was said of a hit."""
    return Feedback(**_read(record, _FEEDBACK))


def _as_json(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return dict(value) if isinstance(value, Mapping) else astuple(value)  # type: ignore[call-overload]  # a RunError


# The folder that an export writes: its files, written whole or not at all, and read line by line.

FORMAT, VERSION = "jupyter-memory export", 1
ABOUT = "store.json"
MEMORIES, RUNS, PICTURES, FILES, FOLDERS, FEEDBACK = (
    f"{name}.jsonl" for name in ("memories", "runs", "pictures", "files", "folders", "feedback")
)
NOTES = "notes"
# An index run that passes by must not read the notes a second time.
IGNORE = ".jupytermemoryignore"
# Bytes of a line: several times a text of 20 MB, the largest file that is indexed unless the settings say otherwise.
LONGEST = 200_000_000


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Yield a hidden folder to fill, which becomes ``target`` at the end; if the block fails, nothing is left."""
    try:
        if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
            raise InputError(f"There is something at {target} already. Name a folder that is new or empty.")
        target.parent.mkdir(parents=True, exist_ok=True)
        # Readable by its owner alone, as are the files in it.
        filled = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}. Name another folder.") from None
    try:
        yield filled
        if target.exists():
            target.rmdir()
        filled.rename(target)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}. Nothing was exported.") from None
    finally:
        shutil.rmtree(filled, ignore_errors=True)


def write_text(file: Path, text: str) -> None:
    """Write a new file that only its owner can read."""
    with _created(file) as stream:
        stream.write(text.encode())


def write_lines(file: Path, records: Iterable[dict[str, Any]]) -> int:
    """Write records one a line; return how many."""
    count = 0
    with _created(file) as stream:
        for record in records:
            line = json.dumps(record, ensure_ascii=False, default=_as_json).encode()
            if len(line) >= LONGEST:
                raise InputError(f"{record.get('id')} is too large for an export. Copy the store with `backup`.")
            stream.write(line + b"\n")
            count += 1
        stream.flush()
        os.fsync(stream.fileno())
    return count


def lines(folder: Path, name: str) -> Iterator[Fields]:
    """Yield the records of a file, each knowing its line; none where there is no such file."""
    if not os.path.lexists(folder / name):
        return
    with opened(folder / name) as stream:
        place, number = 0, 0
        while line := stream.readline(LONGEST + 1):
            number += 1
            if line.strip():
                yield _parsed(line, f"{name}, line {number}", place)
            place += len(line)


@contextmanager
def opened(file: Path) -> Iterator[IO[bytes]]:
    """Open a file of the folder for reading; a link could lead anywhere, and a pipe never end."""
    if file.is_symlink() or not file.is_file():
        raise InputError(f"{file} is no regular file. Nothing was imported.")
    try:
        stream = file.open("rb")
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}. Nothing was imported.") from None
    with stream:
        yield stream


def about(folder: Path) -> Fields:
    """Return the status record of an exported folder."""
    if not folder.is_dir() or not os.path.lexists(folder / ABOUT):
        raise InputError(f"{folder} has no {ABOUT}, so it is no exported store. Name the folder that `export` wrote.")
    with opened(folder / ABOUT) as stream:
        found = _parsed(stream.read(LONGEST + 1), ABOUT)
    if found.values.get("format") != FORMAT:
        raise found.wrong("format", FORMAT)
    if found.integer("version", least=1) > VERSION:
        raise InputError(f"{folder} was exported by a newer version. Update: pip install -U jupyter-memory")
    return found


def _parsed(line: bytes, where: str, place: int = 0) -> Fields:
    if len(line) > LONGEST:
        raise InputError(f"{where}: longer than {LONGEST // 1_000_000} MB. Nothing was imported.")
    try:
        value = json.loads(line, parse_constant=int)  # which refuses NaN and Infinity
        if b"\\u" in line:
            # Half of a pair of surrogates is no text.
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise InputError(f"{where}: this is no JSON. Nothing was imported.") from None
    if not isinstance(value, dict):
        raise InputError(f"{where}: this is no JSON object. Nothing was imported.")
    return Fields(value, where, place)


def _created(file: Path) -> IO[bytes]:
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def looked_up(storage: Storage, some: Sequence[tuple[str, Draft]]) -> tuple[dict[str, Memory], set[str]]:
    """Return the memories that a store knows, by id, and the ids to leave out: it has read their file itself."""
    with storage.snapshot() as snapshot:
        held = snapshot.memories(snapshot.keys(Filters(), [id_ for id_, _ in some])).values()
        known = {memory.id: memory for memory in held}
        of_files = [(id_, draft) for id_, draft in some if draft.kind in ("file", "cell") and id_ not in known]
        states = snapshot.file_states([(draft.source, draft.space) for _, draft in of_files])
        same = snapshot.same_content([draft for _, draft in of_files])
    left = {
        id_
        for (id_, draft), key in zip(of_files, same, strict=True)
        if key is None and (draft.source, draft.space) in states
    }
    return known, left


@dataclass(frozen=True, slots=True)
class Arrival:
    """A memory of the folder, with a draft that has no secrets, and its runs."""

    stored: Stored
    draft: Draft
    runs: tuple[Run, ...]


class ExportedFolder:
    """An exported folder, checked whole before anything in it is stored, then read some memories at a time."""

    def __init__(self, path: Path, *, redacting: bool) -> None:
        self._path, self._redacting = path, redacting
        # Where the runs and pictures of each memory are, since all of them may not fit into memory.
        self._runs: dict[str, list[int]] = defaultdict(list)
        self._pictures: dict[str, list[int]] = defaultdict(list)
        about(path)

        kinds: dict[str, str] = {}
        for record in lines(path, MEMORIES):
            memory = to_memory(record).memory
            if memory.id in kinds:
                raise record.wrong("id", "one that no line before has")
            kinds[memory.id] = memory.kind
        for record in lines(path, RUNS):
            run = to_run(record)
            if kinds.get(run.memory_id) != "history":
                raise record.wrong("memory", f"the id of a memory of kind history in {MEMORIES}")
            self._runs[run.memory_id].append(record.place)
        for record in lines(path, PICTURES):
            memory_id, _ = to_picture(record)
            if memory_id not in kinds:
                raise record.wrong("memory", f"the id of a memory in {MEMORIES}")
            if len(self._pictures[memory_id]) == MOST_THUMBNAILS:
                raise record.wrong("memory", f"one that has fewer than {MOST_THUMBNAILS} pictures")
            self._pictures[memory_id].append(record.place)
        for name, check in ((FILES, to_file), (FOLDERS, to_folder), (FEEDBACK, to_feedback)):
            for record in lines(path, name):
                check(record)

    def memories(self, together: int) -> Iterator[list[Arrival]]:
        """Yield the memories in their order, so many at a time."""
        from jupyter_memory.ingest.preparation import clean
        from jupyter_memory.ingest.redaction.redactor import redact
        from jupyter_memory.ingest.runs import in_bounds

        for some in batches(map(to_memory, lines(self._path, MEMORIES)), together):
            ids = [stored.memory.id for stored in some]
            runs = self._read(ids, self._runs, RUNS, to_run)
            pictures = self._read(ids, self._pictures, PICTURES, to_picture)
            arrivals = []
            for stored in some:
                id_ = stored.memory.id
                shown = Pictures(tuple(picture for _, picture in pictures[id_]))
                try:
                    draft = clean(replace(stored.draft, pictures=shown, chunks=()), redacting=self._redacting)
                except InputError as error:
                    raise InputError(f"{id_} cannot be imported: {error}") from None
                # Where a secret was found in its text, it is cut into chunks anew.
                if draft.text == stored.memory.text:
                    chunks = stored.chunks
                    if self._redacting:
                        chunks = tuple(replace(one, context=redact(one.context)[0]) for one in chunks)
                    draft = replace(draft, chunks=chunks)
                bounded = tuple(in_bounds(run, redacting=self._redacting) for run in runs[id_])
                arrivals.append(Arrival(stored, draft, bounded))
            yield arrivals

    def _read(
        self, ids: Sequence[str], places: Mapping[str, list[int]], name: str, read: Callable[[Fields], Found]
    ) -> dict[str, list[Found]]:
        found: dict[str, list[Found]] = {id_: [] for id_ in ids}
        if any(id_ in places for id_ in ids):
            with opened(self._path / name) as stream:
                for id_ in ids:
                    for place in places.get(id_, ()):
                        stream.seek(place)
                        found[id_].append(read(_parsed(stream.readline(LONGEST + 1), name)))
        return found
