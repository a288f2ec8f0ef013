"""What %memsearch answers and %memadd remembers, and free text on their line, which IPython would change."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from IPython.core.error import UsageError


def test_it_returns_a_frame(week) -> None:
    """A frame, short rows with --scan, ranked by --profile for once; without a notebook --widget gives the frame."""
    assert week.printed("df = %memsearch prices") == ""
    found = week.ip.user_ns["df"]
    assert isinstance(found, pd.DataFrame) and "Prices" in week.printed("%memsearch prices")
    assert found.memory.explain(1).rank == 1 and "zero mean" in found.memory.text(1)
    assert list(week.run("%memsearch prices --scan").columns) == [
        "title", "score", "kind", "domain", "tags", "snippet", "token_estimate", "store", "memory_id",
    ]  # fmt: skip
    assert week.run("%memsearch prices -p trovella").attrs["memsearch"]["profile"] == "trovella"
    assert week.run("%memsearch prices").attrs["memsearch"]["profile"] == "auto"
    assert "Sliders need a notebook" in week.noted("df = %memsearch --widget prices")
    assert isinstance(week.ip.user_ns["df"], pd.DataFrame)
    assert "leave one of them out" in week.mistake("%memsearch --widget --scan prices")


def test_bare_browses(week) -> None:
    """Without words the newest come; filters leave out what does not fit, several of one kind are alternatives."""
    assert week.titles("%memsearch") == ["Status", "Regex", "Merge", "Müller", "Prices"]
    assert week.titles("%memsearch -n 2") == ["Status", "Regex"]
    assert week.titles("%memsearch --tag people") == ["Müller"]
    assert set(week.titles("%memsearch the --tag people --tag decision")) == {"Müller", "Prices"}
    assert set(week.titles("%memsearch the --since 2026-03-05")) == {"Regex", "Status"}
    assert "Merge" not in week.titles("%memsearch customer --until 2026-03-03")
    assert "Müller" in week.titles("%memsearch Müller --until 2026-03-03")
    assert week.titles("%memsearch the --kind cell") == week.titles("%memsearch --as-of yesterday") == []
    assert set(week.titles("%memsearch the --as-of today --since 2026-03-05")) == {"Regex", "Status"}
    assert "stored by" in week.noted("%memsearch the --as-of today")
    assert set(week.titles("%memsearch prices --tier note --kind note")) >= {"Prices"}
    assert set(week.titles("%memsearch the --tag people,decision")) == {"Müller", "Prices"}
    week.run("%memadd λ is 0.3 --tag ridge,müller")
    assert week.run("%memsearch --tag ridge")["tags"].tolist() == [("müller", "ridge")]


def test_tags_as_evidence_and_windows(week, capsys) -> None:
    """In `vault` a tag counts by 15%, and what no longer holds has no points for its age; every profile marks it."""
    week.run("%memadd --tag shop,λ --valid-until 2026-03-31 --severity warning the discount λ is 5")
    week.run("%memadd --tag shop --valid-from 2026-04-01 --valid-until 9998 the discount λ is 7")
    week.run('%memadd --valid-from "2998" the discount λ is 9')
    frame = week.run("%memsearch -p vault --about-tag shop --about-tag λ,ü discount λ").set_index("title")
    old, now, soon = (frame.loc[f"the discount λ is {title}"] for title in (
        "5 – not valid after 2026-03-31", "7", "9 – not valid before 2998-01-01",
    ))  # fmt: skip
    assert [one["contrib_tags"] for one in (old, now, soon)] == [0.15 * (2 / 3), 0.15 * (1 / 3), 0.0]
    assert [one["contrib_temporal"] for one in (old, now, soon)] == [0.0, 0.15, 0.0]
    assert [one["contrib_severity"] for one in (old, now, soon)] == [0.15 * 0.7, 0.0, 0.0]
    assert "gives no points" not in capsys.readouterr().err
    assert "5 – not valid after 2026-03-31" in " ".join(week.titles("%memsearch discount λ"))
    assert "The profile auto gives no points for tags; vault does." in week.noted(
        "%memsearch discount λ --about-tag shop --domain sales"
    )
    # Said again, it holds longer.
    week.run("%memadd --valid-until 9998 the discount λ is 5")
    assert "not valid after" not in " ".join(week.titles("%memsearch discount λ"))
    for wrong, said in (
        ("--valid-from 2027 --valid-until 2026", "valid_until must be later"),
        ("--valid-until someday", "someday"), ("--valid-until next month", "takes one word"), ("--valid-until", ""),
    ):  # fmt: skip
        assert said in week.mistake(f"%memadd {wrong} the discount λ is 11")
    assert "is 11" not in " ".join(week.titles("%memsearch discount λ"))


def test_notices_are_one_line_on_stderr(week, capsys) -> None:
    """What the answer has to say goes to stderr, one line a notice, and once; the verdict is kept with the frame."""
    capsys.readouterr()
    frame = week.run("%memsearch prices with xgboost")
    week.run("x = %memsearch ???")
    shown = capsys.readouterr()
    assert shown.err.count("No memory contains “xgboost”.") == 1 and frame.attrs["memsearch"]["verdict"] != "strong"
    assert len(shown.err.splitlines()) > 1
    assert all(line.startswith("jupyter-memory: ") for line in shown.err.splitlines())


def test_nothing_hidden_is_printed(shell, capsys) -> None:
    """Notices, answers of commands and errors show marks for what would control a terminal or turn the text around."""
    lies = "λ \x1b[2J\x9b31m costs \u202e5"
    shell.ip.user_ns["lies"] = lies
    shell.ip.run_line_magic("memadd", f'--title "{lies}" --tag "{lies}" prices {lies}')
    memory = shell.run("%memsearch prices").loc[1, "memory_id"]
    for line in (f'list --tag "{lies}x"', f"pin {memory}", "explain 1", f"forget {memory} --dry-run", "forget --tag x"):
        shell.ip.run_line_magic("memory", line)
    shown = capsys.readouterr()
    said = shown.out + shown.err + shell.mistake("%memory pin {lies}") + shell.mistake("%memory index /no/{lies}")
    assert not set(said) & set("\x1b\x9b\u202e")
    assert "␛[2J[U+009B]31m costs [U+202E]5" in said


def recent(week) -> list[tuple[str, str]]:
    with week.store() as store:
        return [(one.query, one.origin) for one in store.recent()]


def test_searches_are_noted_and_forgotten(week) -> None:
    """%memsearch notes what was asked; `forget --searches` goes alone; switched off, nothing is left."""
    week.run("%memsearch λ in the ridge model tag:people")
    week.run("%memsearch")
    week.run("%%memsearch\nMüller")
    assert recent(week) == [("Müller", "magic"), ("λ in the ridge model tag:people", "magic")]
    assert "forgot 2 searches\n" in week.printed("%memory forget --searches")
    assert recent(week) == []
    assert "leave the rest out" in week.mistake("%memory forget --searches --tag draft")
    week.run("%memsearch λ")
    week.run("%config JupyterMemory.log_searches = False")
    week.run("%memsearch Müller")
    assert recent(week) == []


def test_add_keeps_the_text_as_written(shell) -> None:
    """Options stand anywhere and each lands in its field; the text, or a cell's body, is kept as it was written."""
    memory = shell.run(
        '%memadd  Müller said  "λ = 0.3" --tag people  and   left --tag=\'b c\' --tag "d" --title -x'
    ).memory
    assert (memory.text, memory.title) == ('Müller said  "λ = 0.3" and   left', "-x")
    assert set(memory.tags) == {"people", "b c", "d"}
    assert shell.run('%memadd "we use λ = 0.3" --title "-- draft --"').memory.title == "-- draft --"
    body = shell.run('%%memadd --title "Cleaning" --tag a --tag "b c"\nx = df.dropna();\n\n  y = 1;\n').memory
    assert (body.text, body.title, body.tags) == ("x = df.dropna();\n\n  y = 1;", "Cleaning", ("a", "b c"))
    memory = shell.run(
        '%memadd --title T --tag a --space lab --session s1 --severity warning --domain "price data" '
        "--event-at 2026-03-02T10:00Z --pin the λ text"
    ).memory
    moved = shell.run("%memadd --on yesterday we moved the λ").memory
    assert memory.text == "the λ text" and memory.event_at == datetime(2026, 3, 2, 10, tzinfo=UTC)
    assert (memory.space, memory.session, memory.severity, memory.domain) == ("lab", "s1", "warning", "price data")
    assert (memory.pinned, memory.tier) == (True, "core")
    assert timedelta(0) < datetime.now(UTC) - moved.event_at < timedelta(hours=50)


