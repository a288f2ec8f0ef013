"""How sure an answer is, and what makes it believable: titles, verbs, runs, and questions about shared notebooks."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_notebooks import write

from jupyter_memory import MemoryStore
from jupyter_memory.search import Confidence, coverage_of, verdict
from jupyter_memory.types import Run, RunError

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


def test_one_latin_letter_is_never_surely_answered(store):
    """Nearly any text has a letter somewhere, which answers nothing; a sign that is a word is answered as before."""
    memories = store()
    memories.add("O preço é líquido; x and a are variables.", title="Preço")
    memories.add("税は別です。", title="税")
    assert "strong" not in {memories.hits(letter).verdict for letter in ("é", "x", "a?")}
    assert memories.hits("税").verdict == "strong"


@given(shares, shares, margins, shares, st.booleans())
def test_strength_is_a_probability(coverage, soft, margin, missing, bounded):
    """Strength is between 0 and 1; where a telling word is missing, no other clue makes the answer strong."""
    free = Confidence(coverage, soft, margin, missing).strength
    held = Confidence(coverage, soft, margin, missing, bounded=True).strength
    assert 0 < (held if bounded else free) < 1
    assert held <= free and verdict(held) != "strong"


@given(shares, shares, shares, margins)
def test_every_clue_speaks_for_an_answer(low, high, other, margin):
    """More coverage, a better soft match or fewer missing words never make an answer less sure; words are needed."""
    low, high = sorted((low, high))
    assert Confidence(low, other, margin).strength <= Confidence(high, other, margin).strength
    assert Confidence(other, low, margin).strength <= Confidence(other, high, margin).strength
    assert Confidence(other, other, margin, high).strength <= Confidence(other, other, margin, low).strength
    # Without the words of the question, nothing is strong, however near its meaning.
    assert verdict(Confidence(other / 5, high, margin).strength) != "strong"


@pytest.mark.parametrize(
    ("clues", "said"),
    [
        ({"coverage": 0.95, "max_sim": 0.9, "margin": 3.0}, "strong"),
        ({"coverage": 0.45, "max_sim": 0.6, "margin": 1.0}, "weak"),
        ({"coverage": 0.1, "max_sim": 0.2, "margin": -0.5}, "none"),
        # A paraphrase shares no word with what it asks for; a rare name may stand in a text about other things.
        ({"coverage": 0.0, "max_sim": 0.55, "margin": 3.5}, "weak"),
        ({"coverage": 1.0, "max_sim": 1.0, "margin": -0.7}, "strong"),
        # No model looked.
        ({"coverage": 0.95, "max_sim": 0.95}, "strong"),
        ({"coverage": 0.0, "max_sim": 0.2}, "none"),
        # Half of the question is the name of something that nobody here has used.
        ({"coverage": 0.5, "max_sim": 0.6, "margin": 2.0, "missing": 0.5, "bounded": True}, "none"),
        # Each of four others fits about as well, or none does.
        ({"coverage": 0.8, "max_sim": 0.75, "margin": 2.0}, "weak"),
        ({"coverage": 0.8, "max_sim": 0.75, "margin": 2.0, "max_sim_lead": 0.3, "margin_lead": 1.5}, "strong"),
        # All of two words may be there by chance, all of ten not.
        ({"coverage": 0.9, "max_sim": 0.7, "margin": 1.0, "words": 2}, "weak"),
        ({"coverage": 0.9, "max_sim": 0.7, "margin": 1.0, "words": 10}, "strong"),
    ],
)
def test_a_verdict_in_a_word(clues, said):
    """All words of a query near each other answer it, a stray one does not, and meaning alone may."""
    assert verdict(Confidence(**clues).strength) == said


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
        ("peak_load_limit", "peak_load_limit"), ("pd.qcut of the demand", "qcut"), ("Kafka demand", "Kafka"),
        ('"kafka" demand model', "kafka"),
        # Words of a time are looked for in the dates; quoted, they are words.
        ('demand model "yesterday"', "yesterday"),
        # As long as a word may go on, nothing says that it is not there.
        ("demand xgbo ", "xgbo"),
    ],
)  # fmt: skip
def test_a_word_that_nothing_holds_is_told(loads, query, missing):
    """A name that is nowhere is told as it was typed, and the answer is weak at best."""
    answer = loads.hits(query, prefix=query.endswith(" "))
    assert any(notice.startswith("No memory contains") and f"“{missing}”" in notice for notice in answer.notices)
    assert answer.verdict != "strong"


@pytest.mark.parametrize(
    ("query", "verdict"),
    [
        # The stem is held, a slip of the finger is near, and parts side by side are a name.
        ("demand models fitting", "strong"), ("the demnad model", None), ("PeakLoad plot", None),
        ("demnad", "weak"),
        ("plot_paek_load", None), ("df.groupby", "strong"), ('"demand model"', "strong"),
        # A number may have been rounded.
        ("loss of run 3: 0.4286", None),
        # One of many words is not much of the question.
        ("the demand forecast misses the evening peak load in Zürich on the calendar yesterday obviously", None),
        ("demand model yesterday", None), ("demand xgbo", None),
    ],
)  # fmt: skip
def test_what_is_near_is_not_missing(loads, query, verdict):
    answer = loads.hits(query, prefix=query == "demand xgbo")
    assert not [one for one in answer.notices if one.startswith("No memory contains") and "also tried" not in one]
    assert verdict in (None, answer.verdict)
    # The strength of an answer is that of its best among the first three, in the widget as in a search.
    assert answer.strength == max(hit.strength for hit in answer.hits[:3])


def covered(_query, context):
    words, corpus, passages = context.asked_words, context.corpus, context.passages(context)
    return {one.key: coverage_of(words, corpus, passages[one.chunk], one.memory.lang) for one in context}


FAR = " other" * 40


@pytest.mark.parametrize(
    ("query", "record", "share"),
    [
        ("forecast mean", {"text": "mean forecast"}, 1.0), ("forecast mean", {"text": "the mean of zürich"}, 0.5),
        # Words far apart in a long text say less than the same words side by side.
        ("forecast mean", {"text": f"forecast mean{FAR}"}, 1.0),
        ("forecast mean", {"text": f"forecast{FAR} mean"}, 0.75),
        ("forecast mean", {"text": f"forecast{FAR} mean forecast"}, 1.0),
        # A title and a tag say what the whole text is about.
        ("forecast mean", {"text": f"{FAR} mean", "title": "forecast"}, 1.0),
        ("forecast mean", {"text": f"{FAR} mean", "tags": ["forecast"]}, 1.0),
        # "data" is in many questions, and every data file is labelled so; code hardly ever names its language.
        ("data mean", {"text": "mean", "lang": "data"}, 0.5),
        ("python mean", {"text": "x.mean() mean", "lang": "Python"}, 1.0),
        ("python mean", {"text": "x.mean() mean", "lang": "julia"}, 0.5),
        ("text mean", {"text": "mean", "lang": "text"}, 0.5),
        # An identifier counts once: in full if it is held in a row, in pieces half, whatever the number of its parts.
        ("PeakLoad", {"text": "the peakload function"}, 1.0),
        ("PeakLoad", {"text": "the peak load of the day"}, 1.0), ("PeakLoad", {"text": "load at the peak"}, 0.5),
        ("PeakLoad", {"text": "only a peak"}, 0.25), ("PeakLoad", {"text": "def peak_load(frame)"}, 1.0),
        # A word that is near in spelling may be meant, or may not.
        ("demnad", {"text": "the demand of λ"}, 0.5), ("demnad", {"text": "the load of λ"}, 0.0),
    ],
)  # fmt: skip
def test_coverage_by_hand(hear, query, record, share):
    """The share of the words, that are asked for, that a text holds; here each of them tells as much."""
    # In so many notes, each word of the query is as frequent as the others.
    others = [{"text": query if query != "demnad" else "demand"}] * 40
    assert hear(covered, query, record, *others)[0] == pytest.approx(share, abs=0.02)


def test_words_count_by_what_they_tell(hear):
    means = [{"text": "mean"}] * 40
    frequent, rare, *_ = hear(covered, "forecast mean", {"text": "mean"}, {"text": "forecast"}, *means)
    assert 0 < 2 * frequent < rare and frequent + rare == pytest.approx(1)


_PROGRAM = """
import sys
from jupyter_memory import MemoryStore
WORDS = "λ poisson prices zürich shop forecast variance night orders hour mean row groupby transform".split()
with MemoryStore(sys.argv[1], embedder="static") as store:
    store.add_many([{"text": " ".join(WORDS[start::step])} for step in (1, 2, 3) for start in range(8)], progress=False)
    print([hit.strength.hex() for hit in store.hits(" ".join(WORDS), limit=50).hits])
