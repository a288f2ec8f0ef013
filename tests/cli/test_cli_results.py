"""Commands that find, and what is done with single results: ranks are those of the last search, kept in the store."""

import json
import os
from pathlib import Path

import pytest
from commands import Run, configure, memory_id

from jupyter_memory import JupyterMemory, MemoryStore, open_store
from jupyter_memory import evaluation as golden
from jupyter_memory.text import estimated_tokens, width


def found(run: Run, command: str, *arguments: str) -> dict:
    return json.loads(run(command, "--json", *arguments).out)


def test_a_word_left_out(week: Run) -> None:
    for word in ("-nolars", "-polars", "-x"):
        found = week("search", word, "prices", "-n1")
        assert (found.code, found.out.count("KW")) == (0, 1)
        assert (f"“{word[1:]}”" in found.err) == (word != "-x")  # one letter is no word
    assert "-l is not an option" in week("search", "-l", "3", "prices").err
    assert "not an option" not in week("search", "grep", "-r", "prices").err
    assert week("search", "prices", "-kind:cell").code == 0
    assert "Did you mean --tag?" in week("search", "prices", "-tag", "decision").err


def test_what_was_stored_by_then(week: Run) -> None:
    for command in (["search", "prices"], ["list"]):
        none, all_of_them = week(*command, "--as-of", "yesterday"), week(*command, "--as-of", "today")
        assert none.out == "" and "Nothing that is here now was stored by then." in none.err
        assert "Prices" in all_of_them.out and all_of_them.err.startswith("This is what was stored by ")


def test_search_context(week: Run) -> None:
    done = week("search", "who wants λ", "--context", "400")
    assert (done.code, done.err) == (0, "")
    assert "\n[1] note " in done.out and "Frau Müller wants λ = 0.3" in done.out
    assert estimated_tokens(done.out.rstrip("\n")) <= 400
    assert week("search", "who wants λ", "--context", "400").out == done.out
    assert week("search", "volcanoes in kamchatka", "--context", "400").out.startswith("Nothing in the memory seems")


def test_a_quoted_name_is_looked_for_as_it_is_written(run: Run) -> None:
    """Dots and underscores in quotes are meant; where nothing holds the name, a line says so."""
    for text in ("df.groupby('shop')", "df_groupby = λ", "the df groupby"):
        assert run("add", text).code == 0
    hits = found(run, "search", '"df.groupby"')["hits"]
    assert [hit["snippet"] for hit in hits if "KW" in hit["badges"]] == ["df.groupby('shop')"]
    missing = run("search", '"df.merge"').err
    assert "No memory contains “df.merge” as it is written. Remove the quotes" in missing
    assert missing.count("df.merge") == 1


def test_explain_by_the_rank_of_a_query(week: Run) -> None:
    """A rank behind a query is one of that query, whatever was searched last; --all tells of each signal."""
    second = found(week, "search", "prices merge frames")["hits"][1]
    week("search", "Müller")
    told = found(week, "explain", "prices merge frames", "2")
    assert (told["memory_id"], told["rank"]) == (second["memory_id"], 2)
    assert len(told["reasons"]) <= 5 < len(told["details"])
    assert week("explain", "prices merge frames", "2", "--all").out.splitlines() == told["details"]
    assert "no rank 99" in week("explain", "prices merge frames", "99").err


def test_explain_a_rank_of_a_search_with_options(week: Run) -> None:
    """A terminal keeps what was asked and found, not the options: where they made the rank, a note says so."""
    assert "No search of the command line is kept" in week("explain", "1").err
    [hit] = found(week, "search", "prices merge frames Müller", "-n", "9", "--tag", "people")["hits"]
    done = week("explain", "1", "--json")
    assert json.loads(done.out)["memory_id"] == hit["memory_id"]
    assert "a new search for “prices merge frames Müller”, without the options of the last one." in done.err


def test_explain_where_a_time_is_only_words(week: Run) -> None:
    """The answer of search --ignore-time is explained, by a rank and by an id."""
    query = "prices in March 2026"
    hit = found(week, "search", query, "--ignore-time")["hits"][0]
    for named in ("1", hit["memory_id"]):
        assert found(week, "explain", query, named)["hit"]["score"] > hit["score"] + 0.5
        told = found(week, "explain", query, named, "--ignore-time")["hit"]
        assert told["score"] == pytest.approx(hit["score"], abs=1e-5)


@pytest.mark.parametrize(
    ("arguments", "code"), [(["scaled prices"], 0), (["xyzzy"], 1), (["/(a/"], 2), (["prices", "--json"], 2)]
)
def test_quiet(week: Run, arguments: list[str], code: int) -> None:
    """It prints nothing; its exit code says whether something was found."""
    done = week("search", "--quiet", *arguments)
    assert (done.code, done.out, done.err) == (code, "", "")


