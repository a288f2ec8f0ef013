"""What each tool answers, as typed values: their schemas are told to programs, so names are short and few."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from jupyter_memory.mcp.schemas import lean


class Result(BaseModel):
    """An answer, or a part of one; None is left out."""

    @classmethod
    def output_schema(cls) -> dict[str, Any]:
        """Return the answer as a short JSON schema."""
        return lean(cls.model_json_schema())

    def values(self) -> dict[str, Any]:
        """Return the answer as JSON values."""
        return self.model_dump(mode="json", exclude_none=True)


class Place(Result):
    """A memory and where it comes from."""

    id: str
    title: str | None = None
    path: str | None = None
    cell: str | None = None
    line: int | None = None
    date: str | None = None
    kind: str | None = None
    lang: str | None = None
    tags: list[str] | None = None
    caution: str | None = None


class FoundMemory(Place):
    """A hit; ``tokens`` is what its whole text would cost, where ``text`` is not that."""

    file: Literal["changed", "gone"] | None = Field(None, description="since it was indexed")
    badges: str | None = None
    strength: float | None = None
    context: str | None = None
    snippet: str | None = None
    text: str | None = None
    tokens: int | None = None


class Shared(Result):
    """What all hits of a page have in common; their paths begin with ``folder``."""

    folder: str | None = None
    path: str | None = None
    title: str | None = None
    context: str | None = None
    date: str | None = None
    kind: str | None = None
    lang: str | None = None
    badges: str | None = None


class SearchResult(Result):
    """What memory_search and memory_related answer."""

    verdict: Literal["strong", "weak", "none"] | None = None
    shared: Shared | None = Field(None, description="of every hit; paths go on from folder")
    hits: list[FoundMemory]
    next: str | None = Field(None, description="cursor of more")
    time: str | None = None
    note: str | None = None
    rule: str | None = None
    tokens: int


class ReadMemory(Place):
    """A memory that was read; where its text, of ``length`` characters, is not whole, from ``start`` to ``end``."""

    text: str
    start: int | None = None
    end: int | None = None
    length: int | None = None
    next_offset: int | None = None


class GetResult(Result):
    """What memory_get answers; ``left`` had no room, ``missing`` cannot be seen."""

    memories: list[ReadMemory]
    left: list[str] | None = None
    missing: list[str] | None = None
    note: str | None = None
    rule: str
    tokens: int


class RememberResult(Result):
    """What memory_remember answers."""

    id: str
    redacted: int = Field(description="secrets replaced")
    note: str | None = None
    tokens: int


class ForgetResult(Result):
    """What memory_forget answers."""

    forgotten: int
    tokens: int


class StatusResult(Result):
    """What memory_status answers: counts of what this client may see."""

    memories: int
    kinds: dict[str, int]
    languages: dict[str, int]
    tags: list[str]
    bounds: list[str]
    writing: str
    rule: str
    tokens: int
