"""What tests of a store read from it."""

from __future__ import annotations


def titles(found):
    """Return the titles of a result or an answer, in order."""
    return [hit.memory.title for hit in found.hits] if hasattr(found, "hits") else found["title"].tolist()


def words_of_the_index(store):
    """Return how many rows the keyword index has, and how many vectors there are."""
    stats = store.stats()
    return stats["chunks"], sum(model["vectors"] for model in stats["models"])