def test_known_text_is_not_stored_twice(shell) -> None:
    """The result is a line with id and title, or says that the text is known, with its new tag; a `;` shows nothing."""
    result = shell.run("%memsearch anything")
    assert result.empty and "contrib_keyword" in result.columns
    first = shell.run("%memadd net of tax --tag a")
    again = shell.run("%memadd net of tax --tag ü")
    assert str(again) == f"known already, so not stored again: {first.memory.id} “net of tax”, tagged a, ü"
    assert set(again.memory.tags) == {"a", "ü"}
    assert shell.printed("result = %memadd --title Prices net of tax\nresult").count("\n") == 1
    result = shell.ip.user_ns["result"]
    assert repr(result) == f"remembered {result.memory.id} “Prices”"
    assert shell.printed("%memadd prices are net;") == "" and shell.run("%memadd prices are net;") is None
    assert shell.run("%memsearch").iloc[0]["snippet"] == "prices are net"


@pytest.mark.parametrize(("before", "mark"), [("", "?"), ("", "??"), ("", "???"), ("", " ?"), ("  ", "?  ")])
def test_a_question_is_a_search(week, before: str, mark: str) -> None:
    """A trailing question mark asks the memory, not IPython's help."""
    result = week.run(f"{before}%memsearch how do I merge frames{mark}")
    assert result["title"].iloc[0] == "Merge"
    assert result.attrs["memsearch"]["query"].rstrip("? ") == "how do I merge frames"


