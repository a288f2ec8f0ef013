"""The signals, each asked of memories in a store: what it says of them, by numbers worked out by hand."""

from datetime import timedelta, timezone
from itertools import product
from math import isnan, log, sqrt
from unicodedata import normalize

import numpy as np
import pytest
from small_notebooks import write
from week import NOW

from jupyter_memory import search
from jupyter_memory.types import TIERS

DAY = timedelta(days=1)


def test_every_tier_has_its_number(judged, filled_with):
    """Core is 1, file 2, mcp and note 3; the evidence ranks the smallest number first."""
    found = judged(search.Tier(), "prices", *({"tier": tier} for tier in TIERS))
    assert dict(zip(TIERS, found, strict=True)) == {"core": 1.0, "file": 2.0, "mcp": 3.0, "note": 3.0}
    hits = filled_with({}, {"tier": "file"}, {}).hits("prices", profile=search.covalence, now=NOW).hits
    assert {hit.memory.source: hit.signals["tier"].rank for hit in hits} == {"2.md": 1, "1.md": 2, "3.md": 2}


@pytest.mark.parametrize(
    ("signal", "asked", "record", "value"),
    [
        *[(search.Severity(), {}, {"severity": one}, worth) for one, worth in
          (("critical", 1.0), ("warning", 0.7), ("suggestion", 0.4), (None, 0.0))],
        # Tags count by how many of both are shared, whatever their case.
        (search.Tags(), {"tags": ("prices", "zürich")}, {"tags": ["Zürich"]}, 1 / 2),
        (search.Tags(), {"tags": ("prices", "zürich")}, {"tags": ["zürich", "λ", "prices"]}, 2 / 3),
        (search.Tags(), {"tags": ("prices",)}, {}, 0.0), (search.Tags(), {}, {"tags": ["prices"]}, 0.0),
        (search.Tags(), {}, {}, 0.0),
        # A domain counts if it is asked for and the same; two without one do not agree.
        (search.Domain(), {"domain": "energy"}, {"domain": "energy"}, 1.0),
        (search.Domain(), {"domain": "traffic"}, {"domain": "energy"}, 0.0),
        (search.Domain(), {}, {}, 0.0),
        # A negative cosine counts as 0.
        (search.Cosine(), {}, {"text": "λ cos=0.25"}, 0.25), (search.Cosine(), {}, {"text": "λ cos=-0.25"}, 0.0),
        # 1 now and in the future, half after a year, a third after two; the zone does not matter.
        *[(search.Recency(), {}, {"event_at": NOW - days * DAY}, worth) for days, worth in
          ((0, 1.0), (1, 0.99727), (365, 0.5), (730, 0.3333), (-30, 1.0))],
        (search.Recency(), {}, {"event_at": (NOW - DAY).astimezone(timezone(timedelta(hours=1)))}, 0.99727),
        (search.Recency(half_life_hours=168), {}, {"event_at": NOW - 7 * DAY}, 0.5),
        # Quality is tier and age, weighed .4 and .2, where no other source says the same and nobody read it.
        *[(search.Quality(), {}, record, worth) for record, worth in
          (({}, 0.48), ({"tier": "core"}, 0.6), ({"tier": "file"}, 0.44), ({"tier": "mcp"}, 0.4),
           ({"event_at": NOW - 365 * DAY}, 0.38))],
        # Without a window half is left after a year, a quarter after two.
        *[(search.Validity(), {}, {"event_at": NOW - days * DAY}, worth) for days, worth in
          ((0, 1.0), (365, 0.5), (730, 0.25), (-3, 1.0))],
        # A window holds whole until a quarter of it is left, then fades; what has not begun counts nothing.
        *[(search.Validity(), {}, {"valid_from": NOW + begins * DAY, "valid_until": NOW + ends * DAY}, worth)
          for begins, ends, worth in ((-100, 300, 1.0), (-300, 100, 1.0), (-350, 50, 0.5), (-390, 10, 0.1),
                                      (-400, 0, 0.0), (-500, -100, 0.0), (10, 410, 0.0))],
        # Without a start it begins with the event; without an end only what has not begun is kept back.
        (search.Validity(), {}, {"event_at": NOW - 350 * DAY, "valid_until": NOW + 50 * DAY}, 0.5),
        (search.Validity(), {}, {"event_at": NOW - 365 * DAY, "valid_from": NOW - DAY}, 0.5),
        (search.Validity(), {}, {"event_at": NOW - 365 * DAY, "valid_from": NOW + DAY}, 0.0),
        # A file that is called what the query asks for, whatever form the words have.
        *[(search.FileStem(), query, {"kind": "file", "source": source}, worth) for query, source, worth in (
            # The name of the file counts in full, that of its folder by half, both together 1 at most.
            ("client session", "/lib/client_session.py", 1.0), ("client session", "/lib/client.py", 0.5**0.5),
            ("default transport", "/httpx/_transports/default.py", 1.0),
            ("transport", "/httpx/_transports/base.py", 0.5), ("client", "/client/client.py", 1.0),
            ("types", "v1/types.tar.gz", 0.5**0.5), ("env", "/a/.env", 1.0),
            # The share of the query's words counts and that of the name's parts; stop words if there are no others.
            ("how do sessions work", "Session.py", 0.5**0.5), ("client session", "ClientSession.py", 1.0),
            ("client", "client_session.py", 0.5**0.5), ("URL parsing", "_urlparse.py", 0.0),
            ("URL parsing", "parse_url.py", 1.0), ("routing", "routes.py", 1.0),
            ("connection pooling", "conn.py", 0.5**0.5), ("container", "con.py", 0.0),
            ("how is the", "how.py", 1.0 / 3**0.5), ("λ der Zürich", "zürich_rate.py", 0.5), ("?!", "session.py", 0.0),
            ("prices", "/lib/meters.md", 0.0))],
        # A file is not put aside if the query has its name or a part of it.
        *[(search.Aside(), query, {"kind": "file", "source": source}, 0.0) for query, source in (
            ("tests of the retries", "/lib/tests/retry.py"), ("models of v1", "/lib/v1/models.py"),
            ("__init__", "/lib/__init__.py"), ("what is deprecated", "/lib/deprecated.py"),
            ("the client", "/lib/test_client.py"))],
        # Each word of the query, whatever its case and the punctuation around it, has to be in the title.
        *[(search.Title(), query, {"title": title}, worth) for query, title, worth in (
            ("roadmap 1.4", "plans/v1.4-ROADMAP.md", 1.0), ("roadmap 1.5", "plans/v1.4-ROADMAP.md", 0.0),
            ("ROADMAP", "roadmap", 1.0), ('the "roadmap"?', "The roadmap", 1.0), ("the roadmap", "Roadmap", 0.0),
            ("preise (zürich)", "Preise in Zürich", 1.0), ("STRASSE", "Straße der Kühlung", 1.0),
            ("λ", "Poisson Λ", 1.0), ("正規化", "価格の正規化", 1.0), ("?!", "Anything?!", 0.0),
            ("prices", "", 0.0), (normalize("NFD", "zürich"), "Zürich", 1.0),
            ("zürich", normalize("NFD", "Zürich.ipynb"), 1.0))],
    ],
    ids=lambda one: type(one).__name__ if callable(one) else None,
)  # fmt: skip
def test_a_memory_alone(judged, signal, asked, record, value):
    """What is noted of a memory is worth what the table says, whatever is asked: a query, or tags and a domain."""
    query, more = (asked, {}) if isinstance(asked, str) else ("electricity prices λ", asked)
    assert judged(signal, query, record, **more) == [pytest.approx(value, abs=5e-5)]


