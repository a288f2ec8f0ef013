"""Adding our entry to configurations as people have them, and taking it out again."""

from __future__ import annotations

import json
import tomllib

import client_files as texts
import pytest
from client_files import ENTRY
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_memory import ClientConfigError
from jupyter_memory.interface.clients.config_files import NAME, JsonItem, JsonMember, JsonText, Shape, TomlTable

MEMBER, SERVERS = JsonMember(), JsonMember(("servers",), comments=True)
WITH_OTHERS: list[tuple[Shape, str]] = [
    (MEMBER, texts.PLAIN),
    (MEMBER, texts.WINDOWS),
    (MEMBER, texts.ONE_LINE),
    (MEMBER, '{\n  "mcpServers": {"time": {"command": "uvx"}}\n}\n'),
    (JsonMember(comments=True), texts.PLAIN),
    (SERVERS, texts.COMMENTS),
    (SERVERS, texts.LAST_COMMENT),
    (JsonItem(), texts.JUPYTER_AI),
    (TomlTable(), texts.CODEX),
    (TomlTable(), texts.CODEX.replace("\n", "\r\n")),
    (TomlTable(), texts.CODEX + "\n"),
]
OTHERS: list[tuple[Shape, str]] = [
    (MEMBER, texts.NO_SERVERS),
    (MEMBER, texts.EMPTY_SERVERS),
    (MEMBER, texts.OPEN_SERVERS),
    (MEMBER, "{}"),
    (MEMBER, "\n"),
    (MEMBER, ""),
    (SERVERS, "{\n  // nothing yet\n}\n"),
    (SERVERS, '{ "servers": { /* none */ } }'),
    (JsonItem(), ""),
    (JsonItem(), '{"mcp_servers": []}'),
    (TomlTable(), ""),
    (TomlTable(), 'model = "gpt-5.2-codex"'),
    (TomlTable(), "[mcp_servers]\n"),
]


def value_of(shape: Shape, text: str) -> object:
    """Return what a configuration says, without what is empty."""
    if isinstance(shape, TomlTable):
        return {key: value for key, value in tomllib.loads(text).items() if value}
    value = JsonText.read(text, comments=isinstance(shape, JsonMember) and shape.comments).value()
    return {key: inner for key, inner in value.items() if inner}


@pytest.mark.parametrize(("shape", "text"), [*WITH_OTHERS, *OTHERS])
def test_the_entry_is_added_and_nothing_else_changes(shape: Shape, text: str) -> None:
    """What was written is there afterwards, in its order; the entry is read back as it was meant."""
    after = shape.with_entry(text, ENTRY)

    assert {name: shape.entry_of(after)[name] for name in ENTRY} == ENTRY
    rest = iter(after)
    assert all(character in rest for character in text if not character.isspace())
    assert value_of(shape, shape.without_entry(after)) == value_of(shape, text)


@pytest.mark.parametrize(("shape", "text"), WITH_OTHERS)
def test_taking_the_entry_out_gives_the_text_back(shape: Shape, text: str) -> None:
    """Beside other servers, the text is what it was to the last character, without looking at any copy."""
    assert shape.without_entry(shape.with_entry(text, ENTRY)) == text


@pytest.mark.parametrize(("shape", "text"), [*WITH_OTHERS, *OTHERS])
def test_a_second_time_changes_nothing(shape: Shape, text: str) -> None:
    """The entry that is there already is left as it is, and so is a text without one."""
    after = shape.with_entry(text, ENTRY)

    assert shape.with_entry(after, ENTRY) == after
    assert shape.without_entry(text) == text


@pytest.mark.parametrize(("shape", "text"), [*WITH_OTHERS, *OTHERS])
def test_other_arguments_replace_the_earlier_ones(shape: Shape, text: str) -> None:
    """A second run with other options changes the arguments, and nothing around the entry."""
    other = {**ENTRY, "args": ["-P", "-m", "jupyter_memory", "mcp", "--read-only"]}
    after = shape.with_entry(shape.with_entry(text, ENTRY), other)

    assert after == shape.with_entry(text, other)


