"""The command line, as a person or a script uses it."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_memory import MemoryStore
from jupyter_memory.cli import main


class Done:
    """What a command left: exit code, standard output, standard error."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


Run = Callable[..., Done]
PROGRAM = [sys.executable, "-m", "jupyter_memory.cli"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep everything that Jupyter writes in a folder of the test."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(tmp_path / "m.sqlite"))
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Give a function that runs a command."""

    def call(*arguments: str) -> Done:
        capsys.readouterr()
        code = main(list(arguments))
        shown = capsys.readouterr()
        return Done(code, shown.out, shown.err)

    return call


@pytest.fixture
def week(run: Run) -> Run:
    """Give the commands, and a store that remembers a data scientist's week."""
    for arguments in (
        ["--title", "Prices", "--tag", "decision", "--on", "2026-03-02", "we scaled the prices to zero mean"],
        ["--title", "Müller", "--tag", "people", "--on", "2026-03-03", "Frau Müller wants λ = 0.3 in the ridge model"],
        ["--title", "Merge", "--on", "2026-03-04", "merge frames with a left join on the customer id"],
    ):
        assert run("add", *arguments).code == 0
    return run


def memory_id(run: Run, query: str) -> str:
    """Return the id of the best hit of a query."""
    found: str = json.loads(run("search", "--json", query).out)["hits"][0]["memory_id"]
    return found


def test_add_and_search(week: Run) -> None:
    """What was added is found, with title, snippet, id, day and tags, in lines of the terminal's width."""
    done = week("search", "who", "wants", "λ")

    assert (done.code, done.err) == (0, "")
    first = done.out.split("\n\n")[0].splitlines()
    assert first[0].split()[:2] == ["1", "Müller"]
    assert "KW" in first[0]
    assert "Frau Müller wants λ = 0.3" in first[1]
    assert re.match(r"    [0-9a-f]{16} · 2026-03-03 · people$", first[2])
    assert max(map(len, done.out.splitlines())) <= 80


def test_a_word_left_out(week: Run) -> None:
    """A dash before a word of the query leaves the word out, wherever it stands; it is no option."""
    for word in ("-nolars", "-polars", "-x"):
        found = week("search", word, "prices", "-n1")
        assert (found.code, found.out.count("KW")) == (0, 1)
        assert (f"“{word[1:]}”" in found.err) == (word != "-x")  # one letter is no word
    assert week("search", "prices", "-kind:cell").code == 0
    assert "Did you mean --tag?" in week("search", "prices", "-tag", "decision").err


def test_search_json(week: Run) -> None:
    """`--json` prints the whole answer in the shape that REST and the panel share."""
    answer = json.loads(week("search", "--json", "Müller λ", "--on", "2026-03-03").out)

    assert list(answer) == ["query", "verdict", "query_class", "time_range", "counts", "notices", "hits"]
    assert answer["query"] == "Müller λ"
    assert [end[:4] for end in answer["time_range"]] == ["2026", "2026"]
    hit = answer["hits"][0]
    assert list(hit) == [
        "rank", "memory_id", "title", "snippet", "highlights", "badges", "score", "strength", "kind", "tier",
        "source", "location", "tags", "event_at", "kw_rank", "sem_rank", "bm25", "cosine", "signals",
    ]  # fmt: skip
    assert hit["title"] == "Müller"
    assert hit["score"] == pytest.approx(sum(seen["contribution"] for seen in hit["signals"].values()))


def test_search_options(week: Run) -> None:
    """Filters, limit and profile are those of the magic."""
    titles = [hit["title"] for hit in json.loads(week("search", "--json", "the", "--tag", "people").out)["hits"]]

    assert titles == ["Müller"]
    assert len(json.loads(week("search", "--json", "-n", "1", "the customer prices").out)["hits"]) == 1
    assert week("search", "-p", "trovella", "Müller").code == 0
    assert "Müller" in week("search", "--scan", "Müller").out


def test_nothing_found(week: Run) -> None:
    """A search without hits is done, says so on stderr, and prints nothing."""
    done = week("search", "λ", "--tag", "none")

    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines()[-1] == "Nothing found."


def test_list(week: Run) -> None:
    """`list` shows a memory a line, the newest first."""
    lines = week("list").out.splitlines()

    assert [line.split()[-1] for line in lines] == ["Merge", "Müller", "Prices"]
    assert len(week("list", "-n", "1", "--tag", "people").out.splitlines()) == 1


def test_status(week: Run, home: Path) -> None:
    """`status` tells people what the store holds, and with --json programs."""
    assert "3 (3 note)" in week("status").out
    stats = json.loads(week("status", "--json").out)
    assert (stats["memories"], stats["store"]) == (3, str(home / "m.sqlite"))


def test_pin_unpin_explain(week: Run) -> None:
    """Memories are pinned, unpinned and explained by their ids."""
    found = memory_id(week, "Müller")

    assert week("pin", found).out == f"pinned {found} “Müller”\n"
    assert json.loads(week("status", "--json").out)["pinned"] == 1
    assert week("unpin", found).out == f"unpinned {found} “Müller”\n"
    assert "Rank 1 of" in week("explain", "Müller λ", found).out


def test_forget(week: Run) -> None:
    """Memories are forgotten by id and by filter."""
    assert week("forget", memory_id(week, "Müller")).out == "forgot 1 memory\n"
    assert week("forget", "--until", "2026-03-02").out == "forgot 1 memory\n"
    assert json.loads(week("status", "--json").out)["memories"] == 1


def test_forget_everything_asks(week: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is forgotten after a yes at a terminal, or with --yes; a program is not asked but refused."""
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    refused = week("forget", "--everything")
    assert refused.code == 2
    assert "all 3 memories of" in refused.err
    assert "--yes" in refused.err
    for answer, code in (("n\n", 1), ("", 1), ("y\n", 0)):
        monkeypatch.setattr("sys.stdin", Terminal(answer))
        done = week("forget", "--everything")
        assert done.code == code
        assert "Forget all 3 memories" in done.err
        assert json.loads(week("status", "--json").out)["memories"] == (3 if code else 0)
    week("add", "one more λ")
    assert week("forget", "--everything", "--yes").out == "forgot 1 memory\n"


class Terminal(io.StringIO):
    """What somebody types."""

    def isatty(self) -> bool:
        """Return that somebody is there."""
        return True


def test_looking_makes_no_store(run: Run, home: Path) -> None:
    """A command that only looks says that the named store is not there and how to make it, and makes none."""
    there = home / "m.sqlite"
    for arguments in (
        ["search", "λ"], ["list"], ["status"], ["explain", "λ", "id"], ["pin", "id"], ["unpin", "id"],
        ["forget", "id"], ["forget", "--everything", "--yes"], ["backup", str(home / "copy.sqlite")], ["doctor"],
    ):  # fmt: skip
        done = run(*arguments)
        assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
        assert f"There is no store at {there}" in done.err
        assert "JUPYTER_MEMORY_PATH" in done.err
        assert "jupyter-memory index FOLDER" in done.err
        assert not there.exists()
    other = run("--store", str(home / "typo.sqlite"), "status")
    assert f"jupyter-memory --store {home}/typo.sqlite index FOLDER" in other.err
    assert not (home / "typo.sqlite").exists()


def test_the_default_store_may_be_new(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is remembered, a search says what to do first, also in its JSON."""
    monkeypatch.delenv("JUPYTER_MEMORY_PATH")
    done = run("search", "λ")

    assert (done.code, done.out) == (0, "")
    assert "Nothing is remembered here yet" in done.err
    assert "Meaning was not searched" not in done.err
    assert "Nothing is remembered here yet" in json.loads(run("search", "--json", "λ").out)["notices"][-1]


def test_a_filter_that_fits_nothing_is_told(week: Run, home: Path) -> None:
    """Beside "Nothing found." stands which filter emptied the answer, with the nearest that would not."""
    folder = home / "reports"
    folder.mkdir()
    (folder / "müller.md").write_text("The ridge model of Müller has λ = 0.3.\n", encoding="utf-8")
    week("index", str(folder))

    for option, says in (
        (["--tag", "pepole"], "has the tag 'pepole'. Did you mean 'people'?"),
        (["--space", "trial"], "is in the space 'trial'. No memory has a space."),
        (["--path", "report"], f"comes from 'report'. Did you mean '{folder}'?"),
        (["--path", "mü"], f"Did you mean '{folder}/müller.md'?"),
        (["--path", "nowhere"], f"comes from 'nowhere'. There is: {folder}."),
    ):
        assert says in week("search", "λ", *option).err
        assert says in week("list", *option).err
        assert says in json.loads(week("search", "--json", "λ", *option).out)["notices"][0]


def test_index(run: Run, home: Path) -> None:
    """A folder is indexed, found, and next time unchanged; a path that is not there fails with one line."""
    folder = home / "reports"
    folder.mkdir()
    (folder / "müller.md").write_text("# Müller\n\nThe ridge model has λ = 0.3.\n", encoding="utf-8")

    assert "1 file indexed" in run("index", str(folder)).out
    assert "~/reports/müller.md" in run("search", "ridge", "model").out
    assert "1 unchanged" in run("index", str(folder)).out
    failed = run("index", str(home / "nowhere"))
    assert (failed.code, failed.err.count("\n")) == (1, 1)


def test_backup_and_restore(week: Run, home: Path) -> None:
    """A backup becomes a store again, and only over another one when told."""
    assert week("backup", str(home / "copy.sqlite")).out == f"copied to {home}/copy.sqlite\n"
    assert week("backup", str(home / "copy.sqlite")).code == 1
    week("forget", "--everything", "--yes")
    refused = week("restore", str(home / "copy.sqlite"))
    assert (refused.code, refused.err.count("\n")) == (1, 1)
    assert "--overwrite" in refused.err
    assert week("restore", "--overwrite", str(home / "copy.sqlite")).code == 0
    assert json.loads(week("status", "--json").out)["memories"] == 3


def test_restore_over_an_open_store_is_refused(week: Run, home: Path) -> None:
    """A store that a kernel has open is not replaced under it."""
    week("backup", str(home / "copy.sqlite"))
    with MemoryStore(home / "m.sqlite") as store:
        store.stats()
        refused = week("restore", "--overwrite", str(home / "copy.sqlite"))
        assert (refused.code, refused.err.count("\n")) == (1, 1)
        assert store.stats()["memories"] == 3


def test_the_store_can_be_named(week: Run, home: Path) -> None:
    """`--store` wins over the environment, and its folder is made."""
    assert week("--store", str(home / "new" / "other.sqlite"), "add", "λ = 0.3").code == 0
    assert (home / "new" / "other.sqlite").exists()
    assert week("--store", str(home), "status").code == 2


def test_doctor(week: Run, home: Path) -> None:
    """A healthy store is well; one that others can read fails with what to do."""
    assert week("doctor").out.endswith("All is well.\n")
    (home / "m.sqlite").chmod(0o644)
    done = week("doctor")
    assert done.code == 1
    assert "chmod 600" in done.out
    assert done.err == "Error: 1 problem found.\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["search"], "query is missing"),
        (["search", ""], "query is missing"),
        (["search", "x", "-p", "autp"], "Did you mean 'auto'"),
        (["search", "x", "--tier", "notes"], "note"),
        (["search", "x", "--since", "last", "week"], '--since "last week"'),
        (["add", " "], "text is missing"),
        (["search", "x", "--limt", "3"], "--limit"),
        (["search", "x", "--limit", "0"], "x>=1"),
        (["search", "x", "--since", "soonish"], "2025-03-31"),
        (["search", "x", "--kind", "cel"], "cell"),
        (["add"], "text is missing"),
        (["add", "x", "--on", "soonish"], "2025-03-31"),
        (["forget"], "Say what to forget"),
        (["forget", "--everything", "abc"], "leave the rest out"),
        (["serch", "x"], "search"),
        (["pin"], "Missing argument"),
        ([], "Usage"),
    ],
)
def test_wrong_usage(run: Run, home: Path, arguments: list[str], says: str) -> None:
    """Wrong usage exits with 2, says what is wrong, and makes no store."""
    done = run(*arguments)

    assert done.code == 2
    assert says in done.err
    assert not (home / "m.sqlite").exists()