def test_tfidf_by_hand(judged):
    """The cosine of TF-IDF vectors, idf = log((N + 1) / (df + 1)) + 1; words unknown to the store do not count."""
    texts = ({"text": "prices prices zürich"}, {"text": "zürich weather"})
    prices, weather, zurich = log(3 / 2) + 1, log(3 / 2) + 1, log(3 / 3) + 1
    asked, day = sqrt(prices**2 + zurich**2), 4  # the four words of the day are in both
    assert judged(search.TfIdf(), "prices in zürich unheard-of", *texts) == pytest.approx([
        (2 * prices**2 + zurich**2) / (asked * sqrt((2 * prices) ** 2 + zurich**2 + day)),
        zurich**2 / (asked * sqrt(zurich**2 + weather**2 + day)),
    ])  # fmt: skip
    # No known word, and no vector, are no opinion.
    assert all(map(isnan, judged(search.TfIdf(), "unheard-of", *texts)))
    assert all(map(isnan, judged(search.Cosine(), "prices", {}, embedder=False)))


def test_quality(judged, filled_with):
    """Two other sources with the same words add 0.2 * 2/3, the same source twice nothing, reading 0.2 * a / (a + 3)."""
    copies = [{"source": source, "title": str(place)} for place, source in enumerate("abcc")]
    assert judged(search.Quality(), "prices", *copies) == pytest.approx([0.48 + 0.2 * 2 / 3] * 4)
    assert judged(search.Quality(), "prices", *copies[2:]) == pytest.approx([0.48] * 2)
    memories = filled_with({})
    before = memories.hits("prices", profile="memini", now=NOW).hits[0]
    for _ in range(3):
        memories.search("prices").memory.text(1)
    read = memories.hits("prices", profile="memini", now=NOW).hits[0]
    assert before.signals["quality"].value == pytest.approx(0.48)
    assert read.signals["quality"].value == pytest.approx(0.48 + 0.2 * 3 / (3 + 3))


