"""Words of German, French and Spanish notes are found in their other forms."""

import pytest

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
    """Return a store of German notes, searched by words alone."""
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
