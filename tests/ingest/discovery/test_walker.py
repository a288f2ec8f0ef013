"""Claims about which files of a folder are found."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_memory import InputError
from jupyter_memory.ingest import known_readers, walk


def grow(root: Path, *names: str, **contents: str) -> Path:
    """Make files with a λ in them, and ignore files with these patterns."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("λ")
    for name, content in contents.items():
        path = root / name.replace("__", "/").replace("GIT", ".gitignore").replace("OURS", ".jupytermemoryignore")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


def found(root: Path, **options: Any) -> list[str]:
    return [path.relative_to(root).as_posix() for path in walk(root, **options).files]


def test_files_of_known_kinds_in_order(tmp_path: Path) -> None:
    """Every known suffix, however written, at every depth, sorted and absolute; nothing else."""
    names = ["a.ipynb", "b/c/d.md", "b/ü.markdown", "e.TXT", "f.rst", "g.py"]
    grow(tmp_path, *names, "h.bin", "i.png", "README", "b/notes.md.bak")

    assert found(tmp_path) == sorted(names)
    assert all(path.is_absolute() for path in walk(tmp_path).files)


def test_what_tools_and_keys_leave_behind_is_not_taken(tmp_path: Path) -> None:
    """Hidden things, environments, caches and keys are nobody's memories."""
    hidden = [".git/x.md", ".ipynb_checkpoints/a-checkpoint.ipynb", ".venv/lib/a.py", ".tox/x.py", ".mypy_cache/a.py"]
    keys = [".env.md", ".ssh/config.txt", ".aws/a.txt", ".hidden.md", "id_rsa.txt", "id_ed25519.md"]
    tools = ["venv/b.py", "node_modules/p/README.md", "__pycache__/a.py", "lib/site-packages/q.py", "p.egg-info/a.txt"]
    environments = ["env/pyvenv.cfg", "env/c.py", "mine/pyvenv.cfg", "mine/a.md", "conda/conda-meta/x", "conda/a.py"]
    grow(tmp_path, "kept.md", *hidden, *keys, *tools, *environments)

    assert found(tmp_path) == ["kept.md"]


def test_an_env_without_an_environment_is_a_folder(tmp_path: Path) -> None:
    """A folder called env that holds notes is taken."""
    assert found(grow(tmp_path, "env/notes.md")) == ["env/notes.md"]


def test_a_hidden_folder_that_is_asked_for_is_looked_through(tmp_path: Path) -> None:
    """Whoever names a hidden folder means it."""
    grow(tmp_path, ".notes/prices.md")

    assert found(tmp_path / ".notes") == ["prices.md"]


def test_both_ignore_files_count(tmp_path: Path) -> None:
    """Patterns of .gitignore and of ours hold below their folder; the latter has the last word."""
    grow(
        tmp_path,
        "a.md",
        "b.md",
        "sub/a.md",
        "sub/c.md",
        "d.md",
        GIT="/a.md\nd.md\n",
        OURS="!d.md\nb.*\n",
        sub__GIT="c.md",
    )

    assert found(tmp_path) == ["d.md", "sub/a.md"]


def test_patterns_of_the_caller_come_last(tmp_path: Path) -> None:
    """``ignore`` leaves out more, and brings back what an ignore file left out."""
    grow(tmp_path, "a.md", "b.md", "c/d.md", GIT="b.md")

    assert found(tmp_path, ignore=["c/", "!b.md"]) == ["a.md", "b.md"]


def test_ignore_files_above_the_folder_count(tmp_path: Path) -> None:
    """Within a work tree the patterns of the folders above hold, and git's own exclude file; outside they do not."""
    grow(
        tmp_path,
        "repo/sub/a.md",
        "repo/sub/b.md",
        "repo/sub/c.md",
        "repo/sub/d.md",
        GIT="d.md",
        repo__GIT="/sub/a.md\nb.md",
    )
    assert found(tmp_path / "repo/sub") == ["a.md", "b.md", "c.md", "d.md"]

    exclude = tmp_path / "repo/.git/info/exclude"
    exclude.parent.mkdir(parents=True)
    exclude.write_text("c.md")
    assert found(tmp_path / "repo/sub") == ["d.md"]


def test_an_ignored_folder_that_is_asked_for_is_looked_through(tmp_path: Path) -> None:
    """A folder of data that git ignores can still be remembered by naming it."""
    grow(tmp_path, ".git/HEAD", "data/raw/a.md", GIT="data/\n*.md")

    assert found(tmp_path) == []
    assert found(tmp_path / "data") == ["raw/a.md"]
    assert found(tmp_path / "data/raw") == ["a.md"]


