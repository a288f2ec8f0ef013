"""Which files of a folder are found, and why others are not."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory import InputError
from jupyter_memory.ingest import is_wanted, known_readers, walk


def grow(root, *names, **contents):
    """Make files with a λ in them, and ignore files with these patterns."""
    files = dict.fromkeys(names, "λ")
    for name, content in contents.items():
        files[name.replace("__", "/").replace("GIT", ".gitignore").replace("OURS", ".jupytermemoryignore")] = content
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return root


def found(root, **options):
    return [path.relative_to(root).as_posix() for path in walk(root, **options).files]


def test_files_of_known_kinds_in_order(tmp_path):
    names = [
        "a.ipynb", "b/c/d.md", "b/ü.markdown", "e.TXT", "env/notes.md", "f.rst", "g.py", "/".join("d" * 400) + ".md",
    ]  # fmt: skip
    grow(tmp_path, *names, "h.bin", "i.png", "README", "b/notes.md.bak")
    assert found(tmp_path) == sorted(names)
    assert all(path.is_absolute() for path in walk(tmp_path).files)


def test_what_tools_and_keys_leave_behind_is_not_taken(tmp_path):
    """Hidden things, environments, caches and keys are nobody's memories; whoever names a hidden folder means it."""
    hidden = [".git/x.md", ".ipynb_checkpoints/a-checkpoint.ipynb", ".venv/lib/a.py", ".tox/x.py", ".mypy_cache/a.py"]
    keys = [".env.md", ".ssh/config.txt", ".aws/a.txt", ".hidden.md", "id_rsa.txt", "id_ed25519.md"]
    tools = ["venv/b.py", "node_modules/p/README.md", "__pycache__/a.py", "lib/site-packages/q.py", "p.egg-info/a.txt"]
    environments = ["env/pyvenv.cfg", "env/c.py", "mine/pyvenv.cfg", "mine/a.md", "conda/conda-meta/x", "conda/a.py"]
    packages = ["renv/activate.R", "renv/library/p/NEWS.md", "packrat/lib/p/a.R", "R/x86_64-pc-linux-gnu-library/a.R"]
    pages = ["_site/a.html", "docs/_build/html/a.html", "_book/a.html", "_freeze/a.md", "site_libs/a.js"]
    beside = ["report_files/libs/quarto-html/quarto.js"]
    grow(tmp_path, *hidden, *keys, *tools, *environments, *packages, *pages, *beside)
    kept = grow(tmp_path, "R/library.R", "kept.md", "libs/own.js", "report_files/notes.md", "site/own.html")
    assert found(kept) == ["R/library.R", "kept.md", "libs/own.js", "report_files/notes.md", "site/own.html"]
    every = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [one.relative_to(kept).as_posix() for one in sorted(every) if is_wanted(one, kept)] == found(kept)
    assert found(tmp_path / "_site") == ["a.html"]
    assert found(tmp_path / ".ssh") == ["config.txt"]


@pytest.mark.parametrize(
    ("names", "contents", "below", "options", "expected"),
    [
        # Patterns of .gitignore and of ours hold below their folder; the latter has the last word.
        (
            ["a.md", "b.md", "sub/a.md", "sub/c.md", "d.md"],
            {"GIT": "/a.md\nd.md\n", "OURS": "!d.md\nb.*\n", "sub__GIT": "c.md"},
            "", {}, ["d.md", "sub/a.md"],
        ),
        # ``ignore`` leaves out more, and brings back what an ignore file left out.
        (["a.md", "b.md", "c/d.md"], {"GIT": "b.md"}, "", {"ignore": ["c/", "!b.md"]}, ["a.md", "b.md"]),
        # Outside a work tree the patterns of the folders above do not hold; within one they do.
        (["repo/a.md", "repo/d.md"], {"GIT": "d.md", "repo__GIT": "a.md"}, "repo", {}, ["d.md"]),
        (["sub/a.md", "sub/b.md", "sub/d.md"], {"GIT": "d.md"}, "sub", {}, ["a.md", "b.md", "d.md"]),
        ([".git/HEAD", "sub/a.md", "sub/b.md"], {"GIT": "/sub/a.md"}, "sub", {}, ["b.md"]),
        # With an exclude file of git a folder is a work tree.
        (
            ["sub/a.md", "sub/b.md", "sub/c.md", "sub/d.md"], {"GIT": "/sub/a.md\nb.md", ".git__info__exclude": "c.md"},
            "sub", {}, ["d.md"],
        ),
        # A folder of data that git ignores can still be remembered by naming it.
        ([".git/HEAD", "data/raw/a.md"], {"GIT": "data/\n*.md"}, "", {}, []),
        ([".git/HEAD", "data/raw/a.md"], {"GIT": "data/\n*.md"}, "data", {}, ["raw/a.md"]),
        ([".git/HEAD", "data/raw/a.md"], {"GIT": "data/\n*.md"}, "data/raw", {}, ["a.md"]),
    ],
)  # fmt: skip
def test_ignore_files_count(tmp_path, names, contents, below, options, expected):
    assert found(grow(tmp_path, *names, **contents) / below, **options) == expected


