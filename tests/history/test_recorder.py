"""What the recorder notes of a kernel's cells, and real kernels, killed ones too."""

import builtins
import getpass
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

from jupyter_memory import InputError, MemoryStore
from jupyter_memory.storage import abandoned


def test_a_cell_is_recorded_with_its_outcome(recorded):
    before = datetime.now(UTC)
    recorded.run("λ = 0.3", "import asyncio\nawait asyncio.sleep(0.01)", "import sys; sys.stdout.write('\\x00\\xff')")
    recorded.shell.run_cell("a = 1", store_history=True, cell_id="1e9aac6b")
    first, second, *_, last = recorded.runs()
    assert (first.source, first.outcome, first.number) == ("λ = 0.3", "ok", 1)
    assert (second.outcome, second.number) == ("ok", 2) and second.seconds >= 0.01
    assert first.session == second.session and first.language == "python"
    assert before <= first.started <= second.started <= datetime.now(UTC) and 0 < first.seconds < 60
    assert first.environment.endswith(Path(sys.prefix).name if sys.prefix != sys.base_prefix else "")
    assert (last.cell_id, last.outcome) == ("1e9aac6b", "ok") and recorded.notices == []


@pytest.mark.parametrize(
    ("cell", "name", "message"),
    [
        ("{'preis': 1}['prices']", "KeyError", "'prices'"),
        ("x = = 1", "SyntaxError", "invalid syntax"),
        (" 1\n2", "IndentationError", "unexpected indent"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", ""),
        ("raise SystemExit(3)", "SystemExit", "3"),
        ("import asyncio\nawait asyncio.sleep(0)\nint('ü')", "ValueError", "invalid literal"),
        ("raise ExceptionGroup('both', [ValueError('λ'), KeyError('b')])", "ExceptionGroup", "both"),
        ("%no_such_magic", "UsageError", "no_such_magic"),
    ],
)
def test_an_error_is_recorded(recorded, cell, name, message):
    recorded.run(cell)
    [run] = recorded.runs()
    assert run.outcome == "error" and run.error is not None
    assert run.error.name == name
    assert message in run.error.message
    assert name in run.error.traceback and "\x1b" not in run.error.traceback
    assert len(run.error.traceback) <= 20_000


@pytest.mark.parametrize("magic", ["%%capture", "%run -i {}", "%run {}"])
def test_an_error_that_a_magic_shows_fails_the_run(recorded, tmp_path, magic):
    """IPython ends such a cell well; the history has its error, without the frames of IPython, and so for the next."""
    script = tmp_path / "script.py"
    script.write_text("λ = {}\nλ['rate']\n", encoding="utf-8")
    cell = magic.format(script) if "run" in magic else f"{magic}\n{script.read_text(encoding='utf-8')}"
    recorded.run(cell, "after = 1", "%%capture\nfine = 2")
    failed, *others = recorded.runs()
    assert (failed.source, failed.outcome, failed.error.name) == (cell.rstrip("\n"), "error", "KeyError")
    assert failed.error.message == "'rate'" and "λ['rate']" in failed.error.traceback
    assert "IPython" not in failed.error.traceback
    assert [run.outcome for run in others] == ["ok", "ok"]


def test_short_results_are_kept_if_asked_for(recorded):
    """What a cell prints and its value, without secrets; not what is long, is no text, or that another door shows."""
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    cells = [
        "1 + 1", "print('λ', end=' '); print(0.78)\n0.5", "'x' * 300", "print('x' * 300)", "object()", f"{token!r}",
    ]  # fmt: skip
    recorded.run(*cells, "import sys; sys.stderr.write('warned'); None", "%%capture\nprint(1)")
    assert {run.result for run in recorded.runs()} == {""}
    recorded.settings.history_outputs = True
    recorded.run(*cells, "import sys; sys.stderr.write('warned'); None")
    *found, secret, warned = [run.result for run in recorded.runs()][len(cells) + 2 :]
    assert found == ["2", "λ 0.78\n0.5", "", "", ""] and warned == ""
    assert "[redacted: " in secret and token not in secret


def test_a_run_notes_the_packages_that_its_code_uses(recorded, tmp_path, monkeypatch):
    """By its imports, and by names that an earlier cell imported; neither Python's own nor the user's own modules."""
    (tmp_path / "mine.py").write_text("def price(): ...")
    monkeypatch.syspath_prepend(tmp_path)
    recorded.run("import os, mine\nfrom pandas import Series\nimport yaml", "Series([λ := 1]); mine.price()", "x = = 1")
    first, second, third = recorded.runs()
    pandas, yaml = f"pandas {version('pandas')}", f"PyYAML {version('PyYAML')}"
    assert (first.packages, second.packages, third.packages) == (f"{pandas}, {yaml}", pandas, "")


def test_cells_that_cells_run_are_recorded_apart(recorded):
    """A nested cell with a number is a run of its own with its own outcome; one without number is none."""
    recorded.run(
        "ip = get_ipython()\nip.run_cell('int(\"λ\")', store_history=True)\nip.run_cell('hidden = 2')\nfine = 1",
        "ip.run_cell('inner = 1', store_history=True)\nint('λ')",
        "after = 3",
    )
    runs = recorded.runs()
    assert [run.outcome for run in runs] == ["ok", "error", "error", "ok", "ok"]
    assert [run.source for run in runs if run.outcome == "ok"][1:] == ["inner = 1", "after = 3"]


def test_a_traceback_names_cells_as_the_person_knows_them(recorded):
    """The frames of the shell are left out, and a cell is called Cell In[2]; one that never ran has no frames."""
    recorded.run("def ratio(a, b):\n    return a / b", "ratio(1, 0)", "x = = 1")
    _, error, never = (run.error for run in recorded.runs())
    assert error.traceback.splitlines()[1].strip() == "Cell In[2], line 1, in <module>"
    assert "Cell In[1], line 2, in ratio" in error.traceback
    assert "interactiveshell" not in error.traceback
    assert "Traceback" not in never.traceback and never.traceback.startswith("  Cell In[3], line 1")


DEEP = "def first():\n    f(0)\ndef f(n):\n    return f(n + 1) if n < 900 else g()\ndef g():\n    int('λ')\nfirst()"
ODD = "%%capture\nclass Odd(Exception):\n    def __str__(self): raise {}\nraise Odd"
CAUSED = "try:\n    {}['b']\nexcept KeyError as e:\n    raise ValueError('λ') from e"


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        pytest.param(DEEP, ["in first", "in g"], id="where a deep stack began and where it failed"),
        pytest.param(CAUSED, ["KeyError: 'b'", "direct cause", "ValueError: λ"], id="causes"),
        pytest.param(
            "raise ExceptionGroup('both', [ValueError('λ'), KeyError('b')])",
            ["| Cell In[1]", "ValueError: λ", "KeyError: 'b'"], id="groups",
        ),
        *(
            pytest.param(ODD.format(error), [], id=error)
            for error in ("ValueError('no')", "RecursionError", "MemoryError")
        ),
    ],
)  # fmt: skip
def test_errors_become_plain_text_in_bounds(recorded, cell, told):
    recorded.run(cell)
    [run] = recorded.runs()
    text = " ".join(run.error.traceback.split())
    places = [text.find(part) for part in told]
    assert -1 not in places and run.error.traceback.count("Cell In[1]") < 60
    assert (run.error.name == "Odd") is (told == []) is run.error.message.startswith("<no message: ")