def test_several_questions_in_a_cell(week) -> None:
    """Each line of a cell may ask and be assigned; --var asks for a variable's value, a function's own first."""
    week.run("a = %memsearch merge frames?\nn = 1 + 1\nb = %memsearch who is Müller?")
    assert [week.ip.user_ns[name]["title"].iloc[0] for name in "ab"] == ["Merge", "Müller"]
    assert week.asked("%%memsearch\nhow do I\nmerge frames?\n") == "how do I\nmerge frames?"
    week.ip.user_ns["question"] = "who is Müller?"
    assert week.asked("%memsearch --var question") == "who is Müller?"
    assert week.titles("%memsearch --var question -n 1") == ["Müller"]
    week.run("def found(wanted):\n    df = %memsearch --var wanted\n    return df")
    week.run("def ours():\n    df = %memsearch --var question\n    return df")
    assert week.asked("found('merged frames')") == "merged frames"
    assert week.asked("ours()") == "who is Müller?"
    assert "no variable nowhere" in week.mistake("def lost():\n    %memsearch --var nowhere\nlost()")


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        *((cell, "Examples::") for cell in ("%memsearch?", "?%memsearch", "%memadd?")),
        ("%memory?", "%memory status"),
        ("%memsearch??", "def memsearch"),
    ],
)
def test_help_is_still_help(shell, cell: str, shown: str) -> None:
    """The magic's name with a question mark shows help with examples, with two its source, as for every magic."""
    assert shown in re.sub(r"\x1b\[[0-9;]*m", "", shell.printed(cell))


@pytest.mark.parametrize(
    "cell",
    [
        "%memsearch?", "%memsearch how", "x = 'how?'", "# %memsearch how?", "%time f()?", "memsearch how?",
        "%%writefile notes.txt\n%memsearch how?",
    ],
)  # fmt: skip
def test_other_lines_stay_as_they_are(bare, cell: str) -> None:
    before = bare.ip.transform_cell(f"{cell}\n")
    bare.run("%load_ext jupyter_memory")
    assert bare.ip.transform_cell(f"{cell}\n") == before


@pytest.mark.parametrize(
    "cell", ["%memsearch Müller;", "%memsearch Müller ; ", "%%memsearch\nMüller;\n", "%%memsearch -n 1;\nMüller"]
)
def test_a_semicolon_silences(week, cell: str) -> None:
    """A `;` at the end shows nothing; it is not searched for, and an assignment gets its value all the same."""
    assert week.printed(cell) == "" and week.run(cell) is None
    if not cell.startswith("%%"):
        week.run(f"x = {cell}")
        assert week.ip.user_ns["x"].attrs["memsearch"]["query"] == "Müller"


@pytest.mark.parametrize(
    "line",
    [
        *("-n 1 merge frames customer", "merge -n 1 frames customer", "merge frames customer --limit 1"),
        *(f"merge frames {option} customer" for option in ('--on "4 March 2026"', "--on '4 March 2026'")),
        *(f"merge frames customer {option}" for option in ('--on="4 March 2026"', "--on=2026-03-04", '--tag "to do"')),
    ],
)
def test_options_stand_anywhere(week, line: str) -> None:
    """Options are read before, between and after the words; one pair of quotes around a value is not part of it."""
    result = week.run(f"%memsearch {line}")
    assert (result["title"].tolist(), result.attrs["memsearch"]["query"]) == (["Merge"], "merge frames customer")