@pytest.mark.parametrize(
    "patterns",
    [
        {"GIT": "*.md\n!keep.md\n"}, {"GIT": "*.md\n!sub\n"}, {"GIT": "sub/\n!sub/keep.md\n"},
        {"GIT": "sub/*\n!sub/keep.md\n"},
        {"GIT": "/a.md\n**/deep/*.md\n", "sub__GIT": "!deep/keep.md"},
        {"GIT": "*\n!*/\n!*.txt\n"}, {"GIT": "sub\n", "sub__GIT": "!keep.md"}, {"GIT": "a.md\n", "sub__GIT": "!a.md"},
        {"GIT": "# note\n\\#x.md\nwith space.md\ntrailing.md   \n"},
        {"GIT": "deep/\n", "sub__GIT": "!deep/\n"}, {"GIT": "sub/deep\n!sub/deep/keep.md\n[ab].md\n?.txt"},
        {"GIT": "!\n[\nkeep.md\n"},
        {"GIT": "*.[mt]*\n", "sub__GIT": "!*.md\n", "sub__deep__GIT": "keep.md"},
    ],
)  # fmt: skip
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed, and it is what we compare with")
def test_patterns_mean_what_they_mean_to_git(tmp_path, patterns):
    names = ["a.md", "keep.md", "b.txt", "#x.md", "with space.md", "trailing.md"]
    names += [f"{folder}/{name}" for folder in ("sub", "sub/deep", "other") for name in ("a.md", "keep.md", "b.txt")]
    grow(tmp_path, *names, **patterns)
    environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(tmp_path)}

    def git(*arguments):
        done = ["git", *arguments]
        return subprocess.run(done, cwd=tmp_path, env=environment, check=True, capture_output=True, timeout=100).stdout

    git("init", "-q")
    listed = git("-c", "core.excludesFile=", "ls-files", "-z", "--others", "--exclude-standard").decode()
    assert found(tmp_path) == sorted(name for name in listed.split("\0") if name.endswith(known_readers().suffixes))


@pytest.mark.parametrize("line", ["*a" * 60 + "*b", "**/" * 60 + "b", "**/*a" * 30 + "*b", "[" * 1_000, "*" * 90_000])
@pytest.mark.parametrize("name", [".gitignore", ".jupytermemoryignore"])
def test_no_pattern_takes_long(tmp_path, line, name):
    """A line that backtracking expressions would try for ever is compared in linear time."""
    deep = tmp_path.joinpath(*["a"] * 40)
    deep.mkdir(parents=True)
    for number in range(20):
        (deep / f"{'a' * 200}{number}.md").touch()
    (tmp_path / name).write_text(f"{line}\n")
    begun = time.perf_counter()
    assert len(found(tmp_path)) == 20 and time.perf_counter() - begun < 5


