"""Commands that find: search, list, explain, and what they say where there is nothing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Run, memory_id

from jupyter_memory.text import estimated_tokens


def test_add_and_search(week: Run) -> None:
    """What was added is found, with title, snippet, id, day and tags, in lines of the terminal's width."""
    done = week("search", "who", "wants", "λ")

    assert (done.code, done.err) == (0, "")
    first = done.out.split("\n\n")[0].splitlines()
    assert first[0].split()[:2] == ["1", "Müller"]
    assert "KW" in first[0]
    assert "Frau Müller wants λ = 0.3" in first[1]
    assert re.match(r"    [0-9a-f]{16} · 2026-03-03 · people$", first[2])
    assert max(map(len, done.out.splitlines())) <= 80


def test_code_line_by_line(run: Run, tmp_path: Path) -> None:
    """Code keeps its lines, each cut where the terminal ends; left of them stands that there is more above."""
    code = (
        "import numpy as np, polars as pl\nλ = 3\n\n\ndef cap(prices):\n    return prices.clip(λ, "
        + "mean_of_zürich, " * 6
        + ")\n"
    )
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "cap.py").write_text(code, encoding="utf-8")
    assert run("index", str(tmp_path / "code")).code == 0
    lines = run("search", "clip").out.splitlines()

    assert lines[1:4] == [
        "   …λ = 3",
        "    def cap(prices):",
        "        return prices.clip(λ, mean_of_zürich, mean_of_zürich, mean_of_zürich,…",
    ]


def test_a_word_left_out(week: Run) -> None:
    """A dash before a word of the query leaves the word out, wherever it stands; it is no option."""
    for word in ("-nolars", "-polars", "-x"):
        found = week("search", word, "prices", "-n1")
        assert (found.code, found.out.count("KW")) == (0, 1)
        assert (f"“{word[1:]}”" in found.err) == (word != "-x")  # one letter is no word
    assert "-l is not an option" in week("search", "-l", "3", "prices").err
    assert "not an option" not in week("search", "grep", "-r", "prices").err
    assert week("search", "prices", "-kind:cell").code == 0
    assert "Did you mean --tag?" in week("search", "prices", "-tag", "decision").err


def test_search_context(week: Run) -> None:
    """`--context` prints the results as a text for a prompt, within its tokens, and nothing else."""
    done = week("search", "who wants λ", "--context", "400")

    assert (done.code, done.err) == (0, "")
    assert "\n[1] note " in done.out and "Frau Müller wants λ = 0.3" in done.out
    assert estimated_tokens(done.out.rstrip("\n")) <= 400
    assert week("search", "who wants λ", "--context", "400").out == done.out
    assert week("search", "volcanoes in kamchatka", "--context", "400").out.startswith("The memory holds nothing that")


@pytest.mark.parametrize("wrong", [["0"], ["-1"], ["word"], ["199"], ["400", "--json"], ["400", "--scan"]])
def test_search_context_with_wrong_options(week: Run, wrong: list[str]) -> None:
    """A number without room, a word, or a second form of the results is wrong usage."""
    done = week("search", "λ", "--context", *wrong)

    assert (done.code, done.out) == (2, "")
    assert "context" in done.err or "200 or more" in done.err


def test_search_json(week: Run) -> None:
    """`--json` prints the whole answer in the shape that REST and the panel share."""
    answer = json.loads(week("search", "--json", "Müller λ", "--on", "2026-03-03").out)

    assert list(answer) == ["query", "verdict", "query_class", "time_range", "counts", "notices", "hits"]
    assert answer["query"] == "Müller λ"
    assert [end[:4] for end in answer["time_range"]] == ["2026", "2026"]
    hit = answer["hits"][0]
    assert list(hit) == [
        "rank", "memory_id", "title", "snippet", "highlights", "badges", "score", "strength", "kind", "tier",
        "source", "location", "tags", "event_at", "freshness", "thumbnails", "kw_rank", "sem_rank", "bm25", "cosine",
        "signals",
    ]  # fmt: skip
    assert hit["title"] == "Müller"
    assert hit["score"] == pytest.approx(sum(seen["contribution"] for seen in hit["signals"].values()))


