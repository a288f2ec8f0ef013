"""Words are found however their marks are typed, and as they are seen."""

import pytest
from growing import cpu_exponent

from jupyter_memory.text import ident_column

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