@pytest.mark.parametrize("name", [".gitignore", ".jupytermemoryignore", ".git/info/exclude"])
def test_an_ignore_file_that_is_far_too_large(tmp_path, name):
    """Its folder is left out, since nobody knows what it would ignore, and the report names the file."""
    for folder in ("sub", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.md").touch()
    top = tmp_path if name.startswith(".git/") else tmp_path / "sub"
    (top / name).parent.mkdir(parents=True, exist_ok=True)
    (top / name).write_text("\n".join(map(str, range(50_000))))
    walked = walk(tmp_path)
    assert walked.failed == [(str(top), f"its rules are more than 100 kB, so it is left out ({Path(name).name})")]
    assert [file.parent.name for file in walked.files] == (["other"] if top != tmp_path else [])
    assert not is_wanted(top / "a.md", tmp_path)


@pytest.mark.parametrize("name", ["a.md", "a.ipynb", "a.xyz"])
def test_what_is_no_file_is_not_waited_for(tmp_path, name):
    """A FIFO, a device, and a link to one are told as what they are; so they are in a folder, if of a known kind."""
    os.mkfifo(tmp_path / name)
    (tmp_path / f"link-{name}").symlink_to("/dev/zero")
    (tmp_path / "folder.md").symlink_to(tmp_path)
    for path in (tmp_path / name, tmp_path / f"link-{name}", Path("/dev/null")):
        with pytest.raises(InputError, match="is a device, a FIFO or a socket"):
            walk(path)
    walked = walk(tmp_path)
    assert [Path(path).name for path, _ in walked.skipped] == ([] if name == "a.xyz" else [name, f"link-{name}"])
    assert not walked.files and all("a device, a FIFO or a socket" in reason for _, reason in walked.skipped)


FILES = (
    *("λ.md", "notes/prices.ipynb", "notes/prices.csv", "notes/.hidden.md", "notes/old/ü.py", "notes/old/keep.py"),
    *("notes/.ipynb_checkpoints/prices-checkpoint.ipynb", "venv/lib/a.py", "env/pyvenv.cfg", "env/lib/b.py"),
    *("node_modules/c.md", "build/d.md"),
)
PATTERNS = st.sampled_from(("*.md", "notes/", "old", "!keep.py", "/build/", "**/prices*", "!λ.md", "ü.py", "# nothing"))


@given(
    top=st.lists(PATTERNS, max_size=4),
    below=st.lists(PATTERNS, max_size=3),
    ignore=st.lists(PATTERNS, max_size=2),
    git=st.booleans(),
)
def test_wanted_are_the_same_files_as_of_a_walk(tmp_path_factory, top, below, ignore, git):
    base = tmp_path_factory.mktemp("tree")
    root = grow(base / "work", *FILES, GIT="\n".join(top), notes__OURS="\n".join(below))
    if git:
        grow(base, ".git/HEAD", GIT="\n".join(below))
    taken = set(walk(root, ignore=ignore).files)
    for name in FILES:
        assert is_wanted(root / name, root, ignore=ignore) == (root / name in taken), name


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        *((name, False) for name in ("secrets.yaml", "secret.yml", "secrets.toml", "credentials.ini", "vault.yml")),
        *((name, False) for name in ("credentials.cfg", "secrets.ini", "pnpm-lock.yaml", "conda-lock.yml")),
        *((name, True) for name in ("secretary.yaml", "secrets.md", "my_secrets.py", "Makefile", "Dockerfile.gpu")),
        *((name, False) for name in ("LICENSE", "Makefile.bak~", "cobol.cbl")),
    ],
)
def test_files_that_hold_secrets_or_that_a_program_wrote_are_not_taken(tmp_path, name, taken):
    """By their whole names; those that only sound alike are."""
    grow(tmp_path, name)
    assert bool(walk(tmp_path).files) == taken == is_wanted(tmp_path / name, tmp_path)


def test_links_to_folders_are_not_followed(tmp_path):
    """A loop of links ends, and a folder is not found twice; a pipe is no file."""
    grow(tmp_path, "a/b/notes.md")
    (tmp_path / "a/b/loop").symlink_to(tmp_path)
    (tmp_path / "again").symlink_to(tmp_path / "a")
    (tmp_path / "trick.md").symlink_to(tmp_path / "a")
    if hasattr(os, "mkfifo"):  # a named pipe would block its reader
        os.mkfifo(tmp_path / "pipe.md")
    assert found(tmp_path) == ["a/b/notes.md"]


def test_links_to_files_are_followed_inside_only(tmp_path):
    """A link to what is found without it is no second file, nor is one that leads out, or to what is hidden."""
    root = grow(tmp_path / "root", "notes.md", ".env", ".secret/keys.md", "notes.bak")
    grow(tmp_path, "outside.md")
    for link, target in {
        "inside.md": "notes.md", "out.md": tmp_path / "outside.md", "env.md": ".env", "keys.md": ".secret/keys.md",
        "bak.md": "notes.bak", "zweiter.md": "notes.bak",
    }.items():  # fmt: skip
        (root / link).symlink_to(target)
    assert found(root) == ["bak.md", "notes.md"] and walk(root).failed == []


