"""The signals of meaning: margins of cosines, hubs, MaxSim and the best passage."""

from math import isnan

import numpy as np
import pytest
from inside import run_sql
from small_notebooks import write
from week import NOW

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