@pytest.mark.parametrize(
    "arguments", [["pin", "nosuchid"], ["explain", "x", "nosuchid"], ["backup", "/"], ["index", "nowhere"]]
)
def test_failures_are_one_line(week: Run, arguments: list[str]) -> None:
    """What fails exits with 1 and one line on stderr."""
    done = week(*arguments)

    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)


def test_a_damaged_store_is_one_line(run: Run, home: Path) -> None:
    """A file that is no store fails with its name."""
    (home / "m.sqlite").write_text("just words, " * 200)
    done = run("status")

    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "m.sqlite" in done.err


def test_a_broken_config_file_is_told_and_survived(week: Run, home: Path) -> None:
    """A broken config file is one line on stderr; the command is done."""
    (home / "config").mkdir(exist_ok=True)
    (home / "config" / "jupyter_memory_config.json").write_text("{broken")
    done = week("list")

    assert done.code == 0
    assert "jupyter_memory_config.json cannot be read" in done.err
    assert done.err.count("\n") == 1


def test_settings_are_read(week: Run, home: Path) -> None:
    """The limit of the config file holds for the command line too."""
    (home / "config").mkdir(exist_ok=True)
    (home / "config" / "jupyter_memory_config.json").write_text('{"JupyterMemory": {"limit": 1}}')

    assert len(week("list").out.splitlines()) == 1