@pytest.mark.parametrize(
    ("question", "days", "values"),
    [
        # Days: tolerance 1, reach 3. Weeks: tolerance 3, reach 9.
        ("what did I plot 5 days ago", (5, 3.5, 8, 60), (1.0, 0.5, 0.0, 0.0)),
        ("what did I plot five days ago", (6,), (2 / 3,)),
        ("what did I plot three weeks ago", (21, 18, 25.5, 30), (1.0, 2 / 3, 0.5, 0.0)),
        # No time, one without a middle, or sessions: nothing is said.
        ("how were the prices scaled", (3,), (None,)),
        ("prices before March 2026", (3,), (None,)),
        ("our second session", (3,), (None,)),
    ],
)
def test_near_time_by_hand(judged, question, days, values):
    """1 at the moment itself, 0 from three tolerances on, a straight line between; numbers in figures or words."""
    found = judged(search.NearTime(), question, *({"event_at": NOW - one * DAY} for one in days))
    assert found == [None if one is None else pytest.approx(one) for one in values]


def test_near_time_of_other_units(judged):
    """Ten days for months, sixty for years; a weekday is the last one, a range its middle, ahead is as near as now."""

    def near(question, *moments):
        return judged(search.NearTime(), question, *({"event_at": one} for one in moments))

    for unit, tolerance in (("month", 10 * DAY), ("year", 60 * DAY)):
        question = f"what did I plot two {unit}s ago"
        target = search.parse(question, now=NOW).temporal.target
        away = (target, target + 1.5 * tolerance, target - tolerance, target - 3 * tolerance)
        assert near(question, *away) == pytest.approx([1, 1 / 2, 2 / 3, 0])
    day, later = near("what broke last Tuesday", NOW - 3 * DAY, NOW - 4.5 * DAY)
    middle, end = near("prices between February 2nd and February 8th", NOW - 29 * DAY, NOW - 38.5 * DAY)
    ahead, now = near("what broke yesterday", NOW + 7 * DAY, NOW)
    assert day > 0.9 > 0.7 > later and middle > 0.9 and end == 0.0 and ahead == now > 0


METERS = "RATE = 3\nclass Meter:\n    def read_all(self): ...\ndef flush(): ..."


