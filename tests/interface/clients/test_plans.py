"""Connecting a client and ending that: the file is what it was, to the last byte, where nothing else changed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import client_files as texts
import pytest
from client_files import ENTRY

from jupyter_memory import ClientConfigError
from jupyter_memory.interface import backup_of
from jupyter_memory.interface.clients import plans
from jupyter_memory.interface.clients.config_files import JsonItem, JsonMember, Shape, TomlTable

SERVERS = JsonMember(("servers",), comments=True)
EVERY: list[tuple[Shape, str]] = [
    (JsonMember(), texts.PLAIN),
    (JsonMember(), texts.WINDOWS),
    (JsonMember(), texts.ONE_LINE),
    (JsonMember(), texts.NO_SERVERS),
    (JsonMember(), texts.EMPTY_SERVERS),
    (JsonMember(), texts.OPEN_SERVERS),
    (JsonMember(), "\ufeff{}"),
    (JsonMember(), ""),
    (JsonMember(), "\n\n"),
    (SERVERS, texts.COMMENTS),
    (SERVERS, texts.LAST_COMMENT),
    (SERVERS, "{\n  // nothing yet\n}\n"),
    (JsonItem(), texts.JUPYTER_AI),
    (JsonItem(), "{}"),
    (TomlTable(), texts.CODEX),
    (TomlTable(), "[mcp_servers]\n\n\n"),
]


def connect(shape: Shape, path: Path, entry: object = ENTRY) -> None:
    """Put an entry into a file."""
    change = plans.connection(shape, path, entry)
    assert change is not None
    change.apply()


def disconnect(shape: Shape, path: Path) -> None:
    """Take our entry out of a file."""
    change = plans.disconnection(shape, path)
    assert change is not None
    change.apply()


@pytest.mark.parametrize(("shape", "text"), EVERY)
def test_the_file_is_what_it_was(tmp_path: Path, shape: Shape, text: str) -> None:
    """Connecting, connecting again with other options and ending it gives the earlier bytes, and leaves no copy."""
    path = tmp_path / "config"
    path.write_bytes(text.encode())
    connect(shape, path)
    assert plans.connection(shape, path, ENTRY) is None
    connect(shape, path, {**ENTRY, "args": ["mcp", "--read-only"]})
    assert backup_of(path).read_bytes() == text.encode()
    disconnect(shape, path)

    assert path.read_bytes() == text.encode()
    assert plans.disconnection(shape, path) is None
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("shape", [JsonMember(), SERVERS, JsonItem(), TomlTable()])
def test_a_file_that_was_not_there_is_gone_again(tmp_path: Path, shape: Shape) -> None:
    """A configuration that connecting made goes with the entry."""
    path = tmp_path / "config"
    connect(shape, path)
    disconnect(shape, path)

    assert list(tmp_path.iterdir()) == []


def test_what_the_client_wrote_meanwhile_stays(tmp_path: Path) -> None:
    """A file that changed since keeps its changes; only the entry goes, and a copy is left."""
    path = tmp_path / ".claude.json"
    path.write_text(texts.PLAIN, encoding="utf-8")
    connect(JsonMember(), path)
    path.write_text(path.read_text(encoding="utf-8").replace("42", "43"), encoding="utf-8")
    before = path.read_bytes()
    disconnect(JsonMember(), path)

    assert path.read_text(encoding="utf-8") == texts.PLAIN.replace("42", "43")
    assert backup_of(path).read_bytes() == before


def test_a_file_that_the_client_wrote_anew_is_connected_again(tmp_path: Path) -> None:
    """Each time an entry comes into a file, the copy is of that file, not of an earlier one."""
    path = tmp_path / "mcp.json"
    path.write_text("{}")
    connect(JsonMember(), path)
    path.write_text(texts.NO_SERVERS)
    connect(JsonMember(), path)
    disconnect(JsonMember(), path)

    assert path.read_text() == texts.NO_SERVERS


def test_a_broken_file_is_left_as_it_is(tmp_path: Path) -> None:
    """The error names the file and the place, says what to do, and holds no word of the file."""
    path = tmp_path / "mcp.json"
    path.write_text('{"mcpServers": {"secretname": }}')
    with pytest.raises(ClientConfigError) as refused:
        plans.connection(JsonMember(), path, ENTRY)

    assert str(path) in str(refused.value)
    assert "line 1, column 31" in str(refused.value)
    assert "secretname" not in str(refused.value)
    assert not plans.is_connected(JsonMember(), path)


def test_the_command_needs_no_path(tmp_path: Path) -> None:
    """An entry names this Python by its whole path, the store that is not the default, and what was allowed."""
    bounds = plans.Bounds(read_only=True, space="work", paths=("~/notes", "work"), history=True)
    command, arguments = plans.command_of(tmp_path / "m.sqlite", bounds)

    assert command == sys.executable
    assert Path(command).is_absolute()
    assert arguments == [
        "-P", "-m", "jupyter_memory", "--store", str(tmp_path / "m.sqlite"), "mcp",
        "--read-only", "--history", "--space", "work", "--path", str(Path.home() / "notes"),
        "--path", str(Path("work").absolute()),
    ]  # fmt: skip
    assert plans.command_of(None, plans.Bounds())[1] == ["-P", "-m", "jupyter_memory", "mcp"]


def test_the_skill_is_written_and_taken_away(tmp_path: Path) -> None:
    """The skill comes into a folder of its own, and that goes with it; one that somebody changed leaves a copy."""
    written = plans.skill_written(tmp_path)
    assert written is not None
    written.apply()
    path = tmp_path / "jupyter-memory" / "SKILL.md"
    assert path.read_text(encoding="utf-8") == plans.skill_text()
    assert plans.skill_written(tmp_path) is None

    for changed in (False, True):
        if changed:
            written.apply()
            path.write_text(plans.skill_text() + "- and say hello\n", encoding="utf-8")
        removed = plans.skill_removed(tmp_path)
        assert removed is not None
        removed.apply()
        assert backup_of(path).exists() == changed
        assert path.parent.exists() == changed
    assert plans.skill_removed(tmp_path) is None


def test_the_skill_is_short_and_in_the_form_of_skills() -> None:
    """It begins with its name and when to use it, within what clients read of that."""
    head, body = plans.skill_text().split("---\n")[1:]
    fields = dict(line.split(": ", 1) for line in head.splitlines())

    assert fields["name"] == "jupyter-memory"
    assert 100 < len(fields["description"]) <= 1024
    assert len(body.split()) < 350


def test_the_skill_names_tools_that_exist() -> None:
    """Every tool and every filter that the skill names is one of the server's."""
    pytest.importorskip("pydantic", reason="the extra mcp is not installed")
    from jupyter_memory.mcp.arguments import FilterArguments
    from jupyter_memory.mcp.tools import TOOLS

    assert set(re.findall(r"memory_[a-z]+", plans.skill_text())) == set(TOOLS) - {"memory_forget", "memory_status"}
    assert {"path", "kind", "since"} <= set(FilterArguments.model_fields)
