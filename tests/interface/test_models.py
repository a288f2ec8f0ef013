"""The models at hand: listed, got, switched to and removed, from a notebook and from a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import shells
from IPython.core.error import UsageError

from jupyter_memory import load_config, models_folder
from jupyter_memory.cli import main

SMALL = Path(__file__).parents[1] / "embedders" / "nomic_small"
# Text that is in both the plan of a terminal and that of a notebook.
PLAN = ("nomic-ai/nomic-embed-text-v1.5", "e9b6763023c676ca8431644204f50c2b100d9aab", "547,652,102 bytes", "Apache-2.0")


@pytest.fixture
def run(hub, capsys):
    """A function that runs a command and returns its code, what it printed, and what it said beside it."""

    def call(*arguments):
        capsys.readouterr()
        code = main(list(arguments))
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


@pytest.fixture
def shell(hub):
    """An IPython shell with the extension."""
    ip = shells.made()
    ip.run_line_magic("load_ext", "jupyter_memory")
    yield ip
    ip.run_line_magic("unload_ext", "jupyter_memory")
    ip.restore_sys_module_state()


def models():
    return models_folder(load_config())


def states(run):
    """Return the state of each model by name, as `model list --json` has it."""
    return {row["name"]: (row["state"], row["in_use"]) for row in json.loads(run("model", "list", "--json")[1])}


def test_a_whole_life(run):
    """A model is fetched and used, found with, left again and removed, and each step is said."""
    assert run("add", "We scaled the prices to zero mean.")[0] == 0
    assert states(run)["nomic"] == ("not fetched", False)

    code, said, plan = run("model", "use", "nomic-64", "--yes")
    assert code == 0 and all(part in plan for part in PLAN)
    assert "nomic is on this machine now" in said
    assert "nomic is in use, with 64 dimensions: 1 vector written" in said
    assert "bundled static model" not in plan
    assert states(run)["nomic"] == ("here", True)
    assert "nomic (64 dimensions" in run("status")[1]
    assert json.loads(run("search", "--json", "scaled prices")[1])["hits"][0]["sem_rank"] == 1

    assert "Change it first" in run("model", "remove", "nomic")[2]
    assert "static is in use" in run("model", "use", "static")[1]
    assert "nomic is removed" in run("model", "remove", "nomic", "--yes")[1]
    assert states(run) | {"minilm": None} == {
        "static": ("bundled", True),
        "nomic": ("not fetched", False),
        "minilm": None,
    }


def test_a_new_store_takes_the_better_model(run, monkeypatch, tmp_path):
    """Once its weights are here, a new store is written with nomic, and says so once; an old store stays as it is."""
    assert "bundled static model" in run("add", "first")[2]
    assert run("add", "second")[2] == ""
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(tmp_path / "other.sqlite"))
    run("model", "use", "nomic-64", "--yes")

    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(tmp_path / "new.sqlite"))
    (Path(os.environ["JUPYTER_CONFIG_DIR"])).mkdir(parents=True, exist_ok=True)
    (Path(os.environ["JUPYTER_CONFIG_DIR"]) / "jupyter_memory_config.json").write_text(
        '{"JupyterMemory": {"dimensions": 64}}'
    )
    assert "with nomic, whose weights are on this machine" in run("add", "third")[2]
    assert "nomic (64 dimensions" in run("status")[1]
    monkeypatch.delenv("JUPYTER_MEMORY_PATH")
    assert "static (256 dimensions" in run("status")[1]


def test_removed_while_it_is_used(run):
    """A model that is removed while the store uses it leaves a store that is searched by words, and says so."""
    run("add", "We scaled the prices to zero mean.")
    run("model", "use", "nomic-64", "--yes")

    assert run("model", "remove", "nomic", "--yes")[0] == 0
    code, found, notice = run("search", "prices")
    assert code == 0 and "scaled the prices" in found
    assert "model use nomic" in notice


def test_a_setting_of_another_model(run):
    """Where a setting names another model, that is said, as the next program would follow it."""
    folder = Path(os.environ["JUPYTER_CONFIG_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "jupyter_memory_config.json").write_text('{"JupyterMemory": {"embedder": "static"}}')

    assert "The setting embedder is still 'static'" in run("model", "use", "nomic-64", "--yes")[2]


def test_nobody_to_ask(run, hub):
    """Without --yes and without a person, nothing is fetched or removed; what would be fetched is said."""
    code, _, said = run("model", "use", "nomic")

    assert code == 2 and "Add --yes" in said and all(part in said for part in PLAN)
    assert hub.asked == []
    assert not models().exists()


def test_offline(run, hub, monkeypatch):
    """Where the environment forbids to fetch, nobody is asked whether to."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    code, _, said = run("model", "use", "nomic")

    assert code == 1 and said.startswith("Error: HF_HUB_OFFLINE is set")