def test_a_cell_in_another_language_has_it(recorded):
    """A shell script in a cell of Python is no Python: filters find it by its language, and so does its memory."""
    recorded.run("%%bash\necho zürich", "λ = 3")
    assert [run.language for run in recorded.runs()] == ["bash", "python"]
    with MemoryStore(recorded.path) as store:
        [memory] = [hit.memory for hit in store.browsed(filters={"lang": "bash"}).hits]
        assert memory.text == "%%bash\necho zürich"


@pytest.mark.parametrize("how", [{"store_history": False}, {"store_history": True, "silent": True}])
def test_what_gets_no_number_is_not_recorded(recorded, how):
    """Cells that front ends run for themselves stay out."""
    recorded.shell.run_cell("hidden = 1", **how)
    assert recorded.runs() == []


@pytest.mark.parametrize(
    "cell", ["%memsearch prices", "x = 1  # memory: off", "%load_ext jupyter_memory", "   ", "%sql select 1", "# %sql"]
)
def test_what_is_excluded_is_written_nowhere(recorded, cell):
    """Our magics, cells with `# memory: off` and those that fit a pattern reach neither store nor journal."""
    recorded.settings.history_ignore = ["%sql*", "*# %sql*"]
    recorded.run(cell, "noted = 1")
    journals = recorded.noted(b"noted = 1")
    assert not cell.strip() or cell.encode() not in journals
    assert recorded.recorder.noted == 1
    assert [run.source for run in recorded.runs()] == ["noted = 1"]


