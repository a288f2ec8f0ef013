"""Forgetting in a terminal: what is said and asked before several memories go, and guesses that never lead there."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from commands import Run, Terminal, memory_id

from jupyter_memory import MemoryStore


def test_forget_everything_asks(week: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is forgotten after a yes at a terminal, or with --yes; a program is not asked but refused."""
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    refused = week("forget", "--everything")
    assert refused.code == 2 and "all 3 memories of" in refused.err and "--yes" in refused.err
    for answer, code in (("n\n", 1), ("", 1), ("y\n", 0)):
        monkeypatch.setattr("sys.stdin", Terminal(answer))
        done = week("forget", "--everything")
        assert done.code == code and "Forget all 3 memories" in done.err
        assert memories(week) == (3 if code else 0)
    week("add", "one more λ")
    assert week("forget", "--everything", "--yes").out == "forgot 1 memory\n"


CHOICES = (
    ["--kind", "note"], ["--tag", "decision,people"], ["--since", "2026-03-02"], ["--until", "2026-03-04"],
    ["--on", "March 2026"], ["--tier", "note"], ["--source", "a.md", "--source", "b.md"],
)  # fmt: skip


@pytest.fixture
def several(week: Run, home: Path) -> Run:
    """Give the commands, and a store in which each choice finds several memories."""
    with MemoryStore(home / "m.sqlite") as store:
        for source in ("a.md", "b.md"):
            store.add(f"λ of {source}", source=source, event_at="2026-03-03", tags=["people"])
    return week


@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_several_memories_are_forgotten_after_a_question(several: Run, monkeypatch, choice: list[str]) -> None:
    """Whatever chooses them, it says how many and what they are, and asks; a program without --yes is refused."""
    held = memories(several)
    dry = several("forget", *choice, "--dry-run")
    found = re.search(r"Nothing was forgotten. Without --dry-run these would go: (\d+) memories", dry.err)
    assert (dry.code, memories(several)) == (0, held) and found is not None
    number = int(found[1])
    assert len(dry.out.splitlines()) == number > 1

    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    refused = several("forget", *choice)
    assert (refused.code, refused.out) == (2, "")
    assert f"This would forget {number} memories (" in refused.err and "Add --yes" in refused.err
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    assert (several("forget", *choice).code, memories(several)) == (1, held)
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    done = several("forget", *choice)
    assert re.search(rf"Forget {number} memories \(\d note; 0 pinned, \d with tags\)\?", done.err)
    assert (done.out, memories(several)) == (f"forgot {number} memories\n", held - number)


def memories(run: Run) -> int:
    """Return how many memories the store has."""
    return json.loads(run("status", "--json").out)["memories"]


def test_forget(week: Run, home: Path) -> None:
    """Memories go by id and by filter; a tag, a source or a time that nothing fits is told, with what is nearest."""
    (home / "tariffs.md").write_text("Net of tax, says Frau Müller: λ.", encoding="utf-8")
    week("index", str(home / "tariffs.md"))
    assert "Did you mean 'decision'?" in week("forget", "--tag", "decisoin").err
    assert f"Did you mean '{home / 'tariffs.md'}'?" in week("forget", "--source", "tarifs.md").err
    assert "Nothing in this store is from that time" in week("forget", "--until", "2001").err
    assert memories(week) == 4
    assert week("forget", memory_id(week, "Müller wants")).out == "forgot 1 memory\n"
    assert week("forget", "--until", "2026-03-02").out == "forgot 1 memory\n"
    assert memories(week) == 2


