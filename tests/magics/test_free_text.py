"""Free text on a magic's line: what IPython or argparse would do to it, and does not."""

from __future__ import annotations

import re

import pandas as pd
import pytest


@pytest.mark.parametrize(
    "cell",
    [
        "%memsearch how do I merge frames?",
        "%memsearch how do I merge frames??",
        "%memsearch how do I merge frames ?",
        "  %memsearch how do I merge frames?  ",
    ],
)
def test_a_question_is_a_search(week, cell: str) -> None:
    """A trailing question mark asks the memory, not IPython's help."""
    result = week.run(cell)

    assert result["title"].iloc[0] == "Merge"
    assert result.attrs["memsearch"]["query"].rstrip("?") == "how do I merge frames"


def test_a_question_can_be_assigned(week) -> None:
    """`x = %memsearch how?` assigns the result of the question."""
    week.run("x = %memsearch merge frames?")

    assert week.ip.user_ns["x"]["title"].iloc[0] == "Merge"


def test_a_question_of_three_marks(week) -> None:
    """Even an urgent question is a search."""
    assert week.titles("%memsearch merge frames???")[0] == "Merge"


def test_several_questions_in_a_cell(week) -> None:
    """Every line of a cell may be a question, also after other code."""
    week.run("a = %memsearch merge frames?\nn = 1 + 1\nb = %memsearch who is Müller?")

    assert week.ip.user_ns["a"]["title"].iloc[0] == "Merge"
    assert week.ip.user_ns["b"]["title"].iloc[0] == "Müller"


@pytest.mark.parametrize("cell", ["%memsearch?", "?%memsearch", "%memadd?", "%memory?"])
def test_help_is_still_help(shell, capsys, cell: str) -> None:
    """The magic's name with a question mark shows help with examples."""
    shell.run(cell)

    shown = capsys.readouterr().out
    assert "Examples::" in shown or "%memory status" in shown


def test_two_marks_show_the_source(shell, capsys) -> None:
    """The magic's name with two question marks shows its source, as for every magic."""
    shell.run("%memsearch??")

    assert "def memsearch" in re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)


def test_other_cell_magics_keep_their_text(week) -> None:
    """In the body of another cell magic nothing is changed."""
    week.run('%%script python -c "import sys; print(sys.stdin.read())" --out text\n%memsearch how?\n')

    assert week.ip.user_ns["text"].startswith("%memsearch how?\n")


def test_cell_magic_keeps_the_question(week) -> None:
    """In a cell the question is kept as it is."""
    assert week.asked("%%memsearch\nhow do I\nmerge frames?\n") == "how do I\nmerge frames?"


@pytest.mark.parametrize("text", [r"dates \d{3} $x ${HOME}", '{"a": 1}', "{{n}}", "$n and {n}"])
def test_nothing_is_expanded(week, text: str) -> None:
    """Dollars and braces are text, not variables, in a search and in a memory."""
    week.ip.user_ns["n"] = "replaced"

    assert week.asked(f"%memsearch {text}") == text
    assert week.run(f"%memadd {text}").memory.text == text


def test_a_variable_is_asked_for_by_name(week) -> None:
    """`--var` searches for the value of a variable."""
    week.ip.user_ns["question"] = "who is Müller?"

    assert week.asked("%memsearch --var question") == "who is Müller?"
    assert week.titles("%memsearch --var question -n 1") == ["Müller"]


def test_var_in_a_function(week) -> None:
    """In a function `--var` takes the function's own variables, and behind them those of the notebook."""
    week.ip.user_ns["question"] = "who is Müller?"
    week.run("def found(wanted):\n    df = %memsearch --var wanted\n    return df")
    week.run("def ours():\n    df = %memsearch --var question\n    return df")

    assert week.asked("found('merged frames')") == "merged frames"
    assert week.asked("ours()") == "who is Müller?"
    assert "no variable nowhere" in week.mistake("def lost():\n    %memsearch --var nowhere\nlost()")


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("%memsearch --var nowhere", "no variable nowhere"),
        ("%memsearch --var number", "int"),
        ("%memsearch --var question more words", "twice"),
        ("%%memsearch --var question\nbody", "twice"),
        ("%%memsearch words here\nbody", "twice"),
        ("%memsearch --var empty", "nothing to search for"),
    ],
)
def test_mistakes_with_variables(week, cell: str, says: str) -> None:
    """A variable that is missing, no text, empty, or beside another query is a one-line mistake."""
    week.ip.user_ns |= {"question": "who?", "number": 3, "empty": " "}

    assert says in week.mistake(cell)


