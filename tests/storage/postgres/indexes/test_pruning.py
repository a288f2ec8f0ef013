"""The best chunks are the same, with the same scores, whether or not everything is read that holds a frequent word."""

from __future__ import annotations

import random
from contextlib import closing
from itertools import product

import pytest
from hashing import Hashing

from jupyter_memory.ingest import prepare
from jupyter_memory.storage import open_storage
from jupyter_memory.storage.postgres.connection.session import Session
from jupyter_memory.storage.postgres.indexes import pruning
from jupyter_memory.storage.postgres.indexes.pruning import Weighed, apart
from jupyter_memory.types import Draft, Filters, Terms

# The first is in a third of the texts, the last in a fourteenth.
_LISTED = "price order queue rate forecast mean session invoice stock supplier region returns margin churn"
WORDS = _LISTED.split()
WEIGHTS = {"title": 2.0, "context": 1.0, "text": 1.0, "tags": 1.0, "ident": 0.5}
NEVER = 10**9


@pytest.fixture(scope="module")
def store(postgres_server):
    """A store with 600 memories in two spaces, of words that are as frequent as those of a language."""
    embedder, chosen = Hashing(), random.Random(3)
    with closing(open_storage(postgres_server.new_database(), busy_seconds=5)) as opened:
        drafts = [
            Draft(
                text=" ".join(_words(chosen, number)),
                title=chosen.choice(WORDS) if number % 9 == 0 else "",
                space="papers" if number % 2 else "",
            )
            for number in range(600)
        ]
        opened.writer.add(prepare(drafts, embedder), embedder)
        yield opened


def _words(chosen, number):
    """Yield the words of a text; some texts are one word, again and again, which counts as much as a word can."""
    if number % 12 == 0:
        yield from [chosen.choice(WORDS)] * (8 + number % 5)
        return
    for place, word in enumerate(WORDS):
        for _ in range(3):
            if chosen.random() < 0.4 / (place + 3):
                yield word
    yield from ("note", str(number))


def best(store, terms, count):
    """Return the best memories with their chunks and scores."""
    with store.snapshot() as snapshot:
        return [
            (one.memory, one.chunk, one.score) for one in snapshot.keyword_matches(terms, WEIGHTS, Filters(), count)
        ]


@pytest.mark.parametrize(("first", "lookup"), list(product((1, 60), (0, 2, NEVER))))
def test_pruning_changes_no_answer(store, monkeypatch, first, lookup):
    """Of many sets of words, with phrases and pairs among them, the best 1 to 120 are equal, however words are read."""
    chosen, sent = random.Random(first + lookup), []
    execute = Session.execute

    def noted(session, sql, *args, **options):
        sent.append(sql)
        return execute(session, sql, *args, **options)

    monkeypatch.setattr(Session, "execute", noted)
    for number in range(40):
        words = tuple(chosen.sample(WORDS, chosen.randint(2, 9)))
        phrases = (f"{WORDS[0]} {WORDS[1]}", f"{words[0]} {words[0]}") if number % 3 == 0 else ()
        terms = Terms(words=words, phrases=phrases, ident=("東京",) if number % 5 == 0 else ())
        count = chosen.choice((1, 10, 40, 120))
        monkeypatch.setattr(pruning, "_FIRST_ROWS", NEVER)
        plain = best(store, terms, count)
        monkeypatch.setattr(pruning, "_FIRST_ROWS", first)
        monkeypatch.setattr(pruning, "_LOOKUP", lookup)
        assert best(store, terms, count) == plain
    pruned = sum("reached0" in sql for sql in sent)
    assert pruned > 20, "hardly any search was pruned, so nothing was compared"


def test_the_rarest_words_are_read_first():
    """Few rows are read first, and the words that good chunks do not lack; all of them if no other is frequent."""
    rare, often, most = Weighed("churn", 900, 8.0), Weighed("rate", 90_000, 3.0), Weighed("price", 400_000, 1.0)
    assert apart([most, rare, often]) == ([rare], [often, most])
    assert apart([rare, Weighed("mean", 35_000, 4.0)]) == ([rare, Weighed("mean", 35_000, 4.0)], [])
    assert apart([most]) == ([most], [])
    alike = [Weighed(f"word{number}", 50_000 + number, 4.0) for number in range(12)]
    assert apart(alike) == (alike[:11], alike[11:])
    assert apart([]) == ([], [])
