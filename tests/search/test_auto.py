"""What the default profile answers, whatever forms, signs and marks the words of a question have."""

from contextlib import closing
from datetime import UTC, datetime, timedelta

import apsw
import pytest
from growing import cpu_exponent
from results import titles
from week import NOW

from jupyter_memory.search import parse
from jupyter_memory.text import ident_column

WEEK = [
    ("Left joins", "The left join on the meter id doubled the rows of Zürich."),
    ("Scaling", "We scaled the electricity prices to zero mean and unit variance."),
    ("Lags", "Lags of a day and a week help the demand forecast most."),
    ("Ridge", "Ridge regression with λ = 0.3 after cross-validation."),
    ("Weather", "The weather service has gaps on Sundays; we fill them with the mean."),
    ("Plots", "Plots of the residuals show a trend in winter."),
]


@pytest.fixture
def week(store):
    """A store with a note a day, the last written yesterday."""
    memories = store()
    for ago, (title, text) in enumerate(reversed(WEEK), start=1):
        memories.add(text, title=title, event_at=NOW - timedelta(days=ago))
    return memories


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("how were the electricity prices normalised", "Scaling"), ("left join doubled rows", "Left joins"),
        ("λ", "Ridge"), ("missing values of the weather", "Weather"),
    ],
)  # fmt: skip
def test_words_and_meaning(week, query, first):
    """A question finds what it asks for; each explanation has the numbers of the search, also further down."""
    answer = week.hits(query, now=NOW)
    assert titles(answer)[0] == first
    for hit in answer.hits:
        explained = week.explain(query, hit.memory.id, now=NOW)
        assert explained.rank == hit.rank and explained.hit.score == pytest.approx(hit.score)


def test_a_time_that_is_named(week):
    """What happened then comes first, with the range told; where nothing did, that is said, and nothing is hidden."""
    answer = week.hits("what did I do yesterday", now=NOW)
    assert titles(answer)[0] == "Plots"
    assert answer.time_range == ["2026-03-05T00:00:00+00:00", "2026-03-06T00:00:00+00:00"]
    assert any("Read “yesterday” as 2026-03-05" in notice for notice in answer.notices)
    assert week.hits('"yesterday" prices', now=NOW).time_range is None
    answer = week.hits("electricity prices in May 2019", now=NOW)
    assert any("2019-05-01 … 2019-05-31, but nothing here is from then." in notice for notice in answer.notices)
    details = week.explain("electricity prices in May 2019", answer.hits[0].memory.id, now=NOW).details
    assert "Nothing for time: it is not from the time that the query names." in details
    assert "Left joins" in titles(week.hits("left join doubled rows last month", now=NOW))


def test_strength(week):
    """What the store answers is strong; what nothing in it speaks of is called none."""
    answered = week.hits("how were the electricity prices scaled", now=NOW)
    unanswered = week.hits("which wine does the mean raclette need", now=NOW)

    assert answered.verdict == "strong"
    assert answered.strength == max(hit.strength for hit in answered.hits)
    assert unanswered.verdict == "none" and unanswered.hits
    assert unanswered.notices == (
        "No memory contains “wine”, “raclette” or “need”.",
        "Nothing here seems to answer this. These are the closest results.",
    )
    assert not answered.notices
    assert unanswered.strength < answered.strength
    # Punctuation alone asks for nothing, so nothing answers it, not even the same vector.
    for query in ("-", "?!", "…", "==", "。"):
        week.add(query)
        answer = week.hits(query, now=NOW)
        assert answer.hits and answer.verdict == "none"
        assert answer.strength == 0.0 == max(hit.strength for hit in answer.hits)


@pytest.mark.parametrize("query", ["FileSyncService", "where is the FileSyncService", "電力価格", "東京の電力価格"])
def test_strength_of_a_name(store, query):
    """What one memory alone holds is answered, be it a name in camel case or words without spaces between them."""
    memories = store()
    memories.add("FileSyncService copies the tables of Zürich at night.")
    memories.add("東京の電力価格を平均ゼロに正規化した")
    memories.add_many([{"text": f"Run {one} of the demand model: loss {one / 7:.3f}, λ = {one}."} for one in range(30)])
    assert memories.hits(query).verdict == "strong"
    assert memories.hits("DataLoaderWorker").verdict == memories.hits("株式市場").verdict == "none"


