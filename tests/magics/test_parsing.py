"""Lines taken apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.error import UsageError

from jupyter_memory.interface import ADD, SEARCH
from jupyter_memory.magics.parsing import LineParser, keep_questions

SEARCHING = LineParser("memsearch", "Search.", SEARCH, "query")
ADDING = LineParser("memadd", "Remember.", ADD, "text")


def test_repeated_options_are_collected() -> None:
    """An option that may be given again keeps every value, in order."""
    values = SEARCHING.parse("λ --tag a merge --tag='b c' --tag \"d\"").values

    assert values["tag"] == ["a", "b c", "d"]


def test_what_is_not_given_is_empty() -> None:
    """Options that were not given are None, switches False."""
    values = SEARCHING.parse("λ").values

    assert values["limit"] is None
    assert values["tag"] is None
    assert values["scan"] is False


def test_arguments_lose_their_quotes() -> None:
    """Arguments such as paths come without the quotes around them."""
    assert ADDING.parse("'a b' \"c d\" e").arguments == ["a b", "c d", "e"]


def test_a_quoted_value_of_a_dash_is_a_value() -> None:
    """A value that begins with a dash is taken for one, quoted or not."""
    assert ADDING.parse('--title "-- draft --" text').values["title"] == "-- draft --"
    assert ADDING.parse("--title -x text").values["title"] == "-x"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("a   b --tag x   c  d", "a   b c  d"),
        ("--tag x  a\tb", "a\tb"),
        ("it's  'so'", "it's  'so'"),
        ("'so'", "so"),
        ('"a" "b"', '"a" "b"'),
        ("f(x)[0]=='y'", "f(x)[0]=='y'"),
        ("x -- y --tag z", "x -- y"),
        ("--tag z -- x --tag y", "x --tag y"),
    ],
)
def test_text(line: str, text: str) -> None:
    """The text is what was written, less the options."""
    assert ADDING.parse(line).text == text


# Words as people type them: no option, no quote at the beginning, no mark that has a meaning at the end.
words = st.from_regex(r"[\w(){}$\\λü][\w(){}$\\'\"/.,:=λü-]{0,8}", fullmatch=True).filter(lambda w: w[-1] not in "'\"")


@given(st.lists(words, min_size=1, max_size=6), st.lists(st.sampled_from([" ", "  ", "\t"]), min_size=6, max_size=6))
def test_any_words_come_back(parts: list[str], gaps: list[str]) -> None:
    """Whatever words there are, with whatever between them, the text is the line."""
    line = "".join(word + gap for word, gap in zip(parts, gaps, strict=False)).strip()

    assert ADDING.parse(line).text == line


@given(st.text(max_size=40))
def test_any_line(line: str) -> None:
    """Any line is taken apart or is a UsageError of the base class."""
    try:
        parsed = SEARCHING.parse(line)
    except UsageError as error:
        assert type(error) is UsageError
        return
    assert "\0" not in parsed.query.replace(line, "") or "\0" in line


@pytest.mark.parametrize(
    "cell",
    [
        "%memsearch?\n",
        "%memsearch how\n",
        "x = 'how?'\n",
        "# %memsearch how?\n",
        "%time f()?\n",
        "%%writefile notes.txt\n%memsearch how?\n",
        "memsearch how?\n",
    ],
)
def test_other_lines_stay_as_they_are(cell: str) -> None:
    """Only questions to our magics are touched."""
    lines = cell.splitlines(keepends=True)

    assert keep_questions(lines) == lines


def test_a_question_keeps_its_line_end() -> None:
    """The transformed line ends as it did."""
    assert keep_questions(["x = %memsearch how?\n", "%memadd why??"]) == ["x = %memsearch how ?\n", "%memadd why ??"]