@pytest.mark.parametrize(
    ("text", "query"),
    [
        # An apostrophe in a word is no quote.
        *((text, text) for text in ("don't", "what's the users' λ", "5\" or 6' pipes", "rock'n'roll")),
        # Quoted words stay a phrase, whichever quotes.
        ('use "left join" here', 'use "left join" here'),
        ("use 'left join' here", 'use "left join" here'),
        # A word that begins with a dash and is no option is a word; `--` in front keeps all that follows.
        *((text, text) for text in ("-404", "answers -404 again", "pip install -U pandas", "a - b", "a -- b")),
        ("-- --limit", "--limit"),
        # Backslashes stay as they are.
        (r"C:\data\new\prices.csv", r"C:\data\new\prices.csv"),
        # Dollars and braces are text, not variables.
        *((text, text) for text in (r"dates \d{3} $x ${HOME}", '{"a": 1}', "{{n}}", "$n and {n}")),
    ],
)
def test_what_is_searched_for_is_what_was_typed(week, text: str, query: str) -> None:
    """Neither the shell nor a parser of options changes the words."""
    week.ip.user_ns["n"] = "replaced"
    assert week.asked(f"%memsearch {text}") == query


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("a   b --tag x   c  d", "a   b c  d"), ("--tag x  a\tb", "a\tb"), ("'so'", "so"),
        ("x -- y --tag z", "x -- y"), ("--tag z -- x --tag y", "x --tag y"),
        *((text, text) for text in ("it's  'so'", '"a" "b"', "f(x)[0]=='y'", "$n and {n}", "why is λ negative?")),
        *((text, text) for text in (r"dates \d{3} ${HOME}", r"in 'C:\My data\new'", r"on \\server\share")),
    ],
)  # fmt: skip
def test_what_is_remembered_is_what_was_written(shell, line: str, text: str) -> None:
    shell.ip.user_ns["n"] = "replaced"
    assert shell.run(f"%memadd {line}").memory.text == text


# Words as people type them: no option, no quote at the beginning, no mark that has a meaning at the end.
words = st.from_regex(r"[\w(){}$\\λü][\w(){}$\\'\"/.,:=λü-]{0,8}", fullmatch=True).filter(lambda w: w[-1] not in "'\"")
gaps = st.lists(st.sampled_from([" ", "  ", "\t"]), min_size=6, max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(words, min_size=1, max_size=6), gaps=gaps)
def test_any_words_come_back(shell, parts: list[str], gaps: list[str]) -> None:
    """Whatever words there are, with whatever between them, the text is the line."""
    shell.run("%config JupyterMemory.redact = False")
    line = "".join(word + gap for word, gap in zip(parts, gaps, strict=False)).strip()
    assert shell.ip.run_line_magic("memadd", line).memory.text == line


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(line=st.text(max_size=40))
def test_any_line_is_searched_or_one_line_says_why(week, line: str) -> None:
    """Any line is taken apart, or is a UsageError of the base class, which IPython shows without a traceback."""
    try:
        assert isinstance(week.ip.run_line_magic("memsearch", line), pd.DataFrame | None)
    except UsageError as error:
        assert type(error) is UsageError and "\n" not in str(error)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("-l 3 prices", "Options that begin so: --limit or -n, --lang."),
        ("prices -l 3", "-l is not an option"),
        ("prices -l=3 --tag λ", "-l is not an option"),
        ("-x prices", "-x is not an option, so it is searched for as a word."),
        ("-t λ prices", "--tag, --tier."),
        ("-d prices", "Options that begin so: --domain."),
        # Nothing is told of switches that somebody asks about, of numbers, and of what is quoted.
        *((line, "") for line in ("what does grep -r do", "prices -404", "head -c 5 prices", "-404", '"-l" prices')),
        *((line, "") for line in ("-- -l 3", "a - 3", "-ab λ")),
    ],
)
def test_a_switch_that_is_none(week, line: str, says: str) -> None:
    """A letter with a dash that may have been meant as an option is told, and searched for as a word."""
    said = week.noted(f"found = %memsearch {line}")
    assert says in said and ("not an option" in said) == bool(says)
    assert isinstance(week.ip.user_ns["found"], pd.DataFrame)