@pytest.mark.parametrize(
    ("query", "value", "name"),
    [
        ("Meter", 1.0, "Meter"), ("flush", 0.25, "flush"), ("RATE", 0.8, "RATE"),
        ("read_all", 0.6, "read_all"), ("meters.Meter", 1.0, "Meter"), ("how is Meter used", 0.125, "Meter"),
        ("what calls read_all here", 0.075, "read_all"), ("the RATE of a Meter", 0.125, "Meter"),
        ("where is Meter defined", 1.0, "Meter"), ("the class Meter", 1.0, "Meter"),
        *[(query, 0.0, "") for query in ("how does flush work", "meter", "Mete", "self", "?!")],
    ],
)  # fmt: skip
def test_defines_by_its_name(judged, reasons, query, value, name):
    """A name alone counts in full, and so does one whose definition is asked for; a plain word counts little."""
    cell = {"kind": "cell", "lang": "python", "text": METERS}
    assert judged(search.Defines(), query, cell) == [pytest.approx(value)]
    assert reasons(search.Defines(), query, cell) == [f"its definition of `{name}`" if name else search.Defines.label]
    # A note, and a source that nobody can read, define nothing; a ligature is the letters that it stands for.
    others = ({"lang": ""}, {"text": "class Meter("}, {"kind": "file"})
    assert judged(search.Defines(), "Meter", *({**cell, **one} for one in others)) == [0.0, 0.0, 1.0]
    assert judged(search.Defines(), "ﬁle_1", {**cell, "text": "file_1 = 1"}) == [0.8]


SOURCE = "client_pool = 1\nclass ClientSession:\n    def close_all(self): ...\ndef request(): ..."
PYTHON = {"kind": "file", "lang": "python"}


def other_files(count):
    return [{**PYTHON, "text": "def tariff(): ..."}] * count


@pytest.mark.parametrize(
    ("query", "value", "name"),
    [
        ("how does the client session", 1.0, "ClientSession"), ("close all", 0.5**0.5, "close_all"),
        ("request", 1.0, "request"), ("client pool", 0.5, "ClientSession"), ("prices", 0.0, ""),
    ],
)  # fmt: skip
def test_the_best_defined_name(judged, reasons, query, value, name):
    """The name of a class, function or method that answers best counts; that of a variable does not."""
    files = [{**PYTHON, "text": SOURCE}, *other_files(3)]
    found = judged(search.DefinedNames(), query, *files)
    assert found[0] - found[1] == pytest.approx(value)
    told = f"its definition of `{name}`" if name else search.DefinedNames.label
    assert reasons(search.DefinedNames(), query, *files)[0] == told


def test_what_is_usual_does_not_count(judged, reasons):
    """What is usual is subtracted, one half at most; of several names of a file the best counts, as one by one."""
    for others, usual in ((0, 0.5), (1, 0.5), (99, 0.01 + 0.0099**0.5)):
        found = judged(search.DefinedNames(), "request", {**PYTHON, "text": SOURCE}, *other_files(others))
        assert found == pytest.approx([1 - usual, *[-usual] * others])
    none = [{**PYTHON, "text": SOURCE, **one} for one in ({"kind": "cell"}, {"lang": "markdown"})]
    assert judged(search.DefinedNames(), "request", *none, *other_files(2))[:2] == [None, None]
    assert judged(search.DefinedNames(), "request", none[0]) == [None]
    names = [
        "routes", "Router", "add_route", "handle", "Handle_", "sessions", "parse_url", "URLParser", "con",
        "connection_pool", "Zürich", "x1", "İz",
    ]  # fmt: skip
    alone = [{**PYTHON, "text": f"def {name}(): ..."} for name in names]
    every = {**PYTHON, "text": "".join(f"def {name}(): ...\n" for name in names)}
    for query in ("routing", "handling urls", "session", "zürich", "url parser"):
        *singly, together = judged(search.DefinedNames(), query, *alone, every)
        assert together == pytest.approx(max(singly))
        told = reasons(search.DefinedNames(), query, *alone, every)[-1]
        assert told == f"its definition of `{names[np.argmax(singly)]}`"