"""


def test_strength_is_the_same_in_every_process(tmp_path):
    """Not even its last digit depends on the order that a process gives to its sets."""
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(tmp_path / f"{seed}.sqlite")],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in (1, 2, 3)
    ]
    told = [program.communicate(timeout=100)[0] for program in programs]
    assert [program.returncode for program in programs] == [0, 0, 0]
    assert told[0].count("0x") >= 20 and len(set(told)) == 1


class Measured:
    """A model that notes what it embeds; texts with one number are the same to it, and those of ``unread`` unlike."""

    name, dimensions, fingerprint, threshold = "measured", 512, "measured/512", 0.0

    def __init__(self, unread=()):
        self.unread, self.questions, self.documents = unread, [], []

    def embed_documents(self, texts, /):
        self.documents = [*texts]
        return np.stack([self._vector(text) for text in texts])

    def embed_query(self, text, /):
        self.questions.append(text)
        return self._vector(text)

    def _vector(self, text):
        found = re.search(r"[qz](\d+)\b", text)
        number = int(found[1]) if found else 511
        return np.eye(512, dtype=np.float32)[511 if number in self.unread else number]


def trust(memories):
    with closing(apsw.Connection(str(memories.path), flags=apsw.SQLITE_OPEN_READONLY)) as file:
        return file.execute("select value from trust").get


def told(number, shared):
    return {"text": f"We asked for number q{number} long ago. Then z{number} {'q' if shared else 'a'}{number} came."}


def reciprocal(right, count, alike):
    return (right + (count - right) * 2 / (alike + 1)) / count


@pytest.mark.parametrize(
    ("notes", "shared", "read", "value"),
    [
        # Meaning is trusted above 1 where only it finds the answers, below 1 where only words do, 1 where both do.
        (80, 0, 80, 4.0), (80, 80, 0, 0.3), (80, 80, 80, 1.0),
        (80, 0, 0, 1.0),
        # The failures of both are compared, and their ratio is squared.
        (80, 40, 50, ((1.05 - reciprocal(40, 80, 80)) / (1.05 - reciprocal(50, 80, 30))) ** 2),
        # A store with hardly a passage proves nothing; reading stops when there are enough, however large the store.
        (20, 0, 20, None), (400, 0, 400, 4.0),
    ],
)  # fmt: skip
def test_the_retriever_that_fails_less_is_trusted_more(store, notes, shared, read, value):
    """Words and meaning are measured on the same questions; equal scores share the middle of their places."""
    model = Measured(unread=range(read, notes))
    memories = store(embedder=model)
    memories.add_many([told(number, number < shared) for number in range(notes)], progress=False)
    assert trust(memories) == (None if value is None else pytest.approx(value))
    assert len(model.questions) == (0 if value is None else min(notes, 150))


DOCSTRING = 'def λ(xs):\n    """Mean of all prices.\n\n    Slow."""\n    return sum(xs)'
TELLING = "Yes. We scaled them to zero mean. That was in März, too."


def test_a_passage_is_taken_apart(store, tmp_path):
    """What looks most like a question asks; what is left of the passage answers, and does not hold the question."""
    write(
        tmp_path / "week" / "02 raw prices.ipynb",
        "# Rise by a third\n\nWe were surprised.",
        "# Noise",
        "Much noise. Draw what is left.",
        "df.plot(x='day')\ndf.head()\nlen(df)",
        # A heading asks once: of two cells under it, neither would be the only right answer.
        "# How we scaled\n\nWe scaled the prices of 2024. They rose by half then.",
        ("code", "prices.scale(2025)  # the prices of a year. They rose by a third of it then."),
    )
    section = " ".join(f"Line {number} of what was done there." for number in range(120))
    (tmp_path / "week" / "notes.md").write_text(f"# Wine\n\n## A section of its own\n\n{section}\n", "utf-8")
    notes = [
        {"text": DOCSTRING},
        {"text": "Prices in Zürich 2026\nThey rose by a third.", "title": "Prices in Zürich 2026"},
        {"text": TELLING, "title": "Prices"},
        # Too short for a question.
        *({"text": text, "title": ""} for text in ("Prices.", "Yes. No.", '"""Prices"""', "x = 1\n\ny=2")),
        *(told(number, False) for number in range(60)),
    ]
    model = Measured()
    memories = store(embedder=model)
    memories.index(tmp_path / "week", progress=False)
    memories.add_many(notes, progress=False)
    asked = dict(zip(model.questions, model.documents, strict=True))
    wanted = {
        "Mean of all prices.": "return", "Prices in Zürich 2026": "rose", "We scaled them to zero mean.": "März",
        "Rise by a third": "surprised", "Draw what is left.": "plot", "How we scaled": "2024",
        "A section of its own": "Line",
    }  # fmt: skip

    assert {question: part in asked[question] for question, part in wanted.items()} == dict.fromkeys(wanted, True)
    assert not any(question in answer for question, answer in asked.items())
    assert not {"Prices.", "Yes.", "Prices", "x = 1", "02 raw prices.ipynb"} & set(asked)


def test_the_name_of_a_notebook_changes_nothing(store, tmp_path):
    """The same cells are trusted as far in a notebook whose name has many words: a name does not answer a question."""
    cells = []
    for topic in ("prices", "demand", "weather", "stations", "trips", "λ"):
        for first in (0, 8):
            cells.append(f"# How we cleaned the {topic}\n\nWe dropped what {topic} lack.")
            cells += [
                f"Take {len(cells)} of the {topic}. They had a mean of {number}." for number in range(first, first + 7)
            ]
    found = []
    for name in ("a.ipynb", "all that we know of the cleaning.ipynb"):
        memories = store(f"{len(name)}.sqlite", embedder="static")
        memories.index(write(tmp_path / name.removesuffix(".ipynb") / name, *cells))
        found.append(trust(memories))
    assert found[0] == found[1] != 1.0


DATA = Path(os.environ.get("JUPYTER_MEMORY_TEST_DATA", Path(__file__).parents[3] / "shared" / "data"))


@pytest.mark.parametrize(
    ("cells", "titles"),
    [
        # Its own heading, also below other lines; what only counts is joined with what is above it.
        (["# Prices", "Some words first.\n\n## Cleaning\n\nMore words."], ["Prices", "Cleaning"]),
        (["# Exercises\n## 10. Autoencoders", "## 8."], ["Exercises › 10. Autoencoders", "Exercises › 8."]),
        (["# Where λ > 2\n## 8. A > B", "## 9."], ["Where λ >\u00a02 › 8. A >\u00a0B", "Where λ >\u00a02 › 9."]),
        (["# Part 2\n### 3.\n#### a.\n\nλ is fitted."], ["Part 2 › 3. › a."]),
        (["# 税\n## 価格"], ["価格"]),
        # Cells of one section are told apart by what they define or a comment; without a heading, by how they begin.
        (
            ["## Clipping", "import nn\nclass Net(nn.M):\n    x = 1", "# Two λ\nx = 1", "#x = f(1)\nx", "It **λ**."],
            ["Clipping", "Clipping › Net", "Clipping › Two λ", "Clipping", "Clipping"],
        ),
        (["@cached\ndef far(λ):\n    return λ", "x = load()"], ["far", "x = load()"]),
    ],
)  # fmt: skip
def test_a_title_names_a_cell(store, tmp_path, cells, titles):
    """A cell is called by what names it, in every list; the title that is stored and searched stays."""
    # A code cell has code after its comment.
    kinds = [("markdown" if one[0] in "SI" or (one[0] == "#" and "=" not in one) else "code", one) for one in cells]
    memories = store()
    memories.index(write(tmp_path / "n.ipynb", *kinds), progress=False)
    shown = {hit.memory.location: hit for hit in memories.browsed().hits}
    hits = [shown[f"c{number}"] for number in range(len(cells))]
    assert (
        [hit.title for hit in hits]
        == [hit.to_json()["title"] for hit in hits]
        == [f"n.ipynb – {one}" for one in titles]
    )
    found = {hit.memory.location: hit.title for hit in memories.hits("λ prices x clips 価格").hits}
    assert found.items() <= {place: hit.title for place, hit in shown.items()}.items()
    assert not any("›" in hit.memory.title for hit in hits)


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("where do I read a csv file", "frame = pd.read_csv(path)", "save_to_csv_files(frame, 'csv file')  # csv file"),
        ("how do I write a csv", "frame.to_csv(path)", "frame = pd.read_csv('a csv')  # a csv, csv"),
        ("remove a column of prices", "del prices['column']", "prices.insert(1, 'column', 0)  # a column of prices"),
        ("addColumn to prices", "prices.insert(1, 'column', 0)", "prices = dropColumn(prices)  # column to prices"),
    ],
)  # fmt: skip
def test_what_does_the_opposite_comes_later(store, tmp_path, query, first, last):
    """Of two cells, the one that only does the opposite of what is asked has points against it, with the reason."""
    memories = store()
    memories.index(write(tmp_path / "n.ipynb", ("code", last), ("code", first)), progress=False)
    hits = {hit.memory.text: hit for hit in memories.hits(query).hits}
    assert hits[last].signals["aside"].contribution < 0 and not hits[first].signals["aside"].contribution
    assert "doing the opposite of what is asked" in str(memories.explain(query, hits[last].memory.id).whole())
    # What names both asks for both.
    both = memories.hits("open or save, drop or add a column of a csv").hits
    assert both and not any(hit.signals["aside"].contribution for hit in both)


def test_runs_come_after_what_explains_them(store):
    """A note comes before a run with the same words, and a run that worked before one that failed."""
    memories = store()
    memories.add("prices = scaled(prices)  # the λ of the zone", title="")
    began, failed = datetime(2026, 3, 2, tzinfo=UTC), RunError("ValueError", "λ")
    runs = [
        Run("prices = scaled(prices) # λ of the zone", began, "s", 1, "error", error=failed),
        Run("prices = scaled(prices) # the λ of zone", began, "s", 2, "ok"),
    ]
    memories.history.record(runs)
    hits = memories.hits("scaled prices λ of the zone").hits
    assert [(hit.memory.kind, hit.memory.outcome) for hit in hits] == [
        ("note", ""),
        ("history", "ok"),
        ("history", "error"),
    ]
    assert hits[1].signals["tier"].value == 4 and hits[2].signals["tier"].value == 5


NOTES = (
    ("We rescaled the tariffs to zero mean and unit variance.", "Price scaling"),
    ("The smart meters in Malmö report in UTC, the tariff table in local time.", "Meter clocks"),
    ("Prices are net of tax before they are scaled.", "Net prices"),
)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_notes_answer(store, count):
    """In a store of a few notes, what answers is not called none, and what nothing answers is."""
    memories = store()
    memories.add_many([{"text": text, "title": title} for text, title in NOTES[-count:]])
    assert memories.hits("net prices").verdict == "strong"
    assert memories.hits("is tax included in the prices").verdict == "weak"
    for query in ("how do I bake bread", "train a random forest", "connect to the postgres database"):
        answer = memories.hits(query)
        assert not answer.hits or answer.verdict == "none"


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStore]:
    """The 28 notebooks that quality is measured on."""
    notebooks = DATA / "notebooks"
    if not notebooks.is_dir():
        pytest.skip(f"{notebooks} is not there: JUPYTER_MEMORY_TEST_DATA names the folder that has it")
    with MemoryStore(tmp_path_factory.mktemp("book") / "memory.sqlite", embedder="static") as memories:
        memories.index(notebooks, progress=False)
        yield memories


@pytest.mark.parametrize(
    ("query", "holds", "rank", "verdicts"),
    [
        ("where do I read a csv file", "read_csv(", 1, "strong"),
        ("that plot with two y axes", ".twinx(", 18, "weak"),
        ("MCDropout", "class MCDropout(", 1, "strong"),
        ("where is OneCycleScheduler defined", "class OneCycleScheduler(", 1, "strong"),
        ("missing values", "Handling missing data", 1, "strong"),
    ],
)
def test_questions_about_the_book(book, query, holds, rank, verdicts):
    """Questions that a first answer was wrong or doubted for: the right cell is no later, and its verdict no other."""
    answer = book.hits(query, limit=20)
    assert next(hit.rank for hit in answer.hits if holds in hit.memory.text) <= rank
    assert answer.verdict in verdicts.split()
