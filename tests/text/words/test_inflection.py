"""The forms of German, French and Spanish words."""

from __future__ import annotations

import pytest

from jupyter_memory.text import forms, halves, is_form

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
