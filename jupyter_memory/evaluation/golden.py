"""A person's own golden set: questions asked of a store, and which memories were the right answers.

It is a file beside the store, ``memory.golden.jsonl``, readable by its owner alone: the questions as they were asked,
and of the answers no word, only ids and content hashes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.types import Answer, Filters


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its time and filters; ``right`` maps the ids of its answers to their content hashes."""

    text: str
    now: datetime
    right: Mapping[str, str]
    filters: Filters = field(default_factory=Filters)
    tags: tuple[str, ...] = ()
    domain: str | None = None

    @property
    def id(self) -> str:
        """Return six characters that name the question with its filters."""
        asked = json.dumps([self.text, _plain(self.filters), self.tags, self.domain], ensure_ascii=False)
        return blake2b(asked.encode(), digest_size=3).hexdigest()


def golden_path(store: Path) -> Path:
    """Return the file of a store's golden set, whether it is there or not."""
    return store.with_name(f"{store.stem}.golden.jsonl")


def load(path: Path) -> list[Asked]:
    """Return the questions of a golden set, none where there is no file.

    Raises:
        InputError: a line of the file cannot be read.
    """
    if not path.exists():
        return []
    found = []
    # Only at line feeds: JSON leaves other ends of lines, such as U+0085, in a text as they are.
    for number, line in enumerate(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"), start=1):
        try:
            found.append(_asked(json.loads(line)))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}, line {number}, is no question: mend the line or remove it.") from error
    return found


def save(path: Path, asked: Sequence[Asked]) -> None:
    """Write a golden set, readable by its owner alone; an empty one has no file."""
    if not asked:
        path.unlink(missing_ok=True)
        return
    lines = "".join(json.dumps(_line(one), ensure_ascii=False) + "\n" for one in asked)
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    # Made with its rights, not given them afterwards: nobody else can open it in between.
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(lines)
    beside.replace(path)


def add(path: Path, answer: Answer, ranks: Sequence[int]) -> Asked:
    """Keep an answer's question, the hits of these ranks being right; a question that is known gets more answers.

    Raises:
        InputError: the answer has no question, or not so many hits.
    """
    if not answer.query.text:
        raise InputError("The last search listed memories without a question. Ask one first: %memsearch …")
    for rank in ranks:
        if not 1 <= rank <= len(answer.hits):
            results = f"{len(answer.hits)} result{'s' if len(answer.hits) != 1 else ''}"
            raise InputError(f"The last search has {results}; there is no rank {rank}.")
    query, memories = answer.query, [answer.hits[rank - 1].memory for rank in ranks]
    right = {memory.id: memory.content_hash for memory in memories}
    asked = Asked(query.text, query.now, right, query.filters, query.tags, query.domain)
    known = load(path)
    same = next((one for one in known if one.id == asked.id), None)
    if same is not None:
        asked = replace(same, right={**same.right, **right})
    save(path, [*(one for one in known if one.id != asked.id), asked])
    return asked


def forget(path: Path, ids: Sequence[str]) -> int:
    """Take questions out of the set and return how many went.

    Raises:
        InputError: one of the ids is not there; nothing is taken out then.
    """
    known = load(path)
    if missing := sorted(set(ids) - {one.id for one in known}):
        raise InputError(f"There is no question {missing[0]} in the golden set. %memeval list shows the ids.")
    left = [one for one in known if one.id not in ids]
    save(path, left)
    return len(known) - len(left)


def _line(asked: Asked) -> dict[str, Any]:
    line: dict[str, Any] = {"_id": asked.id, "text": asked.text, "date": asked.now.isoformat()}
    line |= {"right": dict(asked.right), "filters": _plain(asked.filters), "tags": list(asked.tags)}
    return {name: value for name, value in {**line, "domain": asked.domain}.items() if value not in ({}, [], None)}


def _asked(line: Mapping[str, Any]) -> Asked:
    return Asked(
        text=str(line["text"]),
        now=datetime.fromisoformat(line["date"]),
        right={str(one): str(of) for one, of in line["right"].items()},
        filters=_filters(line.get("filters", {})),
        tags=tuple(line.get("tags", ())),
        domain=line.get("domain"),
    )


def _plain(filters: Filters) -> dict[str, Any]:
    """Return filters as JSON values, empty ones left out."""
    found: dict[str, Any] = {}
    for one in fields(filters):
        value = getattr(filters, one.name)
        if isinstance(value, Filters):
            found[one.name] = _plain(value)
        elif isinstance(value, datetime):
            found[one.name] = value.isoformat()
        elif value:
            found[one.name] = list(value)
    return found


def _filters(plain: Mapping[str, Any]) -> Filters:
    values: dict[str, Any] = {}
    for name, value in plain.items():
        if isinstance(value, Mapping):
            values[name] = _filters(value)
        else:
            values[name] = datetime.fromisoformat(value) if isinstance(value, str) else tuple(value)
    return Filters(**values)
