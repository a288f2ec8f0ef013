"""The language of a question, told by its function words."""

from __future__ import annotations

import pytest

from jupyter_memory.text import asked_in, without_elision


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
