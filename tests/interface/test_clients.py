"""Connecting the clients of agents: where each keeps its configuration, and what changes in it and is given back."""

import json
import re
import stat
import tomllib
from pathlib import Path
from typing import Any

import client_files as texts
import pytest
from client_files import ENTRY
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_memory import ClientConfigError, JupyterMemory
from jupyter_memory.interface import CLIENTS, Places, Target, backup_of

HOME = Path("/home/ada")
LINUX = Places(HOME, {}, "linux")
BY_NAME = {client.name: client for client in CLIENTS}
# Clients of each shape: a JSON object, one with comments, a JSON array, tables of TOML.
PLAIN, COMMENTS, ARRAY, TOML = (BY_NAME[name].shape for name in ("claude-desktop", "vscode", "jupyter-ai", "codex"))
CURSOR = BY_NAME["cursor"].shape


def target(name: str, places: Places = LINUX, project: Path | None = None, *more: str, skill: bool = False) -> Any:
    """Return a client with the command of our entry, and some more arguments."""
    command = (ENTRY["command"], [*ENTRY["args"], *more])
    return Target.of_client(BY_NAME[name], places, project, command, skill)


@pytest.mark.parametrize(
    ("where", "name", "file"),
    [
        ("linux", "claude-code", ".claude.json"),
        ("linux", "claude-desktop", ".config/Claude/claude_desktop_config.json"),
        ("linux", "vscode", ".config/Code/User/mcp.json"),
        ("linux", "copilot", ".copilot/mcp-config.json"),
        ("linux", "cursor", ".cursor/mcp.json"),
        ("linux", "codex", ".codex/config.toml"),
        ("linux", "gemini", ".gemini/settings.json"),
        ("linux", "jupyter-ai", ".jupyter/mcp_settings.json"),
        ("darwin", "claude-code", ".claude.json"),
        ("darwin", "claude-desktop", "Library/Application Support/Claude/claude_desktop_config.json"),
        ("darwin", "vscode", "Library/Application Support/Code/User/mcp.json"),
        ("darwin", "cursor", ".cursor/mcp.json"),
        ("win32", "claude-code", ".claude.json"),
        ("win32", "claude-desktop", "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("win32", "vscode", "AppData/Roaming/Code/User/mcp.json"),
        ("win32", "codex", ".codex/config.toml"),
        # The variables that move a client's folder are followed.
        ("CLAUDE_CONFIG_DIR", "claude-code", "/elsewhere/.claude.json"),
        ("COPILOT_HOME", "copilot", "/elsewhere/mcp-config.json"),
        ("CODEX_HOME", "codex", "/elsewhere/config.toml"),
        ("GEMINI_CLI_HOME", "gemini", "/elsewhere/.gemini/settings.json"),
        ("XDG_CONFIG_HOME", "vscode", "/elsewhere/Code/User/mcp.json"),
    ],
)
def test_where_the_file_is(where: str, name: str, file: str) -> None:
    environment, platform = ({where: "/elsewhere"}, "linux") if where.isupper() else ({}, where)
    assert target(name, Places(HOME, environment, platform)).file == HOME / file


def test_claude_desktop_from_a_package_reads_another_file(tmp_path: Path) -> None:
    """On Windows, the packaged application has a folder of its own; a leftover of the package is not one."""
    here = Places(tmp_path, {"LOCALAPPDATA": str(tmp_path / "Local")}, "win32")
    packaged = tmp_path / "Local" / "Packages" / "Claude_pzs8sxrjxfjjc" / "LocalCache" / "Roaming"
    packaged.parent.mkdir(parents=True)
    assert target("claude-desktop", here).file.is_relative_to(tmp_path / "AppData")
    packaged.mkdir()
    assert target("claude-desktop", here).file == packaged / "Claude" / "claude_desktop_config.json"


def test_entries_as_each_client_wants_them() -> None:
    entries = {client.name: client.entry("/py", ["mcp"]) for client in CLIENTS}
    typed = {name for name, entry in entries.items() if entry.get("type") == "stdio"}
    assert typed == {"claude-code", "vscode", "copilot", "cursor"}
    assert entries["copilot"] == {"type": "stdio", "command": "/py", "args": ["mcp"], "tools": ["*"]}
    assert entries["jupyter-ai"] == {"command": "/py", "args": ["mcp"], "env": []}
    assert entries["codex"] == {"command": "/py", "args": ["mcp"]}


def test_a_client_is_found_by_its_file_its_folder_or_its_program(tmp_path: Path, monkeypatch) -> None:
    """A home without any client has none; what a client leaves there shows it."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    places = Places(tmp_path, {}, "linux")
    assert [client.name for client in CLIENTS if client.is_here(places)] == []
    for folder in (".jupyter", ".claude", ".cursor", "bin"):
        (tmp_path / folder).mkdir()
    (tmp_path / "bin" / "codex").touch(0o755)
    assert [client.name for client in CLIENTS if client.is_here(places)] == ["claude-code", "cursor", "codex"]


@pytest.mark.parametrize(
    ("name", "file", "skills"),
    [
        ("claude-code", ".mcp.json", ".claude/skills"), ("claude-desktop", None, None),
        ("vscode", ".vscode/mcp.json", ".copilot/skills"), ("copilot", ".mcp.json", ".copilot/skills"),
        ("cursor", ".cursor/mcp.json", ".cursor/skills"), ("codex", ".codex/config.toml", ".agents/skills"),
        ("gemini", ".gemini/settings.json", ".gemini/skills"), ("jupyter-ai", ".jupyter/mcp_settings.json", None),
    ],
)  # fmt: skip
def test_the_file_of_a_project_and_the_folder_of_skills(name: str, file: str | None, skills: str | None) -> None:
    if file is None:
        with pytest.raises(ClientConfigError, match="leave out --project"):
            target(name, project=Path("/work")).file  # noqa: B018  reading it is what raises
    else:
        assert target(name, project=Path("/work")).file == Path("/work") / file
    asked = target(name, skill=True)
    written = [change.path for change in asked.changes() if change.path.name == "SKILL.md"]
    assert written == ([HOME / skills / "jupyter-memory" / "SKILL.md"] if skills else [])
    assert ("no folder of skills" in asked.caution) is (skills is None)
    _, skill = target("claude-code", project=Path("/work"), skill=True).changes()
    assert skill.path == Path("/work/.claude/skills/jupyter-memory/SKILL.md")


WITH_OTHERS: list[tuple[Any, str]] = [
    (PLAIN, texts.PLAIN), (PLAIN, texts.WINDOWS), (PLAIN, texts.ONE_LINE),
    (PLAIN, '{\n  "mcpServers": {"time": {"command": "uvx"}}\n}\n'), (CURSOR, texts.PLAIN), (COMMENTS, texts.COMMENTS),
    (COMMENTS, texts.LAST_COMMENT), (ARRAY, texts.JUPYTER_AI), (TOML, texts.CODEX),
    (TOML, texts.CODEX.replace("\n", "\r\n")), (TOML, texts.CODEX + "\n"),
]  # fmt: skip
OTHERS: list[tuple[Any, str]] = [
    (PLAIN, texts.NO_SERVERS), (PLAIN, texts.EMPTY_SERVERS), (PLAIN, texts.OPEN_SERVERS), (PLAIN, "{}"), (PLAIN, "\n"),
    (PLAIN, ""), (COMMENTS, "{\n  // nothing yet\n}\n"), (COMMENTS, '{ "servers": { /* none */ } }'), (ARRAY, ""),
    (ARRAY, '{"mcp_servers": []}'), (TOML, ""), (TOML, 'model = "gpt-5.2-codex"'), (TOML, "[mcp_servers]\n"),
]  # fmt: skip
# A string, which stays, or a comment, which goes; then a comma before a closing bracket.
COMMENT, COMMA = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL), re.compile(r",(?=\s*[}\]])")


def value_of(shape: Any, text: str) -> dict[str, Any]:
    """Return what a configuration says, without what is empty."""
    if shape == TOML:
        value = tomllib.loads(text)
    else:
        value = json.loads(COMMA.sub("", COMMENT.sub(lambda found: found[1] or "", text)).strip() or "{}")
    return {key: inner for key, inner in value.items() if inner}


@pytest.mark.parametrize(("shape", "text"), [*WITH_OTHERS, *OTHERS])
def test_the_entry_is_added_and_nothing_else_changes(shape: Any, text: str) -> None:
    """What was written is there afterwards, in its order; a second run changes nothing, one with options only those."""
    after = shape.with_entry(text, ENTRY)
    assert {name: shape.entry_of(after)[name] for name in ENTRY} == ENTRY
    rest = iter(after)
    assert all(character in rest for character in text if not character.isspace())
    assert value_of(shape, shape.without_entry(after)) == value_of(shape, text)
    assert (shape.with_entry(after, ENTRY), shape.without_entry(text)) == (after, text)
    other = {**ENTRY, "args": [*ENTRY["args"], "--read-only"]}
    assert shape.with_entry(after, other) == shape.with_entry(text, other)


@pytest.mark.parametrize(("shape", "text"), WITH_OTHERS)
def test_taking_the_entry_out_gives_the_text_back(shape: Any, text: str) -> None:
    """Beside other servers, the text is what it was to the last character, without looking at any copy."""
    assert shape.without_entry(shape.with_entry(text, ENTRY)) == text


def test_what_somebody_added_to_the_entry_stays() -> None:
    text = PLAIN.with_entry("", {**ENTRY, "env": {"A": "1"}, "disabled": True})
    added = TOML.with_entry(texts.CODEX, ENTRY)
    toml = added.replace('command = "/opt', 'enabled = false\ncommand = "/opt')
    toml += 'startup_timeout_sec = 20\n\n[mcp_servers.jupyter-memory.env]\nA = "1"\n'
    changed = {**ENTRY, "command": "/usr/bin/python3"}
    assert PLAIN.entry_of(PLAIN.with_entry(text, changed)) == {**changed, "env": {"A": "1"}, "disabled": True}
    more = {"enabled": False, "startup_timeout_sec": 20, "env": {"A": "1"}}
    assert TOML.entry_of(TOML.with_entry(toml, changed)) == {**changed, **more}
    assert value_of(TOML, TOML.without_entry(toml)) == value_of(TOML, texts.CODEX)
    after = COMMENTS.with_entry(texts.LAST_COMMENT, ENTRY)
    assert '"a": { "command": "x" }, // the only one, with a "quote\n        "jupyter-memory": {' in after


@pytest.mark.parametrize(
    ("shape", "text", "said"),
    [
        (PLAIN, '{"mcpServers": {', "not valid JSON (line 1, column 17)"),
        (PLAIN, '{"a": 1} // note', "not valid JSON"), (PLAIN, "[]", "not a JSON object"),
        (PLAIN, '{"mcpServers": []}', "'mcpServers' is no object"),
        (PLAIN, '{"mcpServers": null}', "'mcpServers' is no object"),
        (COMMENTS, '{"servers": {"a": "x}\n}', "not valid JSON, even with comments"),
        (PLAIN, "[" * 100_000, "nested too deeply"), (ARRAY, '{"mcp_servers": {}}', "'mcp_servers' is no array"),
        (TOML, 'model = "gpt', "not valid TOML"), (TOML, "[mcp_servers.x]\na = [1,\n", "not valid TOML"),
        (TOML, 'mcp_servers = "none"', "mcp_servers is no table"),
        (TOML, "mcp_servers = { docs = { command = 'x' } }", "cannot change safely"),
        (TOML, "[mcp_servers]\njupyter-memory = { command = 'x' }\n", "cannot change safely"),
    ],
)  # fmt: skip
def test_a_text_that_cannot_be_read_is_refused(shape: Any, text: str, said: str) -> None:
    """A broken configuration, or one in another form, is refused with the place, and without a word of what it says."""
    with pytest.raises(ClientConfigError) as refused:
        shape.without_entry(shape.with_entry(text, ENTRY))
    assert said in str(refused.value)
    assert "gpt" not in str(refused.value)


NAMES = st.text("aé\"\\/*, :{}[]λ'", min_size=1, max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(NAMES, VALUES, max_size=3),
    st.dictionaries(NAMES, VALUES, min_size=1, max_size=3),
    st.sampled_from([None, 1, 4, "\t"]),
    st.sampled_from([PLAIN, CURSOR]),
)
def test_any_object_is_given_back(others: dict, servers: dict, indent: int | str | None, shape: Any) -> None:
    text = json.dumps({**others, "mcpServers": servers}, indent=indent, ensure_ascii=False)
    after = shape.with_entry(text, ENTRY)
    assert json.loads(after) == {**others, "mcpServers": {**servers, "jupyter-memory": ENTRY}}
    assert shape.without_entry(after) == text


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path, {}, "linux")


def carried_out(changes: list[Any]) -> None:
    assert changes
    for change in changes:
        change.apply()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("claude-code", texts.PLAIN), ("claude-code", texts.WINDOWS), ("claude-code", texts.ONE_LINE),
        ("claude-code", texts.NO_SERVERS), ("claude-code", texts.EMPTY_SERVERS), ("claude-code", texts.OPEN_SERVERS),
        ("claude-code", "\ufeff{}"), ("claude-code", ""), ("claude-code", "\n\n"), ("vscode", texts.COMMENTS),
        ("vscode", texts.LAST_COMMENT), ("vscode", "{\n  // nothing yet\n}\n"), ("jupyter-ai", texts.JUPYTER_AI),
        ("jupyter-ai", "{}"), ("codex", texts.CODEX), ("codex", "[mcp_servers]\n\n\n"),
        *((name, None) for name in ("claude-code", "vscode", "jupyter-ai", "codex")),
    ],
)  # fmt: skip
def test_the_file_is_what_it_was(places: Places, name: str, text: str | None) -> None:
    """Connecting, connecting with other options and ending it gives the earlier bytes, or no file, and no copy."""
    plain, other = target(name, places), target(name, places, None, "--read-only")
    file = plain.file
    file.parent.mkdir(parents=True, exist_ok=True)
    if text is not None:
        file.write_bytes(text.encode())
    carried_out(plain.changes())
    assert plain.changes() == [] and plain.is_connected
    assert file.read_bytes().startswith(b"\xef\xbb\xbf") == (text == "\ufeff{}")
    carried_out(other.changes())
    assert text is None or backup_of(file).read_bytes() == text.encode()
    carried_out(plain.changes(remove=True))

    assert list(file.parent.iterdir()) == ([] if text is None else [file])
    assert text is None or file.read_bytes() == text.encode()
    assert plain.changes(remove=True) == [] and not plain.is_connected


def test_what_the_client_wrote_meanwhile_stays(places: Places) -> None:
    """Only the entry goes, and a copy is left; each time an entry comes into a file, the copy is of that file."""
    claude = target("claude-code", places)
    claude.file.write_text(texts.PLAIN, encoding="utf-8")
    carried_out(claude.changes())
    claude.file.write_text(claude.file.read_text(encoding="utf-8").replace("42", "43"), encoding="utf-8")
    before = claude.file.read_bytes()
    carried_out(claude.changes(remove=True))
    assert claude.file.read_text(encoding="utf-8") == texts.PLAIN.replace("42", "43")
    assert backup_of(claude.file).read_bytes() == before
    carried_out(claude.changes())
    claude.file.write_text(texts.NO_SERVERS)
    carried_out(claude.changes())
    carried_out(claude.changes(remove=True))
    assert claude.file.read_text() == texts.NO_SERVERS


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"mcpServers": {"secretname": }}', "line 1, column 31"),
        ("é secretname".encode("latin-1"), "not UTF-8"),
        (None, "cannot be used"),
    ],
)
def test_a_file_that_cannot_be_read_is_left_as_it_is(places: Places, content: bytes | None, said: str) -> None:
    """The error names the file, and the place in it, and holds no word of it; it is not connected."""
    claude = target("claude-code", places)
    if content is None:
        claude.file.mkdir()
    else:
        claude.file.write_bytes(content)
    with pytest.raises(ClientConfigError) as refused:
        claude.changes()
    assert str(claude.file) in str(refused.value) and said in str(refused.value)
    assert "secretname" not in str(refused.value)
    assert not claude.is_connected


def test_the_file_keeps_its_permissions_and_its_link(places: Places) -> None:
    """A file that only its owner may read stays one, and so is the copy, beside what a link leads to."""
    claude = target("claude-code", places)
    real = places.home / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_bytes(b"{}")
    real.chmod(0o640)
    claude.file.symlink_to(real)
    carried_out(claude.changes())
    assert claude.file.is_symlink() and claude.is_connected
    assert backup_of(claude.file) == real.with_name("claude.json.jupyter-memory.bak")
    assert backup_of(real).read_bytes() == b"{}"
    assert {stat.S_IMODE(one.stat().st_mode) for one in (real, backup_of(real))} == {0o640}
    assert sorted(one.name for one in real.parent.iterdir()) == ["claude.json", "claude.json.jupyter-memory.bak"]


@pytest.mark.parametrize(
    ("meanwhile", "said"),
    [
        (lambda file: file.write_bytes(b'{"numStartups": 43}'), "changed just now"),
        (lambda file: file.chmod(0o444), "write-protected"),
    ],
)
def test_a_file_that_must_not_be_replaced_is_left_alone(places: Places, meanwhile: Any, said: str) -> None:
    """A client keeps what it wrote while the question stood, and nobody writes what is protected."""
    claude = target("claude-code", places)
    claude.file.write_bytes(b'{"numStartups": 42}')
    [change] = claude.changes()
    meanwhile(claude.file)
    before = claude.file.read_bytes()
    with pytest.raises(ClientConfigError, match=said):
        change.apply()
    assert claude.file.read_bytes() == before
    assert list(places.home.iterdir()) == [claude.file]


def test_a_folder_that_cannot_be_made_is_an_error_of_ours(places: Places) -> None:
    cursor = target("cursor", places)
    [change] = cursor.changes()
    cursor.file.parent.write_bytes(b"")
    with pytest.raises(ClientConfigError, match="cannot be used"):
        change.apply()


def test_the_diff_hides_secrets_and_cuts_long_lines(places: Places) -> None:
    """What stands beside our entry may be a token, or all that a program has to say on one line."""
    token = "ghp_9mBq2XkfT7Lw4RzVc1NdYpHs6JuEaGo0Ki3Q"
    claude = target("claude-code", places)
    long = json.dumps({"time": {"command": "x" * 5000}})
    claude.file.write_text(f'{{\n"a": 1,\n"token": "{token}",\n"mcpServers": {long}\n}}\n')
    shown = claude.changes()[0].diff()
    assert token not in shown and "redacted" in shown
    assert max(map(len, shown.splitlines())) < 320
    assert shown.startswith(f"--- {claude.file}\n+++ ")


def test_the_skill_is_written_and_taken_away(tmp_path: Path) -> None:
    """The skill comes into a folder of its own, and that goes with it; one that somebody changed leaves a copy."""
    skill = Target.of_skill(tmp_path)
    for changed in (False, True):
        carried_out(skill.changes())
        assert skill.changes() == [] and skill.is_connected
        if changed:
            skill.file.write_text(skill.file.read_text(encoding="utf-8") + "- and say hello\n", encoding="utf-8")
        carried_out(skill.changes(remove=True))
        assert backup_of(skill.file).exists() == changed
        assert skill.file.parent.exists() == changed
    assert skill.changes(remove=True) == []


def test_the_skill_is_short_and_names_tools_that_exist(tmp_path: Path) -> None:
    """It begins with its name and when to use it, within what clients read of that; its tools are the server's."""
    text = Target.of_skill(tmp_path).changes()[0].after.decode()
    head, body = text.split("---\n")[1:]
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    assert fields["name"] == "jupyter-memory"
    assert 100 < len(fields["description"]) <= 1024
    assert len(body.split()) < 350
    pytest.importorskip("pydantic", reason="the extra mcp is not installed")
    from jupyter_memory.mcp import tools_of

    tools = {tool.name: tool for tool in tools_of(JupyterMemory()).offered}
    assert set(re.findall(r"memory_[a-z]+", text)) == set(tools) - {"memory_forget", "memory_pin", "memory_status"}
    schema = json.dumps(tools["memory_search"].arguments.input_schema())
    assert all(f'"{name}"' in schema for name in ("path", "kind", "since"))