def test_minus_404_is_found_and_a_minus_before_a_word_leaves_it_out(week) -> None:
    """-404 finds what says -404, -prices leaves prices out; the beginning of an option is enough, but not to forget."""
    assert week.titles("%memsearch -404")[0] == "Status"
    assert "Prices" in week.titles("%memsearch prices in the model")
    for line in ("prices in the model -prices", "-n5 prices in the model -prices", "-prices the model"):
        said = week.noted(f"after = %memsearch {line}")
        after = week.ip.user_ns["after"]["title"].tolist()
        assert after and "Prices" not in after
        assert "Memories that contain “prices” are excluded" in said
    assert "--every" in week.mistake("%memory forget --every")
    assert len(week.run("%memsearch the --lim 2")) == 2


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("%memadd", "nothing to remember"), ("%memadd --tag x", "nothing to remember"),
        ("%%memadd --tag x\n  \n", "nothing to remember"), ("%%memadd My title\nbody", "--title"),
        ("%memadd --severity bad text", "there is no 'bad'"), ("%memadd --on neverland text", "2025-03-31"),
        ('%memadd "open', "not closed"), ("%memadd text --titel x", "Did you mean --title?"),
        ("%memsearch --var nowhere", "no variable nowhere"), ("%memsearch --var number", "int"),
        ("%memsearch --var question more words", "twice"), ("%%memsearch --var question\nbody", "twice"),
        ("%%memsearch words here\nbody", "twice"), ("%memsearch --var empty", "nothing to search for"),
        ("%memsearch merge --limt 3", "Did you mean --limit?"),
        ("%memsearch merge -limit 3", "Did you mean --limit?"),
        ("%memsearch how to use --help", 'in quotes: "--help"'),
        ("%memsearch merge --limit", "expected one argument"),
        ("%memsearch merge --limit three", "whole number"), ("%memsearch merge --limit 0", "1 or more"),
        ("%memsearch merge --kind cel", "Did you mean 'cell'?"),
        ("%memsearch merge --since soonish", "2025-03-31"), ("%memsearch merge --as-of soonish", "2025-03-31"),
        ("%memsearch merge --since 2026 --until 2025", "Nothing lies between"),
        ("%memsearch merge --since 2026-03-01T10:00Z --until 2026-03-01T10:00Z", "Nothing lies between"),
        ("%memsearch merge --on yesterday --since 2025", "--on names the whole period"),
        ("%memsearch merge --profile autp", "Did you mean 'auto'?"),
        ("%memsearch   ;  --nope", "There is no option"),
        ("%memsearch prices --since last week", '--since "last week"'),
        ("%memsearch prices --as-of last week", '--as-of "last week"'),
        ("%memsearch prices --on 3 days ago", '--on "3 days ago"'), ("%%memsearch", "cell body is empty"),
        *((f"%memsearch {text}", "not closed") for text in ("'unclosed", '"unclosed phrase', '--since="last week')),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(week, cell: str, says: str) -> None:
    week.ip.user_ns |= {"question": "who?", "number": 3, "empty": " "}
    assert says in week.mistake(cell)
    assert len(week.run("%memsearch")) == 5


def test_a_name_in_braces_is_noted_once(week) -> None:
    """Where other magics would put in a value, a notice says once that this one does not; other braces need none."""
    week.run("x, total = 'prices', 3")
    for cell in ("%memsearch a dict {a} or $HOME", "%memsearch {'x': 1}", "%%memsearch\n{x}"):
        assert "taken literally" not in week.noted(cell)
    said = week.noted("%memsearch how is {x} scaled")
    assert "{x} is taken literally" in said and "--var NAME" in said
    for cell in ("%memsearch $x", "%memadd the $total of {x}"):
        assert "taken literally" not in week.noted(cell)
    week.run("%reload_ext jupyter_memory")
    assert "open_store().add(" in week.noted("noted = %memadd the sum is {total}")
    assert week.ip.user_ns["noted"].memory.text == "the sum is {total}"


def test_tags_languages_and_kinds_in_any_case(week, tmp_path: Path) -> None:
    (tmp_path / "fit.R").write_text("prices <- scale(prices)\n", encoding="utf-8")
    week.run(f"%memory index {tmp_path / 'fit.R'}")
    for line in ("--tag Decision prices", "prices tag:DECISION", '--tag "To Do" frames', "--kind Note prices"):
        assert week.titles(f"%memsearch {line}"), line
    assert week.titles("%memsearch prices --lang R") == week.titles("%memsearch prices lang:r") == ["fit.R"]
    assert "Prices" not in week.titles("%memsearch prices merge -tag:Decision")
    assert week.titles("%memory list --tag DECISION") == ["Prices"]
