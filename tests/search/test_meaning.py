"""The signals of meaning: margins of cosines, hubs, MaxSim, the best passage; and what is related to a memory."""

from contextlib import closing
from math import isnan

import apsw
import numpy as np
import pytest
from inside import run_sql
from small_notebooks import write
from week import NOW

from jupyter_memory import UnknownMemory
from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.embedders import tokens as pieces
from jupyter_memory.search import BestPassage, MaxSim, SemanticMargin


def test_a_cosine_is_measured_against_the_store(judged):
    """The same cosine says much where nothing else is near, little where everything is, nothing among copies."""

    def margin(*cosines):
        return judged(SemanticMargin(), "zebra", *({"text": f"λ cos={one}"} for one in cosines))

    apart, alike = margin("0.60", "0.0", "0.1", "0.2"), margin("0.60", "0.5", "0.55", "0.65")
    assert apart[0] > 4 * alike[0] > 0 and apart[0] > apart[3] > apart[2] > apart[1]
    assert all(map(isnan, margin("0.3", "0.3"))) and all(map(isnan, margin("0.3")))


def turned(*degrees):
    return [{"text": f"λ cos={np.cos(np.radians(angle)):.6f}"} for angle in degrees]


def hubness(_query, context):
    return {one.key: context.hubness.get(one.chunk) for one in context}


def test_the_nearest_make_a_hub(hear):
    """The three nearest others count, the far ones make no difference; alone, nothing is near."""
    hub, *_, far = hear(hubness, "zebra", *turned(10, 0, 20, 30, 170))
    assert hub == pytest.approx(np.cos(np.radians((10, 10, 20))).mean(), abs=1e-4)
    assert far < -0.7
    assert hear(hubness, "zebra", *turned(10))[0] in (None, 0.0)


