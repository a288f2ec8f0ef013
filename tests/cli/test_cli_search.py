"""Commands that find: search, list, explain, and what they say where there is nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commands import Run, memory_id

from jupyter_memory.text import estimated_tokens, width


def found(run: Run, command: str, *arguments: str) -> dict:
    """Return the answer of a search or a list."""
    return json.loads(run(command, "--json", *arguments).out)


def test_add_and_search(week: Run) -> None:
    """What was added is found, with title, snippet, id, day and tags, in lines of the terminal's width."""
    done = week("search", "who", "wants", "λ")
    assert (done.code, done.err) == (0, "")
    first = done.out.split("\n\n")[0].splitlines()
    assert first[0].split()[:2] == ["1", "Müller"] and "KW" in first[0]
    assert "Frau Müller wants λ = 0.3" in first[1]
    assert re.match(r"    [0-9a-f]{16} · 2026-03-03 · people$", first[2])
    assert max(map(len, done.out.splitlines())) <= 80


def test_code_line_by_line(run: Run, home: Path) -> None:
    """Code keeps its lines, each cut where the terminal ends; left of them stands that there is more above."""
    long = "    return prices.clip(λ, " + "mean_of_zürich, " * 6 + ")\n"
    code = f"import numpy as np, polars as pl\nλ = 3\n\n\ndef cap(prices):\n{long}"
    (home / "cap.py").write_text(code, encoding="utf-8")
    assert run("index", str(home / "cap.py")).code == 0
    assert run("search", "clip").out.splitlines()[1:4] == [
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
    """`--json` prints the whole answer in the shape that REST and the panel share; a list has it without scores."""
    answer = found(week, "search", "Müller λ", "--on", "2026-03-03")

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

    assert [line.split()[-1] for line in week("list").out.splitlines()] == ["Merge", "Müller", "Prices"]
    listed = found(week, "list", "-n", "2")
    assert [hit["title"] for hit in listed["hits"]] == ["Merge", "Müller"]
    assert {hit["score"] for hit in listed["hits"]} == {None} and listed["query"] == ""


def test_search_options(week: Run) -> None:
    """Filters, limit and profile are those of the magic; a search without hits is done, and says so beside nothing."""
    assert [hit["title"] for hit in found(week, "search", "the", "--tag", "people")["hits"]] == ["Müller"]
    assert len(found(week, "search", "-n", "1", "the customer prices")["hits"]) == 1
    assert week("search", "-p", "trovella", "Müller").code == 0
    assert "Müller" in week("search", "--scan", "Müller").out
    done = week("search", "λ", "--tag", "none")
    assert (done.code, done.out, done.err.splitlines()[-1]) == (0, "", "Nothing found.")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("zero mean volcano", "It is uncertain whether any of these results answers this"),
        ("volcanoes of the customer in kamchatka", "Nothing here seems to answer this"),
        ("who wants λ", None),
    ],
)
def test_a_doubtful_answer_says_so(week: Run, query: str, said: str | None) -> None:
    """Above hits that may be no answer it stands so, on standard error: results alone go through a pipe."""
    done = week("search", query)
    assert (said or "") in done.err and ("answer" in done.err) == (said is not None)
    assert "answer" not in done.out and " 1  " in done.out


def test_a_quoted_name_is_looked_for_as_it_is_written(run: Run) -> None:
    """Dots and underscores in quotes are meant; where nothing holds the name, a line says so."""
    for text in ("df.groupby('shop')", "df_groupby = λ", "the df groupby"):
        assert run("add", text).code == 0
    hits = found(run, "search", '"df.groupby"')["hits"]
    assert [hit["snippet"] for hit in hits if "KW" in hit["badges"]] == ["df.groupby('shop')"]
    missing = run("search", '"df.merge"').err
    assert "No memory contains “df.merge” as it is written. Remove the quotes" in missing
    assert missing.count("df.merge") == 1


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


def test_the_default_store_may_be_new(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is remembered, a search says what to do first, also in its JSON."""
    monkeypatch.delenv("JUPYTER_MEMORY_PATH")
    done = run("search", "λ")
    assert (done.code, done.out) == (0, "")
    assert "This store is empty" in done.err and "words only, not meaning" not in done.err
    assert "This store is empty" in found(run, "search", "λ")["notices"][-1]


def test_what_a_search_misses_is_reported(week: Run, home: Path) -> None:
    """Beside the results and in JSON stands which filter emptied the answer, with the nearest, or which word."""
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
        assert says in week("search", "λ", *option).err and says in week("list", *option).err
        assert says in found(week, "search", "λ", *option)["notices"][0]
    answer = found(week, "search", "Müller and xgboost")
    assert "No memory contains “xgboost”." in week("search", "Müller and xgboost").err
    assert "No memory contains “xgboost”." in answer["notices"] and answer["verdict"] != "strong"


@pytest.mark.parametrize("columns", ["80", "100", "120"])
def test_lines_fit_wide_characters(run: Run, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    """No line is wider than the terminal, also with characters of two cells."""
    monkeypatch.setenv("COLUMNS", columns)
    run("add", "--title", "東京都の価格 " * 20, "--tag", "価格", "東京都の価格を正規化した " * 30)
    for command in (["search", "東京都"], ["list"]):
        lines = run(*command).out.splitlines()
        assert lines and max(map(width, lines)) <= int(columns)
