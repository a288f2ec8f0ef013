"""A receipt of an answer: what it showed, told without a word of it, so that it can be checked against a store later.

Texts, sources and the question are digests with a salt of its own: who guesses one can see that it is right. The digest
of the whole finds damage; the seal, made with a key of the person, finds forgery where that key is.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from importlib.metadata import version
from typing import Any, Literal, NamedTuple

from jupyter_memory.config import receipt_key
from jupyter_memory.storage.snapshot import Snapshot
from jupyter_memory.text.unicode import encodable
from jupyter_memory.types import Answer, Filters, Memory
from jupyter_memory.types.search import OWN

State = Literal["unchanged", "changed", "gone", "replaced"]
_FORMAT = 1


class Noted(NamedTuple):
    """A hit as a receipt has it; ``store`` is its name on the list, empty for your own."""

    rank: int
    score: float | None
    memory_id: str
    store: str
    text: str
    source: str


class Checked(NamedTuple):
    """A hit of a receipt with what became of it: ``replaced`` is gone, and its file has newer text."""

    noted: Noted
    state: State
    memory: Memory | None


def receipt_of(answer: Answer) -> dict[str, Any]:
    """Return the receipt of an answer, as JSON values."""
    salt = secrets.token_hex(16)
    hits = [
        Noted(
            hit.rank,
            None if hit.score != hit.score else hit.score,
            hit.memory.id,
            "" if hit.store == OWN else hit.store,
            _digest(salt, hit.memory.text),
            _digest(salt, hit.memory.source),
        )._asdict()
        for hit in answer.hits
    ]
    as_of = answer.query.filters.as_of
    told = {
        "receipt": _FORMAT,
        "date": datetime.now(UTC).isoformat(),
        "as_of": as_of and as_of.isoformat(),
        "version": version("jupyter-memory"),
        "profile": answer.profile,
        "embedder": answer.embedder,
        "query": _digest(salt, answer.query.written),
        "salt": salt,
        "hits": hits,
    }
    return {**told, **sealed(told)}


@dataclass(frozen=True, slots=True)
class Receipt:
    """A receipt that is whole; ``is_sealed`` says whether it was made with this person's key."""

    date: datetime
    salt: str
    hits: tuple[Noted, ...]
    is_sealed: bool

    @staticmethod
    def read(written: str | bytes) -> Receipt | None:
        """Return the receipt that a file holds, None where it is none, or not as it was made."""
        try:
            told = json.loads(written)
            given = {name: told.pop(name) for name in ("digest", "seal")}
            made = sealed(told)
            if given["digest"] != made["digest"] or told["receipt"] != _FORMAT:
                return None
            of_text = Noted._fields[2:]
            hits = tuple(Noted(int(hit["rank"]), hit["score"], *(str(hit[n]) for n in of_text)) for hit in told["hits"])
            _digest(told["salt"], "")
            date = datetime.fromisoformat(told["date"]).astimezone(UTC)
            is_sealed = hmac.compare_digest(given["seal"], made["seal"])
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError):
            return None
        return Receipt(date, told["salt"], hits, is_sealed)

    def checked(self, snapshot: Snapshot, store: str) -> Iterator[Checked]:
        """Yield what became of its hits of the store of this name."""
        noted = [one for one in self.hits if one.store == store]
        found = snapshot.by_id([one.memory_id for one in noted])
        sources: dict[str, str] | None = None
        for one in noted:
            if (memory := found.get(one.memory_id)) is not None:
                yield Checked(one, "unchanged" if _digest(self.salt, memory.text) == one.text else "changed", memory)
                continue
            if sources is None:
                sources = {_digest(self.salt, source): source for source in snapshot.facet_values("path")}
            source = sources.get(one.source)
            keys = [] if not source else snapshot.keys(Filters(source=(source,)))
            newer = (other for other in snapshot.memories(keys).values() if other.stored_at > self.date)
            newest = max(newer, key=lambda other: other.stored_at, default=None)
            yield Checked(one, "gone" if newest is None else "replaced", newest)


def _digest(salt: str, text: str) -> str:
    return blake2b(encodable(text).encode(), digest_size=16, key=bytes.fromhex(salt)).hexdigest()


def sealed(told: dict[str, Any]) -> dict[str, str]:
    """Return the digest and the seal of what a receipt tells."""
    whole = json.dumps(told, sort_keys=True).encode()
    return {
        "digest": blake2b(whole, digest_size=16).hexdigest(),
        "seal": hmac.digest(receipt_key(), whole, "sha256").hex(),
    }
