"""What %memsearch answers."""

from __future__ import annotations

import pandas as pd


def test_it_returns_a_frame_and_prints_nothing(week, capsys) -> None:
    """The result is a DataFrame; assigned, nothing is printed."""
    capsys.readouterr()
    week.run("df = %memsearch prices")

    assert isinstance(week.ip.user_ns["df"], pd.DataFrame)
    assert capsys.readouterr() == ("", "")


def test_a_plain_search_is_displayed(week, capsys) -> None:
    """Without an assignment the frame goes through the display hook."""
    capsys.readouterr()
    week.run("%memsearch prices")

    assert "Prices" in capsys.readouterr().out


def test_the_frame_explains_itself(week) -> None:
    """The accessor of the result finds its store."""
    week.run("df = %memsearch prices")

    assert week.ip.user_ns["df"].memory.explain(1).rank == 1
    assert "zero mean" in week.ip.user_ns["df"].memory.text(1)


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


def test_help(week, capsys) -> None:
    """`--help` or `-h` alone shows the help and search nothing."""
    for cell in ("%memsearch --help", "%memsearch -h", "%memadd --help"):
        capsys.readouterr()
        assert week.run(cell) is None
        assert "Examples" in capsys.readouterr().out


def test_a_time_of_several_words_wants_quotes(week) -> None:
    """The first word of a time alone is answered with how to quote it."""
    assert '--since "last week"' in week.mistake("%memsearch prices --since last week")
    assert '--on "3 days ago"' in week.mistake("%memsearch prices --on 3 days ago")


def test_a_filter_that_matches_nothing_is_reported(week, capsys) -> None:
    """An empty result says which filter emptied it, and what there is."""
    for cell, says in (
        ("prices --tag decison", "has the tag 'decison'. Did you mean 'decision'?"),
        ("prices --kind cell", "has the kind 'cell'. Known: note."),
        ("prices --path nowhere", "comes from 'nowhere'. No memory comes from a file."),
        ("prices --since 2031", "from that time: its memories are from 2026-03-02"),
        ("prices --tag people --until 2026-03-02", "matches all of these filters"),
    ):
        capsys.readouterr()
        week.run(f"x = %memsearch {cell}")
        assert says in capsys.readouterr().err


def test_scan(week) -> None:
    """`--scan` gives the short rows."""
    assert list(week.run("%memsearch prices --scan").columns) == [
        "title", "score", "kind", "domain", "tags", "snippet", "token_estimate", "memory_id",
    ]  # fmt: skip


def test_the_profile_of_a_search(week) -> None:
    """`--profile` holds for one search, the setting for the others."""
    assert week.run("%memsearch prices -p trovella").attrs["memsearch"]["profile"] == "trovella"
    assert week.run("%memsearch prices").attrs["memsearch"]["profile"] == "auto"


def test_notices_are_one_line_on_stderr(week, capsys) -> None:
    """What the answer has to say goes to stderr, one line a notice."""
    capsys.readouterr()
    week.run("x = %memsearch ???")

    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err
    assert all(line.startswith("jupyter-memory: ") for line in shown.err.splitlines())


def test_a_word_that_nothing_holds_is_told(week, capsys) -> None:
    """It is printed once, and kept with the DataFrame."""
    capsys.readouterr()
    frame = week.run("%memsearch prices with xgboost")

    assert capsys.readouterr().err.count("No memory contains “xgboost”.") == 1
    assert frame.attrs["memsearch"]["verdict"] != "strong"


def test_an_empty_store_answers_with_an_empty_frame(shell) -> None:
    """A search in a new store is an empty frame with every column, not an error."""
    result = shell.run("%memsearch anything")

    assert result.empty
    assert "contrib_keyword" in result.columns


def test_widget_without_a_notebook(week, capsys) -> None:
    """Where no sliders can be shown, `--widget` says so and gives the result; `--scan` does not go with it."""
    capsys.readouterr()
    week.run("df = %memsearch --widget prices")

    assert isinstance(week.ip.user_ns["df"], pd.DataFrame)
    assert "Sliders need a notebook" in capsys.readouterr().err
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