@pytest.mark.parametrize(
    "patterns",
    [
        {"GIT": "*.md\n!keep.md\n"},
        {"GIT": "*.md\n!sub\n"},
        {"GIT": "sub/\n!sub/keep.md\n"},
        {"GIT": "sub/*\n!sub/keep.md\n"},
        {"GIT": "/a.md\n**/deep/*.md\n", "sub__GIT": "!deep/keep.md"},
        {"GIT": "*\n!*/\n!*.txt\n"},
        {"GIT": "sub\n", "sub__GIT": "!keep.md"},
        {"GIT": "a.md\n", "sub__GIT": "!a.md"},
        {"GIT": "# note\n\\#x.md\nwith space.md\ntrailing.md   \n"},
        {"GIT": "deep/\n", "sub__GIT": "!deep/\n"},
        {"GIT": "sub/deep\n!sub/deep/keep.md\n[ab].md\n?.txt"},
        {"GIT": "!\n[\nkeep.md\n"},
        {"GIT": "*.[mt]*\n", "sub__GIT": "!*.md\n", "sub__deep__GIT": "keep.md"},
    ],
)
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed, and it is what we compare with")
def test_patterns_mean_what_they_mean_to_git(tmp_path: Path, patterns: dict[str, str]) -> None:
    """For negations, folders and several levels the files found are those that git lists."""
    names = ["a.md", "keep.md", "b.txt", "#x.md", "with space.md", "trailing.md"]
    names += [f"{folder}/{name}" for folder in ("sub", "sub/deep", "other") for name in ("a.md", "keep.md", "b.txt")]
    grow(tmp_path, *names, **patterns)
    environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(tmp_path)}
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, env=environment, check=True, timeout=100)
    listing = ["git", "-c", "core.excludesFile=", "ls-files", "-z", "--others", "--exclude-standard"]
    listed = subprocess.run(
        listing, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True, timeout=100
    ).stdout

    assert found(tmp_path) == sorted(name for name in listed.split("\0") if name.endswith(known_readers().suffixes))


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    """A loop of links ends, and a folder is not found twice."""
    grow(tmp_path, "a/b/notes.md")
    (tmp_path / "a/b/loop").symlink_to(tmp_path)
    (tmp_path / "again").symlink_to(tmp_path / "a")
    (tmp_path / "trick.md").symlink_to(tmp_path / "a")

    assert found(tmp_path) == ["a/b/notes.md"]


def test_links_to_files_are_followed_inside_only(tmp_path: Path) -> None:
    """A link to what is found without it is no second file, nor is one that leads out, or to what is hidden."""
    root = grow(tmp_path / "root", "notes.md", ".env", ".secret/keys.md")
    grow(tmp_path, "outside.md")
    (root / "inside.md").symlink_to("notes.md")
    (root / "out.md").symlink_to(tmp_path / "outside.md")
    (root / "env.md").symlink_to(".env")
    (root / "keys.md").symlink_to(".secret/keys.md")

    (root / "bak.md").symlink_to("notes.bak")
    (root / "zweiter.md").symlink_to("notes.bak")
    (root / "notes.bak").write_text("λ")

    assert found(root) == ["bak.md", "notes.md"]
    assert walk(root).failed == []


def test_links_that_lead_nowhere_are_reported(tmp_path: Path) -> None:
    """A broken link and a link to itself are failures with a reason, not crashes."""
    (tmp_path / "broken.md").symlink_to("nothing.md")
    (tmp_path / "self.md").symlink_to("self.md")
    result = walk(tmp_path)

    assert (result.files, [Path(path).name for path, _ in result.failed]) == ([], ["broken.md", "self.md"])
    assert ["a missing file" in result.failed[0][1], "back to itself" in result.failed[1][1]] == [True, True]


def test_large_files_are_skipped_with_a_reason(tmp_path: Path) -> None:
    """A file over the limit is named with its size, one at the limit is taken."""
    (tmp_path / "at.txt").write_bytes(b"x" * 1000)
    (tmp_path / "over.txt").write_bytes(b"x" * 2_500_000)
    result = walk(tmp_path, max_bytes=1_000_000)

    assert [path.name for path in result.files] == ["at.txt"]
    assert result.skipped == [(str(tmp_path / "over.txt"), "2.5 MB is more than the setting max_file_mb allows (1 MB)")]
    assert found(tmp_path, max_bytes=1000) == ["at.txt"]
    os.truncate(tmp_path / "over.txt", 50 * 2**30)
    assert walk(tmp_path).skipped[0][1].startswith("53,687 MB is more than ")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_pipes_are_not_files(tmp_path: Path) -> None:
    """A named pipe called .md would block whoever reads it."""
    os.mkfifo(tmp_path / "pipe.md")
    result = walk(tmp_path)

    assert (result.files, result.failed) == ([], [])