def test_what_a_search_misses_is_reported(week: Run, home: Path) -> None:
    folder = home / "reports"
    folder.mkdir()
    (folder / "müller.md").write_text("The ridge model of Müller has λ = 0.3.\n", encoding="utf-8")
    week("index", str(folder))

    for path, says in (
        ("report", f"comes from 'report'. Did you mean '{folder}'?"),
        ("mülller.md", f"Did you mean '{folder}/müller.md'?"),
    ):
        assert says in week("search", "λ", "--path", path).err and says in week("list", "--path", path).err
    answer = found(week, "search", "Müller and xgboost")
    assert "No memory contains “xgboost”." in week("search", "Müller and xgboost").err
    assert "No memory contains “xgboost”." in answer["notices"] and answer["verdict"] != "strong"


@pytest.mark.parametrize("columns", ["80", "100", "120"])
def test_lines_fit_wide_characters(run: Run, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    run("add", "--title", "東京都の価格 " * 20, "--tag", "価格", "東京都の価格を正規化した " * 30)
    for command in (["search", "東京都"], ["list"]):
        lines = run(*command).out.splitlines()
        assert lines and max(map(width, lines)) <= int(columns)


def test_ranks_of_the_last_search_here(week) -> None:
    """The last search of a terminal counts, whatever was searched elsewhere; forgetting what it showed forgets it."""
    assert (nothing := week("open", "1")).code == 1 and "No search of the command line is kept" in nothing.err
    best = memory_id(week, "scaled prices")
    wrong = week("text", "99")
    assert wrong.code == 1 and "so there is no rank 99" in wrong.err and wrong.err.count("\n") == 1
    assert (wrong := week("pin", "2-1")).code == 2 and "write 1-2" in wrong.err
    with open_store() as store:
        store.note_search(store.hits("merge frames"), "magic")

    assert week("text", "1").out == "we scaled the prices to zero mean\n"
    assert week("explain", "mean", "1").out == week("explain", "mean", best).out != ""
    assert week("explain", "1").out == week("explain", "scaled prices", "1").out and not week("explain", "1").err
    assert "so there is no rank 99" in week("explain", "99").err
    assert week("tag", "1", "net", "price,", "idea").out.startswith(f"tagged net price, idea: {best}")
    assert week("tag", "1", "Idea", "--remove").out.startswith("no longer tagged idea")
    assert week("good", "1").out.startswith("noted as right")
    assert week("pin", "1").out.startswith(f"pinned {best}")
    with open_store() as store:
        [said] = store.feedbacks()
        assert (said.memory_id, said.query, said.rank, said.accepted) == (best, "scaled prices", 1, True)
        assert set(store.get(best).tags) == {"decision", "net price"}
    week("forget", best)
    assert "A search is forgotten with what it showed" in week("text", "1").err


def test_a_search_before_the_one_that_was_forgotten(week) -> None:
    """What its ranks stand for is said, and every rating names the question that it is for."""
    before = memory_id(week, "merge frames")
    week("good", "1")
    said = week("forget", memory_id(week, "scaled prices")).err
    assert "Ranks are now those of “merge frames”: the search that they stood for is forgotten" in said
    assert week("bad", "1", "--remove").out.startswith(f"was not noted as wrong for “merge frames”: {before}")
    assert week("good", "1", "--remove").out.startswith(f"no longer noted as right for “merge frames”: {before}")


def test_a_rating_that_is_a_judgement_too(week, home: Path) -> None:
    """What the panel made of its rating goes with it, and is said."""
    best = memory_id(week, "merge frames")
    with open_store() as store:
        answer = store.hits("merge frames")
        store.feedback(best, True, query="merge frames", query_id=answer.query_id)
        path = golden.golden_file(JupyterMemory(path=str(store.path)))
        golden.judge(path, golden.asked(answer.query), [store.get(best)], "right")
    done = week("good", "1", "--remove")
    assert done.out.startswith(f"no longer noted as right for “merge frames” (nor in the golden set): {best}"), done.err


def test_a_search_in_another_terminal_meanwhile(week, monkeypatch) -> None:
    """No search is said to be forgotten that is not."""
    price, forget = memory_id(week, "scaled prices"), MemoryStore.forget
    week("search", "merge frames", "-n", "1")

    def after_a_search(store, *given, **options):
        store.note_search(store.hits("Müller"), "command line")
        return forget(store, *given, **options)

    monkeypatch.setattr(MemoryStore, "forget", after_a_search)
    done = week("forget", price)
    assert done.out == "forgot 1 memory\n" and "Ranks are now" not in done.err and "is forgotten" not in done.err


def test_ranks_need_the_log_of_searches(week, home: Path) -> None:
    """With log_searches off nothing is kept, so ids are needed, and the error says so."""
    configure(log_searches=False)
    best = memory_id(week, "scaled prices")
    assert "log_searches is off: name memories by their ids" in week("text", "1").err
    assert week("text", best).out == "we scaled the prices to zero mean\n"


def test_related_has_no_ranks_of_its_own(week) -> None:
    """A list of related memories takes a limit, and leaves ranks to the search."""
    week("add", "the prices were scaled by their mean")
    week("search", "scaled prices", "-n", "1")
    done = week("related", "1")
    assert done.code == 0 and ("Ranks in other commands stay those of the last search" in done.err or not done.out)
    one = week("related", "1", "-n", "1").out
    assert one.count(" 1  ") == 1 and " 2  " not in one


def test_undo(week, home: Path) -> None:
    """What is forgotten by one program comes back with the next, if the setting allows it; --now leaves nothing."""
    best = memory_id(week, "scaled prices")
    assert "undo_minutes is 0" in week("undo").err
    configure(undo_minutes=10)
    done = week("forget", best)
    assert done.out == "forgot 1 memory\n" and "its texts are still in the file" in done.err
    assert "undo" in week("status").out and week("search", "scaled prices", "--json").out.count(best) == 0
    assert week("undo").out == "brought back 1 memory\n" and week("text", best).code == 0
    week("forget", best, "--now")
    assert week("undo").code == 1


def test_a_hint_is_for_the_store_that_was_named(run, home: Path) -> None:
    configure(undo_minutes=10)
    file = str(home / "other.sqlite")
    run("--store", file, "add", "Prices are net of tax.")
    [hit] = json.loads(run("--store", file, "search", "prices", "--json").out)["hits"]
    assert f"jupyter-memory --store {file} undo brings it back" in run("--store", file, "forget", hit["memory_id"]).err


@pytest.fixture
def editor(home: Path, monkeypatch: pytest.MonkeyPatch):
    (home / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{home / 'bin'}:{os.environ['PATH']}")

    def make(name: str) -> None:
        program = home / "bin" / name
        program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{home / 'opened'}'\n")
        program.chmod(0o755)

    return make, lambda: (home / "opened").read_text().splitlines()


@pytest.mark.parametrize(
    ("name", "command", "expected"),
    [
        ("vim", "vim", ["+7", "{file}"]),
        ("code", "code --wait", ["--wait", "--goto", "{file}:7"]),
        ("subl", "subl -w", ["-w", "{file}:7"]),
        ("notepad", "notepad", ["{file}"]),
        (r"C:\vim\gvim.exe", r"C:\vim\gvim.exe", ["+7", "{file}"]),
        (r"C:\Microsoft VS Code\Code.exe", r'"C:\Microsoft VS Code\Code.exe" --wait', ["--wait", "--goto", "{file}:7"]),
    ],
)
def test_a_result_is_opened_at_its_line(
    run, home: Path, monkeypatch, editor, name: str, command: str, expected
) -> None:
    make, opened = editor
    file = home / "müller.md"
    file.write_text("# Plans\n\n" + "We wait. " * 200 + "\n\n# Ridge\n\nMüller wants λ = 0.3.\n")
    assert run("index", str(file)).code == 0
    make(name)
    monkeypatch.setenv("VISUAL", command)
    done = run("search", "Müller", "--open", "1", "-n", "1")

    assert done.code == 0 and done.out.startswith(" 1  müller.md") and "opened" in done.out.splitlines()[-1]
    assert opened() == [word.format(file=file) for word in expected]
    assert run("search", "Müller", "--open", "3").code == 1
    assert run("search", "Müller", "--open", "1", "--json").code == 2


@pytest.mark.parametrize(("root", "is_shown"), [("work", True), ("elsewhere", False)])
def test_a_notebook_is_opened_in_the_server_that_shows_it(run, home: Path, monkeypatch, editor, root, is_shown) -> None:
    pytest.importorskip("jupyter_server")
    make, opened = editor
    make("browser")
    make("vim")
    monkeypatch.setenv("BROWSER", "browser %s")
    monkeypatch.setenv("VISUAL", "vim")
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(home / "runtime"))
    (home / "runtime").mkdir()
    (home / "work").mkdir()
    for number, folder in ((1, "other"), (2, root)):
        server = {"pid": os.getpid(), "url": f"http://localhost:{number}/", "root_dir": str(home / folder)}
        (home / "runtime" / f"jpserver-{number}.json").write_text(json.dumps(server))
    cell = {"cell_type": "code", "id": "rate", "source": "λ = 0.3", "metadata": {}, "outputs": []}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (home / "work" / "a b.ipynb").write_text(json.dumps(notebook))
    run("index", str(home / "work"))
    run("search", "λ")

    assert run("open", "1").code == 0
    address = "http://localhost:2/lab/tree/a%20b.ipynb#cell-id=rate"
    assert opened() == [address if is_shown else str(home / "work" / "a b.ipynb")]


def test_who_may_only_read_a_store_has_no_ranks(run, postgres_server):
    """The searches of a reader are not kept, so searching again would not help; a memory can be named by its id."""
    tenants = pytest.importorskip("tenants", reason="needs the extra `postgres`")
    with tenants.opened(postgres_server) as team:
        team.grant("ana", "reader")
        url = team.of("ana").url
        found = run("--store", url, "list")
        assert found.code == 0
        memory_id = found.out.split()[0]
        for arguments in (["good", "1"], ["good", memory_id], ["pin", "1"]):
            refused = run("--store", url, *arguments)
            assert refused.code == 1
            assert "may only read this store" in refused.err
        assert run("--store", url, "text", memory_id).code == 0