def test_interrupted(run, monkeypatch):
    """Ctrl-C ends with 130 and says how to go on; the store is searched as before."""
    run("add", "We scaled the prices to zero mean.")
    monkeypatch.setattr("jupyter_memory.interface.models.fetch", interrupt)

    code, _, said = run("model", "use", "nomic", "--yes")

    assert code == 130 and "Type the same again" in said
    assert states(run)["static"] == ("bundled", True)


def interrupt(*arguments, **options):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("use", "nomik"), "Did you mean 'nomic'"),
        (("use", "auto"), "auto is not a model"),
        (("use", "nomic-512", "--dims", "64"), "Say one of them"),
        (("use", "nomic", "--dims", "100"), "768, 512, 256, 128, 64"),
        (("use", "nomic", "--from", "/nowhere"), "There is no folder /nowhere"),
        (("use", "static", "--from", "/tmp"), "leave --from out"),
        (("use", "mlx:/tmp", "--from", "/tmp"), "leave --from out"),
        (("remove", "static"), "part of the package jupyter-memory"),
        (("remove", "nomic"), "nothing to remove"),
    ],
)
def test_wrong_input(run, hub, arguments, said):
    """What cannot be done is refused in one line, and nobody is asked for anything."""
    code, _, error = run("model", *arguments)

    assert code in (1, 2) and said in error
    assert hub.asked == []


def test_from_a_folder(run, hub):
    """A folder is taken without the network, and without asking, as naming it is consent."""
    assert "nomic is in use" in run("model", "use", "nomic-64", "--from", str(SMALL))[1]
    assert hub.asked == []


@pytest.mark.parametrize("arguments", [["nomic"], ["nomic", "--dims", "128"], ["nomic-256"]])
def test_from_a_folder_with_shorter_vectors(run, arguments):
    """A model that cannot give the vectors that are wanted is refused before anything is copied."""
    code, _, said = run("model", "use", *arguments, "--from", str(SMALL))

    assert code == 1
    assert "vectors of 64 dimensions" in said and "--dims" in said
    assert not (models() / "nomic").exists()
    assert states(run)["nomic"] == ("not fetched", False)


def test_another_folder_of_models(run, tmp_path):
    """The setting `models` says where they are kept."""
    folder = Path(os.environ["JUPYTER_CONFIG_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "jupyter_memory_config.json").write_text(
        json.dumps({"JupyterMemory": {"models": str(tmp_path / "shelf")}})
    )

    run("model", "use", "nomic-64", "--from", str(SMALL))

    assert (tmp_path / "shelf" / "nomic" / "manifest.json").is_file()
    assert run("add", "λ is 0.3")[0] == 0
    assert json.loads(run("search", "--json", "λ")[1])["hits"][0]["sem_rank"] == 1


def test_doctor_checks_the_files(run):
    """`doctor` compares a model's files with the checksums of when they were put there."""
    run("model", "use", "nomic-64", "--yes")
    assert run("doctor")[0] == 0

    file = models() / "nomic" / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"x")

    code, said, _ = run("doctor")
    assert code == 1 and f"{file} was changed after it was fetched" in said


def test_old_vectors_are_dropped(run):
    """`model drop` frees the room of vectors that are not searched with, by name or all, and leaves those in use."""
    run("add", "We scaled the prices to zero mean.")
    run("add", "Der Umsatz in Zürich stieg um λ = 0,3.")
    assert "only the vectors that it searches with" in run("model", "drop")[1]
    assert "`model drop` frees their space" in run("model", "use", "nomic-64", "--yes")[1]

    assert run("model", "drop", "nomic")[0] == 1
    assert run("model", "drop", "static")[1].strip() == "Dropped: 2 vectors of static (256 dimensions)."

    stats = json.loads(run("status", "--json")[1])
    assert [(one["name"], one["vectors"]) for one in stats["models"]] == [("nomic", 2)]
    assert "nothing to drop" in run("model", "drop")[1]
    assert json.loads(run("search", "--json", "scaled prices")[1])["hits"][0]["sem_rank"] == 1


def test_table(run):
    """The table has sizes, licence, languages and state, and below it the model's fingerprint and the arithmetic."""
    run("add", "prices")

    code, table, _ = run("model", "list")

    assert code == 0
    for part in (
        "768 512 256 128 64",
        "Apache-2.0",
        "English",
        "not fetched: `model use nomic`",
        "static-wordpiece-",
    ):
        assert part in table
    assert "arithmetic" in table and "MLX" in table