def test_trust_is_measured_where_many_come(store):
    """After many memories at once the store knows how far meaning can be trusted, and measures anew once it doubled."""
    memories = store()
    texts = [
        f"The tariff of λ number {number} is cheap. In Zürich it was {number * 7} francs a month, in winter more."
        for number in range(80)
    ]
    with closing(apsw.Connection(str(memories.path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        memories.add_many([{"text": text} for text in texts], progress=False)
        first = connection.execute("select chunks, value from trust").fetchall()
        memories.add_many([{"text": f"{text} Twice."} for text in texts[:60]], progress=False)
        memories.add_many([{"text": f"{text} Thrice."} for text in texts], progress=False)
        second = connection.execute("select chunks, value from trust").fetchall()
    assert [chunks for chunks, _ in first] == [80]
    assert [chunks for chunks, _ in second] == [220]
    assert 0.5 <= second[0][1] <= 4.0


NOTES = {
    "Preise": "Der Preis von Strom in Zürich wird durch den Median geteilt, λ = 0,3. Das ist mit Annika so vereinbart.",
    "Prognose": "Die Umsatzprognose ist fertig und wird am Montag mit dem Vertrieb besprochen.",
    "Messung": "Das Ergebnis der Messungen ist nicht sicher, und der Lüfter wird getauscht.",
    "Normal": "Die Normalisierung der Größe ist mit merge_asof erledigt und wird nicht wiederholt.",
}
FRENCH = {
    "Prix": "Les prix sont normalisés par pays, et la médiane des valeurs est une bonne mesure pour les comparer.",
    "Lampe": "Le spectromètre est étalonné avec une lampe, dans la salle des machines. Les écarts sont notés.",
}
ENGLISH = [
    "The prices of electricity in Zürich rose in March.",
    "df.groupby('city').sum() failed with KeyError: 'die'.",
]


def filled(memory, notes):
    for title, text in notes.items():
        memory.add(text, title=title)
    return memory


def marked(hit):
    return [hit.snippet[start:end] for start, end in hit.highlights]


@pytest.fixture
def german(store):
    return filled(store(embedder=None), NOTES)


@pytest.mark.parametrize(
    ("question", "title", "word"),
    [
        ("Ergebnisse", "Messung", "Ergebnis"), ("was war mit der Messung", "Messung", "Messungen"),
        ("normalisieren", "Normal", "Normalisierung"), ("Groesse", "Normal", "Größe"),
        ("Prognosen", "Prognose", "Umsatzprognose"), ("Umsatz", "Prognose", "Umsatzprognose"),
    ],
)  # fmt: skip
def test_another_form_is_a_match(german, question, title, word):
    """A word is found in another form or in a compound, is marked there, and is not called missing."""
    answer = german.hits(question)
    assert answer.hits[0].memory.title == title
    assert word in marked(answer.hits[0])
    assert not any("No memory" in notice for notice in answer.notices)


def test_compounds_and_elision(german, store):
    """A compound that the store lacks is found by its parts, a French word without its article and in other forms."""
    [hit, *_] = german.hits("Medianpreis").hits
    assert hit.memory.title == "Preise" and {"Preis", "Median"} <= set(marked(hit))
    answer = filled(store("french.sqlite", embedder=None), FRENCH).hits("l'écart quand nous étalonnons le spectromètre")
    assert answer.hits[0].memory.title == "Lampe"
    assert {"spectromètre", "écarts"} <= set(marked(answer.hits[0]))


def test_forms_of_a_word_count_as_one(german):
    """However rare a form is, a note in that form scores as one in the form that was asked for."""
    german.add("Der Preis ist mit 3 Euro notiert, und der Filter wird bestellt.", title="Filter")
    german.add("Die Preises ist und wird mit 3 Euro notiert, der Filter bestellt.", title="Tippfehler")
    found = {hit.memory.title: hit.bm25 for hit in german.hits("Preise").hits}
    assert found["Tippfehler"] == pytest.approx(found["Filter"], rel=0.15)


@pytest.mark.parametrize("question", ["how were the prices scaled", "merge_asof", "KeyError: 'die'", "electricity"])
def test_english_and_code_are_left_as_they_are(store, question):
    """In a store of English notes and code, no question has other forms or another language."""
    memory = store(embedder=None)
    for text in ENGLISH:
        memory.add(text)
    query = memory.hits(question).query
    assert query.terms.forms == () and query.language is None


def test_what_has_no_forms(german):
    """Function words of the language are not looked up; English questions and parts of names have no forms."""
    answer = german.hits("Wie wurde das mit der Messung?")
    assert answer.query.terms.words == ("messung",) and answer.query.language == "german"
    query = german.hits("how did we scale the preis").query
    assert query.terms.forms == () and query.language is None
    german.add("ergebnisse_laden() ist mit der Messung verbunden und wird nicht gebraucht.", title="Laden")
    query = german.hits("ergebnis_laden").query
    assert not {"ergebnis", "laden"} & {one.word for one in query.terms.forms}


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


OTHERS = [
    "The tram sheds", "Серый камень у дороги", "Το σπίτι στο λόφο", "בית על הגבעה", "بيت على التل", "Fracht und Liste",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("The looms of Łódź stand still", ["lodz", "Łódź", "łodz"]),
        ("Во дворе стоит зелёная ёлка", ["елка", "ёлка", "Зеленая"]),
        ("Под елкой лежат подарки", ["ёлкой"]),
        ("Το νερό της πηγής είναι κρύο", ["νερο", "ΝΕΡΟ", "νερό", "πηγης"]),
        ("Το νερο ειναι κρυο", ["νερό"]), ("שָׁלוֹם לכולם", ["שלום", "שָׁלוֹם"]), ("كتب مُحَمَّد رسالة", ["محمد"]),
        ("أحمد في البيت", ["احمد"]), ("Trawlers of Tromsø unload", ["Tromso", "Tromsø"]),
        ("Đorđe wrote of ıslak streets", ["dorde", "islak"]),
        ("Die Fracht\u00adliste der Reederei", ["Frachtliste", "Fracht\u00adliste"]),
        ("Der Hafen&shy;meister schlief", ["Hafenmeister"]), ("The tide\u200bwaiter boarded", ["tidewaiter"]),
        (r"Kurt G\"odel and Paul Erd\H{o}s", ["Gödel", "godel", "Erdős", "erdos"]),
        (r"Stra{\ss}e in K\o{}benhavn, na\"{\i}ve", ["Straße", "København", "Kobenhavn", "naïve"]),
        (r"\v{C}apek's fa\c{c}ade and \AA{}str\"om", ["Čapek", "facade", "Åström"]),
    ],
)  # fmt: skip
def test_a_word_is_found_however_it_is_typed(store, text, queries):
    """By its words, with and without marks, on either side; the text stays as it is."""
    memory = store(embedder=None)
    memory.add_many([{"text": one} for one in (text, *OTHERS)])
    for query in queries:
        hits = memory.hits(query).hits
        assert [hit.memory.text for hit in hits][:1] == [text], query


@pytest.mark.parametrize(
    "text",
    [
        r"""print("{\"action\": \"open\"}", 'don\'t', 'it\'s')""",
        r"\frac{a}{b} \begin{center} \int x \in \alpha_i \label{c}",
        "йод and the AT&T office, résumé",
    ],
)
def test_what_has_no_such_marks_is_indexed_as_before(text):
    """Strings of code, commands of LaTeX and other letters add no words."""
    assert all(word.isascii() and "action" not in word for word in ident_column(text).split())


@pytest.mark.parametrize("piece", ["a", r"\"o", "{\\ss}", "\u00ad", "ё", "&shy;", r"\v{c", "\\", "ֹa"])
def test_the_time_grows_with_the_text(piece):
    end = '\\"o ё'
    assert cpu_exponent(lambda n: lambda: ident_column(piece * (n // len(piece)) + end), 50_000, 200_000) < 1.6
