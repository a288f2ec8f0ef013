"""No pair is taken from what judges the table."""

import pytest

pytest.importorskip("scipy", reason="training needs scipy: pip install -r training/requirements.txt")

from training.decontaminate import Decontaminated, HeldOut
from training.pairs import Pair

JUDGED = "def read_meters(path, year): return pd.read_csv(path, sep=';').query('year == @year').dropna()"
UNLIKE = Pair("Draw the load curve.", "axes.plot(load.index, load.values)", "docstring", "meters")


def test_a_pair_that_shares_twelve_words_in_a_row_is_dropped():
    """Whatever the names' case and punctuation; the count says why and from which package."""
    copied = Pair(
        "Read the year's meters.", "x = 1\n" + JUDGED.replace("read_meters", "readMeters"), "docstring", "meters"
    )
    found = Decontaminated([copied, UNLIKE], HeldOut([JUDGED]))
    assert list(found) == [UNLIKE]
    assert found.dropped == {("twelve words of a judged set", "meters"): 1}


def test_a_pair_that_shares_eleven_words_stays():
    """Short phrases are common to all texts of a field."""
    held_out = "one two three four five six seven eight nine ten eleven twelve"
    shared = Pair("Count.", held_out.replace("twelve", "dozen"), "docstring", "meters")
    assert list(Decontaminated([shared], HeldOut([held_out]))) == [shared]


def test_the_first_sentence_of_a_judged_docstring_is_no_question():
    """The judged function may have another body in the package's version of today."""
    asked = Pair("Reads the meters of a year.", "completely_rewritten()", "docstring", "meters")
    found = Decontaminated([asked, UNLIKE], HeldOut([], ["reads the meters of a year"]))
    assert list(found) == [UNLIKE]
