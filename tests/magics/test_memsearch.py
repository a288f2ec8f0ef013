"""What %memsearch answers and notes down, and what %memadd remembers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest


def test_it_returns_a_frame(week) -> None:
    """Assigned, the frame prints nothing; alone it is displayed; its accessor finds its store."""
    assert week.printed("df = %memsearch prices") == ""
    found = week.ip.user_ns["df"]
    assert isinstance(found, pd.DataFrame) and "Prices" in week.printed("%memsearch prices")
    assert found.memory.explain(1).rank == 1 and "zero mean" in found.memory.text(1)


def test_bare_browses(week) -> None:
    """Without words the newest memories are shown, filters included."""
    assert week.titles("%memsearch") == ["Status", "Regex", "Merge", "Müller", "Prices"]
    assert week.titles("%memsearch -n 2") == ["Status", "Regex"]
    assert week.titles("%memsearch --tag people") == ["Müller"]


def test_filters(week) -> None:
    """Tags, kinds, tiers and times leave out what they do not fit; several of one kind are alternatives."""
    assert set(week.titles("%memsearch the --tag people --tag decision")) == {"Müller", "Prices"}
    assert set(week.titles("%memsearch the --since 2026-03-05")) == {"Regex", "Status"}
    assert "Merge" not in week.titles("%memsearch customer --until 2026-03-03")
    assert "Müller" in week.titles("%memsearch Müller --until 2026-03-03")
    assert week.titles("%memsearch the --kind cell") == []
    assert set(week.titles("%memsearch prices --tier note --kind note")) >= {"Prices"}


def test_tags_between_commas(week) -> None:
    """`--tag a,b` is `--tag a --tag b`, also when a note is added."""
    assert set(week.titles("%memsearch the --tag people,decision")) == {"Müller", "Prices"}
    week.run("%memadd λ is 0.3 --tag ridge,müller")
    assert week.run("%memsearch --tag ridge")["tags"].tolist() == [("müller", "ridge")]


@pytest.mark.parametrize("cell", ["%memsearch --help", "%memsearch -h", "%memadd --help"])
def test_help(week, cell: str) -> None:
    """`--help` or `-h` alone shows the help and searches nothing."""
    assert "Examples" in week.printed(f"nothing = get_ipython().run_line_magic(*{cell[1:].split()!r})")
    assert week.ip.user_ns["nothing"] is None


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("prices --tag decison", "has the tag 'decison'. Did you mean 'decision'?"),
        ("prices --kind cell", "has the kind 'cell'. Known: note."),
        ("prices --path nowhere", "comes from 'nowhere'. No memory comes from a file."),
        ("prices --since 2031", "from that time: its memories are from 2026-03-02"),
        ("prices --tag people --until 2026-03-02", "matches all of these filters"),
    ],
)
def test_a_filter_that_matches_nothing_is_reported(week, line: str, says: str) -> None:
    """An empty result says which filter emptied it, and what there is."""
    assert says in week.noted(f"x = %memsearch {line}")


def test_scan_and_profile(week) -> None:
    """`--scan` gives the short rows; `--profile` holds for one search, the setting for the others."""
    assert list(week.run("%memsearch prices --scan").columns) == [
        "title", "score", "kind", "domain", "tags", "snippet", "token_estimate", "memory_id",
    ]  # fmt: skip
    assert week.run("%memsearch prices -p trovella").attrs["memsearch"]["profile"] == "trovella"
    assert week.run("%memsearch prices").attrs["memsearch"]["profile"] == "auto"


def test_notices_are_one_line_on_stderr(week, capsys) -> None:
    """What the answer has to say goes to stderr, one line a notice, and once; the verdict is kept with the frame."""
    capsys.readouterr()
    frame = week.run("%memsearch prices with xgboost")
    week.run("x = %memsearch ???")
    shown = capsys.readouterr()
    assert shown.err.count("No memory contains “xgboost”.") == 1 and frame.attrs["memsearch"]["verdict"] != "strong"
    assert len(shown.err.splitlines()) > 1
    assert all(line.startswith("jupyter-memory: ") for line in shown.err.splitlines())


def test_widget_without_a_notebook(week) -> None:
    """Where no sliders can be shown, `--widget` says so and gives the result; `--scan` does not go with it."""
    assert "Sliders need a notebook" in week.noted("df = %memsearch --widget prices")
    assert isinstance(week.ip.user_ns["df"], pd.DataFrame)
    assert "leave one of them out" in week.mistake("%memsearch --widget --scan prices")


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
    """Return the recent searches of the shell's store as pairs."""
    with week.store() as store:
        return [(one.query, one.origin) for one in store.recent()]