@pytest.mark.parametrize(
    "cell", ["%memsearch Müller;", "%memsearch Müller ; ", "%%memsearch\nMüller;\n", "%%memsearch -n 1;\nMüller"]
)
def test_a_semicolon_silences(week, cell: str, capsys) -> None:
    """A `;` at the end shows nothing."""
    capsys.readouterr()

    assert week.run(cell) is None
    assert capsys.readouterr().out == ""


def test_a_semicolon_is_not_searched_for(week) -> None:
    """The `;` is not part of the query, and an assignment gets its value all the same."""
    week.run("x = %memsearch Müller;")

    assert week.ip.user_ns["x"].attrs["memsearch"]["query"] == "Müller"


def test_options_stand_anywhere(week) -> None:
    """Options are read before, between and after the words."""
    for cell in ("-n 1 merge frames customer", "merge -n 1 frames customer", "merge frames customer --limit 1"):
        result = week.run(f"%memsearch {cell}")
        assert len(result) == 1
        assert result.attrs["memsearch"]["query"] == "merge frames customer"


@pytest.mark.parametrize("text", ["'unclosed", '"unclosed phrase', 'merge --since "last week', '--since="last week'])
def test_unbalanced_quotes(week, text: str) -> None:
    """A quote that is not closed is a one-line mistake."""
    assert "not closed" in week.mistake(f"%memsearch {text}")


@pytest.mark.parametrize("text", ["don't", "what's the users' λ", "5\" or 6' pipes", "rock'n'roll"])
def test_apostrophes(week, text: str) -> None:
    """An apostrophe in a word is no quote."""
    assert week.asked(f"%memsearch {text}") == text


@pytest.mark.parametrize(
    "option", ['--on "4 March 2026"', "--on '4 March 2026'", '--on="4 March 2026"', "--on=2026-03-04"]
)
def test_quotes_around_values(week, option: str) -> None:
    """One pair of quotes around an option's value is not part of it."""
    assert week.titles(f"%memsearch customer {option}") == ["Merge"]


def test_a_quoted_tag(week) -> None:
    """A tag of two words is found in quotes."""
    assert week.titles('%memsearch customer --tag "to do"') == ["Merge"]


@pytest.mark.parametrize("text", ['"left join"', "'left join'"])
def test_quoted_words_are_a_phrase(week, text: str) -> None:
    """Quoted words stay a phrase, whichever quotes."""
    assert week.asked(f"%memsearch use {text} here") == 'use "left join" here'


@pytest.mark.parametrize(
    "text", ["-404", "answers -404 again", "pip install -U pandas", "a - b", "a -- b", "-- --limit"]
)
def test_words_with_dashes(week, text: str) -> None:
    """A word that begins with a dash and is no option is a word; `--` in front keeps all that follows."""
    assert week.asked(f"%memsearch {text}") == text.removeprefix("-- ")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("-l 3 prices", "Options that begin so: --limit or -n, --lang."),
        ("prices -l 3", "-l is not an option"),
        ("prices -l=3 --tag λ", "-l is not an option"),
        ("-x prices", "-x is not an option, so it is searched for as a word."),
        ("-t λ prices", "--tag, --tier."),
        ("-d prices", "Options that begin so: --domain."),
    ],
)
def test_a_switch_that_is_none(week, capsys, line: str, says: str) -> None:
    """A letter with a dash that may have been meant as an option is told, and searched for as a word."""
    capsys.readouterr()
    assert isinstance(week.run(f"%memsearch {line}"), pd.DataFrame)
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    ["what does grep -r do", "prices -404", "head -c 5 prices", "-404", '"-l" prices', "-- -l 3", "a - 3", "-ab λ"],
)
def test_a_switch_that_is_asked_about(week, capsys, line: str) -> None:
    """Nothing is told of switches that somebody asks about, of numbers, and of what is quoted."""
    capsys.readouterr()
    week.run(f"%memsearch {line}")
    assert "not an option" not in capsys.readouterr().err


def test_minus_404_is_found(week) -> None:
    """-404 finds what says -404."""
    assert week.titles("%memsearch -404")[0] == "Status"