def test_a_name_that_is_no_text_is_reported(tmp_path: Path) -> None:
    """A file whose name cannot be stored is a failure that can be printed."""
    try:
        (tmp_path / os.fsdecode(b"preis\xfc.md")).write_text("λ")
    except OSError:
        pytest.skip("this file system takes only names that are Unicode")
    [(path, reason)] = walk(tmp_path).failed

    assert path.encode().decode().endswith("preis\ufffd.md")
    assert "rename" in reason


def test_what_may_not_be_read_is_reported(common_folder: Path, as_user: Callable[..., Any]) -> None:
    """A folder, a file and an ignore file without rights are failures with a reason; the rest is found."""
    grow(common_folder, "open/a.md", "closed/b.md", "c.md", "ruled/d.md", ruled__GIT="d.md")
    for name, mode in (("closed", 0o000), ("c.md", 0o000), ("ruled/.gitignore", 0o000)):
        (common_folder / name).chmod(mode)

    def look() -> Any:
        result = walk(common_folder)
        return [str(path) for path in result.files], result.failed

    files, failed = as_user(look)
    (common_folder / "closed").chmod(0o755)

    assert files == [str(common_folder / "open/a.md")]
    assert sorted(failed) == [
        (str(common_folder / "c.md"), "Permission denied"),
        (str(common_folder / "closed"), "Permission denied"),
        (str(common_folder / "ruled"), "Permission denied (.gitignore)"),
    ]


def test_a_root_that_may_not_be_read_is_reported(common_folder: Path, as_user: Callable[..., Any]) -> None:
    """A closed folder that is asked for is a failure, or an error that names it."""
    closed = grow(common_folder, "closed/inner/a.md") / "closed"
    closed.chmod(0o000)

    def look(path: Path) -> Any:
        try:
            return walk(path).failed
        except InputError as error:
            return str(error)

    outer, inner = as_user(look, closed), as_user(look, closed / "inner")
    closed.chmod(0o755)

    assert outer == [(str(closed), "Permission denied")]
    assert str(closed / "inner") in inner


def test_a_single_file_is_taken_whatever_is_ignored(tmp_path: Path) -> None:
    """A file that is named is meant."""
    grow(tmp_path, ".git/HEAD", "a.md", ".hidden/b.py", GIT="*")

    assert walk(tmp_path / "a.md").files == [tmp_path / "a.md"]
    assert walk(tmp_path / ".hidden/b.py").files == [tmp_path / ".hidden/b.py"]
    assert walk(tmp_path / "a.md", max_bytes=1).skipped[0][0] == str(tmp_path / "a.md")


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    """The error names the kinds that are known."""
    grow(tmp_path, "prices.bin")

    with pytest.raises(InputError) as caught:
        walk(tmp_path / "prices.bin")
    assert all(suffix in str(caught.value) for suffix in known_readers().suffixes)


@pytest.mark.parametrize("name", ["nothing", "nothing.md", "x" * 300, "a\0b", "~nobody-of-that-name/x"])
def test_a_path_that_leads_nowhere_is_refused(tmp_path: Path, name: str) -> None:
    """There has to be something to index, and the error is a sentence."""
    with pytest.raises(InputError, match=r"\.$"):
        walk(Path(name) if name.startswith("~") else tmp_path / name)


def test_home_and_dots_are_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``~`` and ``..`` lead to plain absolute paths."""
    grow(tmp_path, "notes/a.md")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.chdir(tmp_path / "notes")
    wanted = [tmp_path / "notes/a.md"]

    assert walk(Path("~/notes")).files == wanted
    assert walk(Path("../notes")).files == wanted
    assert walk(Path()).files == wanted


def test_very_deep_folders_are_walked(tmp_path: Path) -> None:
    """Depth is bounded by the file system, not by us."""
    deep = tmp_path / "/".join(["d"] * 400)
    deep.mkdir(parents=True)
    (deep / "a.md").write_text("λ")

    assert walk(tmp_path).files == [deep / "a.md"]
