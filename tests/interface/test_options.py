"""What all doors share: options as arguments of the store, addresses of stores, fixes in words."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from blocked import run_without

from jupyter_memory import (
    InputError,
    JupyterMemory,
    MemoryStore,
    QueryError,
    companion,
    load_config,
    open_store,
    store_path,
)
from jupyter_memory.cli import main
from jupyter_memory.interface import ADD, SEARCH, StoreProvider, headline, nearest, refuse_unquoted_times, search_of
from jupyter_memory.text import DatabaseAddress
from jupyter_memory.types import FACETS, Filters, Fix, Run, RunError

NOW = datetime(2026, 11, 21, 19, 0, tzinfo=UTC)


@pytest.mark.parametrize("table", [SEARCH, ADD])
def test_no_flag_is_used_twice(table) -> None:
    flags = [flag for option in table for flag in option.flags]
    assert len(flags) == len(set(flags))
    assert len({option.name for option in table}) == len(table)


def test_every_filter_has_an_option() -> None:
    """What can be filtered by in Python can be on a line; what is left out is typed in the query, as -tag:draft."""
    typed = {"also", "only", "regex", "not_word", *(f"not_{facet}" for facet in FACETS)}
    typed |= {f"{sign}{name}" for name in ("source", "part", "outcome") for sign in ("", "not_")}
    assert set(Filters.__dataclass_fields__) - typed <= {option.name for option in SEARCH}


def test_filters() -> None:
    """Values become filters with times in UTC; options without a value are left to the store."""
    filters, until, on = (
        search_of(values, NOW)["filters"]
        for values in (
            {"tag": ["λ", "ü", "λ"], "kind": ("cell",), "since": "2026-03-01T00:00Z"},
            {"until": "2026-03-31"},
            {"on": "2026-03-31"},
        )
    )
    assert filters == Filters(tag=("λ", "ü"), kind=("cell",), since=datetime(2026, 3, 1, tzinfo=UTC))
    assert until.until == on.until
    assert (on.until - on.since).days == 1
    given = {"limit": None, "profile": None, "domain": None, "tag": None, "kind": ()}
    assert search_of(given, NOW) == {"filters": Filters(), "now": NOW}
    assert search_of(given | {"ignore_time": True}, NOW)["time"] is False


@pytest.mark.parametrize("flag", ["tag", "path", "lang", "space", "session", "about_tag"])
@pytest.mark.parametrize("given", [[""], [" ", ","], ["λ", ""]])
def test_an_empty_filter_is_refused(flag: str, given: list[str]) -> None:
    """An empty variable of a script must not widen what is searched or forgotten."""
    written = f"--{flag.replace('_', '-')}"
    with pytest.raises(QueryError, match=f"^{written} is empty. Give it a value \\({written} "):
        search_of({flag: given, "kind": ("note",)}, NOW)


@pytest.mark.parametrize(("slip", "meant"), [("--tga", "--tag"), ("--author", None)])
def test_the_option_that_is_meant(slip, meant) -> None:
    """Two letters in the wrong order are a slip; what only ends like an option is not."""
    assert nearest(slip, SEARCH) == meant


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        ("--since March 2025 prices", '--since "March 2025"'),
        ("prices --until May 8th 2025", '--until "May 8th 2025"'),
        ("--on 5 March müller", '--on "5 March"'),
        ("--since=last week", '--since "last week"'),
        ("--since 3 days ago λ", '--since "3 days ago"'),
    ],
)
def test_a_time_of_several_words_wants_quotes(line: str, quoted: str) -> None:
    """A time that goes on in the words behind its option is refused with the option as it should be written."""
    with pytest.raises(QueryError) as caught:
        refuse_unquoted_times(line.split(), NOW)
    assert str(caught.value).endswith(f"Quote the time: {quoted}.")
    # What makes no longer time is what is searched for.
    for words in ("--since|March|prices|2025", '--since|"March 2025"|prices', "--since|March 2025|prices"):
        refuse_unquoted_times(words.split("|"), NOW)
    for words in ("--since|yesterday|3|λ", "--tag|March|2025", "--since"):
        refuse_unquoted_times(words.split("|"), NOW)


URL = "postgresql://ada@db.invalid/team"
SECRET = "postgresql://ada:s3cr3t-λ@db.invalid/team"


@pytest.fixture
def here(home, monkeypatch):
    monkeypatch.chdir(home)
    return home


@pytest.mark.parametrize("opened", [MemoryStore, open_store])
@pytest.mark.parametrize("url", ["mysql://db/team", "sqlite:///a.sqlite", "http://db", SECRET])
def test_a_url_that_cannot_be_a_store_is_refused(here, opened, url):
    """Both ways to open a store refuse it, and make no folder of that name."""
    with pytest.raises(InputError) as raised:
        opened(url)
    assert "s3cr3t" not in str(raised.value)
    assert not [path.name for path in here.iterdir() if ":" in path.name]


def test_without_the_extra_the_error_names_it(here):
    code = f"""