def test_searches_are_noted_and_forgotten(week) -> None:
    """%memsearch notes what was asked, with typed filters; `forget --searches` goes alone and says how many went."""
    week.run("%memsearch λ in the ridge model tag:people")
    week.run("%memsearch")
    week.run("%%memsearch\nMüller")
    assert recent(week) == [("Müller", "magic"), ("λ in the ridge model tag:people", "magic")]
    assert "forgot 2 searches\n" in week.printed("%memory forget --searches")
    assert recent(week) == []
    assert "leave the rest out" in week.mistake("%memory forget --searches --tag draft")


def test_the_log_is_switched_off(week) -> None:
    """%config switches it off at once, and the next search removes what is there."""
    week.run("%memsearch λ")
    week.run("%config JupyterMemory.log_searches = False")
    week.run("%memsearch Müller")
    assert recent(week) == []


def test_add_keeps_the_text_as_written(shell) -> None:
    """Options are taken out of the line, wherever they stand and however often; a cell's body is the text as it is."""
    memory = shell.run(
        '%memadd  Müller said  "λ = 0.3" --tag people  and   left --tag=\'b c\' --tag "d" --title -x'
    ).memory
    assert (memory.text, memory.title) == ('Müller said  "λ = 0.3" and   left', "-x")
    assert set(memory.tags) == {"people", "b c", "d"}
    assert shell.run('%memadd "we use λ = 0.3" --title "-- draft --"').memory.title == "-- draft --"
    body = shell.run('%%memadd --title "Cleaning" --tag a --tag "b c"\nx = df.dropna();\n\n  y = 1;\n').memory
    assert (body.text, body.title, body.tags) == ("x = df.dropna();\n\n  y = 1;", "Cleaning", ("a", "b c"))


def test_all_options_of_add(shell) -> None:
    """Each option lands in its field; `--on` takes words for a time."""
    memory = shell.run(
        '%memadd --title T --tag a --space lab --session s1 --severity warning --domain "price data" '
        "--event-at 2026-03-02T10:00Z --pin the λ text"
    ).memory
    moved = shell.run("%memadd --on yesterday we moved the λ").memory
    assert memory.text == "the λ text" and memory.event_at == datetime(2026, 3, 2, 10, tzinfo=UTC)
    assert (memory.space, memory.session, memory.severity, memory.domain) == ("lab", "s1", "warning", "price data")
    assert (memory.pinned, memory.tier) == (True, "core")
    assert timedelta(0) < datetime.now(UTC) - moved.event_at < timedelta(hours=50)


def test_add_says_what_it_remembered(shell) -> None:
    """The result shows as one line with the id and the title; a `;` shows nothing, and is not remembered."""
    assert shell.printed("result = %memadd --title Prices net of tax\nresult").count("\n") == 1
    result = shell.ip.user_ns["result"]
    assert repr(result) == f"remembered {result.memory.id} “Prices”"
    assert shell.printed("%memadd prices are net;") == "" and shell.run("%memadd prices are net;") is None
    assert shell.run("%memsearch").iloc[0]["snippet"] == "prices are net"


def test_known_text_is_not_stored_twice(shell) -> None:
    """The same text again is the same memory, with the new tag, and the line says so; an empty store gave no hits."""
    result = shell.run("%memsearch anything")
    assert result.empty and "contrib_keyword" in result.columns
    first = shell.run("%memadd net of tax --tag a")
    again = shell.run("%memadd net of tax --tag ü")
    assert str(again) == f"known already, so not stored again: {first.memory.id} “net of tax”, tagged a, ü"
    assert set(again.memory.tags) == {"a", "ü"}


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("%memadd", "nothing to remember"),
        ("%memadd --tag x", "nothing to remember"),
        ("%%memadd --tag x\n  \n", "nothing to remember"),
        ("%%memadd My title\nbody", "--title"),
        ("%memadd --severity bad text", "there is no 'bad'"),
        ("%memadd --on neverland text", "2025-03-31"),
        ('%memadd "open', "not closed"),
        ("%memadd text --titel x", "Did you mean --title?"),
    ],
)
def test_mistakes_in_adding_are_one_line(shell, cell: str, says: str) -> None:
    """A mistake is one line that says what to do, and nothing is stored."""
    assert says in shell.mistake(cell)
    assert shell.run("%memsearch").empty
