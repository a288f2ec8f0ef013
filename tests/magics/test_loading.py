"""Loading the extension, also in every new kernel, its settings and its completion, and taking it out again."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import shells
from IPython.core.interactiveshell import InteractiveShell

from jupyter_memory.cli import main


def counts(ip: InteractiveShell) -> tuple[int, int, int]:
    return len(ip.input_transformers_cleanup), len(ip.Completer.custom_matchers), len(ip.configurables)


def test_loading_twice_is_loading_once_and_unloading_leaves_nothing(bare) -> None:
    """Loaded again, there is one of everything; unloaded, magics, settings and transformations are gone."""
    bare.ip.find_line_magic("load_ext")  # IPython makes it when it is first looked for
    before = counts(bare.ip)
    bare.run("%load_ext jupyter_memory")
    loaded = counts(bare.ip)
    assert [one - other for one, other in zip(loaded, before, strict=True)] == [1, 1, 2]
    bare.run("%reload_ext jupyter_memory\n%load_ext jupyter_memory")
    assert counts(bare.ip) == loaded
    bare.run("%memsearch works?")
    bare.run("%unload_ext jupyter_memory")
    assert counts(bare.ip) == before
    assert "not found" in bare.mistake("%memsearch λ") and "not found" in bare.mistake("%%memadd\nλ")
    bare.run("%load_ext jupyter_memory")
    assert bare.run("%memsearch λ").empty


def test_unloading_closes_the_store(week, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = week.run("%memsearch prices").attrs["memsearch"]["store"]
    week.run(f"%memory backup {tmp_path / 'copy.sqlite'}")
    restore = ["--store", store, "restore", "--overwrite", str(tmp_path / "copy.sqlite")]
    assert main(restore) == 1
    week.run("%unload_ext jupyter_memory")
    assert main(restore) == 0


def test_loading_makes_no_store(shell, home: Path) -> None:
    """The store's file is made by the first search, not by loading, nor by completing a tag."""
    shell.complete("%memsearch --tag x")
    assert not (home / "data" / "memory").exists()
    shell.run("%memsearch λ")
    assert (home / "data" / "memory" / "memory.sqlite").exists()


def test_config_holds_from_the_next_line_on(week, tmp_path: Path, caplog) -> None:
    """`%config` holds from the next line on; a value that cannot be is refused with its name, and the old one stays."""
    shown = week.printed("%config JupyterMemory")
    assert "JupyterMemory.limit=<Int>" in shown and "How many results a search gives." in shown
    week.run("%config JupyterMemory.limit = 2")
    assert len(week.run("%memsearch")) == 2 and len(week.run("%memsearch the -n 4")) > 2
    week.run("%config JupyterMemory.limit = 10")
    week.run(f"%config JupyterMemory.path = '{tmp_path}/other.sqlite'")
    week.run("%memadd only here")
    assert len(week.run("%memsearch")) == 1
    week.run("%config JupyterMemory.path = ''")
    assert len(week.run("%memsearch")) == 5
    week.run("%config JupyterMemory.limit = 0")
    assert "limit" in caplog.text and len(week.run("%memsearch")) == 5
    week.run("%config JupyterMemory.profile = 'vault'")
    week.run("%config JupyterMemory.profile = 'autp'")
    assert "profile: There is no profile 'autp'. Did you mean 'auto'?" in caplog.text
    week.run("%config JupyterMemory.limit = 1")
    found = week.run("%memsearch Müller")
    assert (found.attrs["memsearch"]["profile"], found["title"].tolist()) == ("vault", ["Müller"])


def test_ipython_configuration_is_read(home: Path, capsys) -> None:
    ip = shells.made(JupyterMemory={"limit": 4})
    ip.run_cell("%load_ext jupyter_memory\n%memory config")
    ip.run_line_magic("unload_ext", "jupyter_memory")
    assert ["limit", "4", "IPython's", "configuration"] in [
        line.split() for line in capsys.readouterr().out.splitlines()
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("c.JupyterMemory.limit = = 3", "jupyter_memory_config.py cannot be read"),
        ("c.JupyterMemory.profile = 'autp'", "jupyter_memory_config.py: profile: There is no profile 'autp'"),
    ],
)
def test_a_broken_config_file_is_named(bare, home: Path, line: str, said: str) -> None:
    """A file that is broken, or a profile in it that is none, is one line when the extension is loaded, which works."""
    (home / "config").mkdir()
    (home / "config" / "jupyter_memory_config.py").write_text(line + "\n")
    shown = bare.noted("%load_ext jupyter_memory")
    assert said in shown and len(set(shown.splitlines())) == 1
    assert bare.run("%memsearch λ").attrs["memsearch"]["profile"] == "auto"
    assert said in bare.printed("%memory config")


def test_a_damaged_store_is_one_line(shell, home: Path, capsys) -> None:
    (home / "not.sqlite").write_text("these are just words, " * 100)
    shell.run(f"%config JupyterMemory.path = '{home}/not.sqlite'")
    assert "not.sqlite" in shell.mistake("%memsearch λ")
    assert "not.sqlite" in shell.mistake("%memadd λ")
    capsys.readouterr()
    assert "people" not in shell.complete("%memsearch --tag pe")
    assert capsys.readouterr() == ("", "")