def test_what_somebody_added_to_the_entry_stays() -> None:
    """A variable or a switch that the person put into our entry survives another run."""
    text = MEMBER.with_entry("", {**ENTRY, "env": {"A": "1"}, "disabled": True})
    added = TomlTable().with_entry(texts.CODEX, ENTRY)
    toml = added.replace('command = "/opt', 'enabled = false\ncommand = "/opt')
    toml += 'startup_timeout_sec = 20\n\n[mcp_servers.jupyter-memory.env]\nA = "1"\n'
    changed = {**ENTRY, "command": "/usr/bin/python3"}

    assert MEMBER.entry_of(MEMBER.with_entry(text, changed)) == {**changed, "env": {"A": "1"}, "disabled": True}
    more = {"enabled": False, "startup_timeout_sec": 20, "env": {"A": "1"}}
    assert TomlTable().entry_of(TomlTable().with_entry(toml, changed)) == {**changed, **more}
    assert value_of(TomlTable(), TomlTable().without_entry(toml)) == value_of(TomlTable(), texts.CODEX)


def test_a_comment_stays_with_its_line() -> None:
    """The comma goes before the comment of the former last line, and the entry below it."""
    after = SERVERS.with_entry(texts.LAST_COMMENT, ENTRY)

    assert '"a": { "command": "x" }, // the only one, with a "quote\n        "jupyter-memory": {' in after


@pytest.mark.parametrize(
    ("shape", "text", "said"),
    [
        (MEMBER, '{"mcpServers": {', "not valid JSON (line 1, column 17)"),
        (MEMBER, '{"a": 1} // note', "not valid JSON"),
        (MEMBER, "[]", "no JSON object"),
        (MEMBER, '{"mcpServers": []}', "'mcpServers' is no object"),
        (MEMBER, '{"mcpServers": null}', "'mcpServers' is no object"),
        (SERVERS, '{"servers": {"a": "x}\n}', "not valid JSON, even with comments"),
        (MEMBER, "[" * 100_000, "nested too deeply"),
        (JsonItem(), '{"mcp_servers": {}}', "'mcp_servers' is no array"),
        (TomlTable(), 'model = "gpt', "not valid TOML"),
        (TomlTable(), "[mcp_servers.x]\na = [1,\n", "not valid TOML"),
        (TomlTable(), 'mcp_servers = "none"', "mcp_servers is no table"),
        (TomlTable(), "mcp_servers = { docs = { command = 'x' } }", "cannot change safely"),
    ],
)
def test_a_text_that_cannot_be_read_is_refused(shape: Shape, text: str, said: str) -> None:
    """A broken configuration is refused with the place, and without a word of what it says."""
    with pytest.raises(ClientConfigError) as refused:
        shape.with_entry(text, ENTRY)

    assert said in str(refused.value)
    assert "gpt" not in str(refused.value)


def test_a_table_in_another_form_is_not_touched() -> None:
    """An entry that was written as an inline table is refused rather than broken."""
    text = f"[mcp_servers]\n{NAME} = {{ command = 'x' }}\n"

    with pytest.raises(ClientConfigError, match="cannot change safely"):
        TomlTable().without_entry(text)


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
    st.booleans(),
)
def test_any_object_is_given_back(others: dict, servers: dict, indent: int | str | None, comments: bool) -> None:
    """Whatever the names and values hold, also what looks like a comment, the text is given back as it was."""
    text = json.dumps({**others, "mcpServers": servers}, indent=indent, ensure_ascii=False)
    shape = JsonMember(comments=comments)
    after = shape.with_entry(text, ENTRY)

    assert json.loads(after) == {**others, "mcpServers": {**servers, NAME: ENTRY}}
    assert shape.without_entry(after) == text