FAILS = "def f(x): raise ValueError(x)  # patient Jane Doe 1970"


@pytest.mark.parametrize(
    "secret",
    [
        f"# memory: off\n{FAILS}",
        f"%%capture\n# memory: off\n{FAILS}",
        f"%private\n{FAILS}",
        f"# memory: off\nget_ipython().run_cell({FAILS!r})",
    ],
)
@pytest.mark.parametrize(
    "cell",
    [
        "f('boom')",
        "try: f('boom')\nexcept ValueError as e: raise KeyError('λ') from e",
        "try: f('boom')\nexcept ValueError as e: raise ExceptionGroup('both', [e])",
        "exec(\"f('boom')\")",
    ],
)
def test_lines_of_excluded_cells_are_written_nowhere(recorded, secret, cell):
    """The traceback of a cell that calls a function of an excluded one names that cell, without its text."""
    recorded.settings.history_ignore = ["%private"]
    recorded.shell.register_magic_function(lambda line: None, magic_name="private")
    recorded.run(secret, cell)
    assert b"Jane Doe" not in recorded.noted(b"boom")
    [run] = recorded.runs()
    assert "in f" in run.error.traceback and "Jane Doe" not in run.error.traceback


def test_nothing_is_recorded_before_and_after(recorded):
    """Only what runs between on and off is there, numbered on after a pause, and no line of others in a traceback."""
    recorded.run("first = 1")
    recorded.recorder.stop()
    recorded.run("def f(x): raise ValueError(x)  # patient Jane Doe 1970")
    recorded.recorder.start()
    recorded.run("f('boom')")
    first, second = recorded.runs()
    assert [(run.source, run.number) for run in (first, second)] == [("first = 1", 1), ("f('boom')", 2)]
    assert "in f" in second.error.traceback and "Jane Doe" not in second.error.traceback


def test_a_recorder_that_is_off_leaves_no_file(shell_with_recorder):
    one = shell_with_recorder()
    one.run("x = 1")
    assert not one.path.parent.exists()


def test_secrets_reach_no_file(recorded):
    secret = "sk-proj-" + "aB3dE5gH7jK9mN1pQ3sT5vW7"
    recorded.run(f"key = '{secret}'\nraise ValueError('the key was {secret}')")
    assert secret.encode() not in recorded.noted(b"ValueError: the key was")
    [run] = recorded.runs()
    assert secret not in run.source + run.error.message + run.error.traceback


def test_typed_values_reach_no_file(recorded, monkeypatch):
    """What was typed, in whatever form a message quotes it, is masked while the history is on; short words are not."""
    recorded.recorder.stop()
    recorded.settings.history_outputs = True
    typed = iter(["ada", " hunter2\\λ ", "Xy'z-\u00fc9"])
    monkeypatch.setattr(builtins, "input", lambda prompt="": next(typed))
    monkeypatch.setattr(getpass, "getpass", builtins.input)
    recorded.recorder.start()
    recorded.run(
        "import getpass\nname, user, word = input(), input('?'), getpass.getpass()",
        "raise ValueError(f'{name}: {user}, {word}, {user!r}, {user.strip()}')",
        "word",
        "{}[word]",
    )
    assert b"hunter2" not in (written := recorded.noted(b"KeyError")) and b"z-" not in written
    assert "[redacted: typed value]" in recorded.runs()[2].result
    for run in (recorded.runs()[1], recorded.runs()[3]):
        told = run.error.message + run.error.traceback
        assert "[redacted: typed value]" in told and "hunter2" not in told and "z-" not in told
    assert "ada: " in recorded.runs()[1].error.message
    mine = builtins.input
    recorded.recorder.stop()
    assert builtins.input is not mine


