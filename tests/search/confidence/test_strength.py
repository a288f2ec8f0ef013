"""How sure it is that a store answers a query at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.search import verdict
from jupyter_memory.search.confidence import Confidence

shares = st.floats(0, 1)
margins = st.none() | st.floats(-50, 50)
MODEL = "We fitted the demand model on the calendar and the loads of last week."
TARIFF = "The tariff is rescaled to zero mean, so that zones can be compared."


@pytest.fixture
def loads(store):
    """A store about the demand of a city, where many notes speak of it in the same words."""
    memories = store()
    memories.add(MODEL, title="Demand model")
    memories.add("The forecast of the demand misses the evening peak in Zürich.", title="Evening")
    memories.add("We read the csv files of the meters with pandas and drop the copies.", title="Meters")
    memories.add('def plot_peak_load(frame):\n    frame.groupby("hour").demand.max().plot()', title="Plot")
    memories.add_many([{"text": f"Run {one} of the demand model: loss {one / 7:.3f}."} for one in range(20)])
    return memories


@pytest.mark.parametrize("letter", ["é", "x", "a?"])
def test_one_latin_letter_is_never_surely_answered(store, letter):
    """Nearly any text has a letter somewhere, which answers nothing; a sign that is a word is answered as before."""
    memories = store()
    memories.add("O preço é líquido; x and a are variables.", title="Preço")
    memories.add("税は別です。", title="税")

    assert memories.hits(letter).verdict != "strong"
    assert memories.hits("税").verdict == "strong"


@given(shares, shares, margins, shares, st.booleans())
def test_strength_is_a_probability(coverage, soft, margin, missing, bounded):
    """Whatever the clues, strength is between 0 and 1."""
    assert 0 < Confidence(coverage, soft, margin, missing, bounded).strength < 1


@given(shares, shares, shares, margins)
def test_every_clue_speaks_for_an_answer(low, high, other, margin):
    """More coverage never makes an answer less sure, nor does a better soft match, nor a word less that is missing."""
    low, high = sorted((low, high))

    assert Confidence(low, other, margin).strength <= Confidence(high, other, margin).strength
    assert Confidence(other, low, margin).strength <= Confidence(other, high, margin).strength
    assert Confidence(other, other, margin, high).strength <= Confidence(other, other, margin, low).strength


@given(shares, shares, margins, shares)
def test_a_missing_word_bounds_whatever_else_matches(coverage, soft, margin, missing):
    """Where a telling word is missing, no other clue makes the answer strong."""
    bounded = Confidence(coverage, soft, margin, missing, bounded=True).strength

    assert verdict(bounded) != "strong"
    assert bounded <= Confidence(coverage, soft, margin, missing).strength


@given(st.floats(0, 0.2), shares, margins)
def test_meaning_alone_is_not_strong(coverage, soft, margin):
    """Without the words of the question, nothing is strong, however near its meaning."""
    assert verdict(Confidence(coverage, soft, margin).strength) != "strong"


@pytest.mark.parametrize(
    ("clues", "said"),
    [
        (Confidence(coverage=0.95, max_sim=0.9, margin=3.0), "strong"),
        (Confidence(coverage=0.45, max_sim=0.6, margin=1.0), "weak"),
        (Confidence(coverage=0.1, max_sim=0.2, margin=-0.5), "none"),
        # A paraphrase shares no word with what it asks for.
        (Confidence(coverage=0.0, max_sim=0.55, margin=3.5), "weak"),
        # A rare name in a text about other things.
        (Confidence(coverage=1.0, max_sim=1.0, margin=-0.7), "strong"),
        # No model looked.
        (Confidence(coverage=0.95, max_sim=0.95), "strong"),
        (Confidence(coverage=0.0, max_sim=0.2), "none"),
        # Half of the question is the name of something that nobody here has used.
        (Confidence(coverage=0.5, max_sim=0.6, margin=2.0, missing=0.5, bounded=True), "none"),
        # Each of four others fits about as well, or none does.
        (Confidence(coverage=0.8, max_sim=0.75, margin=2.0), "weak"),
        (Confidence(coverage=0.8, max_sim=0.75, margin=2.0, max_sim_lead=0.3, margin_lead=1.5), "strong"),
        # All of two words may be there by chance, all of ten not.
        (Confidence(coverage=0.9, max_sim=0.7, margin=1.0, words=2), "weak"),
        (Confidence(coverage=0.9, max_sim=0.7, margin=1.0, words=10), "strong"),
    ],
)
def test_a_verdict_in_a_word(clues, said):
    """All words of a query near each other answer it, a stray one does not, and meaning alone may."""
    assert verdict(clues.strength) == said


@pytest.mark.parametrize("query", ["tariff", "tariff rescaled", "how was the tariff rescaled", "tariff 12"])
def test_a_store_of_alike_notes_answers(store, query):
    """A word that is in every note was asked for all the same, and alike notes are no reason for doubt."""
    memories = store()
    memories.add_many([{"text": f"tariff {one} plotted"} for one in range(60)])
    memories.add(TARIFF)

    assert memories.hits(query).verdict == "strong"
    assert memories.hits(f"{query} kubernetes").verdict == "none"


@pytest.mark.parametrize(
    ("query", "missing"),
    [
        ("demand model with xgboost", "xgboost"),
        ("Where do we call DemandScaler on the demand of the model?", "DemandScaler"),
        ("peak_load_limit", "peak_load_limit"),
        ("pd.qcut of the demand", "qcut"),
        ("Kafka demand", "Kafka"),
        ('"kafka" demand model', "kafka"),
    ],
)
def test_a_word_that_nothing_holds_is_told(loads, query, missing):
    """A name that is nowhere is told as it was typed, and the answer is weak at best."""
    answer = loads.hits(query)

    assert any(notice.startswith("No memory contains") and f"“{missing}”" in notice for notice in answer.notices)
    assert answer.verdict != "strong"


@pytest.mark.parametrize(
    ("query", "verdict"),
    [
        # The stem is held, a slip of the finger is near, and parts side by side are a name.
        ("demand models fitting", "strong"),
        ("the demnad model", None),
        ("PeakLoad plot", None),
        ("plot_paek_load", None),
        ("df.groupby", "strong"),
        ('"demand model"', "strong"),
        # A number may have been rounded.
        ("loss of run 3: 0.4286", None),
        # One of many words is not much of the question.
        ("the demand forecast misses the evening peak load in Zürich on the calendar yesterday obviously", None),
    ],
)
def test_what_is_near_is_not_missing(loads, query, verdict):
    """Another form of a word, a slip of the finger, another way to write a name: none of these is missing."""
    answer = loads.hits(query)

    assert not [one for one in answer.notices if one.startswith("No memory contains") and "also tried" not in one]
    assert verdict in (None, answer.verdict)


def test_a_word_that_is_still_typed_is_not_missing(loads):
    """As long as a word may go on, nothing says that it is not there."""
    typed, done = (loads.hits("demand xgbo" + end, prefix=True).notices for end in ("", " "))

    assert not typed
    assert "No memory contains “xgbo”." in done


def test_the_time_that_a_query_names_is_not_missing(loads):
    """It is looked for in the dates of memories, whose texts need not say "yesterday"; quoted, it is a word."""
    read, quoted = (loads.hits(query).notices for query in ("demand model yesterday", 'demand model "yesterday"'))

    assert not [notice for notice in read if "holds" in notice]
    assert "No memory contains “yesterday”." in quoted


def test_the_first_hits_decide(loads):
    """The strength of an answer is that of its best among the first three, in the widget as in a search."""
    answer = loads.hits("demand model", limit=8)

    assert answer.strength == max(hit.strength for hit in answer.hits[:3])