class Sided:
    """A model that gives a text the angle that it ends with, and a question none."""

    name, dimensions, fingerprint, threshold = "sided", 2, "sided/2", -1.0

    def embed_documents(self, texts, /):
        angles = np.radians([float(text.split()[-1]) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)

    def embed_query(self, _text, /):
        return np.array([1, 0], np.float32)


@pytest.mark.parametrize(("trust", "held_back"), [(0.3, False), (1.0, False), (1.2, True), (4.0, True)])
def test_a_hub_is_held_back_where_the_model_is_trusted(filled_with, trust, held_back):
    """Of two equal cosines that of a hub stands out less where meaning can be trusted, and only there."""
    # Both at 60 degrees from the question, on either side; one has neighbours.
    memories = filled_with(*({"text": f"λ {angle}"} for angle in (60, -60, 61, 62, 63, 180)), embedder=Sided())
    run_sql(memories, "insert or replace into trust select id, 1, ? from models where active", trust)
    hits = memories.hits("zebra", now=NOW).hits
    found = {hit.memory.source: hit.signals["semantic_margin"].value for hit in hits}
    assert (found["1.md"] < found["2.md"] - 1e-4) == held_back


@pytest.mark.parametrize(("query", "count"), [("zebra", 100), ("λ", 50)])
def test_more_is_ranked_where_words_help_little(filled_with, query, count):
    """Each retriever is asked for fifty memories, and for a hundred if the words of the question are met nowhere."""
    memories = filled_with(*({"text": f"λ {angle}"} for angle in range(120)), embedder=Sided())
    found = memories.trace(query, now=NOW)
    ranked = {one.memory_id for one in found.fused}
    left = next(hit.memory.id for hit in memories.browsed(limit=120).hits if hit.memory.id not in ranked)
    assert len(found.vector) == count and f"but {count} memories are closer" in str(memories.explain(query, left))


@pytest.mark.parametrize(("query", "counts"), [("zebra", True), ("λ", False)])
def test_cells_around_a_cell_count_where_words_do_not(store, tmp_path, query, counts):
    """Of two cells that are as near to a question in other words, the one in a section that is near comes first."""
    memories = store(embedder=Sided())
    angles = (60, 170, 170, 170, 170, 65, 170, *range(100, 150), 10, 10, 10, 10, 65, 10, 60)
    cells = (("code", f"{'λ' if place in (5, 61) else 'x'} {angle}") for place, angle in enumerate(angles))
    memories.index(write(tmp_path / "n.ipynb", *cells), progress=False)
    found = {hit.memory.location: hit.signals["semantic_margin"].value for hit in memories.hits(query, limit=70).hits}
    assert (found["c61"] > found["c5"] + 1e-4) == counts


@pytest.mark.parametrize(("query", "counts"), [("zebra", True), ("λ", False)])
def test_the_best_of_its_section_speaks_for_a_cell_where_words_do_not(store, tmp_path, query, counts):
    """Of two cells that are as near to a question in other words, the one in a section with a nearer one has more."""
    memories = store(embedder=Sided())
    sections = (("# One 100", *range(120, 150), 60), ("# Two 10", 100, 10, *range(100, 130), 60))
    cells = (str(one) if isinstance(one, str) else ("code", f"λ {one}") for section in sections for one in section)
    memories.index(write(tmp_path / "n.ipynb", *cells), progress=False)
    found = {hit.memory.location: hit.signals["neighbour"].value for hit in memories.hits(query, limit=70).hits}
    assert (found["c65"] > 2 * found["c31"]) == counts


# Tokens 0 and 1 are near each other (cosine 0.8), 2 is like nothing else.
TABLE = np.array([[1, 0, 0], [0.8, 0.6, 0], [0, 0, 1]], dtype=np.float32)
EVEN, ONE = np.ones(2, dtype=np.float32), np.ones(1, dtype=np.float32)


def tokens(*ids):
    return np.array(ids, dtype=np.int32)


@pytest.mark.parametrize(
    ("asked", "weights", "texts", "found"),
    [
        # A text that holds a token meets it fully, one with a relative of it by their cosine, any other not at all.
        (tokens(0), ONE, [tokens(0), tokens(1), tokens(2)], [1.0, 0.8, 0.0]),
        # A text without tokens, a query without tokens and a query of worthless tokens match 0.
        (tokens(0, 2), EVEN, [tokens(), tokens(0)], [0.0, 0.5]),
        (tokens(), np.empty(0, np.float32), [tokens(0)], [0.0]),
        (tokens(0), np.zeros(1, np.float32), [tokens(0)], [0.0]),
        (tokens(0), ONE, [], []),
    ],
)
def test_max_sim_by_hand(asked, weights, texts, found):
    """The nearest token of a text speaks for each token of the query."""
    assert MaxSim.matches(asked, weights, texts, TABLE, 1) == pytest.approx(found)


def test_max_sim_of_long_texts_and_long_questions():
    """A near match in a long text is worth less than in a short one, an exact one the same; the rarest tokens count."""
    short, long = tokens(1, 2), tokens(1, *[2] * 49)
    near = MaxSim.matches(tokens(0), ONE, [short, long, long[::-1]], TABLE, 10)
    assert near[0] > near[1] == near[2]
    assert MaxSim.matches(tokens(1), ONE, [short, long], TABLE, 10) == pytest.approx([1.0, 1.0])
    weights = np.arange(1, 31, dtype=np.float32)
    rare, common = MaxSim.matches(
        np.arange(30), weights, [np.arange(18, 30), np.arange(10)], np.eye(30, dtype=np.float32), 12
    )
    assert rare == pytest.approx(1, abs=1e-6) and common == pytest.approx(0, abs=0.02)
    met = np.array([[True, False], [False, False], [False, False]])
    found = MaxSim.matches(tokens(0, 2), EVEN, [tokens(2), tokens(2), tokens()], TABLE, 1, met)
    assert found == pytest.approx([1.0, 0.5, 0.0])  # met by what a text is


def test_rare_tokens_count_more(judged):
    filler = [{"text": f"the prices of tariff {number}"} for number in range(30)]
    common, rare = judged(MaxSim(), "prices xylophone", {"text": "prices"}, {"text": "xylophone"}, *filler)[:2]
    assert rare > 0.8 > 0.3 > common
    filler = "We met the gardeners and painted the fence behind the old barn with three of them. "
    texts = [f"{word} {filler * times}" for word in ("xylophone", "apples") for times in (1, 60, 400)]
    high, middle, low, *others = judged(MaxSim(), "xylophone", *({"text": text} for text in texts))
    assert high > middle > low > others[2] > others[1] > others[0]


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("python read λ from csv", True), ("read λ from csv in Python", True), ("read λ from csv", False),
        ('"python" read λ from csv', False), ("text of λ", False),
    ],
)  # fmt: skip
def test_the_name_of_a_language_is_met_by_code_in_it(judged, query, named):
    """Who asks for Python gets code in it, although it does not say so; a quoted name is looked for as it stands."""
    code = {"text": "prices = load('zürich.csv', sep)", "kind": "cell"}
    prose, python, text = judged(
        MaxSim(), query, code, {**code, "lang": "python"}, {**code, "lang": "text", "kind": "file"}
    )
    assert len(pieces(["python"]).ids) == 1
    assert (python > prose + 0.05) == named and text == pytest.approx(prose, abs=0.02)


