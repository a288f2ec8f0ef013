"""Answers of the tools as a program reads them."""

from __future__ import annotations

from typing import Any


def with_shared(found: dict[str, Any]) -> dict[str, Any]:
    """Return an answer in which each hit has what the hits have in common, as a program reads it."""
    shared = dict(found.get("shared", {}))
    folder = shared.pop("folder", "")
    hits = [{**shared, **hit} for hit in found.get("hits", ())]
    paths = [{"path": folder + hit["path"]} if "path" in hit else {} for hit in hits]
    return {**found, "hits": [{**hit, **path} for hit, path in zip(hits, paths, strict=True)]} if hits else found
