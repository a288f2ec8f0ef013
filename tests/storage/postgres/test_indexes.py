"""The indexes of a server: they answer as SQLite does, and as reading everything would."""

import random
from contextlib import closing
from datetime import timedelta
from functools import partial
from itertools import product

import pytest
from contract import seen
from hashing import Hashing

from jupyter_memory.ingest import prepare
from jupyter_memory.storage import open_storage
from jupyter_memory.text import COLUMNS
from jupyter_memory.types import Draft, Filters, Terms, WordForms

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

import psycopg
from week import NOW

from jupyter_memory.storage import keyword

_LISTED = (
    "rate rates price prices orders ordered queue queues Zürich zurich λ μ mean means forecast forecasting don't "
    "FileSyncService sync_queue df.groupby 東京 売上 ﬁle m² naïve cooperation the of and to in 3.2 1.0.21 e-mail"
)
WORDS = _LISTED.split()
EVERY = {"title": 5.0, "context": 1.0, "text": 3.0, "tags": 2.0, "ident": 5.0}
WEIGHTS = (EVERY, {"title": 5.0, "text": 1.0}, {"text": 1.0}, {"ident": 2.0, "tags": 0.5})
FORMS = WordForms("stadt", inflected=("zürich", "the rate"), compounds=("mean",))
TERMS = (
    Terms(words=("rate",)), Terms(words=("prices", "queue", "zürich", "the", "nowhere")),
    Terms(words=("don't", "e-mail", "naïve", "3.2")), Terms(phrases=("the rate",), words=("orders",)),
    Terms(phrases=("price prices", "rate rate", "mean")), Terms(prefix="fore"),
    Terms(words=("queue",), prefix="forecasti"), Terms(prefix="the ra"),
    Terms(words=("FileSyncService", "sync_queue"), ident=("sync", "queue")),
    Terms(ident=("東京", "売"), words=("file",)), Terms(words=("queue",), respelled=("zurich", "price")),
    Terms(words=("stadt", "orders"), forms=(FORMS,)), Terms(words=("!?",), phrases=("",)),
)  # fmt: skip
ABSENT = Terms(phrases=("nowhere else",), words=("rate", "orders"))
FILTERS = (
    Filters(), Filters(tag=("queue",)), Filters(not_tag=("queue",), kind=("note",)),
    Filters(since=NOW - timedelta(days=20)), Filters(not_word=("zürich", "sync_queue")),
    Filters(path=("/week",), also=Filters(lang=("python",))),
)  # fmt: skip


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
        places = folder / f"{changed}.sqlite", postgres_server.new_database()
        found[changed] = [open_storage(place, busy_seconds=5) for place in places]
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
    return stores[True]


def answers(store, ask):
    with store.snapshot() as snapshot:
        found = ask(snapshot)
        memories = snapshot.memories([one.memory for one in found])
        return [(memories[one.memory].text, one.score) for one in found]


@pytest.mark.parametrize("weights", WEIGHTS, ids=lambda weights: "-".join(weights))
@pytest.mark.parametrize("terms", TERMS, ids=str)
def test_keywords_agree(stores, terms, weights):
    """Each kind of term, in each set of columns and within filters, has the same memories and FTS5's own scores."""
    # How rare a word in several forms is, SQLite reckons by the highest id: as long as no chunk was removed, exactly.
    for filters in FILTERS:
        ask = partial(keywords, terms, weights, filters)
        here, there = (answers(store, ask) for store in stores[not terms.forms])
        assert [score for _, score in there] == pytest.approx([score for _, score in here], abs=1e-9)
        assert [text for text, _ in there] == [text for text, _ in here]


def keywords(terms, weights, filters, snapshot):
    return snapshot.keyword_matches(terms, weights, filters, 30)


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
    return snapshot.keyword_matches(terms, weights, Filters(), 1000)


def test_cosines_agree_to_the_last_bit(both):
    vector = Hashing().embed_query("the rate of the prices in Zürich")

    def nearest(filters, threshold, snapshot):
        return snapshot.vector_matches(snapshot.active_model(), vector, filters, 25, threshold)

    for filters, threshold in product(FILTERS, (None, 0.2)):
        here, there = (answers(store, partial(nearest, filters, threshold)) for store in both)
        assert here == there


