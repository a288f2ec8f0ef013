"""Both databases answer alike: the same memories in the same order, with BM25 and cosines that agree."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest
from hashing import Hashing

from jupyter_memory.ingest import prepare
from jupyter_memory.storage import open_storage
from jupyter_memory.storage.sqlite.connection.database import Database
from jupyter_memory.storage.sqlite.storage import SqliteStorage
from jupyter_memory.text import COLUMNS
from jupyter_memory.types import Draft, Filters, Terms, WordForms

NOW = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)
_LISTED = (
    "rate rates price prices orders ordered queue queues Zürich zurich λ μ mean means forecast forecasting don't "
    "FileSyncService sync_queue df.groupby 東京 売上 ﬁle m² naïve cooperation the of and to in 3.2 1.0.21 e-mail"
)
WORDS = _LISTED.split()
EVERY = {"title": 5.0, "context": 1.0, "text": 3.0, "tags": 2.0, "ident": 5.0}
WEIGHTS = (EVERY, {"title": 5.0, "text": 1.0}, {"text": 1.0}, {"ident": 2.0, "tags": 0.5})
TERMS = (
    Terms(words=("rate",)),
    Terms(words=("prices", "queue", "zürich", "the", "nowhere")),
    Terms(words=("don't", "e-mail", "naïve", "3.2")),
    Terms(phrases=("the rate",), words=("orders",)),
    Terms(phrases=("price prices", "rate rate", "mean")),
    Terms(prefix="fore"),
    Terms(words=("queue",), prefix="forecasti"),
    Terms(prefix="the ra"),
    Terms(words=("FileSyncService", "sync_queue"), ident=("sync", "queue")),
    Terms(ident=("東京", "売"), words=("file",)),
    Terms(words=("queue",), respelled=("zurich", "price")),
    Terms(
        words=("stadt", "orders"), forms=(WordForms("stadt", inflected=("zürich", "the rate"), compounds=("mean",)),)
    ),
    Terms(words=("!?",), phrases=("",)),
)
ABSENT = Terms(phrases=("nowhere else",), words=("rate", "orders"))
FILTERS = (
    Filters(),
    Filters(tag=("queue",)),
    Filters(not_tag=("queue",), kind=("note",)),
    Filters(since=NOW - timedelta(days=20)),
    Filters(not_word=("zürich", "sync_queue")),
    Filters(path=("/week",), also=Filters(lang=("python",))),
)


def drafts():
    """Return a hundred memories of random words, some of them alike."""
    chosen = random.Random(7)
    for number in range(100):
        words = chosen.choices(WORDS, k=chosen.randint(1, 40))
        cell = number % 3 == 0
        yield Draft(
            text=" ".join(words),
            title=" ".join(chosen.choices(WORDS, k=chosen.randint(0, 3))),
            kind="cell" if cell else "note",
            tier="file" if cell else "note",
            source=f"/{'week' if number % 2 else 'month'}/λ{number % 7}.ipynb" if cell else "",
            location=f"#{number}" if cell else "",
            lang="python" if number % 4 else "",
            tags=tuple(chosen.sample(("queue", "prices", "λ"), chosen.randint(0, 2))),
            event_at=NOW - timedelta(days=chosen.randint(0, 40)),
        )


@pytest.fixture(scope="module")
def stores(postgres_server, tmp_path_factory):
    """The same memories in a file and on a server: as they were added, and after some were changed and removed."""
    folder, embedder, found = tmp_path_factory.mktemp("stores"), Hashing(), {}
    for changed in (False, True):
        address = postgres_server.new_database()
        found[changed] = SqliteStorage(Database(folder / f"{changed}.sqlite")), open_storage(address, busy_seconds=5)
        for store in found[changed]:
            memories = store.writer.add(prepare(list(drafts()), embedder), embedder)
            if changed:
                store.writer.update(memories[4].id, {}, tags=["queue", "changed"])
                store.writer.update(memories[6].id, {}, prepared=prepare([Draft(text="the rate of λ")], embedder)[0])
                store.writer.forget([memory.id for memory in memories[20:30]])
    yield found
    for store in (*found[False], *found[True]):
        store.close()


@pytest.fixture
def both(stores):
    """A store that was changed, on both sides."""
    return stores[True]


def answers(store, ask):
    """Return what a snapshot of a store says, with each memory by its text."""
    with store.snapshot() as snapshot:
        found = ask(snapshot)
        memories = snapshot.memories([one.memory for one in found])
        return [(memories[one.memory].text, one.score) for one in found]


@pytest.mark.parametrize("weights", WEIGHTS, ids=lambda weights: "-".join(weights))
@pytest.mark.parametrize("terms", TERMS, ids=str)
def test_keywords_agree(stores, terms, weights):
    """Each kind of term, in each set of columns and within filters, has the same memories and FTS5's own scores.

    How rare a word in several forms is, SQLite reckons by the highest id: as long as no chunk was removed, exactly.
    """
    both = stores[not terms.forms]
    for filters in FILTERS:
        here, there = (
            answers(store, lambda snapshot, filters=filters: snapshot.keyword_matches(terms, weights, filters, 30))
            for store in both
        )
        assert [score for _, score in there] == pytest.approx([score for _, score in here], abs=1e-9)
        assert [text for text, _ in there] == [text for text, _ in here]


def test_the_scores_of_given_memories_agree(both):
    """What a search gives a memory, both give it when they are asked about it alone."""
    for terms in TERMS[:-2]:
        found = []
        for store in both:
            with store.snapshot() as snapshot:
                keys = sorted(snapshot.keys(Filters()))
                scores = snapshot.keyword_scores(terms, EVERY, keys)
                texts = snapshot.texts(keys)
                found.append(sorted((texts[key], score) for key, score in scores.items()))
        here, there = found
        assert [text for text, _ in there] == [text for text, _ in here]
        assert [score for _, score in there] == pytest.approx([score for _, score in here], abs=1e-9)


@pytest.mark.parametrize("terms", (*TERMS[3:], ABSENT), ids=range(3, len(TERMS) + 1))
def test_the_scores_of_some_are_those_of_the_search(both, terms):
    """What a search counted of all chunks counts when some memories are scored after it, in the same columns or not."""
    store = both[1]
    for weights in WEIGHTS:
        with store.snapshot() as snapshot:
            before = snapshot.keyword_scores(terms, weights, [one.memory for one in matches(snapshot, terms, weights)])
        with store.snapshot() as snapshot:
            found = {one.memory: one.score for one in matches(snapshot, terms, weights)}
            some = list(found)[::3]
            scores = snapshot.keyword_scores(terms, weights, some)
            assert scores == pytest.approx({key: found[key] for key in some}, abs=1e-11)
            assert {key: before[key] for key in some} == pytest.approx(scores, abs=1e-11)


def matches(snapshot, terms, weights):
    """Return all memories that a search of the words finds."""
    return snapshot.keyword_matches(terms, weights, Filters(), 1000)


def test_cosines_agree_to_the_last_bit(both):
    """The nearest memories and their cosines are equal, with filters and a threshold too."""
    vector = Hashing().embed_query("the rate of the prices in Zürich")
    for filters in FILTERS:
        for threshold in (None, 0.2):
            here, there = (
                answers(
                    store,
                    lambda snapshot, filters=filters, threshold=threshold: snapshot.vector_matches(
                        snapshot.active_model(), vector, filters, 25, threshold
                    ),
                )
                for store in both
            )
            assert here == there


def test_words_and_highlights_agree(both):
    """The vocabulary, the counts of words, what is held, and where terms stand in a text."""
    text = "The ﬁle of Zürich's sync_queue: forecasting e-mail prices, 東京の売上"
    found = []
    for store in both:
        with store.snapshot() as snapshot:
            corpus = snapshot.corpus
            stems = sorted({stem for word in WORDS for stem in corpus.words(word)})
            found.append(
                (
                    corpus.chunks,
                    corpus.frequencies([*stems, "nowhere"]),
                    sorted(corpus.beginning("pri")),
                    sorted(corpus.ending(("service", "at"))),
                    [snapshot.chunk_count_of(stem, COLUMNS) for stem in stems],
                    [snapshot.holds_word(word, ["title"]) for word in WORDS],
                    [snapshot.holds_phrase(f"{one} {other}", EVERY) for one in WORDS[:9] for other in WORDS[:9]],
                    [snapshot.highlights(terms, EVERY, {1: text}) for terms in TERMS],
                )
            )
    assert found[0] == found[1]