def test_links_that_lead_nowhere_are_reported(tmp_path):
    (tmp_path / "broken.md").symlink_to("nothing.md")
    (tmp_path / "self.md").symlink_to("self.md")
    result = walk(tmp_path)
    assert (result.files, [Path(path).name for path, _ in result.failed]) == ([], ["broken.md", "self.md"])
    assert ["a missing file" in result.failed[0][1], "back to itself" in result.failed[1][1]] == [True, True]


def test_large_files_are_skipped_with_a_reason(tmp_path):
    (tmp_path / "at.txt").write_bytes(b"x" * 1000)
    (tmp_path / "over.txt").write_bytes(b"x" * 2_500_000)
    result = walk(tmp_path, max_bytes=1_000_000)
    assert [path.name for path in result.files] == ["at.txt"]
    assert result.skipped == [(str(tmp_path / "over.txt"), "2.5 MB is more than the setting max_file_mb allows (1 MB)")]
    assert found(tmp_path, max_bytes=1000) == ["at.txt"]
    os.truncate(tmp_path / "over.txt", 50 * 2**30)
    assert walk(tmp_path).skipped[0][1].startswith("53,687 MB is more than ")


def test_a_name_that_is_no_text_is_reported(tmp_path):
    """A file whose name cannot be stored is a failure that can be printed."""
    try:
        (tmp_path / os.fsdecode(b"preis\xfc.md")).write_text("λ")
    except OSError:
        pytest.skip("this file system takes only names that are Unicode")
    [(path, reason)] = walk(tmp_path).failed
    assert path.encode().decode().endswith("preis\ufffd.md") and "rename" in reason


def test_what_may_not_be_read_is_reported(common_folder, as_user):
    """A folder, a file and an ignore file without rights are failures with a reason; the rest is found."""
    grow(common_folder, "open/a.md", "closed/inner/b.md", "c.md", "ruled/d.md", ruled__GIT="d.md")
    closed = common_folder / "closed"
    for path in (closed, common_folder / "c.md", common_folder / "ruled" / ".gitignore"):
        path.chmod(0o000)

    def look(path):
        try:
            result = walk(path)
            return list(map(str, result.files)), sorted(result.failed)
        except InputError as error:
            return str(error)

    whole, outer, inner = (as_user(look, path) for path in (common_folder, closed, closed / "inner"))
    closed.chmod(0o755)
    reasons = {"c.md": "", "closed": "", "ruled": " (.gitignore)"}
    failed = [(str(common_folder / name), f"Permission denied{more}") for name, more in reasons.items()]
    assert whole == ([str(common_folder / "open/a.md")], failed)
    assert outer == ([], [(str(closed), "Permission denied")]) and str(closed / "inner") in inner


def test_a_single_file_is_taken_whatever_is_ignored(tmp_path):
    """A file that is named is meant; one of another kind is refused with the kinds that are known."""
    grow(tmp_path, ".git/HEAD", "a.md", ".hidden/b.py", "prices.bin", GIT="*")
    for name in ("a.md", ".hidden/b.py"):
        assert walk(tmp_path / name).files == [tmp_path / name]
    assert walk(tmp_path / "a.md", max_bytes=1).skipped[0][0] == str(tmp_path / "a.md")
    with pytest.raises(InputError) as caught:
        walk(tmp_path / "prices.bin")
    assert all(suffix in str(caught.value) for suffix in known_readers().suffixes)


@pytest.mark.parametrize("name", ["nothing", "nothing.md", "x" * 300, "a\0b", "~nobody-of-that-name/x"])
def test_a_path_that_leads_nowhere_is_refused(tmp_path, name):
    with pytest.raises(InputError, match=r"\.$"):
        walk(Path(name) if name.startswith("~") else tmp_path / name)


def test_home_and_dots_are_understood(tmp_path, monkeypatch):
    grow(tmp_path, "notes/a.md")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.chdir(tmp_path / "notes")
    for path in ("~/notes", "../notes", "."):
        assert walk(Path(path)).files == [tmp_path / "notes/a.md"]