ASIDE = {"/lib/tests/client.py": "tests", "/lib/tests/data/client.py": "tests", "/lib/test_client.py": "test_client",
         "/lib/client_test.py": "client_test", "/lib/__init__.py": "__init__", "/lib/_compat.py": "_compat",
         "/lib/v1/models.py": "v1", "/lib/Deprecated/n.md": "Deprecated", "/lib/conftest.py": "conftest"}  # fmt: skip
BESIDE = ["/lib/client.py", "/tests/a/b/client.py", "/lib/testing.py", "/lib/latest.py", "/lib/v1x/models.py"]


def test_aside_is_told_by_the_path(judged, reasons):
    """The name of the file, or of one of two folders above it, puts it aside; other names and cells do not."""
    files = [{"kind": "file", "source": source} for source in (*ASIDE, *BESIDE)]
    cell = {"kind": "cell", "source": "/lib/tests/a.ipynb"}
    assert judged(search.Aside(), "the retries", *files, cell) == [*[-1.0] * len(ASIDE), *[0.0] * len(BESIDE), None]
    told = [f"`{name}` in its path" for name in ASIDE.values()] + [search.Aside.label] * len(BESIDE)
    assert reasons(search.Aside(), "the retries", *files) == told


def test_a_copy_is_aside_where_its_file_was_found(judged, reasons):
    """Copies and exports come after the file that they are of; where it was not found, nothing is said of them."""
    names = ("a.ipynb", "a (Kopie).ipynb", "a.py", "a-Copy2.html", "b-Copy1.ipynb", "b.md")
    cells = [{"kind": "cell", "source": f"/week/{name}"} for name in names]
    assert judged(search.Aside(), "the retries", *cells) == [None, -1.0, -1.0, -1.0, -1.0, None]
    assert judged(search.Aside(), "the retries", *cells[1:2], *cells[4:5]) == [None, None]
    told = "being a copy or an export of a file that was found, too"
    assert reasons(search.Aside(), "the retries", *cells)[1:3] == [told, told]


def test_what_the_title_has_and_what_it_lacks_both_count(store):
    """The nearer the words of the title are to those of the query, the more; stop words of a title do not count."""
    memories = store()
    for title in ("Delta types", "What are the delta types?", "Streaming of deltas with tool use", "Pricing in Zürich"):
        memories.add("Deltas of a stream are text or λ.", title=title)
    hits = memories.hits("types of deltas", limit=20).hits
    found = {hit.memory.title: hit.signals["title_match"].value for hit in hits}
    assert found["Delta types"] == found["What are the delta types?"] == 1.0
    assert 0.0 == found["Pricing in Zürich"] < found["Streaming of deltas with tool use"] < 0.7


def test_only_notes_are_called_something(tmp_path, store):
    """A cell shares its title with its section, a file has a path, and a note without a title has no value."""
    write(tmp_path / "delta types.ipynb", "# Delta types", "delta = types['λ']")
    (tmp_path / "delta types.md").write_text("The delta types of Zürich.", "utf-8")
    memories = store()
    memories.index(tmp_path, progress=False)
    memories.add("delta types without a title")
    found = [hit.signals["title_match"].value for hit in memories.hits("delta types", limit=20).hits]
    assert len(found) >= 3 and all(map(isnan, found))


def own_words(memories, query):
    hits = memories.hits(query, limit=10).hits
    return {hit.memory.text.split()[0]: hit.signals["own_words"].value for hit in hits if hit.memory.kind == "cell"}


