"""Signs in a query: an asterisk for words that begin so, NOT, and emoji."""

from datetime import UTC, datetime

import pytest

from jupyter_memory.search import parse

TEXTS = {
    "a": "The mouldings of the wainscot are lime",
    "b": "The mouldboard of the plough is worn",
    "c": "Released 🚀 the new shingles",
    "d": "The wainscot of the barn is oak",
    "e": "We ate cake 🎂 and 🎂 in the hayloft",
}


@pytest.mark.parametrize("profile", ["auto", "covalence", "vault", "memini", "memini-rrf"])
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("mould*", "ab"), ("mouldb*", "b"), ("oaken wains*", "ad"), ("🚀", "c"), ("cake 🎂", "e"),
        ("wainscot NOT oak", "a"), ("wainscot AND NOT lime", "d"),
    ],
)  # fmt: skip
def test_signs_are_understood(store, query, found, profile):
    """By each profile with words."""
    memory = store(embedder=None)
    memory.add_many([{"text": text, "title": name} for name, text in TEXTS.items()])
    hits = memory.hits(query, profile=profile).hits
    assert sorted(hit.memory.title for hit in hits if hit.memory.title in found) == list(found)
    assert "NOT" in query or {hit.memory.title for hit in hits[: len(found)]} == set(found)
    assert "NOT" not in query or {hit.memory.title for hit in hits} <= set(found)


def test_what_is_excluded_is_said(store):
    """With the sign that excludes it."""
    memory = store(embedder=None)
    memory.add_many([{"text": text} for text in TEXTS.values()])
    assert "because of the NOT before it" in str(memory.hits("wainscot NOT oak").notices)
    assert "because of the minus before it" in str(memory.hits("wainscot -oak").notices)


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("mould*", "mould"), ("a* Prices* of", "prices"), ("import *", None), ("a**b x**", None),
        ("**bold** f(*args)", None), ('"mould*" x', None), ("int *p", None), ("x*y", None),
    ],
)  # fmt: skip
def test_an_asterisk_behind_a_word_lets_it_go_on(text, prefix):
    """One of code or Markdown does not."""
    assert parse(text, now=datetime.now(UTC)).terms.prefix == prefix
