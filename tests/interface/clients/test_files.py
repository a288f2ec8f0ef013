"""Replacing a file of another program: whole, with a copy, its permissions and its links."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from jupyter_memory import ClientConfigError
from jupyter_memory.interface import backup_of
from jupyter_memory.interface.clients.config_files import ConfigChange, decoded, encoded, read


def test_the_file_keeps_its_permissions_and_so_does_the_copy(tmp_path: Path) -> None:
    """A file that only its owner may read stays one, and nobody else may read the copy either."""
    path = tmp_path / "c.json"
    path.write_bytes(b"{}")
    path.chmod(0o640)
    ConfigChange(path, b"{}", b"{ }").apply()

    assert path.read_bytes() == b"{ }"
    assert backup_of(path).read_bytes() == b"{}"
    assert {stat.S_IMODE(one.stat().st_mode) for one in (path, backup_of(path))} == {0o640}
    assert sorted(one.name for one in tmp_path.iterdir()) == ["c.json", "c.json.jupyter-memory.bak"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """What the link leads to is replaced, as in a folder of dotfiles, and the copy is beside that."""
    (tmp_path / "dotfiles").mkdir()
    target, link = tmp_path / "dotfiles" / "mcp.json", tmp_path / "mcp.json"
    target.write_bytes(b"{}")
    link.symlink_to(target)
    ConfigChange(link, b"{}", b"{ }").apply()

    assert link.is_symlink()
    assert target.read_bytes() == b"{ }"
    assert backup_of(link) == target.with_name("mcp.json.jupyter-memory.bak")
    assert backup_of(link).is_file()


def test_a_new_file_comes_with_its_folders(tmp_path: Path) -> None:
    """Where the client was never started, its folder is made; there is nothing to copy."""
    path = tmp_path / ".cursor" / "mcp.json"
    ConfigChange(path, None, b"{}").apply()

    assert path.read_bytes() == b"{}"
    assert not backup_of(path).exists()


def test_a_file_that_was_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    """A client that wrote its configuration while the question stood keeps what it wrote."""
    path = tmp_path / "c.json"
    path.write_bytes(b'{"numStartups": 43}')
    with pytest.raises(ClientConfigError, match="changed just now"):
        ConfigChange(path, b'{"numStartups": 42}', b"{}").apply()

    assert path.read_bytes() == b'{"numStartups": 43}'
    assert not backup_of(path).exists()


def test_a_protected_file_is_refused(tmp_path: Path) -> None:
    """A file that nobody may write is not replaced, though its folder would allow that."""
    path = tmp_path / "c.json"
    path.write_bytes(b"{}")
    path.chmod(0o444)
    with pytest.raises(ClientConfigError, match="write-protected"):
        ConfigChange(path, b"{}", b"{ }").apply()

    assert path.read_bytes() == b"{}"
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_or_read_is_an_error_of_ours(tmp_path: Path) -> None:
    """A folder where the file should be, and a file where its folder should be, are named."""
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ClientConfigError, match="cannot be used"):
        read(tmp_path)
    with pytest.raises(ClientConfigError, match="cannot be used"):
        ConfigChange(tmp_path / "file" / "mcp.json", None, b"{}").apply()


def test_the_mark_at_the_beginning_of_a_file_stays() -> None:
    """A file that begins with a byte order mark, as some editors on Windows write it, goes on doing so."""
    before = b"\xef\xbb\xbf{}"

    assert decoded(before) == "{}"
    assert encoded("{ }", before) == b"\xef\xbb\xbf{ }"
    with pytest.raises(ClientConfigError, match="not UTF-8"):
        decoded("é".encode("latin-1"))


def test_the_diff_hides_secrets_and_cuts_long_lines(tmp_path: Path) -> None:
    """What stands beside our entry may be a token, or all that a program has to say on one line."""
    token = "ghp_9mBq2XkfT7Lw4RzVc1NdYpHs6JuEaGo0Ki3Q"
    before = f'{{\n"token": "{token}",\n"a": 1\n}}\n'.encode()
    shown = ConfigChange(tmp_path / "c.json", before, before.replace(b"1", b"2" * 5000)).diff()

    assert token not in shown
    assert "redacted" in shown
    assert max(map(len, shown.splitlines())) < 320
    assert shown.startswith(f"--- {tmp_path / 'c.json'}\n+++ ")