def test_borrowed_words_do_not_count(tmp_path, store):
    """Filler below a heading has none of its words itself; filler with words of its own and notes lose nothing."""
    code = "def plot_silhouette(clusters):\n    # a diagram of λ\n    plt.barh(range(len(clusters)), clusters)\n"
    filler = "The code in this section is used to generate the next figure."
    imported = "from sklearn.metrics import silhouette_samples"
    write(tmp_path / "λ.ipynb", "# Silhouette diagrams of the clusters", filler, imported, code)
    memories = store()
    memories.index(tmp_path / "λ.ipynb", progress=False)
    memories.add("silhouettes of Zürich", title="Note")
    found = own_words(memories, "silhouette diagram of clusters")
    assert found["def"] == found["#"] == 0.0
    assert found["The"] == pytest.approx(-1.0)
    assert -1.0 < found["from"] < 0.0
    texts = [hit.memory.text.split()[0] for hit in memories.hits("code that plots the silhouette diagram").hits]
    assert texts.index("def") < texts.index("The")
    assert memories.hits("import silhouette_samples").hits[0].memory.text.startswith("from")
    for query, filler in (("import silhouette_samples", "from"), ("code used to generate the next figure", "The")):
        found = own_words(memories, query)
        assert found[filler] == 0.0 == max(found.values()) > min(found.values())
    notes = [hit for hit in memories.hits("silhouette of Zürich").hits if hit.memory.kind == "note"]
    assert notes and all(hit.signals["own_words"].contribution == 0.0 for hit in notes)


@pytest.mark.parametrize(
    ("query", "held", "lacking"),
    [
        # In another form, in capitals and within a name; with accents, which the index leaves out; in any script.
        *[(query, "allEntries = PRICE_λ * entry_of(prices)", "x = 3") for query in ("entries", "entry", "pricing")],
        ("Größe Läufe", "größe_läufe = 3", "x = 3"), ("préparation", "# préparation des données", "x = 3"),
        ("calibración", "# Calibración de la λ", "x = 3"), ("ガラス", "# ガラス", "x = 3"), ("서울", "# 서울", "x = 3"),
        ("калий", "# калий", "x = 3"),
        ("Wo ist das Haus?", "# Wo ist das: die Häuser sind nach dem Preis und der Lage sortiert",
         "x = 3  # das ist es, und mit λ"),
    ],
)  # fmt: skip
def test_forms_of_a_word_count(tmp_path, store, query, held, lacking):
    """A cell with a form of a word holds that word, as it does for the keyword retriever."""
    heading = "Entries and prices" if held.startswith("all") else query
    write(tmp_path / "ü.ipynb", f"# {heading}", held, lacking)
    memories = store()
    memories.index(tmp_path / "ü.ipynb", progress=False)
    hits = {hit.memory.text: hit.signals["own_words"].value for hit in memories.hits(query).hits}
    assert hits[held] == 0.0 > hits[lacking]


@pytest.fixture
def prices(store):
    memories = store()
    for text in (
        "Prices of Zürich: prices by hour, prices by day.",
        "The λ of the ridge regression was chosen by cross-validation on the prices of electricity.",
        "We scaled them to zero mean and unit variance.",
        "The weather service has gaps on Sundays.",
    ):
        memories.add(text)
    return memories


def word_scores(memories, query, profile):
    """Return what is said of the words of each hit, by its text, and the texts that the keyword retriever found."""
    hits = memories.hits(query, profile=profile).hits
    matched = {hit.memory.text for hit in hits if hit.kw_rank is not None}
    return {hit.memory.text: hit.signals["keyword"] for hit in hits}, matched


# Each retriever finds no more than one memory.
NARROW = search.auto.replace(name="narrow", fetch=search.OverFetch(0, 1), threshold=False)


@pytest.mark.parametrize(
    "query", ["prices of a penalty for large weights", "prices of power, λ", "prices and cold days"]
)
def test_words_count_whichever_retriever_found_it(prices, query):
    """A note found only by its meaning has the points of its words that it has where both retrievers find all."""
    # Twice: the first search of an index looks its words up in another way than those after it.
    for _ in range(2):
        few, matched = word_scores(prices, query, NARROW)
        every, _ = word_scores(prices, query, search.auto)
        assert few and len(matched) <= 1
        for text, seen in few.items():
            assert seen.value == pytest.approx(every[text].value, nan_ok=True)
            assert seen.contribution == pytest.approx(every[text].contribution)


def test_words_of_what_only_meaning_brought(prices):
    """It has points if it holds a word, and none without any; profiles that go by ranks read those alone."""
    few, matched = word_scores(prices, "prices of models, validated", NARROW)
    assert any(seen.value > 0 for text, seen in few.items() if text not in matched)
    every, _ = word_scores(prices, "prices of Zürich", search.auto)
    ranked, matched = word_scores(prices, "prices of Zürich", search.covalence)
    assert all(isnan(seen.value) for text, seen in every.items() if "weather" in text)
    assert all(isnan(seen.value) for text, seen in ranked.items() if text not in matched)


