"""The page about agents tells what happens: its exchange, its table of clients and its options."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from jupyter_memory.cli.commands import CONNECTING
from jupyter_memory.interface import CLIENTS, Places
from jupyter_memory.interface.clients import plans
from scripts.agents_exchange import PAGE, exchange, told

# Ids, borders and cursors are random, dates are those of the files; costs and strengths move a little with each model.
_VARIES = re.compile(r'[0-9a-f]{16}\b|(?<=stored-)\w+|(?<="next": ")[^"]*|\d{4}-\d\d-\d\d(?=",)')


def lasting(text: str) -> str:
    """Return an exchange without what differs from run to run."""
    return re.sub(r'("(?:tokens|strength)": )[\d.]+', r"\1…", _VARIES.sub("…", text))


def test_the_exchange_is_what_happens() -> None:
    """The page tells what the SDK's client is answered today; scripts/agents_exchange.py writes it anew."""
    pytest.importorskip("mcp_types", reason="the extra mcp is not installed")

    assert lasting(told()) == lasting(exchange())


def test_the_table_names_every_client_and_its_files() -> None:
    """Each client has a row with its name, the name of its file, and the file inside a project."""
    rows = {
        row.split("`")[1]: row for row in PAGE.read_text(encoding="utf-8").splitlines() if re.match(r"\|[^|]+\| `", row)
    }

    assert list(rows)[: len(CLIENTS)] == [client.name for client in CLIENTS]
    for client in CLIENTS:
        assert client.title in rows[client.name]
        assert client.file(Places(Path("/h"), {}, "linux")).name in rows[client.name]
        assert (
            f"`{client.project_file}`" in rows[client.name]
            if client.project_file
            else rows[client.name].endswith("| |")
        )


def test_every_bound_is_explained() -> None:
    """The page tells each option that goes into an entry, and every other option of the command."""
    page = PAGE.read_text(encoding="utf-8")

    for option in CONNECTING["connect"].options:
        if option.name != "yes":
            assert option.flags[-1] in page
    assert plans.Bounds(True, "s", ("p",), True, True).options()[:3] == ["--read-only", "--history", "--forget-any"]
