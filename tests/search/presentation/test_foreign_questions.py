"""A question in a language that hardly any memory is in is told so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hashing import Hashing

from jupyter_memory.text import asked_in

ENGLISH = ("The prices of electricity in Zürich were scaled.", "The arrival rate λ was estimated on Monday.")
FILLING = tuple(f"Run {number} of the furnace was stopped after an hour." for number in range(50))
# Keywords have hardly any function words, and four notes may have none.
KEYWORDS = (
    "Preise normalisiert: Median je Region, Ausreißer über 3 MAD entfernt",
    "Kundendaten bereinigt: Dubletten per E-Mail, leere Adressen gelöscht",
    "Modell: Ridge, λ = 0.3, Kreuzvalidierung 5fach",
    "Zeitreihe: Wochenmittel, Feiertage ausgelassen",
)
GERMAN = "Die Preise sind mit dem Median skaliert, und das wird nicht mehr geändert. Der Rest ist auf dem Laufwerk."
JUDGED = Path(os.environ.get("JUPYTER_MEMORY_TEST_DATA", Path(__file__).parents[4] / "shared" / "data")) / "judged"


@pytest.fixture
def english(store):
    """Return a store of English notes, as many as show its language."""
    memory = store()
    memory.add_many([{"text": text} for text in (*ENGLISH, *FILLING)], progress=False)
    return memory


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie haben wir die Daten bereinigt?", "German"),
        ("Comment avons-nous nettoyé les données ?", "French"),
        ("¿Cómo hemos limpiado los datos?", "Spanish"),
        ("データはどうやって整理しましたか", "Japanese"),
        ("我们怎么清理数据", "Chinese"),
        ("데이터를 어떻게 정리했습니까", "Korean"),
    ],
)
def test_a_question_in_another_language(english, question, language):
    """The answer names the language and says what to do, in place of a list of missing words."""
    notices = english.hits(question).notices

    assert sum(f"looks {language}, but hardly any memory here is in {language}" in notice for notice in notices) == 1
    assert any("Ask in English" in notice and "`model use mlx:FOLDER`" in notice for notice in notices)
    assert not any(notice.startswith("No memory contains “") for notice in notices)


def test_words_alone(store):
    """Where no model takes part, the advice names none."""
    memory = store(embedder=None)
    memory.add_many([{"text": text} for text in (ENGLISH[0], *FILLING)], progress=False)
    [notice] = [one for one in memory.hits("Wie haben wir die prices skaliert?").notices if "looks" in one]

    assert notice.endswith("and the search used words only. Ask in the language of your notes.")


@pytest.mark.parametrize(
    "question", ["how were the prices scaled", "which wine does the raclette need", "KeyError: die"]
)
def test_english_questions_are_not_told(english, question):
    """No question in English or about code is called another language."""
    assert not any("looks" in notice for notice in english.hits(question).notices)


def test_notes_in_the_language(english):
    """Where some memories are in the language of the question, nothing is said of it."""
    english.add_many([{"text": GERMAN}, {"text": f"Das ist nicht alles. {GERMAN}"}], progress=False)

    assert not any("looks" in notice for notice in english.hits("Wie haben wir das mit dem Wein gemacht?").notices)


@pytest.mark.parametrize("question", ["Wie haben wir die Preise normalisiert?", "Wo liegen die Rohdaten vom Zoll?"])
def test_a_small_store_is_not_judged(store, question):
    """A few German notes without function words are not told that they are not German, found or not."""
    memory = store()
    memory.add_many([{"text": text} for text in KEYWORDS], progress=False)

    assert not any("looks" in notice for notice in memory.hits(question).notices)


def test_a_question_that_is_answered_well(store):
    """Where the answer is strong, the store reads the question, however few of its notes are in that language."""
    memory = store()
    memory.add_many([{"text": text} for text in (*KEYWORDS, *FILLING, *FILLING)], progress=False)
    answer = memory.hits("Wie haben wir die Preise normalisiert?")

    assert answer.verdict == "strong" and answer.hits[0].memory.text == KEYWORDS[0]
    assert not any("looks" in notice for notice in answer.notices)


def test_a_model_of_another_kind_may_read_it(store):
    """Of a model that is none of ours, nobody knows which languages it reads."""
    memory = store(embedder=Hashing())
    memory.add_many([{"text": text} for text in (ENGLISH[0], *FILLING)], progress=False)

    assert not any("looks" in notice for notice in memory.hits("Wie haben wir die Daten bereinigt?").notices)


@pytest.mark.skipif(not JUDGED.is_dir(), reason=f"the judged sets are not in {JUDGED}")
def test_no_judged_question_is_called_foreign():
    """Of three thousand English questions, none has two function words of another language."""
    from jupyter_memory.evaluation.datasets import read_judged

    folders = [path.parent for path in JUDGED.glob("*/corpus.jsonl") if (path.parent / "queries.jsonl").exists()]
    questions = [question.text for folder in folders for question in read_judged(folder).questions]

    assert len(questions) > 1_000
    assert [text for text in questions if asked_in(text).words > 1] == []