ANSWER = "The tariff of Zürich rises to λ 12 per kilowatt hour in winter."
OTHER = "We met the gardeners, tasted six kinds of apples and painted the fence behind the old barn. "
ASKED = "winter tariff of Zürich per kilowatt hour"


def test_the_rest_of_a_text_hides_no_line(judged):
    """Wherever the answering line stands, in any chunk, it says about as much as alone; turns say nothing."""
    words = (OTHER * 9).split()
    texts = [ANSWER, f"{OTHER * 4}Last winter it was cold. {OTHER * 4}"]
    texts += [" ".join([*words[:at], ANSWER, *words[at:]]) for at in range(0, len(words), 7)]
    alone, without, *found = judged(BestPassage(), ASKED, *({"text": text} for text in texts))
    assert max(found) <= alone + 1e-4
    assert min(found) > 0.6 * alone > without
    alone, turn = judged(BestPassage(), ASKED, {"text": ANSWER}, {"text": f"{ANSWER} So she said.", "session": "talk"})
    assert alone > 0.3 and turn is None and judged(BestPassage(), "ዋጋ", {"text": ANSWER}) == [0.0]
    pages = OTHER * 60
    texts = (pages + ANSWER, ANSWER + pages, pages + "The fence has a tariff.")
    late, early, none = judged(BestPassage(), ASKED, *({"text": text} for text in texts), embedder="static")
    assert late == pytest.approx(early, rel=0.1)
    assert none < 0.8 * min(early, late)


TOPICS = {
    "prices": ["We scaled the prices to zero mean.", "Prices are net of tax before scaling.", "Scaling prices by shop"],
    "orders": ["Orders at night follow a Poisson law with λ.", "The λ of Poisson orders is 3.2",
               "Night orders: λ falls"],
    "files": ["FileSyncService drops events of Łukasz.", "Events are lost when FileSyncService is slow",
              "Lost events: sync"],
}  # fmt: skip


class Deaf:
    """The static model, which cannot be asked anything: only what is stored has vectors."""

    name, dimensions, fingerprint, threshold = "deaf", 64, "deaf/64", 0.1

    def embed_documents(self, texts, /):
        return StaticEmbedder(64).embed_documents(texts)

    def embed_query(self, _text, /):
        raise AssertionError("asked")


def filled(memory):
    return memory, {name: [memory.add(text).id for text in texts] for name, texts in TOPICS.items()}


@pytest.fixture
def topics(store):
    return filled(store())


def ids_of(answer):
    return [hit.memory.id for hit in answer.hits]


@pytest.mark.parametrize("profile", ["auto", "covalence", "memini"])
@pytest.mark.parametrize("subject", TOPICS)
def test_what_is_on_the_same_subject(topics, profile, subject):
    memory, ids = topics
    answer = memory.related(ids[subject][0], profile=profile)
    assert set(ids_of(answer)[:2]) == set(ids[subject][1:]) and ids[subject][0] not in ids_of(answer)
    assert 1 in {hit.kw_rank for hit in answer.hits} and 1 in {hit.sem_rank for hit in answer.hits}
    assert answer.counts["fused"] == len(answer.hits) <= 8


def test_what_says_the_same_is_left_out(store):
    text = "The zeros function creates an array of zeros."
    memory = store()
    first = memory.add(text, title="numpy", source="/week/numpy.md")
    copy = memory.add(text.upper(), title="numpy", source="/week/numpy-Copy1.md")
    other = memory.add("The ones function creates an array of ones.", title="numpy", source="/week/ones.md")
    answer = memory.related(first.id)
    assert copy.id != first.id and [(hit.rank, hit.memory.id) for hit in answer.hits] == [(1, other.id)]
    assert answer.notices == ("1 memory with the same text is not shown.",)


