"""How much of a query a text covers."""

import os
import subprocess
import sys

import pytest

from jupyter_memory.search.confidence import Coverage, missing_share
from jupyter_memory.search.query.terms import AskedWord
from jupyter_memory.storage import Passage


class Words:
    """The words of a store, split at white space."""

    chunks = 1000

    def words(self, text):
        return text.lower().split()

    def frequencies(self, words):
        return dict.fromkeys(words, 1)


def asked(text, weight=1.0, **more):
    """Return a word that is asked for."""
    return AskedWord(text, (tuple(text.lower().split()),), weight=weight, **more)


def covered(words, text, lang="", **parts):
    """Return the share of these words that a text covers."""
    return Coverage(words, Words()).of(Passage(text=text, **parts), lang)


def test_words_count_by_what_they_tell():
    """A rare word counts more than a frequent one, and what is not asked for counts nothing."""
    words = [asked("forecast", 3.0), asked("mean", 1.0)]

    assert covered(words, "the mean of zürich") == 0.25
    assert covered(words, "the forecast of λ") == 0.75
    assert covered(words, "mean forecast") == 1.0
    assert covered([], "mean") == 0.0


def test_what_is_scattered_covers_less():
    """Words far apart in a long text say less than the same words side by side."""
    words, filler = [asked("forecast"), asked("mean")], " other" * 40

    assert covered(words, f"forecast mean{filler}") == 1.0
    assert covered(words, f"forecast{filler} mean") == 0.75
    assert covered(words, f"forecast{filler} mean forecast") == 1.0


def test_the_title_is_close_to_everything():
    """A heading and a tag say what the whole text is about."""
    words, filler = [asked("forecast"), asked("mean")], "other " * 40

    assert covered(words, f"{filler} mean", title="forecast") == 1.0
    assert covered(words, f"{filler} mean", context="forecast") == 1.0
    assert covered(words, f"{filler} mean", tags="forecast") == 1.0


def test_data_files_do_not_cover_the_word_data():
    """It is in many questions, and every data file is labelled so."""
    assert covered([asked("data"), asked("mean")], "mean", "data") == 0.5


def test_code_covers_the_name_of_its_language():
    """Code in Python hardly ever says so, and a question often does; prose is not about "text"."""
    words = [asked("python"), asked("mean")]

    assert covered(words, "x.mean() mean", "Python") == 1.0
    assert covered(words, "x.mean() mean", "julia") == 0.5
    assert covered([asked("text"), asked("mean")], "mean", "text") == 0.5


def test_an_identifier_counts_once():
    """Held in a row it counts in full, in pieces half, whatever the number of its parts."""
    name = AskedWord("PeakLoad", (("peakload",), ("peak", "load")), parts=("peak", "load"), weight=1.0)

    assert covered([name], "the peakload function") == 1.0
    assert covered([name], "the peak load of the day") == 1.0
    assert covered([name], "load at the peak") == 0.5
    assert covered([name], "only a peak") == 0.25
    assert covered([name], "def peak_load(frame)") == 1.0


def test_what_may_be_a_slip_counts_half():
    """A word that is near in spelling may be meant, or may not."""
    word = AskedWord("demnad", (("demnad",),), near=(("demand",), ("damned",)), weight=1.0)

    assert covered([word], "the demand of λ") == covered([word], "damned") == 0.5
    assert covered([word], "the load of λ") == 0.0


@pytest.mark.parametrize(("names", "share"), [(False, 0.75), (True, 0.5)])
def test_the_missing_share(names, share):
    """What is missing counts by what it tells; a verb that nobody used is no name."""
    words = [asked("kafka", 2.0, is_name=True, missing=True), asked("hire", 1.0, missing=True), asked("mean", 1.0)]

    assert missing_share(words, names=names) == share
    assert missing_share([], names=names) == 0.0


_PROGRAM = """
import sys
from jupyter_memory import MemoryStore
WORDS = "λ poisson prices zürich shop forecast variance night orders hour mean row groupby transform".split()
with MemoryStore(sys.argv[1], embedder="static") as store:
    store.add_many([{"text": " ".join(WORDS[start::step])} for step in (1, 2, 3) for start in range(8)], progress=False)
    print([hit.strength.hex() for hit in store.hits(" ".join(WORDS), limit=50).hits])
"""


def test_strength_is_the_same_in_every_process(tmp_path):
    """Not even its last digit depends on the order that a process gives to its sets."""
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(tmp_path / f"{seed}.sqlite")],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in (1, 2, 3)
    ]
    told = [program.communicate(timeout=100)[0] for program in programs]

    assert [program.returncode for program in programs] == [0, 0, 0]
    assert told[0].count("0x") >= 20
    assert len(set(told)) == 1