def test_a_dry_run_of_all_kinds(week: Run) -> None:
    """Everything, ids and searches are counted or named too, and stay; searches go alone, and nothing with them."""
    week("search", "Müller")
    one = memory_id(week, "Müller")
    assert week("forget", one, "--dry-run").out == f"would forget {one} “Müller”\n"
    everything = week("forget", "--everything", "--dry-run")
    assert "all 3 memories of" in everything.err and len(everything.out.splitlines()) == 3
    assert week("forget", "--searches", "--dry-run").out == "would forget 1 search\n"
    nothing = week("forget", "--tag", "decisoin", "--dry-run")
    assert "these would go: 0 memories" in nothing.err and "Did you mean 'decision'?" in nothing.err
    both = week("forget", "--searches", "--everything", "--yes")
    assert both.code == 2 and "leave the rest out" in both.err
    assert [week("forget", "--searches").out for _ in range(2)] == ["forgot 1 search\n", "forgot 0 searches\n"]
    assert memories(week) == 3


def test_what_is_added_during_the_question_stays(week: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The yes is to the memories that were counted: another program's new one is not among them."""

    class Slow(Terminal):
        def readline(self, *limit: int) -> str:  # type: ignore[override]
            with MemoryStore(home / "m.sqlite") as store:
                store.add("added while somebody thinks")
            return "y\n"

    monkeypatch.setattr("sys.stdin", Slow())
    done = week("forget", "--everything")
    assert "Forget all 3 memories of" in done.err and done.out == "forgot 3 memories\n"
    assert "added while somebody thinks" in week("list").out


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        *(([name], "There is no command") for name in ("forgt", "fogret", "restor")),
        (["model", "remov", "nomic"], "There is no command"),
        (["model", "drp"], "There is no command"),
        *((["forget", option], "No such option") for option in ("--everythin", "--serches", "--yess")),
        (["restore", "a", "--overwrit"], "No such option"),
    ],
)
def test_no_guess_names_what_destroys(run: Run, typed: list[str], said: str) -> None:
    """A misspelt command or option never leads to one that cannot be undone, or that answers the question before."""
    done = run(*typed)
    assert done.code == 2 and said in done.err and "Did you mean" not in done.err
    assert said == "No such option" or "There are: " in done.err
    assert "Did you mean '--tag'?" in run("forget", "--tga", "draft").err


@pytest.mark.parametrize("more", [[], ["--tag", "draft"], ["--source", "a.md"], ["--dry-run"]])
def test_an_empty_source_is_refused_in_the_words_of_the_command(week: Run, more: list[str]) -> None:
    """A variable that was never set chooses nothing, also beside other options, and no Python is shown."""
    for empty in ("", "  "):
        done = week("forget", "--source", empty, *more)
        assert (done.code, memories(week)) == (2, 3)
        assert "--source is empty. Name a file or a folder" in done.err
        assert "forget()" not in done.err and "source=" not in done.err


def test_a_folder_without_memories_leads_to_no_larger_one(week: Run, home: Path, monkeypatch) -> None:
    """``forget --source .`` where nothing was indexed names the folder, and suggests none above it."""
    (home / "notes").mkdir()
    (home / "report.md").write_text("prices of Zürich", encoding="utf-8")
    assert week("index", str(home / "report.md")).code == 0
    monkeypatch.chdir(home / "notes")
    said = week("forget", "--source", ".", "--dry-run").err
    assert f"Nothing in this store comes from '{home / 'notes'}'." in said and "Did you mean '/" not in said


@pytest.mark.parametrize(("indexed", "named"), [("plink", "real/a"), ("real/a", "plink"), ("plink", "plink/b/..")])
def test_a_linked_folder_goes_by_each_of_its_names(run: Run, home: Path, monkeypatch, indexed: str, named: str) -> None:
    """Indexed by one name, it is listed, searched and forgotten by the other: --path, path: and --source."""
    (home / "real" / "a" / "b").mkdir(parents=True)
    (home / "real" / "a" / "one.md").write_text("prices of Zürich", encoding="utf-8")
    (home / "plink").symlink_to(home / "real" / "a")
    monkeypatch.chdir(home)
    assert run("index", indexed).code == 0
    for command in (["list"], ["search", "prices"]):
        done = run(*command, "--path", str(home / named))
        assert "one.md" in done.out and "Nothing" not in done.err
    assert "one.md" in run("search", f"path:{named}/one.md").out
    assert run("forget", "--source", str(home / named), "--yes").out == "forgot 1 memory\n"
