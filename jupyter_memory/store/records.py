"""Memories as JSON lines in a folder: written, checked and read. Whatever is wrong in it raises ``InputError``."""

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
from itertools import chain
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Any, TypeVar, get_args

from jupyter_memory.errors import InputError
from jupyter_memory.runtime import batches
from jupyter_memory.storage.base import NotedFile, NotedFolder, Stored
from jupyter_memory.storage.transfer import Contents
from jupyter_memory.text.unicode import json_text
from jupyter_memory.types import KINDS, SEVERITIES, TIERS, Chunk, Draft, Feedback, Memory, Outcome, Run, RunError
from jupyter_memory.types.memory import LARGEST_THUMBNAIL, MOST_THUMBNAILS, Thumbnail
from jupyter_memory.types.protocols import FileState

_LARGEST = 2**63
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class _Record:
    # A JSON object, which may hold anything; errors name its file and line, ``where``, and no values. ``place`` is the
    # byte at which its line begins.
    values: Mapping[str, Any]
    where: str
    place: int = 0

    def wrong(self, name: str, must: str) -> InputError:
        return InputError(f"{self.where}: {name} must be {must}. Nothing was imported.")


_Reader = Callable[[_Record, str], Any]


def _that(
    read: _Reader, fits: Callable[[Any], object], must: str, become: Callable[[Any], Any] = lambda value: value
) -> _Reader:
    def checked(record: _Record, name: str) -> Any:
        value = read(record, name)
        if not fits(value):
            raise record.wrong(name, must)
        return become(value)

    return checked


def _a(kind: type, must: str) -> _Reader:
    return _that(_value, lambda value: isinstance(value, kind), must)


def _one_of(known: Sequence[str | None]) -> _Reader:
    return _that(_value, lambda value: value in known, f"one of {', '.join(map(str, known))}")


def _maybe(read: _Reader) -> _Reader:
    return lambda record, name: None if _value(record, name) is None else read(record, name)


def _whole(least: int) -> _Reader:
    must = f"a whole number from {least}" if least >= 0 else "a whole number"
    return _that(_value, lambda value: type(value) is int and least <= value < _LARGEST, must)


def _value(record: _Record, name: str) -> Any:
    return record.values.get(name)


def _moment(record: _Record, name: str) -> datetime:
    try:
        found = datetime.fromisoformat(_text(record, name))
    except ValueError:
        raise record.wrong(name, "a time such as 2026-03-06T18:00:00+00:00") from None
    if found.tzinfo is None:
        raise record.wrong(name, "a time with its zone, such as 2026-03-06T18:00:00+00:00")
    return found


def _is_path(value: str) -> bool:
    rooted = PurePosixPath(value).is_absolute() or PureWindowsPath(value).is_absolute()
    return rooted and "\0" not in value and not {".", ".."} & set(value.replace("\\", "/").split("/"))


