"""Prepared memories as plain tuples, to be handed from one process to another in little time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import Any

import numpy as np

from jupyter_memory.storage.prepared import Prepared
from jupyter_memory.types import Chunk, Draft

_DRAFT = attrgetter(*(field.name for field in fields(Draft)[:-1]))
_CHUNK = attrgetter(*(field.name for field in fields(Chunk)))
_draft: Callable[..., Draft] = Draft

# Drafts with their chunks; all vectors; how many tokens each chunk has, and all of them; the words of ``ident``.
Packed = tuple[list[tuple[Any, ...]], Any, list[int], Any, list[str]]


def packed(prepared: Sequence[Prepared]) -> Packed:
    """Return memories that are ready to be written as tuples, strings and three arrays."""
    drafts = [(*_DRAFT(one.draft), [_CHUNK(chunk) for chunk in one.draft.chunks]) for one in prepared]
    parts = [one.vectors for one in prepared if one.vectors is not None]
    tokens = [ids for one in prepared for ids in one.tokens]
    return (
        drafts,
        np.concatenate(parts) if parts else None,
        [len(ids) for ids in tokens],
        np.concatenate(tokens) if tokens else None,
        [words for one in prepared for words in one.idents],
    )


def unpacked(given: Packed) -> list[Prepared]:
    """Return the memories that were packed."""
    drafts, vectors, counts, tokens, idents = given
    ids = [] if tokens is None else [tokens[begin:end] for begin, end in pairwise(accumulate(counts, initial=0))]
    ends = accumulate((len(draft[-1]) for draft in drafts), initial=0)
    return [
        Prepared(
            _draft(*draft[:-1], tuple([Chunk(*chunk) for chunk in draft[-1]])),
            None if vectors is None else vectors[begin:end],
            ids[begin:end],
            idents[begin:end],
        )
        for draft, (begin, end) in zip(drafts, pairwise(ends), strict=True)
    ]