def test_a_huge_cell_is_kept_in_bounds(recorded):
    recorded.run("first = 1\nlast = '" + "λ" * 10_000_000 + "'")
    [run] = recorded.runs()
    assert run.source.startswith("first = 1") and len(run.source) < 200_100
    with MemoryStore(recorded.path) as store:
        assert store.get(run.memory_id).metadata["characters"] > 10_000_000


def test_a_cell_keeps_its_own_result(recorded, monkeypatch):
    # IPython leaves `_` alone where some library, such as doctest, has set one for all modules.
    monkeypatch.delattr(builtins, "_", raising=False)
    [result, *_] = recorded.run("6 * 7", "_ + 1", "Out[1]")
    assert result.result == 42
    assert recorded.shell.user_ns["_"] == 42 and recorded.shell.user_ns["Out"][2] == 43


def test_two_kernels_record_into_one_store(shell_with_recorder):
    one, other = shell_with_recorder(), shell_with_recorder()
    one.recorder.start()
    other.recorder.start()
    one.run("same = 1")
    other.run("same = 1")
    one.recorder.flush()
    sessions = [run.session for run in other.runs()]
    assert len(sessions) == len(set(sessions)) == 2
    with MemoryStore(one.path) as store:
        assert store.stats()["history"]["recording"] == 2
        assert store.count() == 1