def printed(shell, capsys, line):
    """Run a line of `%memory model` and return what it says."""
    capsys.readouterr()
    outcome = shell.run_cell(f"%memory model {line}", store_history=False)
    if outcome.error_in_exec is not None:
        assert type(outcome.error_in_exec) is UsageError, repr(outcome.error_in_exec)
        return str(outcome.error_in_exec)
    shown = capsys.readouterr()
    return shown.out + shown.err


def test_magic(shell, capsys):
    """In a notebook the same: listed, fetched with --yes, used at once, left and removed."""
    shell.run_cell("%memadd we scaled the prices", store_history=False)
    assert "not fetched" in printed(shell, capsys, "")
    said = printed(shell, capsys, "use nomic --dims 64 --yes")
    assert all(part in said for part in (*PLAN, "nomic is in use, with 64 dimensions"))
    found = shell.run_cell("%memsearch prices scaled", store_history=False).result
    assert found["badges"].iloc[0] == "KW+SEM"
    assert "Change it first" in printed(shell, capsys, "remove nomic")
    assert "static is in use, with 256 dimensions: its vectors were there already" in printed(
        shell, capsys, "use static"
    )
    assert "Dropped: 1 vector of nomic (64 dimensions)" in printed(shell, capsys, "drop")
    assert "nomic is removed" in printed(shell, capsys, "remove nomic --yes")
    assert json.loads(printed(shell, capsys, "list --json"))[1]["state"] == "not fetched"


@pytest.mark.parametrize(("answer", "asked"), [("y", True), ("n", False), ("", False)])
def test_magic_asks(shell, hub, capsys, monkeypatch, answer, asked):
    """Without --yes the person at the notebook is asked, and only a yes is one."""
    monkeypatch.setattr("builtins.input", lambda question: answer)

    said = printed(shell, capsys, "use nomic-64")

    assert bool(hub.asked) is asked is ("is in use" in said)
    assert asked or "Nothing was done." in said


def test_magic_with_nobody_to_ask(shell, hub, capsys):
    """Where a notebook runs by itself, nothing is fetched, and how to agree beforehand is said."""
    said = printed(shell, capsys, "use nomic")

    assert "To do it: %memory model use nomic --yes" in said
    assert hub.asked == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("use", "Name the model"),
        ("fetch nomic", "is followed by nothing, list, use NAME, drop, drop NAME or remove NAME"),
        ("use nomik", "Did you mean 'nomic'"),
        ("use nomic --from /nowhere", "There is no folder"),
        ("remove nomic", "nothing to remove"),
        ("drop nomic", "no vectors of 'nomic'"),
        ("drop one two", "is followed by"),
    ],
)
def test_magic_wrong_input(shell, capsys, line, said):
    """A mistake is one line without a traceback."""
    assert said in printed(shell, capsys, line)


def test_magic_follows_the_store(shell, capsys):
    """A session whose setting names another model searches with the one that was chosen, and is told."""
    shell.run_cell("%config JupyterMemory.embedder = 'static'", store_history=False)
    shell.run_cell("%memadd we scaled the prices", store_history=False)

    assert "for this session it is 'auto'" in printed(shell, capsys, "use nomic-64 --yes")
    found = shell.run_cell("%memsearch prices scaled", store_history=False).result
    assert found["badges"].iloc[0] == "KW+SEM"


def test_nothing_is_asked_without_consent(hub, tmp_path):
    """Listing, opening, searching, wrong names and a plan that nobody agreed to leave the network alone."""
    program = """
import os, socket, sys
def refuse(*arguments, **keywords):
    raise AssertionError(f"the network was asked for: {arguments}")
socket.socket.connect = socket.socket.connect_ex = socket.socket.sendto = refuse
socket.create_connection = socket.getaddrinfo = refuse
from jupyter_memory.cli import main
sys.stdin = open(os.devnull)
codes = [main(line.split()) for line in (
    "model list", "model list --json", "add prices", "search prices", "model use nomic", "model use nomik",
    "model use static", "model remove nomic", "status", "doctor",
)]
print(codes)
assert not any(name.split(".")[0] == "huggingface_hub" for name in sys.modules)
"""
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=dict(os.environ), timeout=100
    )

    assert found.returncode == 0, found.stderr
    assert "[0, 0, 0, 0, 2, 1, 0, 1, 0, 0]" in found.stdout
    assert hub.asked == []