def test_search_options(week: Run) -> None:
    """Filters, limit and profile are those of the magic."""
    titles = [hit["title"] for hit in json.loads(week("search", "--json", "the", "--tag", "people").out)["hits"]]

    assert titles == ["Müller"]
    assert len(json.loads(week("search", "--json", "-n", "1", "the customer prices").out)["hits"]) == 1
    assert week("search", "-p", "trovella", "Müller").code == 0
    assert "Müller" in week("search", "--scan", "Müller").out


def test_list_as_json(week: Run) -> None:
    """`list --json` prints the memories in the shape of `search --json`, without scores."""
    answer = json.loads(week("list", "--json", "-n", "2").out)

    assert [hit["title"] for hit in answer["hits"]] == ["Merge", "Müller"]
    assert {hit["score"] for hit in answer["hits"]} == {None} and answer["query"] == ""


def test_a_doubtful_answer_says_so(week: Run) -> None:
    """Above hits that may be no answer it stands so, on standard error: results alone go through a pipe."""
    weak, none = week("search", "zero mean volcano"), week("search", "volcanoes of the customer in kamchatka")

    for done, said in (
        (weak, "It is uncertain whether any of these results answers this"),
        (none, "Nothing here seems to answer this"),
    ):
        assert said in done.err and said not in done.out and " 1  " in done.out
    assert "answer" not in week("search", "who wants λ").err


def test_a_quoted_name_is_looked_for_as_it_is_written(run: Run, home: Path) -> None:
    """Dots and underscores in quotes are meant; where nothing holds the name, a line says so."""
    for text in ("df.groupby('shop')", "df_groupby = λ", "the df groupby"):
        assert run("add", text).code == 0
    found = json.loads(run("search", "--json", '"df.groupby"').out)
    assert [hit["snippet"] for hit in found["hits"] if "KW" in hit["badges"]] == ["df.groupby('shop')"]

    missing = run("search", '"df.merge"').err
    assert "No memory contains “df.merge” as it is written. Remove the quotes" in missing
    assert missing.count("df.merge") == 1


