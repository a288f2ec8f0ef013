"""Runs as the records of a journal, each framed so that one that was torn or overwritten is recognised and left out."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Any, get_args

from jupyter_memory.types import Outcome, Run, RunError

# Bytes that no text in UTF-8 has: after a torn record, the next one is found by them.
_MARK = b"\xff\xfeJM"
_HEAD = struct.Struct("<4sII")
_FIELDS = {field.name for field in fields(Run)}
_ERROR_FIELDS = {field.name for field in fields(RunError)}
_OUTCOMES = get_args(Outcome)
_Key = tuple[str, int]


def note(run: Run) -> bytes:
    """Return the record of a run that is about to begin."""
    return _framed({**asdict(run), "started": run.started.isoformat()})


def ending(run: Run) -> bytes:
    """Return the record of how a run ended; the record of its beginning has the rest."""
    error = None if run.error is None else asdict(run.error)
    return _framed(
        {"session": run.session, "number": run.number, "outcome": run.outcome, "seconds": run.seconds, "error": error}
    )


def runs(data: bytes) -> list[Run]:
    """Return the runs that a journal holds, in their order; those without an ending have the outcome "unknown".

    A record that cannot be read is left out. Of one that a newer version wrote, the known fields are read.
    """
    return list(_joined(_records(data)).values())


def _framed(record: Mapping[str, Any]) -> bytes:
    payload = json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode()
    return _HEAD.pack(_MARK, len(payload), zlib.crc32(payload)) + payload


def _records(data: bytes) -> Iterator[bytes]:
    """Yield the payloads of the records that are whole."""
    place = data.find(_MARK)
    while place >= 0:
        payload = _payload(data, place)
        if payload is None:
            place = data.find(_MARK, place + 1)
        else:
            yield payload
            place = data.find(_MARK, place + _HEAD.size + len(payload))


def _payload(data: bytes, place: int) -> bytes | None:
    if place + _HEAD.size > len(data):
        return None
    _, length, checksum = _HEAD.unpack_from(data, place)
    if not length:  # a power cut leaves zeros, and the checksum of nothing is zero, too
        return None
    begin = place + _HEAD.size
    payload = data[begin : begin + length]
    return payload if len(payload) == length and zlib.crc32(payload) == checksum else None


def _joined(payloads: Iterable[bytes]) -> dict[_Key, Run]:
    """Return the runs that records of beginnings and endings tell of."""
    found: dict[_Key, Run] = {}
    for payload in payloads:
        with suppress(
            AttributeError, KeyError, TypeError, ValueError
        ):  # a newer version may write records of another form
            _join(found, json.loads(payload))
    return found


def _join(found: dict[_Key, Run], record: Mapping[str, Any]) -> None:
    """Add a run that begins, or how one ended."""
    key = (record["session"], record["number"])
    if record["outcome"] not in _OUTCOMES:
        raise ValueError("an unknown outcome")
    if "source" in record:
        found.setdefault(key, _run(record))
    elif key in found:
        found[key] = replace(
            found[key], outcome=record["outcome"], seconds=record["seconds"], error=_error(record["error"])
        )


def _run(record: Mapping[str, Any]) -> Run:
    known = {name: value for name, value in record.items() if name in _FIELDS}
    return Run(**{**known, "started": datetime.fromisoformat(record["started"]), "error": _error(record["error"])})


def _error(record: Mapping[str, str] | None) -> RunError | None:
    if record is None:
        return None
    return RunError(**{name: value for name, value in record.items() if name in _ERROR_FIELDS})
