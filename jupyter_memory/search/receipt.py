"""Receipts of answers: what an answer showed, as digests with a salt, and what became of it later."""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import blake2b
from importlib.metadata import version
from typing import Any, NamedTuple

from jupyter_memory.config import default_path
from jupyter_memory.errors import StoreError
from jupyter_memory.storage.snapshot import Snapshot
from jupyter_memory.text.paths import write_private
from jupyter_memory.text.unicode import encodable
from jupyter_memory.types import Answer, Filters, Memory
from jupyter_memory.types.search import OWN

_FORMAT, _KEY = 1, 32  # bytes of a key


def receipt_of(answer: Answer) -> dict[str, Any]:
    salt, as_of = secrets.token_hex(16), answer.query.filters.as_of
    told = {
        "receipt": _FORMAT,
        "date": datetime.now(UTC).isoformat(),
        "as_of": as_of and as_of.isoformat(),
        "version": version("jupyter-memory"),
        "profile": answer.profile,
        "embedder": answer.embedder,
        "query": _digest(salt, answer.query.written),
        "salt": salt,
        "hits": [
            {"rank": hit.rank, "score": None if hit.score != hit.score else hit.score, "memory_id": hit.memory.id}
            | {"store": "" if hit.store == OWN else hit.store}
            | {name: _digest(salt, getattr(hit.memory, name)) for name in ("text", "source")}
            for hit in answer.hits
        ],
    }
    return {**told, **_sealed(told)}


class Receipt(NamedTuple):
    """A receipt that is whole; ``is_sealed`` says whether this person's key made it."""

    date: datetime
    salt: str
    hits: list[dict[str, Any]]
    is_sealed: bool

    @staticmethod
    def read(written: bytes) -> Receipt | None:
        """Return the receipt that a file holds, None where it is none, or not as it was made."""
        try:
            told = json.loads(written)
            given = [told.pop(name) for name in ("digest", "seal")]
            digest, seal = _sealed(told).values()
            if given[0] != digest or told["receipt"] != _FORMAT:
                return None
            names = ("memory_id", "store", "text", "source")
            hits = [{"rank": int(hit["rank"]), **{n: str(hit[n]) for n in names}} for hit in told["hits"]]
            _digest(told["salt"], "")
            date = datetime.fromisoformat(told["date"]).astimezone(UTC)
            return Receipt(date, told["salt"], hits, hmac.compare_digest(given[1], seal))
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError):
            return None

    def became(self, hit: Mapping[str, Any], snapshot: Snapshot) -> tuple[str, Memory | None]:
        """Return what became of a hit: unchanged, changed, gone, or replaced by newer text of its source."""
        if (memory := snapshot.by_id([hit["memory_id"]]).get(hit["memory_id"])) is not None:
            return "unchanged" if _digest(self.salt, memory.text) == hit["text"] else "changed", memory
        sources = [one for one in snapshot.facet_values("path") if _digest(self.salt, one) == hit["source"]]
        keys = snapshot.keys(Filters(source=tuple(sources), not_kind=("note",))) if sources else []
        newer = (one for one in snapshot.memories(keys).values() if one.stored_at > self.date)
        newest = max(newer, key=lambda one: one.stored_at, default=None)
        return "gone" if newest is None else "replaced", newest


def _digest(salt: str, text: str) -> str:
    return blake2b(encodable(text).encode(), digest_size=16, key=bytes.fromhex(salt)).hexdigest()


def _sealed(told: dict[str, Any]) -> dict[str, str]:
    # The digest finds damage, the seal forgery, where the person's key is.
    if not (key := default_path().with_name("receipt.key")).exists():
        write_private(key, secrets.token_bytes(_KEY))
    try:
        secret = key.read_bytes()
    except OSError:
        secret = b""
    if len(secret) != _KEY:
        raise StoreError(f"{key} cannot be read, or is damaged. Move it away, and the next receipt makes a new one.")
    whole = json.dumps(told, sort_keys=True).encode()
    digest = blake2b(whole, digest_size=16).hexdigest()
    return {"digest": digest, "seal": hmac.digest(secret, whole, "sha256").hex()}