def test_words_and_highlights_agree(both):
    """The vocabulary, the counts of words, what is held, and where terms stand in a text."""
    text = "The ﬁle of Zürich's sync_queue: forecasting e-mail prices, 東京の売上"
    phrases = [f"{one} {other}" for one in WORDS[:9] for other in WORDS[:9]]

    def told(snapshot):
        corpus = snapshot.corpus
        stems = sorted({stem for word in WORDS for stem in corpus.words(word)})
        counts = corpus.chunks, corpus.frequencies([*stems, "nowhere"])
        found = sorted(corpus.beginning("pri")), sorted(corpus.ending(("service", "at")))
        held = [snapshot.corpus.chunk_count(stem, COLUMNS) for stem in stems]
        held += [snapshot.corpus.holds_word(word, ["title"]) for word in WORDS]
        held += [snapshot.corpus.holds_phrase(phrase, EVERY) for phrase in phrases]
        return counts, found, held, [snapshot.highlights(terms, EVERY, {1: text}) for terms in TERMS]

    here, there = (seen(store, told) for store in both)
    assert here == there


# The first is in a third of the texts, the last in a fourteenth.


_LISTED = "price order queue rate forecast mean session invoice stock supplier region returns margin churn"
FREQUENT = _LISTED.split()
ALIKE = {"title": 2.0, "context": 1.0, "text": 1.0, "tags": 1.0, "ident": 0.5}
NEVER = 10**9


@pytest.fixture(scope="module")
def store(postgres_server):
    """A store with 600 memories in two spaces, of words that are as frequent as those of a language."""
    embedder, chosen, drafts = Hashing(), random.Random(3), []
    for number in range(600):
        text, space = " ".join(_words(chosen, number)), "papers" if number % 2 else ""
        drafts.append(Draft(text=text, title=chosen.choice(FREQUENT) if number % 9 == 0 else "", space=space))
    with closing(open_storage(postgres_server.new_database(), busy_seconds=5)) as opened:
        opened.writer.add(prepare(drafts, embedder), embedder)
        yield opened


def _words(chosen, number):
    """Yield the words of a text; some texts are one word, again and again, which counts as much as a word can."""
    if number % 12 == 0:
        yield from [chosen.choice(FREQUENT)] * (8 + number % 5)
        return
    for place, word in enumerate(FREQUENT):
        for _ in range(3):
            if chosen.random() < 0.4 / (place + 3):
                yield word
    yield from ("note", str(number))


def best(store, terms, count):
    with store.snapshot() as snapshot:
        return [(one.memory, one.chunk, one.score) for one in snapshot.keyword_matches(terms, ALIKE, Filters(), count)]


@pytest.mark.parametrize(("first", "lookup"), list(product((1, 60), (0, 2, NEVER))))
def test_pruning_changes_no_answer(store, monkeypatch, first, lookup):
    """Of many sets of words, with phrases and pairs among them, the best 1 to 120 are equal, however words are read."""
    chosen, sent = random.Random(first + lookup), []
    execute = psycopg.Connection.execute

    def noted(connection, sql, *args, **options):
        sent.append(sql)
        return execute(connection, sql, *args, **options)

    monkeypatch.setattr(psycopg.Connection, "execute", noted)
    for number in range(40):
        words = tuple(chosen.sample(FREQUENT, chosen.randint(2, 9)))
        phrases = (f"{FREQUENT[0]} {FREQUENT[1]}", f"{words[0]} {words[0]}") if number % 3 == 0 else ()
        terms = Terms(words=words, phrases=phrases, ident=("東京",) if number % 5 == 0 else ())
        count = chosen.choice((1, 10, 40, 120))
        monkeypatch.setattr(keyword, "_FIRST_ROWS", NEVER)
        plain = best(store, terms, count)
        monkeypatch.setattr(keyword, "_FIRST_ROWS", first)
        monkeypatch.setattr(keyword, "_LOOKUP", lookup)
        assert best(store, terms, count) == plain
    pruned = sum("reached0" in str(sql) for sql in sent)
    assert pruned > 20, "hardly any search was pruned, so nothing was compared"


