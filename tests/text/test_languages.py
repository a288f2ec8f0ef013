"""Words: their forms, the language of a question, and how many tokens they take."""

from __future__ import annotations

import pytest

from jupyter_memory.embedders import tokens
from jupyter_memory.text import asked_in, estimated_tokens, forms, halves, is_form, without_elision

_GERMAN = [
    ("Preise", "Preis"),
    ("Häuser", "haus"),
    ("Groesse", "Größe"),
    ("normalisiert", "Normalisierung"),
    ("normalisierbarer", "normalisierbare"),
    ("wiederholt", "Wiederholung"),
    ("Ausreißern", "ausreisser"),
]
_FRENCH = [("normaliser", "normalisation"), ("étalonner", "étalonné"), ("classifier", "classification")]
_SPANISH = [("calibrar", "calibración"), ("clasifican", "clasificación"), ("atípica", "atípicos")]
_PAIRS = [
    (language, *pair)
    for language, pairs in (("german", _GERMAN), ("french", _FRENCH), ("spanish", _SPANISH))
    for pair in pairs
]


@pytest.mark.parametrize(("language", "first", "second"), _PAIRS)
def test_forms_of_one_word(language, first, second):
    """Cases, plurals, verbs and their nouns, umlauts written out, are forms of one word."""
    assert is_form(first, second, language) and is_form(second, first, language)


@pytest.mark.parametrize(
    ("language", "word", "written"),
    [
        ("german", "Ergebnis", "ergebnisse"),
        ("german", "Größe", "groesse"),
        ("german", "Groesse", "große"),
        ("french", "étalonné", "étalonner"),
        ("french", "classification", "classifier"),
        ("spanish", "medición", "mediciones"),
    ],
)
def test_forms_are_written_out(language, word, written):
    """The forms of a word contain those that a note may have; the index itself leaves out accents, but not ß."""
    assert written in forms(word, language)


@pytest.mark.parametrize(
    "word", ["und", "df", "λ3", "snake_case", "", "v2x4", "İstanbul", "Größe\u0308", "Ꞵreise", "Λάμδα"]
)
def test_no_forms(word):
    """Short words and what is no word have no forms."""
    assert forms(word, "german") == ()


def test_others_are_no_forms():
    """Words that only begin alike are not forms of one."""
    assert not is_form("Preisliste", "Preis", "german")
    assert not is_form("mesure", "message", "french")
    assert not is_form("casa", "caso_base", "spanish")


def test_halves_of_a_compound():
    """A compound is taken apart where both parts have four letters; -s- and -n- between them belong to neither."""
    assert ("vertrag", "laufzeit") in halves("Vertragslaufzeit")
    assert list(halves("Preis")) == []


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie haben wir die Preise in Zürich normalisiert?", "german"),
        ("Qui a décidé de retirer la météo du modèle ?", "french"),
        ("¿Por qué los contadores enviaron lo mismo?", "spanish"),
        ("how did we normalise the prices in Zürich", None),
        ("what was the war on will in art", None),
        ("los angeles prices for the die shrink", None),
        ("convert EST to UTC", None),
        ("del df['λ']; close()", None),
        ("SELECT des FROM par", None),
        ("Preise Zürich", None),
        ("価格の正規化", None),
    ],
)
def test_the_language_of_a_question(question, language):
    """Function words tell a language; English, code and bare words tell none of these."""
    assert asked_in(question).language == language


def test_english_is_told_from_nothing():
    """A question with English function words is English; words alone may be in any language."""
    assert asked_in("how did we scale the prices").is_english
    assert not asked_in("prices λ").is_english
    assert not asked_in("Wie war das mit the merge?").is_english


def test_one_word_is_no_sentence():
    """A word that code or a name has as well counts as one; whoever reads this asks for two."""
    assert asked_in("λ = con.execute(query)").words == 1


def test_what_two_languages_share_tells_none():
    """Words that are as good French as Spanish decide nothing."""
    assert asked_in("de entre contra").language != "german"
    assert asked_in("se λ").language is None


def test_elision():
    """What leans on a French word is taken off, and no more than that."""
    assert [without_elision(word) for word in ("l'écart", "qu’une", "aujourd'hui", "d'", "écart")] == [
        "écart",
        "une",
        "aujourd'hui",
        "d'",
        "écart",
    ]


PROSE = (
    "We decided to drop the rows of refunds before we computed the quarterly means, because a refund has a negative "
    "price and pulls the mean down. The accountants confirmed this in March."
)
CODE = """\
def monthly(prices: pd.DataFrame, column: str = "net_price") -> pd.Series:
    by_month = prices.groupby(prices["sold_at"].dt.to_period("M"))[column]
    return (by_month.mean() - by_month.mean().mean()) / by_month.std()
"""
TABLE = """\
         net_price  sold_at
count  1204.000000     1204
mean     17.382911      NaN
"""
CHINESE = "我们在计算季度平均值之前删除了退款的行，因为退款的价格是负数。"
JAPANESE = "四半期の平均を計算する前に、返金の行を削除しました。"

# What the tokenizers o200k_base, cl100k_base, Claude 2's and Gemma 3's count: their vocabularies are too large to ship.
COUNTED = {
    PROSE: (35, 36, 38, 35),
    CODE: (61, 60, 75, 77),
    TABLE: (31, 30, 29, 42),
    CHINESE: (20, 31, 28, 21),
    JAPANESE: (21, 27, 23, 16),
}


@pytest.mark.parametrize("text", COUNTED, ids=["prose", "code", "table", "Chinese", "Japanese"])
def test_is_not_below_any_tokenizer_and_at_most_twice_the_median(text: str) -> None:
    counted = sorted(COUNTED[text])
    assert counted[-1] <= estimated_tokens(text) <= 2 * counted[1]


# To the bundled model each mark is a token, so it has more of them for code.
@pytest.mark.parametrize("text", [PROSE, TABLE], ids=["prose", "table"])
def test_is_not_below_the_word_pieces_of_the_bundled_model(text: str) -> None:
    assert estimated_tokens(text) >= tokens([text]).ids.size


def test_code_and_numbers_are_denser_than_prose() -> None:
    dense = [estimated_tokens(text) / len(text) for text in (PROSE, CODE, "17.382911,1204,0.99812\n")]
    assert dense == sorted(dense)


def test_joined_lines_cost_no_more_than_each_alone_and_their_breaks() -> None:
    for text in COUNTED:
        lines = text.splitlines()
        assert estimated_tokens("\n".join(lines)) <= sum(map(estimated_tokens, lines)) + len(lines) - 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("a", 1), ("=" * 80, 5), ("():", 2), (" " * 40, 3), ("1204", 4), ("🎉", 3), ("\n\n    ", 1)],
)
def test_edges(text: str, expected: int) -> None:
    assert estimated_tokens(text) == expected
