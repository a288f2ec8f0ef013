"""A cell is found by the words of its headings too, but what its own text says counts more."""

from __future__ import annotations

import nbformat
import pytest

from jupyter_memory import MemoryStore


@pytest.fixture
def stored(tmp_path):
    """A store with one notebook: a heading, filler, an import and the code that answers, and a note beside it."""
    cells = [
        nbformat.v4.new_markdown_cell("# Silhouette diagrams of the clusters"),
        nbformat.v4.new_markdown_cell("The code in this section is used to generate the next figure."),
        nbformat.v4.new_code_cell("from sklearn.metrics import silhouette_samples"),
        nbformat.v4.new_code_cell(
            "def plot_silhouette(clusters):\n    # a diagram of λ\n    plt.barh(range(len(clusters)), clusters)\n"
        ),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "λ.ipynb")
    with MemoryStore(tmp_path / "λ.sqlite") as store:
        store.index(tmp_path / "λ.ipynb")
        store.add("silhouettes of Zürich", title="Note")
        yield store


def values(store, query):
    """Return what the signal says of each cell, by the first word of its text."""
    hits = store.hits(query, limit=10).hits
    return {hit.memory.text.split()[0]: hit.signals["own_words"].value for hit in hits if hit.memory.kind == "cell"}


def test_borrowed_words_do_not_count(stored):
    """Filler below a heading with all words of the query has none of them itself."""
    found = values(stored, "silhouette diagram of clusters")
    assert found["def"] == found["#"] == 0.0
    assert found["The"] == pytest.approx(-1.0)
    assert -1.0 < found["from"] < 0.0


def test_code_stands_before_the_filler_above_it(stored):
    """The cell that does what is asked comes before the sentence that only announces it."""
    texts = [hit.memory.text.split()[0] for hit in stored.hits("code that plots the silhouette diagram").hits]
    assert texts.index("def") < texts.index("The")


def test_who_asks_for_an_import_or_a_heading_finds_it(stored):
    """Filler that holds the words of the query loses nothing."""
    assert stored.hits("import silhouette_samples").hits[0].memory.text.startswith("from")
    for query, filler in (("import silhouette_samples", "from"), ("code used to generate the next figure", "The")):
        found = values(stored, query)
        assert found[filler] == 0.0 == max(found.values()) > min(found.values())


def test_only_cells_are_judged(stored):
    """A note borrows no words, and a query of stop words asks for none."""
    notes = [hit for hit in stored.hits("silhouette of Zürich").hits if hit.memory.kind == "note"]
    assert notes and all(hit.signals["own_words"].contribution == 0.0 for hit in notes)


@pytest.mark.parametrize("query", ["entries", "entry", "pricing", "Prices"])
def test_forms_of_a_word_count(tmp_path, query):
    """A word is found in another form, in capitals and within a name."""
    cells = [nbformat.v4.new_code_cell(text) for text in ("allEntries = PRICE_λ * entry_of(prices)", "ü = 3")]
    cells.insert(0, nbformat.v4.new_markdown_cell("# Entries and prices"))
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "ü.ipynb")
    with MemoryStore(tmp_path / "λ.sqlite") as store:
        store.index(tmp_path / "ü.ipynb")
        found = values(store, query)
        assert found["allEntries"] == found["#"] == 0.0 > found["ü"]


@pytest.mark.parametrize(
    ("query", "cell"),
    [
        ("Größe Läufe", "größe_läufe = 3"),
        ("préparation", "# préparation des données"),
        ("calibración", "# Calibración de la λ"),
        ("ガラス", "# ガラス"),
        ("서울", "# 서울"),
        ("калий", "# калий"),
    ],
)
def test_words_with_accents_count(tmp_path, query, cell):
    """A word is found in a text with its accents, which the index leaves out, and in any script."""
    cells = [nbformat.v4.new_markdown_cell(f"# {query}"), *map(nbformat.v4.new_code_cell, (cell, "x = 3"))]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "ü.ipynb")
    with MemoryStore(tmp_path / "λ.sqlite") as store:
        store.index(tmp_path / "ü.ipynb")
        hits = {hit.memory.text: hit.signals["own_words"].value for hit in store.hits(query).hits}
    assert hits[cell] == 0.0 > hits["x = 3"]


def test_inflected_forms_count(tmp_path):
    """In another language, a cell with another form of a word holds that word, as it does for the keyword retriever."""
    texts = ("# Wo ist das: die Häuser sind nach dem Preis und der Lage sortiert", "x = 3  # das ist es, und mit λ")
    cells = [nbformat.v4.new_markdown_cell("# Wo ist das Haus?"), *map(nbformat.v4.new_code_cell, texts)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "ü.ipynb")
    with MemoryStore(tmp_path / "λ.sqlite") as store:
        store.index(tmp_path / "ü.ipynb")
        hits = {hit.memory.text: hit.signals["own_words"].value for hit in store.hits("Wo ist das Haus?").hits}
    assert hits[texts[0]] == 0.0 > hits[texts[1]]
