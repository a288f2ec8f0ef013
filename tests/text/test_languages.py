"""Words: their forms, the language of a question, and how many tokens they take."""

from __future__ import annotations

import pytest

from jupyter_memory.embedders import tokens
from jupyter_memory.text import asked_in, estimated_tokens, forms, halves, is_form, without_elision

FORMS = {
    "german": "Preise=Preis Häuser=haus Groesse=Größe normalisiert=Normalisierung normalisierbarer=normalisierbare "
    "wiederholt=Wiederholung Ausreißern=ausreisser",
    "french": "normaliser=normalisation étalonner=étalonné classifier=classification",
    "spanish": "calibrar=calibración clasifican=clasificación atípica=atípicos",
}
OTHERS = {"german": "Preisliste=Preis", "french": "mesure=message", "spanish": "casa=caso_base"}
# The index itself leaves out accents, but not ß.
WRITTEN = {
    "german": "Ergebnis=ergebnisse Größe=groesse Groesse=große",
    "french": "étalonné=étalonner classification=classifier",
    "spanish": "medición=mediciones",
}


def pairs(table):
    return [(language, *pair.split("=")) for language, text in table.items() for pair in text.split()]


@pytest.mark.parametrize(("language", "first", "second"), pairs(FORMS))
def test_forms_of_one_word(language, first, second):
    """Cases, plurals, verbs and their nouns, umlauts written out, are forms of one word."""
    assert is_form(first, second, language) and is_form(second, first, language)


@pytest.mark.parametrize(("language", "first", "second"), pairs(OTHERS))
def test_others_are_no_forms(language, first, second):
    """Words that only begin alike are not forms of one."""
    assert not is_form(first, second, language)


@pytest.mark.parametrize(("language", "word", "written"), pairs(WRITTEN))
def test_forms_are_written_out(language, word, written):
    """The forms of a word contain those that a note may have."""
    assert written in forms(word, language)


def test_what_has_no_forms():
    """Short words and what is no word have no forms; a compound has parts where both have four letters."""
    odd = ("und", "df", "λ3", "snake_case", "", "v2x4", "İstanbul", "Größe\u0308", "Ꞵreise", "Λάμδα")
    assert [word for word in odd if forms(word, "german")] == []
    # An -s- or -n- between the parts belongs to neither.
    assert ("vertrag", "laufzeit") in halves("Vertragslaufzeit") and list(halves("Preis")) == []


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie haben wir die Preise in Zürich normalisiert?", "german"),
        ("Qui a décidé de retirer la météo du modèle ?", "french"),
        ("¿Por qué los contadores enviaron lo mismo?", "spanish"),
        *((text, None) for text in ("how did we normalise the prices in Zürich", "what was the war on will in art")),
        *((text, None) for text in ("los angeles prices for the die shrink", "convert EST to UTC", "Preise Zürich")),
        *((text, None) for text in ("del df['λ']; close()", "SELECT des FROM par", "価格の正規化", "se λ")),
    ],
)
def test_the_language_of_a_question(question, language):
    """Function words tell a language; English, code, bare words and what two languages share tell none of these."""
    assert asked_in(question).language == language


def test_english_is_told_from_nothing():
    """A question with English function words is English; words alone may be in any language."""
    assert asked_in("how did we scale the prices").is_english
    assert not asked_in("prices λ").is_english and not asked_in("Wie war das mit the merge?").is_english
    # A word that code or a name has as well counts as one; whoever reads this asks for two.
    assert asked_in("λ = con.execute(query)").words == 1
    # What leans on a French word is taken off, and no more than that.
    words = {"l'écart": "écart", "qu’une": "une", "aujourd'hui": "aujourd'hui", "d'": "d'", "écart": "écart"}
    assert {word: without_elision(word) for word in words} == words


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
COUNTED = {PROSE: (35, 36, 38, 35), CODE: (61, 60, 75, 77), TABLE: (31, 30, 29, 42)}
COUNTED |= {CHINESE: (20, 31, 28, 21), JAPANESE: (21, 27, 23, 16)}


@pytest.mark.parametrize("text", COUNTED, ids=["prose", "code", "table", "Chinese", "Japanese"])
def test_is_not_below_any_tokenizer_and_at_most_twice_the_median(text: str) -> None:
    """What a text costs depends on the model that reads it."""
    counted = sorted(COUNTED[text])
    assert counted[-1] <= estimated_tokens(text) <= 2 * counted[1]


def test_an_estimate_rather_errs_upwards() -> None:
    """It is not below the word pieces of the bundled model; code is denser than prose, joined lines are no dearer."""
    # To the bundled model each mark is a token, so it has more of them for code.
    assert all(estimated_tokens(text) >= tokens([text]).ids.size for text in (PROSE, TABLE))
    dense = [estimated_tokens(text) / len(text) for text in (PROSE, CODE, "17.382911,1204,0.99812\n")]
    assert dense == sorted(dense)
    for text in COUNTED:
        lines = text.splitlines()
        assert estimated_tokens("\n".join(lines)) <= sum(map(estimated_tokens, lines)) + len(lines) - 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("a", 1), ("=" * 80, 5), ("():", 2), (" " * 40, 3), ("1204", 4), ("🎉", 3), ("\n\n    ", 1)],
)
def test_edges(text: str, expected: int) -> None:
    """Runs of blanks and signs cost little, digits and pictures much."""
    assert estimated_tokens(text) == expected