def test_a_result_is_opened(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--open` shows the results, and opens the file of one in the editor, at the line where it was found."""
    (home / "müller.md").write_text("# Plans\n\n" + "We wait. " * 200 + "\n\n# Ridge\n\nMüller wants λ = 0.3.\n")
    assert run("index", str(home / "müller.md")).code == 0
    editor = home / "vim"
    editor.write_text(f"#!/bin/sh\necho \"$@\" > '{home / 'opened'}'\n")
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    done = run("search", "Müller", "--open", "1", "-n", "1")

    assert done.code == 0 and done.out.startswith(" 1  müller.md") and "opened" in done.out.splitlines()[-1]
    assert (home / "opened").read_text() == f"+7 {home / 'müller.md'}\n"
    assert (run("search", "Müller", "--open", "3").code, run("search", "Müller", "--open", "1", "--json").code) == (
        1,
        2,
    )


PAINTED = """
import os, pty, sys
os.environ |= {"TERM": "xterm", "COLUMNS": "80", "LINES": sys.argv[1], "PAGER": "cat -n"}
sys.exit(os.waitstatus_to_exitcode(pty.spawn([sys.executable, "-m", "jupyter_memory", *sys.argv[2:]])))
"""


def on_a_terminal(lines: int, *arguments: str) -> str:
    """Return what a command writes to a terminal of 80 columns with so many lines."""
    command = [sys.executable, "-c", PAINTED, str(lines), *arguments]
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=True, timeout=100)
    return done.stdout.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="it needs a pseudo-terminal")
def test_on_a_terminal(week: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal has colours and pages; NO_COLOR, --no-color and pipes have none of the first, pipes none of either."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    painted = on_a_terminal(60, "search", "who wants λ")
    assert "\x1b[1;31mwants\x1b[0m" in painted and "1\t" not in painted

    assert "\x1b" not in on_a_terminal(60, "--no-color", "search", "who wants λ")
    assert "     1\t" in on_a_terminal(3, "search", "who wants λ")
    monkeypatch.setenv("NO_COLOR", "1")
    plain = on_a_terminal(60, "search", "who wants λ").replace("\r\n", "\n")
    assert plain == week("search", "who wants λ").out == re.sub(r"\x1b\[[\d;]*m", "", painted).replace("\r\n", "\n")


def test_nothing_found(week: Run) -> None:
    """A search without hits is done, says so on stderr, and prints nothing."""
    done = week("search", "λ", "--tag", "none")

    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines()[-1] == "Nothing found."


def test_list(week: Run) -> None:
    """`list` shows a memory a line, the newest first."""
    lines = week("list").out.splitlines()

    assert [line.split()[-1] for line in lines] == ["Merge", "Müller", "Prices"]
    assert len(week("list", "-n", "1", "--tag", "people").out.splitlines()) == 1


def test_pin_unpin_explain(week: Run) -> None:
    """Memories are pinned, unpinned and explained by their ids."""
    found = memory_id(week, "Müller")

    assert week("pin", found).out == f"pinned {found} “Müller”\n"
    assert json.loads(week("status", "--json").out)["pinned"] == 1
    assert week("unpin", found).out == f"unpinned {found} “Müller”\n"
    assert "Rank 1 of" in week("explain", "Müller λ", found).out
    told = json.loads(week("explain", "Müller λ", found, "--json").out)
    assert (told["memory_id"], told["rank"]) == (found, 1) and len(told["reasons"]) <= 5 < len(told["details"])
    assert week("explain", "Müller λ", found, "--all").out.splitlines() == told["details"]


def test_a_number_that_is_none_is_told_in_plain_words(run: Run) -> None:
    """An option that takes a whole number says so."""
    assert "'abc' is not a valid whole number" in run("search", "λ", "--context", "abc").err


def test_the_default_store_may_be_new(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is remembered, a search says what to do first, also in its JSON."""
    monkeypatch.delenv("JUPYTER_MEMORY_PATH")
    done = run("search", "λ")

    assert (done.code, done.out) == (0, "")
    assert "This store is empty" in done.err
    assert "words only, not meaning" not in done.err
    assert "This store is empty" in json.loads(run("search", "--json", "λ").out)["notices"][-1]


def test_a_filter_that_matches_nothing_is_reported(week: Run, home: Path) -> None:
    """Beside "Nothing found." stands which filter emptied the answer, with the nearest that would not."""
    folder = home / "reports"
    folder.mkdir()
    (folder / "müller.md").write_text("The ridge model of Müller has λ = 0.3.\n", encoding="utf-8")
    week("index", str(folder))

    for option, says in (
        (["--tag", "pepole"], "has the tag 'pepole'. Did you mean 'people'?"),
        (["--space", "trial"], "is in the space 'trial'. No memory has a space."),
        (["--path", "report"], f"comes from 'report'. Did you mean '{folder}'?"),
        (["--path", "mü"], f"Did you mean '{folder}/müller.md'?"),
        (["--path", "nowhere"], f"comes from 'nowhere'. Known: {folder}."),
    ):
        assert says in week("search", "λ", *option).err
        assert says in week("list", *option).err
        assert says in json.loads(week("search", "--json", "λ", *option).out)["notices"][0]


def test_a_word_that_nothing_holds_is_reported(week: Run) -> None:
    """The notice is printed beside the results, and stands in the JSON with the verdict."""
    answer = json.loads(week("search", "--json", "Müller and xgboost").out)

    assert "No memory contains “xgboost”." in week("search", "Müller and xgboost").err
    assert "No memory contains “xgboost”." in answer["notices"]
    assert answer["verdict"] != "strong"


def test_recent_searches(week: Run) -> None:
    """A search is noted, and `forget --searches` removes the notes, beside nothing else."""
    week("search", "who", "wants", "λ")
    week("search", "prices", "--json")

    done = week("forget", "--searches")
    assert (done.code, done.out) == (0, "forgot 2 searches\n")
    assert week("forget", "--searches").out == "forgot 0 searches\n"
    done = week("forget", "--searches", "--everything", "--yes")
    assert done.code == 2 and "leave the rest out" in done.err


@pytest.mark.parametrize("columns", ["80", "100", "120"])
def test_lines_fit_wide_characters(run: Run, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    """No line is wider than the terminal, also with characters of two cells."""
    from jupyter_memory.text import width

    monkeypatch.setenv("COLUMNS", columns)
    run("add", "--title", "東京都の価格 " * 20, "--tag", "価格", "東京都の価格を正規化した " * 30)
    for command in (["search", "東京都"], ["list"]):
        lines = run(*command).out.splitlines()
        assert lines
        assert max(map(width, lines)) <= int(columns)