from jupyter_memory import MemoryStore, MissingExtra, open_store
for opened in (MemoryStore, open_store):
    try:
        opened({URL!r})
    except MissingExtra as error:
        print(error)
"""
    assert run_without(["psycopg"], code).count("jupyter-memory[postgres]") == 2


def test_a_url_names_a_database_wherever_a_path_names_a_file(here, monkeypatch):
    """In the setting, the environment and the provider it is not made a path; its locks are in the data folder."""
    assert store_path(JupyterMemory(path=URL)) == DatabaseAddress(URL)
    assert StoreProvider(JupyterMemory(path=URL)).path == DatabaseAddress(URL)
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", URL)
    assert store_path(load_config()) == DatabaseAddress(URL)
    beside = companion(DatabaseAddress(URL))
    assert beside.parent == here / "data" / "memory" and beside != companion(DatabaseAddress(URL + "2"))
    assert companion(here / "m.sqlite") == here / "m.sqlite"


def test_a_password_in_the_environment_is_refused_and_not_shown(here, monkeypatch, capsys):
    """Neither the warning nor the error of a command shows it, and no other store is opened instead."""
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", SECRET)
    assert main(["status"]) == 1
    shown = capsys.readouterr()
    assert "holds a password" in shown.err
    assert "s3cr3t" not in shown.out + shown.err


@pytest.mark.parametrize(("url", "said"), [(SECRET, "~/.pgpass"), ("mysql://db/team", "postgresql://USER@HOST/DATA")])
def test_the_option_takes_a_url_and_refuses_a_password(here, capsys, url, said):
    assert main(["--store", url, "status"]) == 2
    shown = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert said in shown and "s3cr3t" not in shown


NOON = datetime(2026, 3, 6, 12).astimezone()
FAILED = Run(
    'rates["Genève"]', NOON, "k1", 1, "error", error=RunError("KeyError", "'Genève'", ""), notebook="/n/λ.ipynb"
)
COPIED = replace(FAILED, started=datetime(1970, 1, 1, tzinfo=UTC))
MENDED = Run('rates.get("Genève")', NOON, "k1", 2, "ok")
FIX = Fix(FAILED, MENDED, 0.9)
NOTE = Fix(replace(FAILED, source=""), replace(MENDED, source="Ask Łukasz for the rate."), 0.8, "note")
SIMILAR = "KeyError: 'Genève': a similar error on 2026-03-06 12:00"
AMBIGUOUS = RunError("ValueError", "The truth value is ambiguous. Use a.any().", "")


@pytest.mark.parametrize(
    ("fixes", "said"),
    [
        ([FIX], f"{SIMILAR} in λ.ipynb was fixed like this:"),
        ([replace(FIX, failed=replace(FAILED, notebook=""))], f"{SIMILAR} was fixed like this:"),
        ([FIX, NOTE], f"{SIMILAR} in λ.ipynb was fixed like this (1 other fix below):"),
        ([FIX, NOTE, FIX], f"{SIMILAR} in λ.ipynb was fixed like this (2 other fixes below):"),
        ([NOTE], "A note of 2026-03-06 12:00 mentions KeyError: 'Genève':"),
        ([replace(FIX, failed=COPIED)], "KeyError: 'Genève': a similar error in λ.ipynb was fixed like this:"),
        ([replace(NOTE, mended=COPIED)], "A note mentions KeyError: 'Genève':"),
        (
            [replace(FIX, failed=replace(FAILED, error=AMBIGUOUS, notebook=""))],
            "ValueError: The truth value is ambiguous. Use a.any(): a similar error on 2026-03-06 12:00 "
            "was fixed like this:",
        ),
    ],
)
def test_the_line_above_fixes(fixes, said):
    """It says which error, when and where, counts the others, and reads on into the fix; a note fixes nothing."""
    assert headline(fixes) == said


@pytest.mark.parametrize("name", ["ana\0", "ana\ud800", "an\na"])
@pytest.mark.parametrize("words", [("grant", "reader"), ("revoke",)])
def test_a_role_that_no_database_has(capsys, words, name):
    """A name that the database would take for that of another role is refused before it is asked."""
    for named in ([*words, name], [*words, "ana", "--space", name]):
        assert main(["--store", URL, "team", *named]) == 1
        assert "holds a character that cannot be printed" in capsys.readouterr().err