@pytest.mark.parametrize(
    ("query", "values"),
    [
        *[(query, [-1.0, 0.0, -1.0]) for query in ("which λ for Zürich", "λ für Zürich?", "How was λ chosen")],
        *[(query, [None] * 3) for query in ("λ for Zürich", "whichever λ", "λ? for Zürich")],
    ],
)
def test_what_asks_is_no_answer(judged, query, values):
    """Asked something, memories that ask themselves are told apart; where words are looked for, they are not."""
    texts = ["Which λ did we take for Zürich? ", "We took λ = 0.3 for Zürich.", "チューリッヒのλは？"]
    assert judged(search.QuestionPenalty(), query, *({"text": text} for text in texts)) == values


def test_lengths(judged):
    """A short text and a long one lose, one of sixteen words nothing, nor a note that was typed; turns lose as well."""
    words = list(map("".join, product("abcdefghiklmnoprst", repeat=2)))
    texts = ["Umsatz", "Umsatz λ im März", *(" ".join(["Umsatz", *words[:count]]) for count in (20, 30, 120, 320)),
             "チューリッヒのUmsatzは三月に増えました。予想よりも需要のλが大きかったためです。"]  # fmt: skip
    *found, script = judged(search.LengthPenalty(), "Umsatz", *({"kind": "file", "text": text} for text in texts))
    # Below four words it is all the same.
    word, few, some, line, page, pages = found
    assert word == few < some < line == script == 0.0 == max(found) and pages < page <= 0.0
    short = "Zürich prices are net of tax"
    turn, note = judged(search.LengthPenalty(), "prices in Zürich", {"text": short, "session": "3"}, {"text": short})
    assert turn < note == 0.0


def told(matches, **of):
    return [{"text": f"{'prices ' * count}{'other ' * (8 - count)}λ", **of} for count in matches]


BOOK = {"kind": "cell", "source": "Preise.ipynb"}


def test_the_better_neighbour_and_the_best_of_a_session_speak(judged):
    """A cell gets the evidence of the better cell beside it, a turn that of the best of its session, never its own."""
    pool = [*told((1, 6, 2), **BOOK), *told((5,), kind="cell", source="Zürich.ipynb")]
    first, second, third, other = judged(search.Neighbour(), "prices", *pool, embedder=False)
    assert first == third > second > other == 0.0
    notes = [*told((1, 6, 2), session="λ"), *told((5,), session="Zürich"), *told((5,))]
    first, second, third, *others = judged(search.Session(), "prices", *notes, embedder=False)
    assert first == third > second > 0.0 == max(others)
    # What a kernel ran gives and gets none.
    ran = [*told((1, 6), session="k1", kind="history"), *told((5,), session="k1")]
    assert judged(search.Session(), "prices", *ran, embedder=False) == [0.0] * 3


@pytest.mark.parametrize(
    ("one", "other", "speaks"),
    [
        ({"session": "λ"}, {"session": "λ"}, True), ({"session": "λ"}, {"session": "μ"}, False), ({}, {}, False),
        ({"session": "λ", "space": "work"}, {"session": "λ", "space": "home"}, False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("signal", [search.Neighbour(), search.Session()])
def test_notes_belong_together_within_a_session(judged, signal, one, other, speaks):
    """Notes speak for each other only where both are of one session and one space."""
    found = judged(signal, "prices", *told((3,), **one), *told((4,), **other), embedder=False)
    assert [value > 0 for value in found] == [speaks] * 2
    # What a memory lacks in meaning is not held against those beside it or of its session.
    texts = [{"text": f"λ prices cos={cosine}", "session": "λ"} for cosine in ("0.9", "-0.95", "-0.9")]
    found = judged(signal, "zebra", *texts)
    assert found[0] == 0.0 == min(found)