def test_options_and_verdict(topics):
    """Limit and filters hold as in a search; nobody asked, so nothing is said of how well it was answered."""
    memory, (first, second, _) = topics[0], topics[1]["prices"]
    memory.update(second, tags=["decision"])
    answer = memory.related(first)
    assert len(memory.related(first, limit=1).hits) == 1
    assert ids_of(memory.related(first, filters={"tag": "decision"})) == [second]
    assert answer.verdict is None and np.isnan(answer.strength) and answer.notices == ()
    assert memory.explain_in(answer, answer.hits[0].memory.id).rank == 1


def test_no_model_is_asked(store):
    memory, ids = filled(store(embedder=Deaf()))
    assert memory.related(ids["files"][0]).counts["vector"] > 0


@pytest.mark.parametrize(
    ("texts", "others"),
    [
        (("The λ of Poisson", "Poisson at night", "Prices in Zürich"), 1),
        # What is written without spaces is compared by pairs of characters.
        (("東京の売上が増えた", "大阪と東京の売上", "価格の正規化"), 1),
        # A memory that is alone has nothing like it.
        (("The λ of Poisson",), 0),
    ],
)
def test_by_words_alone(store, texts, others):
    """A store without a model finds what shares the telling words; a memory that is not there is said so."""
    memory = store(embedder=None)
    first, *rest = [memory.add(text).id for text in texts]
    answer = memory.related(first)
    assert ids_of(answer)[:1] == rest[:others]
    assert ("Nothing else here is like this memory." in answer.notices) is not bool(others)
    with pytest.raises(UnknownMemory):
        memory.related("0" * 16)


@pytest.mark.parametrize(
    "text", ['"', "tag:x -kind:cell", "the", "東京の売上", "last week", "x" * 20_000, "a:b:c " * 3_000]
)
def test_whatever_it_holds(topics, text):
    memory, _ = topics
    one = memory.add(text)
    assert one.id not in ids_of(memory.related(one.id))


# A text that is not stored: what stands out is alike, and so is its section; what a dozen cells share is not.
WORDS = ("tariff", "meter", "customer", "invoice", "forecast", "weather", "holiday", "outlier", "firmware", "schema")
SUBJECT = "lags = demand.shift(48).rolling(24).mean()\nfeatures['demand_lag'] = lags.reindex(features.index)"


@pytest.fixture
def work(store, tmp_path):
    """A store of notebooks that begin alike, and of one that computes lags of the demand."""
    for place, word in enumerate(WORDS):
        cells = ["import numpy as np\nimport pandas as pd", *(f"{word}_{other} = load('{other}')" for other in WORDS)]
        write(tmp_path / f"{place}.ipynb", f"# {word}", *cells)
    old = SUBJECT.replace("48", "72").replace("demand_lag", "lag_of_demand")
    write(tmp_path / "lags.ipynb", "# Lags", old, "features.plot()")
    memory = store()
    memory.index(tmp_path, progress=False)
    return memory


def test_what_is_about_the_same_is_found(work, tmp_path):
    """The cell that does nearly the same is the answer, limit and filters hold, and no vector of the text is kept."""
    answer = work.related_to(SUBJECT)
    assert answer.hits[0].memory.text.startswith("lags = demand.shift(72)")
    # What stands beside it in its section may be of use as well, nothing of other notebooks is.
    assert {hit.memory.source for hit in answer.hits} == {str(tmp_path / "lags.ipynb")}
    assert (answer.hits[0].rank, answer.verdict) == (1, None)
    assert work.related_to(SUBJECT, filters={"not_path": [str(tmp_path / "lags.ipynb")]}).hits == ()
    assert len(work.related_to(SUBJECT, limit=1).hits) == 1
    with closing(apsw.Connection(str(work.path), flags=apsw.SQLITE_OPEN_READONLY)) as file:
        assert file.execute("select count(*) from query_vectors").get == 0


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as np\nimport pandas as pd",
        "The committee met and adopted the report of its chairman without a vote.",
        "tariff",
        "",
    ],
)
def test_what_is_like_everything_or_nothing_has_no_answer(work, text):
    """The imports of every notebook, a text about something else, a word, and nothing."""
    assert work.related_to(text).hits == ()