def test_the_rarest_words_are_read_first():
    """Few rows are read first, and the words that good chunks do not lack; all of them if no other is frequent."""
    apart, word = keyword.apart, keyword.Weighed
    rare, often, most = word("churn", 900, 8.0), word("rate", 90_000, 3.0), word("price", 400_000, 1.0)
    assert apart([most, rare, often]) == ([rare], [often, most])
    assert apart([rare, word("mean", 35_000, 4.0)]) == ([rare, word("mean", 35_000, 4.0)], [])
    assert apart([most]) == ([most], [])
    alike = [word(f"word{number}", 50_000 + number, 4.0) for number in range(12)]
    assert apart(alike) == (alike[:11], alike[11:])
    assert apart([]) == ([], [])


TEXTS = [f"the rate {number} of queue {number % 7} and price {number % 5}" for number in range(150)]
SOME = (Filters(), *(Filters(tag=(tag,)) for tag in ("seven", "rare", "no")), Filters(not_tag=("seven",)))


@pytest.fixture(scope="module")
def storage(postgres_server):
    """A store of 150 memories, of which every seventh has a tag, and one another tag; some in another space."""
    embedder, drafts = Hashing(), []
    for number, text in enumerate(TEXTS):
        tags = ("rare",) if number == 140 else ("seven",) * (number % 7 == 0)
        drafts.append(Draft(text=text, tags=tags, space="b" * (number == 3)))
    with closing(open_storage(postgres_server.new_database(), busy_seconds=5)) as opened:
        opened.writer.add(prepare(drafts, embedder), embedder)
        yield opened


def found(storage, filters, wanted=20):
    with storage.snapshot() as snapshot:
        query = Hashing().embed_query("the rate 140 of queue 0")
        return snapshot.vector_matches(snapshot.active_model(), query, filters, wanted, None)


def indexes(storage):
    with storage.database.read() as session:
        return [name for (name,) in session.rows("select indexname from pg_indexes where indexdef like '% hnsw %'")]


@pytest.mark.parametrize("filters", SOME, ids=str)
def test_the_index_answers_as_comparing_everything_does(storage, monkeypatch, filters):
    """A small graph is searched whole, so memories, order and scores are those of the exact search."""
    with storage.database.read() as session:
        exact = found(storage, filters)
        monkeypatch.setattr(storage.vectors, "exact", 0)
        # What a larger store makes worth it.
        session.execute("set local enable_sort = off")
        scans = "select pg_stat_get_xact_numscans('vectors_nearest_1'::regclass)"
        before = session.value(scans)
        assert found(storage, filters) == exact and bool(exact) == (filters.tag != ("no",))
        assert filters or session.value(scans) > before


def test_filters_never_empty_a_set(storage, monkeypatch):
    """Where the index gives up before it meets what a filter lets through, everything that fits is compared."""
    monkeypatch.setattr(storage.vectors, "exact", 0)
    with storage.database.read() as session:
        for setting in ("enable_sort = off", "hnsw.ef_search = 1", "hnsw.iterative_scan = off"):
            session.execute(f"set local {setting}")
        fitting = {Filters(tag=("rare",)): 1, Filters(space=("b",)): 1, Filters(tag=("seven",)): 21}
        for filters, count in fitting.items():
            assert len(found(storage, filters, 30)) == count


def test_a_model_has_its_index_as_long_as_it_is_there(emptied_postgres):
    """The index is made when the first vector is written, and goes when the last one does."""
    embedder = Hashing()
    with closing(open_storage(emptied_postgres, busy_seconds=5)) as storage:
        assert indexes(storage) == []
        storage.writer.add(prepare([Draft(text=TEXTS[0])], embedder), embedder)
        assert len(indexes(storage)) == 1
        other = storage.writer.register_model(Hashing("other", 24))
        assert len(indexes(storage)) == 2
        storage.writer.drop_models([other])
        assert len(indexes(storage)) == 1
