"""Completion in lines of our magics, through IPython's own completer."""

from __future__ import annotations

from pathlib import Path

import pytest
from IPython.core.completer import provisionalcompleter


def complete(shell, line: str) -> list[str]:
    """Return what IPython offers at the end of a line, as a kernel asks for it."""
    with provisionalcompleter():
        return [offer.text for offer in shell.ip.Completer.completions(line, len(line))]


@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("%memsearch --pro", ["--profile"]),
        ("%memsearch how to -", ["-n", "--limit", "-p", "--profile", "--tag"]),
        ("df = %memsearch --va", ["--var"]),
        ("%%memsearch --lim", ["--limit"]),
        ("%memadd --sev", ["--severity"]),
        ("%memadd text --severity ", ["critical", "warning", "suggestion"]),
        ("%memsearch --kind c", ["cell"]),
        ("%memsearch --tier ", ["core", "file", "mcp", "note"]),
        ("%memsearch --profile ", ["auto", "covalence", "trovella"]),
        ("%memsearch -p c", ["covalence"]),
        ("%memsearch --tag ", ["decision", "people", '"to do"']),
        ("%memsearch merge --tag pe", ["people"]),
        ("%memsearch --since last", []),
        ("%memsearch --kind=c", ["cell"]),
        ("%memsearch kind:", ["note", "file", "cell"]),
        ("%memsearch merge -kind:c", ["cell"]),
        ("%memsearch tag:", ["decision", "people", '"to do"']),
        ("%memsearch tag:pe", ["people"]),
        ("%memsearch after:y", ["yesterday"]),
        ("%memsearch --var ques", ["question"]),
        ("%memory ", ["status", "index", "forget", "doctor"]),
        ("%memory fo", ["forget"]),
        ("%memory forget --eve", ["--everything"]),
        ("%memory list --tag de", ["decision"]),
        ("%memory profile tro", ["trovella"]),
        ("%memory profile s", ["show", "save"]),
        ("%memory profile show tro", ["trovella"]),
        ("%memory model ", ["list", "use", "drop", "remove"]),
        ("%memory model use ", ["nomic", "static", "minilm"]),
        ("%memory autoload ", ["on", "off", "status"]),
    ],
)
def test_offers(week, line: str, offers: list[str]) -> None:
    """Options, subcommands, tags, profiles and known values are offered where they belong."""
    week.ip.user_ns["question"] = "how?"
    found = complete(week, line)

    assert [offer for offer in offers if offer not in found] == []


@pytest.mark.parametrize(
    "line",
    [
        "%memsearch --tag pe",
        "%memsearch kind:c",
        "%memsearch --kind=c",
        "%memory fo",
        "%memsearch --kind c",
        "%memory model use st",
        "%memory profile show v",
    ],
)
def test_offers_nothing_else(week, line: str) -> None:
    """Names of Python and files of the folder do not mix in."""
    week.ip.user_ns |= {"people_count": 3, "forest": 1, "cells": 2}

    assert len(complete(week, line)) == 1


@pytest.mark.parametrize(
    "line", ["%memory index {}/re", "%memsearch --path {}/re", "%memsearch path:{}/re", "%memory backup {}/re"]
)
def test_paths(week, tmp_path: Path, line: str) -> None:
    """Paths are completed, folders with a slash and names with spaces in quotes."""
    for name in ("reports", "réport", "re view"):
        (tmp_path / name).mkdir()
    (tmp_path / "results.csv").write_text("λ")
    found = complete(week, line.format(tmp_path))

    assert any(offer.endswith("reports/") for offer in found)
    assert any(offer.endswith("results.csv") for offer in found)
    assert f'"{tmp_path}/re view/"' in found


@pytest.mark.parametrize("what", ["pin", "unpin", "forget"])
def test_ids_of_the_last_search(week, what: str) -> None:
    """Where an id is wanted, those of the last search are offered, the best first."""
    ids = week.run("%memsearch prices of Müller, merged frames")["memory_id"].tolist()

    assert len(ids) >= 2
    assert complete(week, f"%memory {what} ") == ids
    assert complete(week, f"%memory {what} {ids[1][:9]}") == [ids[1]]


def test_other_lines_are_left_alone(week) -> None:
    """Python and other magics complete as before."""
    week.ip.user_ns["people_count"] = 3

    assert "people_count" in complete(week, "people_c")
    assert "%memsearch" in complete(week, "%memse")


def test_looking_at_tags_makes_no_store(shell, home: Path) -> None:
    """Completing a tag before there is a store does not make one."""
    complete(shell, "%memsearch --tag x")

    assert not (home / "data" / "memory").exists()


def test_a_broken_store_completes_nothing(shell, home: Path, capsys) -> None:
    """With a store that cannot be opened, completion stays silent."""
    (home / "not.sqlite").write_text("just words, " * 100)
    shell.run(f"%config JupyterMemory.path = '{home}/not.sqlite'")
    capsys.readouterr()

    assert "people" not in complete(shell, "%memsearch --tag pe")
    assert capsys.readouterr() == ("", "")