def test_a_forked_child_records_nothing(recorded):
    """A child of the kernel that goes on in the shell's code neither waits nor writes."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            recorded.run("in_the_child = 1", "1 / 0")
            os.write(writes, "".join(recorded.notices).encode() or b"silent")
        finally:
            os._exit(0)
    os.close(writes)
    os.waitpid(child, 0)
    with os.fdopen(reads) as said:
        assert said.read() == "silent"
    recorded.run("in_the_kernel = 1")

    assert [run.source for run in recorded.runs()] == ["in_the_kernel = 1"]


def test_the_notebook_is_the_file_that_the_server_names(recorded, monkeypatch, tmp_path: Path):
    for name in ("müller.ipynb", "code.ipynb"):
        (tmp_path / name).touch()
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "müller.ipynb"))
    recorded.run("a = 1")
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "Console 1"))
    recorded.run("b = 2")
    recorded.shell.user_ns["__vsc_ipynb_file__"] = str(tmp_path / "code.ipynb")
    recorded.run("c = 3")
    assert [Path(run.notebook).name for run in recorded.runs()] == ["müller.ipynb", "", "code.ipynb"]


def test_a_renamed_notebook_has_its_new_name(recorded, monkeypatch, tmp_path: Path):
    first, second, third = (tmp_path / f"{name}.ipynb" for name in ("Untitled", "müller", "prices"))
    first.write_text("{}")
    (tmp_path / "other.ipynb").write_text("{}")
    monkeypatch.setenv("JPY_SESSION_NAME", str(first))
    recorded.run("a = 1")
    assert [run.notebook for run in recorded.runs()] == [str(first)]

    first.rename(second)
    recorded.run("b = 2")
    assert recorded.runs()[-1].notebook == str(second)
    recorded.run("c = 3")
    second.rename(third)
    third.write_text('{"saved": 1}')
    recorded.run("d = 4")
    assert [run.notebook for run in recorded.runs()[2:]] == [str(third)] * 2
    (tmp_path / "elsewhere").mkdir()
    third.rename(tmp_path / "elsewhere" / "prices.ipynb")
    (tmp_path / "new.ipynb").write_text("{}")
    recorded.run("e = 5")
    assert recorded.runs()[-1].notebook == str(third)


def test_a_store_that_others_read_gets_no_runs(recorded):
    """The history is not turned on for a database, and moving to one ends it with a notice."""
    recorded.run("a = 1")
    recorded.settings.path = "postgresql://db.invalid/team"
    assert not recorded.recorder.is_on
    [notice] = recorded.notices
    assert "all who may read that store" in notice
    with pytest.raises(InputError, match="a store of your own"):
        recorded.recorder.start()
    recorded.settings.path = str(recorded.path)
    assert [run.source for run in recorded.runs()] == ["a = 1"]


_LONGEST = 60


@contextmanager
def kernel(folder: Path, **more: str) -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    places = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("DATA", "CONFIG", "RUNTIME")}
    environment = {
        **os.environ, **places, "IPYTHONDIR": str(folder / "ipython"), "HOME": str(folder),
        "JUPYTER_MEMORY_PATH": str(folder / "week" / "memory.sqlite"), **more,
    }  # fmt: skip
    manager, client = start_new_kernel(kernel_name="python3", env=environment, cwd=str(folder))
    try:
        run(client, "%load_ext jupyter_memory")
        yield manager, client
    finally:
        client.stop_channels()
        if manager.is_alive():
            manager.shutdown_kernel()


def run(client: BlockingKernelClient, code: str, metadata: dict[str, object] | None = None) -> str:
    """Run a cell as JupyterLab does, and return what it wrote to standard output and error."""
    message = client.session.msg(
        "execute_request",
        {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False},
        metadata=metadata or {},
    )
    client.shell_channel.send(message)
    written = []
    while True:
        said = client.get_iopub_msg(timeout=_LONGEST)
        if said["parent_header"].get("msg_id") != message["header"]["msg_id"]:
            continue
        if said["msg_type"] == "stream":
            written.append(said["content"]["text"])
        if said["msg_type"] == "status" and said["content"]["execution_state"] == "idle":
            return "".join(written)


def test_the_cell_that_kills_the_kernel_is_found_by_the_next(tmp_path: Path):
    """After kill -9 in a cell, this cell has the outcome "unknown", and those before it have their own."""
    deadly = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)  # λ"
    with kernel(tmp_path) as (manager, client):
        assert "History is on" in run(client, "%memory history on")
        run(client, "prices = [1, 2]")
        run(client, "prices[7]")
        client.execute(deadly)
        manager.provisioner.process.wait(_LONGEST)

    with kernel(tmp_path) as (_, client):
        said = run(
            client,
            "from jupyter_memory import open_store\n"
            "for run in open_store().history.runs():\n    print(run.outcome, repr(run.source))",
        )
    assert f"unknown {deadly!r}" in said and "error 'prices[7]'" in said and "ok 'prices = [1, 2]'" in said
    assert not list(abandoned(tmp_path / "week" / "memory.sqlite"))


def test_a_kernel_masks_what_its_front_end_sends(tmp_path: Path):
    with kernel(tmp_path) as (_, client):
        run(client, "%memory history on")
        cell = "from getpass import getpass\nraise ValueError(getpass() + input())"
        client.execute_interactive(
            cell, store_history=True, timeout=_LONGEST, stdin_hook=lambda _: client.input("hunter2λ"), output_hook=id
        )
    with MemoryStore(tmp_path / "week" / "memory.sqlite") as store:
        [failed] = store.history.runs()
    assert failed.error.message == 2 * "[redacted: typed value]" and "hunter2" not in failed.error.traceback


@pytest.mark.parametrize("metadata", [None, [], "tags", {"tags": "memory-off"}], ids=repr)
def test_a_request_without_tags_that_can_be_read(recorded, metadata):
    recorded.shell.parent_header = {"metadata": metadata}
    recorded.run("λ = 0.3")
    assert recorded.sources() == ["λ = 0.3"] and recorded.notices == []


def test_tags_and_ids_come_with_the_request(tmp_path: Path):
    """A tag that JupyterLab sends keeps a cell out, and the id it sends is that of the run; no journal is left."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "jupyter_memory_config.json").write_text('{"JupyterMemory": {"history": true}}')
    with kernel(tmp_path) as (_, client):
        run(client, "hidden = 1", {"cellId": "a", "tags": ["memory-off"]})
        run(client, "shown = 2", {"cellId": "b-c", "tags": ["decision"]})
    with MemoryStore(tmp_path / "week" / "memory.sqlite") as store:
        assert [(run.source, run.cell_id) for run in store.history.runs()] == [("shown = 2", "b-c")]
    assert not [file for file in (tmp_path / "week").iterdir() if ".runs-" in file.name]