def test_version_and_help(run: Run) -> None:
    """`--version` and `--help` are done, and name the commands."""
    assert re.fullmatch(r"jupyter-memory, version \d+\.\d+\.\d+\n", run("--version").out)
    names = "add index search list status forget pin unpin explain backup restore doctor"
    for name in names.split():
        assert name in run("--help").out
        assert run(name, "--help").code == 0


def test_standard_input(home: Path, week: Run) -> None:
    """`add -` remembers what comes on standard input, as it comes."""
    done = subprocess.run(
        [*PROGRAM, "add", "-", "--title", "Piped"],
        input="first λ\n  second ü\n",
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0
    with MemoryStore(home / "m.sqlite") as store:
        assert store.get(memory_id(week, "second ü")).text.rstrip("\n") == "first λ\n  second ü"


def test_a_closed_pipe(home: Path, week: Run) -> None:
    """A reader that stops reading, such as `head -1`, causes no traceback and no error."""
    with MemoryStore(home / "m.sqlite") as store:
        store.add_many(({"text": f"day {i}: " + "λ and ü " * 40} for i in range(150)), progress=False)
    with subprocess.Popen(
        [*PROGRAM, "search", "--json", "-n", "150", "day"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as program:
        program.stdout.read(10)
        program.stdout.close()
        err = program.stderr.read().decode()

    assert (program.wait(), err) == (0, "")


def test_ctrl_c(home: Path, wait_for_files) -> None:
    """Ctrl-C while indexing exits with 130 and one line that says what is in."""
    folder = home / "many"
    folder.mkdir()
    for i in range(1600):
        (folder / f"{i}.md").write_text(f"# Day {i}\n\nOn day {i} Müller set λ to {i}.\n", encoding="utf-8")
    with subprocess.Popen(
        [*PROGRAM, "index", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        wait_for_files(home / "m.sqlite")
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=60)

    assert (program.returncode, out) == (130, "")
    greeting, said = err.splitlines()
    assert greeting.startswith("Meaning will be searched with")
    assert re.match(r"Interrupted: the store holds [1-9][\d,]* memories of", said)


def test_help_is_fast_and_light(home: Path) -> None:
    """Help loads neither pandas nor MLX, and a search no pandas."""
    for arguments in (["--help"], ["search", "λ"]):
        code = (
            f"import sys; from jupyter_memory.cli import main; main({arguments!r}); sys.exit('pandas' in sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=os.environ, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("columns", ["80", "100", "120"])
def test_lines_fit_wide_characters(run: Run, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    """No line is wider than the terminal, also with characters of two cells."""
    from jupyter_memory.plain import width

    monkeypatch.setenv("COLUMNS", columns)
    run("add", "--title", "東京都の価格 " * 20, "--tag", "価格", "東京都の価格を正規化した " * 30)
    for command in (["search", "東京都"], ["list"]):
        lines = run(*command).out.splitlines()
        assert lines
        assert max(map(width, lines)) <= int(columns)


def test_recent_searches(week: Run) -> None:
    """A search is noted, and `forget --searches` removes the notes, beside nothing else."""
    week("search", "who", "wants", "λ")
    week("search", "prices", "--json")

    done = week("forget", "--searches")
    assert (done.code, done.out) == (0, "forgot 2 searches\n")
    assert week("forget", "--searches").out == "forgot 0 searches\n"
    done = week("forget", "--searches", "--everything", "--yes")
    assert done.code == 2 and "leave the rest out" in done.err