_text, _flag = _a(str, "a string"), _a(bool, "true or false")
_id = _that(_text, re.compile(r"[0-9A-Za-z_-]{1,64}").fullmatch, "an id of letters and digits")
_path = _that(_text, _is_path, "a path from the root, without . and ..")
_texts = _that(
    _value,
    lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
    "a list of strings",
    tuple,
)
_MEMORY: Mapping[str, _Reader] = {
    "id": _id,
    "kind": _one_of(KINDS),
    **dict.fromkeys(("space", "source", "location", "lang", "title"), _text),
    "text": _that(_text, str.strip, "more than blanks"),
    "severity": _one_of((*SEVERITIES, None)),
    **dict.fromkeys(("domain", "session"), _maybe(_text)),
    "tier": _one_of(TIERS),
    "pinned": _flag,
    "tags": _texts,
    **dict.fromkeys(("event_at", "indexed_at", "stored_at"), _moment),
    **dict.fromkeys(("valid_from", "valid_until"), _maybe(_moment)),
    "accessed": _whole(0),
    "metadata": _a(dict, "an object"),
}
_CHUNK: Mapping[str, _Reader] = {"start": _whole(0), "end": _whole(0), "line": _maybe(_whole(0)), "context": _text}
_RUN: Mapping[str, _Reader] = {
    "session": _text,
    "number": _whole(-_LARGEST),
    "started": _moment,
    "seconds": _maybe(_that(_value, lambda value: type(value) in (int, float), "a number", float)),
    "outcome": _one_of(get_args(Outcome)),
    "error": _maybe(
        _that(
            _texts,
            lambda found: len(found) in (0, 3),
            "a list of name, message and traceback",
            lambda found: RunError(*found) if found else None,
        )
    ),
    **dict.fromkeys(("notebook", "cell_id", "language", "environment", "packages", "result"), _text),
}
# How the pictures begin that are kept, by their type; a browser shows them.
_IMAGES = {"image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL), "image/png": re.compile(rb"\x89PNG\r\n\x1a\n")}
_PICTURE: Mapping[str, _Reader] = {
    "media_type": _one_of(tuple(_IMAGES)),
    "width": _whole(1),
    "height": _whole(1),
    "origin": _that(_text, re.compile(r"[0-9a-f]{0,64}").fullmatch, "a digest"),
    "image": _text,
}
_FILE: Mapping[str, _Reader] = {
    "mtime_ns": _whole(-_LARGEST),
    "size": _whole(0),
    "content_hash": _text,
    "indexed_at": _maybe(_whole(0)),
    "pictures": _flag,
    "dated": _flag,
}
_FEEDBACK: Mapping[str, _Reader] = {
    "memory_id": _id,
    "accepted": _flag,
    **dict.fromkeys(("query", "query_id", "profile"), _text),
    "rank": _maybe(_whole(0)),
    "at": _moment,
}


def _read(record: _Record, readers: Mapping[str, _Reader]) -> dict[str, Any]:
    return {name: read(record, name) for name, read in readers.items()}


def _values(one: object, readers: Mapping[str, _Reader]) -> dict[str, Any]:
    return {name: getattr(one, name) for name in readers}


def _stored(record: _Record) -> Stored:
    memory = Memory(**_read(record, _MEMORY), content_hash="")
    listed, chunks = record.values.get("chunks", []), []
    if not isinstance(listed, list):
        raise record.wrong("chunks", "a list")
    must = "a list of [start, end, line, prefix] within the text"
    for one in listed:
        if not isinstance(one, list) or len(one) != len(_CHUNK):
            raise record.wrong("chunks", must)
        values = _Record(dict(zip(_CHUNK, one, strict=True)), f"{record.where}, chunks")
        chunk = Chunk(**_read(values, _CHUNK))
        if not chunk.start < chunk.end <= len(memory.text):
            raise record.wrong("chunks", must)
        chunks.append(chunk)
    return Stored(memory, memory.tier, tuple(chunks))


def _run(record: _Record) -> Run:
    return Run(source="", memory_id=_id(record, "memory"), **_read(record, _RUN))


def _picture(record: _Record) -> tuple[str, Thumbnail]:
    fields = _read(record, _PICTURE)
    try:
        image = b64decode(fields["image"], validate=True)
    except ValueError:
        image = b""
    if not _IMAGES[fields["media_type"]].match(image) or len(image) > LARGEST_THUMBNAIL:
        raise record.wrong("image", f"base64 of a picture of at most {LARGEST_THUMBNAIL:,} bytes")
    return _id(record, "memory"), Thumbnail(**{**fields, "image": image})


# The folder that an export writes.
_FORMAT, _VERSION = "jupyter-memory export", 1
_ABOUT = "store.json"
_MEMORIES, _RUNS, _PICTURES, _FILES, _FOLDERS, _FEEDBACKS = (
    f"{name}.jsonl" for name in ("memories", "runs", "pictures", "files", "folders", "feedback")
)
# Bytes of a line: several times a text of 20 MB, the largest file that is indexed unless the settings say otherwise.
_LONGEST = 200_000_000
# What has no place in the name of a file, and characters of a title that have one.
_NO_NAME, _LONGEST_NAME = re.compile(r"[^\w]+"), 60


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Yield a hidden folder to fill, which becomes ``target`` at the end; if the block fails, nothing is left."""
    try:
        if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
            raise InputError(f"{target} already exists. Name a folder that is new or empty.")
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


def write(folder: Path, contents: Contents) -> dict[str, int]:
    """Write the contents of a store into a folder, and return how many there are of each kind."""
    notes = folder / "notes"
    notes.mkdir(0o700)
    # An index run that passes by must not read the notes a second time.
    with _created(folder / ".jupytermemoryignore") as stream:
        stream.write(b"*\n")
    counts = dict.fromkeys(("memories", "notes"), 0)

    def memories() -> Iterator[dict[str, Any]]:
        for stored in contents.memories():
            memory = stored.memory
            if memory.kind == "note":
                _write_note(notes, memory)
                counts["notes"] += 1
            chunks = [[chunk.start, chunk.end, chunk.line, chunk.context] for chunk in stored.chunks]
            yield {**_values(memory, _MEMORY), "tier": stored.tier, "chunks": chunks}

    files: dict[str, Iterable[dict[str, Any]]] = {
        _MEMORIES: memories(),
        _RUNS: ({"memory": run.memory_id, **_values(run, _RUN)} for one in contents.memories() for run in one.runs),
        _PICTURES: (
            {"memory": one.memory.id, **_values(shown, _PICTURE), "image": b64encode(shown.image).decode()}
            for one in contents.memories()
            for shown in one.thumbnails
        ),
        _FILES: (
            {"path": state.path, "space": space, **_values(state, _FILE)}
            | {"pictures": bool(state.pictures), "dated": bool(state.dated)}
            for space, state in contents.files()
        ),
        _FOLDERS: (one._asdict() for one in contents.folders()),
        _FEEDBACKS: (_values(said, _FEEDBACK) for said in contents.feedback()),
    }
    for name, records in files.items():
        kind = name.removesuffix(".jsonl")
        counts[kind] = 0
        with _created(folder / name) as stream:
            for record in records:
                line = json.dumps(record, ensure_ascii=False, default=_as_json).encode()
                if len(line) >= _LONGEST:
                    raise InputError(f"{record.get('id')} is too large for an export. Copy the store with `backup`.")
                stream.write(line + b"\n")
                counts[kind] += 1
            stream.flush()
            os.fsync(stream.fileno())

    from importlib.metadata import version  # late: it loads the package email

    about = {
        "format": _FORMAT,
        "version": _VERSION,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "by": f"jupyter-memory {version('jupyter-memory')}",
        "counts": counts,
        "read": "`import` reads the .jsonl files; the Markdown in notes/ is a copy for other programs.",
    }
    with _created(folder / _ABOUT) as stream:
        stream.write(json_text(about, indent=2).encode() + b"\n")
    return counts


def _write_note(notes: Path, memory: Memory) -> None:
    words = _NO_NAME.sub("-", memory.title)[:_LONGEST_NAME].strip("-_").lower()
    # A name counts in bytes, of which a character may take four.
    name = words.encode()[: 2 * _LONGEST_NAME].decode(errors="ignore")
    fields = {"id": memory.id, "title": memory.title, "tags": memory.tags, "date": memory.event_at.isoformat()}
    head = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items() if value]
    with _created(notes / (f"{name}-{memory.id}.md" if name else f"{memory.id}.md")) as stream:
        stream.write("\n".join(["---", *head, "---", "", memory.text, ""]).encode())


def _created(file: Path) -> IO[bytes]:
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _as_json(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return dict(value) if isinstance(value, Mapping) else astuple(value)  # type: ignore[call-overload]  # a RunError


def _lines(folder: Path, name: str) -> Iterator[_Record]:
    if not os.path.lexists(folder / name):
        return
    with _opened(folder / name) as stream:
        place, number = 0, 0
        while line := stream.readline(_LONGEST + 1):
            number += 1
            if line.strip():
                yield _parsed(line, f"{name}, line {number}", place)
            place += len(line)


@contextmanager
def _opened(file: Path) -> Iterator[IO[bytes]]:
    # A link could lead anywhere, and a pipe never end.
    if file.is_symlink() or not file.is_file():
        raise InputError(f"{file} is no regular file. Nothing was imported.")
    try:
        stream = file.open("rb")
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}. Nothing was imported.") from None
    with stream:
        yield stream


def _parsed(line: bytes, where: str, place: int = 0) -> _Record:
    if len(line) > _LONGEST:
        raise InputError(f"{where}: longer than {_LONGEST // 1_000_000} MB. Nothing was imported.")
    try:
        value = json.loads(line, parse_constant=int)  # which refuses NaN and Infinity
        if b"\\u" in line:
            # Half of a pair of surrogates is not text.
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise InputError(f"{where}: this is not JSON. Nothing was imported.") from None
    if not isinstance(value, dict):
        raise InputError(f"{where}: this is not a JSON object. Nothing was imported.")
    return _Record(value, where, place)


def _check_about(folder: Path) -> None:
    if not folder.is_dir() or not os.path.lexists(folder / _ABOUT):
        raise InputError(f"{folder} has no {_ABOUT}, so it is no exported store. Name the folder that `export` wrote.")
    with _opened(folder / _ABOUT) as stream:
        about = _parsed(stream.read(_LONGEST + 1), _ABOUT)
    if about.values.get("format") != _FORMAT:
        raise about.wrong("format", _FORMAT)
    if _whole(1)(about, "version") > _VERSION:
        raise InputError(f"{folder} was exported by a newer version. Update: pip install -U jupyter-memory")


def without_secrets(stored: Stored, *, redacting: bool) -> tuple[Stored, Draft]:
    """Return a memory on its way to another store, and its draft; a text with a secret is cut into chunks anew."""
    from jupyter_memory.ingest.preparation import clean
    from jupyter_memory.ingest.redaction.redactor import redact
    from jupyter_memory.ingest.runs import in_bounds

    def hidden(text: str) -> str:
        return redact(text)[0] if redacting else text

    draft = stored.draft
    draft = clean(replace(draft, chunks=(), context=hidden(draft.context)), redacting=redacting)
    if draft.text == stored.memory.text:
        draft = replace(draft, chunks=tuple(replace(one, context=hidden(one.context)) for one in stored.chunks))
    return replace(stored, runs=tuple(in_bounds(run, redacting=redacting) for run in stored.runs)), draft


class ExportedFolder:
    """An exported folder, checked whole before anything in it is stored, then read some memories at a time."""

    def __init__(self, path: Path, *, redacting: bool) -> None:
        self._path, self._redacting = path, redacting
        # Where the runs and pictures of each memory are, since all of them may not fit into memory.
        self._runs: dict[str, list[int]] = defaultdict(list)
        self._pictures: dict[str, list[int]] = defaultdict(list)
        _check_about(path)
        kinds: dict[str, str] = {}
        for record in _lines(path, _MEMORIES):
            memory = _stored(record).memory
            if memory.id in kinds:
                raise record.wrong("id", "one that no line before has")
            kinds[memory.id] = memory.kind
        for record in _lines(path, _RUNS):
            run = _run(record)
            if kinds.get(run.memory_id) != "history":
                raise record.wrong("memory", f"the id of a memory of kind history in {_MEMORIES}")
            self._runs[run.memory_id].append(record.place)
        for record in _lines(path, _PICTURES):
            memory_id, _ = _picture(record)
            if memory_id not in kinds:
                raise record.wrong("memory", f"the id of a memory in {_MEMORIES}")
            if len(self._pictures[memory_id]) == MOST_THUMBNAILS:
                raise record.wrong("memory", f"one that has fewer than {MOST_THUMBNAILS} pictures")
            self._pictures[memory_id].append(record.place)
        for _ in chain(self.files(), self.folders(), self.feedback()):
            pass

    def memories(self, together: int) -> Iterator[list[tuple[Stored, Draft]]]:
        """Yield the memories with their runs in their order, so many at a time, each with a draft without secrets."""
        for some in batches(map(_stored, _lines(self._path, _MEMORIES)), together):
            ids = [stored.memory.id for stored in some]
            runs = self._read(ids, self._runs, _RUNS, _run)
            pictures = self._read(ids, self._pictures, _PICTURES, _picture)
            arrivals = []
            for stored in some:
                id_ = stored.memory.id
                shown = tuple(picture for _, picture in pictures[id_])
                whole = replace(stored, runs=tuple(runs[id_]), thumbnails=shown)
                try:
                    arrivals.append(without_secrets(whole, redacting=self._redacting))
                except InputError as error:
                    raise InputError(f"{id_} cannot be imported: {error}") from None
            yield arrivals

    def files(self) -> Iterator[NotedFile]:
        for record in _lines(self._path, _FILES):
            yield NotedFile(_text(record, "space"), FileState(_path(record, "path"), **_read(record, _FILE)))

    def folders(self) -> Iterator[NotedFolder]:
        """Yield the folders, not watched: an export may come from another person, or another machine."""
        for record in _lines(self._path, _FOLDERS):
            _flag(record, "watched")
            indexed_at = _maybe(_moment)(record, "indexed_at")
            place = _path(record, "path"), _text(record, "space")
            yield NotedFolder(*place, False, indexed_at, _text(record, "description"), _flag(record, "hidden"))

    def feedback(self) -> Iterator[Feedback]:
        for record in _lines(self._path, _FEEDBACKS):
            yield Feedback(**_read(record, _FEEDBACK))

    def _read(
        self, ids: Sequence[str], places: Mapping[str, list[int]], name: str, read: Callable[[_Record], Found]
    ) -> dict[str, list[Found]]:
        found: dict[str, list[Found]] = {id_: [] for id_ in ids}
        if any(id_ in places for id_ in ids):
            with _opened(self._path / name) as stream:
                for id_ in ids:
                    for place in places.get(id_, ()):
                        stream.seek(place)
                        found[id_].append(read(_parsed(stream.readline(_LONGEST + 1), name)))
        return found