def test_a_store_whose_file_is_another(week, tmp_path: Path) -> None:
    """A backup that is put in the place of the store is what the next line reads and writes, and so is a new store."""
    file = Path(week.run("%memsearch prices").attrs["memsearch"]["store"])

    def remove() -> None:
        for ending in ("", "-wal", "-shm"):
            file.with_name(file.name + ending).unlink(missing_ok=True)

    week.run(f"%memory backup {tmp_path / 'copy.sqlite'}")
    week.run("%memory forget --tag decision")
    remove()
    (tmp_path / "copy.sqlite").rename(file)
    found = week.run("%memsearch we scaled the prices")
    assert found.loc[1, "title"] == "Prices" and "ridge" not in found.memory.text(1)
    week.run("%memadd --title Genève the tariff of Genève has λ = 2")
    assert week.titles("%memsearch Genève")[0] == "Genève"

    remove()
    week.run("%memadd --title new begun again in Zürich")
    assert week.titles("%memsearch Zürich") == ["new"]


ALONE = (
    *(f"%memsearch {typed}" for typed in ("merge --tag pe", "merge -kind:c", "--kind=c", "--kind c")),
    *(f"%memory {typed}" for typed in ("fo", "model use st", "profile show v")),
)


@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("%memsearch --pro", ["--profile"]),
        ("%memsearch how to -", ["-n", "--limit", "-p", "--profile", "--tag"]),
        ("df = %memsearch --va", ["--var"]), ("%%memsearch --lim", ["--limit"]),
        ("%memadd --sev", ["--severity"]),
        ("%memadd text --severity ", ["critical", "warning", "suggestion"]), ("%memsearch --kind c", ["cell"]),
        ("%memsearch --tier ", ["core", "file", "mcp", "note"]),
        ("%memsearch --profile ", ["auto", "covalence", "trovella"]), ("%memsearch -p c", ["covalence"]),
        ("%memsearch --tag ", ["decision", "people", '"to do"']), ("%memsearch merge --tag pe", ["people"]),
        ("%memsearch --since last", []), ("%memsearch --kind=c", ["cell"]),
        ("%memsearch kind:", ["note", "file", "cell"]), ("%memsearch merge -kind:c", ["cell"]),
        ("%memsearch tag:", ["decision", "people", '"to do"']), ("%memsearch tag:pe", ["people"]),
        ("%memsearch after:y", ["yesterday"]), ("%memsearch --var ques", ["question"]),
        ("%memory ", ["status", "index", "forget", "doctor"]), ("%memory forg", ["forget"]),
        ("%memory forget --eve", ["--everything"]), ("%memory list --tag de", ["decision"]),
        ("%memory profile tro", ["trovella"]), ("%memory profile s", ["show", "save"]),
        ("%memory profile show tro", ["trovella"]), ("%memory model ", ["list", "use", "drop", "remove"]),
        ("%memory model use ", ["nomic", "static", "minilm"]), ("%memory model use st", ["static"]),
        ("%memory profile show v", ["vault"]), ("%memory autoload ", ["on", "off", "status"]),
        # Python and other magics complete as before.
        ("people_c", ["people_count"]), ("%memse", ["%memsearch"]),
    ],
)  # fmt: skip
def test_offers(week, line: str, offers: list[str]) -> None:
    week.ip.user_ns |= {"question": "how?", "people_count": 3, "forest": 1, "cells": 2}
    found = week.complete(line)
    assert [offer for offer in offers if offer not in found] == []
    # Names of Python and files of the folder do not mix in.
    assert len(found) == 1 or line not in ALONE


@pytest.mark.parametrize("line", ["%memory index", "%memsearch --path", "%memsearch path:", "%memory backup"])
def test_paths(week, tmp_path: Path, line: str) -> None:
    for name in ("reports", "réport", "re view"):
        (tmp_path / name).mkdir()
    (tmp_path / "results.csv").write_text("λ")
    found = week.complete(f"{line}{'' if line.endswith(':') else ' '}{tmp_path}/re")
    assert {"reports/", "results.csv"} <= {f"re{offer.rpartition('/re')[2]}" for offer in found}
    assert f'"{tmp_path}/re view/"' in found


@pytest.mark.parametrize("what", ["pin", "unpin", "forget"])
def test_ids_of_the_last_search(week, what: str) -> None:
    ids = week.ids("%memsearch prices of Müller, merged frames")
    assert len(ids) >= 2
    assert week.complete(f"%memory {what} ") == ids
    assert week.complete(f"%memory {what} {ids[1][:9]}") == [ids[1]]


ASK = "print('loaded:', 'memsearch' in get_ipython().magics_manager.magics['line'], dir())"
HIDE = """
import importlib.util as u, sys
_find = u.find_spec
u.find_spec = lambda name, *a: None if name == 'jupyter_memory' else _find(name, *a)
sys.modules['jupyter_memory'] = None
"""


@pytest.fixture
def startup(home: Path) -> Path:
    return home / "ipython" / "profile_default" / "startup"


def new_shell(code: str) -> str:
    command = [sys.executable, "-m", "IPython", "--no-banner", "--colors=nocolor", "-c", code]
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=100)
    return done.stdout + done.stderr


def test_on_off_status_across_shells(startup: Path) -> None:
    """Turned on, a new shell has the magics, and no name of ours; turned off, the next one has not; twice is once."""
    shown = new_shell("%load_ext jupyter_memory\n%memory autoload\n%memory autoload on\n%memory autoload on")
    assert "off" in shown and shown.count("on: new kernels") == 2
    shown = new_shell(ASK)
    assert "loaded: True" in shown
    assert "_load_jupyter_memory" not in shown
    assert "off" in new_shell("%memory autoload off\n%memory autoload off")
    assert [file.name for file in startup.iterdir()] in ([], ["README"])
    assert "loaded: False" in new_shell(ASK)


def test_without_the_package_the_file_is_silent(startup: Path) -> None:
    new_shell("%load_ext jupyter_memory\n%memory autoload on")
    (startup / "00-hide.py").write_text(HIDE)
    shown = new_shell(ASK)
    assert "loaded: False" in shown
    assert "Error" not in shown