@pytest.mark.parametrize("path", [r"C:\data\new\prices.csv", r"'C:\My data\new'", r"\\server\share"])
def test_windows_paths(week, path: str) -> None:
    """Backslashes stay as they are, in words and in values."""
    assert week.run(f"%memadd see {path} there").memory.text == f"see {path} there"
    assert week.run(f"%memsearch prices --path {path}").empty


def test_abbreviated_options(week) -> None:
    """The beginning of an option's name is enough, but not to forget everything."""
    assert len(week.run("%memsearch the --lim 2")) == 2

    assert "--every" in week.mistake("%memory forget --every")
    assert len(week.run("%memsearch the --lim 2")) == 2


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("%memsearch merge --limt 3", "Did you mean --limit?"),
        ("%memsearch merge -limit 3", "Did you mean --limit?"),
        ("%memsearch how to use --help", 'in quotes: "--help"'),
        ("%memsearch merge --limit", "expected one argument"),
        ("%memsearch merge --limit three", "whole number"),
        ("%memsearch merge --limit 0", "1 or more"),
        ("%memsearch merge --kind cel", "Did you mean cell?"),
        ("%memsearch merge --since soonish", "2025-03-31"),
        ("%memsearch merge --since 2026 --until 2025", "Nothing lies between"),
        ("%memsearch merge --on yesterday --since 2025", "--on names the whole period"),
        ("%memsearch merge --profile autp", "Did you mean 'auto'?"),
        ("%memsearch   ;  --nope", "There is no option"),
    ],
)
def test_mistakes_are_one_line(week, cell: str, says: str) -> None:
    """A mistake in the line is one line that says what to do, without a traceback."""
    assert says in week.mistake(cell)


@pytest.mark.parametrize(
    "text",
    [
        'foo" bar',
        "NEAR(a b)",
        "a*",
        "title:b",
        "日本語 の メモ",
        "مرحبا",
        "👩‍🔬 notes",
        "λ",
        "the",
        "a AND NOT b",
        "x" * 5000,
    ],
)
def test_any_text_is_searched(week, text: str) -> None:
    """Full-text syntax, emoji, other scripts and very long words are searched like any others."""
    assert isinstance(week.run(f"%memsearch {text}"), pd.DataFrame)


def test_an_empty_cell_is_a_mistake(week) -> None:
    """A cell without a body says so."""
    assert "cell body is empty" in week.mistake("%%memsearch")


def test_a_name_in_braces_is_noted_once(week, capsys) -> None:
    """Where other magics would put in a value, a notice says once that this one does not; other braces need none."""
    week.run("x, total = 'prices', 3")
    capsys.readouterr()
    for cell in ("%memsearch a dict {a} or $HOME", "%memsearch {'x': 1}", "%%memsearch\n{x}"):
        week.run(cell)
    assert "as it stands" not in capsys.readouterr().err
    assert week.asked("%memsearch how is {x} scaled") == "how is {x} scaled"
    assert "{x} is taken literally" in (said := capsys.readouterr().err) and "--var NAME" in said
    week.run("%memsearch $x")
    week.run("%memadd the $total of {x}")
    assert "as it stands" not in capsys.readouterr().err


def test_a_note_with_a_name_in_braces_is_kept_as_it_stands(week, capsys) -> None:
    """The notice says how a value is remembered."""
    week.run("total = 3")
    noted = week.run("%memadd the sum is {total}")
    assert noted.memory.text == "the sum is {total}" and "open_store().add(" in capsys.readouterr().err


def test_tags_languages_and_kinds_in_any_case(week, tmp_path) -> None:
    """A tag, a language or a kind is found however it is written, as an option and among the words of the query."""
    (tmp_path / "fit.R").write_text("prices <- scale(prices)\n", encoding="utf-8")
    week.run(f"%memory index {tmp_path / 'fit.R'}")
    for line in (
        "--tag Decision prices",
        "prices tag:DECISION",
        '--tag "To Do" frames',
        "--kind Note --tag decision prices",
    ):
        assert week.titles(f"%memsearch {line}"), line
    assert week.titles("%memsearch prices --lang R") == week.titles("%memsearch prices lang:r") == ["fit.R"]
    assert "Prices" not in week.titles("%memsearch prices merge -tag:Decision")
    assert week.titles("%memory list --tag DECISION") == ["Prices"]
