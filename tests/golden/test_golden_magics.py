"""What the magics show: help, results, lists and errors, as a person sees them in a notebook."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import golden_shell
import goldens
import pytest

SUBCOMMANDS = (
    "status", "index", "list", "explain", "pin", "unpin", "forget", "profile", "model", "config", "autoload", "doctor",
    "backup",
)  # fmt: skip
OF_MEMEVAL = ("add", "list", "forget", "run")
# In the order of a session; what lies in the future counts as new, whenever the test is run.
CELLS = (
    "%memory status",
    "%memsearch λ",
    "%memsearch",
    '%memadd --title "Prices" --tag decision --on 2096-03-02 we scaled the prices to zero mean',
    '%memadd --title "Müller" --tag people --on 2096-03-03 --pin Frau Müller wants λ = 0.3 in the ridge model',
    "%%memadd --title Merge --on 2096-03-04\nmerge frames with a left join\non customer_id",
    "%memsearch prices of the ridge",
    "%memsearch -p trovella --scan prices",
    "%memory explain 1",
    "%memory explain 7",
    "%memsearch prices of the ridge",
    "%memeval add 1",
    "%memeval list",
    "%memeval forget none",
    "%memsearch tag:people",
    "%memsearch prices --tag decison",
    "%memory list",
    "%memory status",
    "%memory profile",
    "%memory profile show trovella",
    "%memory profile vault",
    "%memsearch prices",
    "%memory profile save mine.toml",
    "%memory profile ./mine.toml",
    "%memory config",
    "%memory autoload status",
    "%memory forget --tag people",
    "%memory forget --everything --yes",
    "%memory statsu",
    "%memory search prices",
    "%memory index",
    "%memory index /nowhere/at/all",
    "%memory forget",
    "%memory pin nosuchid",
    "%memory profile covalense",
    "%memory model use nomik",
    "%memsearch -p covalense prices",
    "%memsearch --since someday prices",
    "%memsearch --var nothing",
    "%memsearch kind:sheet",
    "%memadd",
    "%memeval add 3",
)


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[golden_shell.Plain]:
    """Keep everything in a folder of the test, whose path is as long in every run."""
    with tempfile.TemporaryDirectory(prefix="g-") as folder:
        work = Path(folder).resolve()
        for name, value in {
            "HOME": work, "IPYTHONDIR": work / "ipython", "JUPYTER_CONFIG_DIR": work / "config",
            "JUPYTER_DATA_DIR": work / "data", "JUPYTER_CONFIG_PATH": work / "config", "COLUMNS": "110",
        }.items():  # fmt: skip
            monkeypatch.setenv(name, str(value))
        monkeypatch.chdir(work)
        yield golden_shell.Plain({str(work): "/home/ada"})


@pytest.fixture
def notebook(place: golden_shell.Plain) -> Iterator[golden_shell.Notebook]:
    """A shell with the magics."""
    shell = golden_shell.Notebook()
    yield shell
    shell.close()


def test_help(notebook, place):
    """The help of every magic and every subcommand is the golden one."""
    cells = ["%memory", "%memeval", "%memsearch --help", "%memadd --help"]
    cells += [f"%memory {name} --help" for name in SUBCOMMANDS] + [f"%memeval {name} --help" for name in OF_MEMEVAL]
    goldens.check("cli/magics.help", {cell: golden_shell.lines(notebook.run(cell), place) for cell in cells})


def test_cells(notebook, place):
    """Each cell of a session shows what the golden file says."""
    found = {}
    for number, cell in enumerate(CELLS, start=1):
        found[f"{number} {cell}"] = golden_shell.lines(notebook.run(cell), place)
    goldens.check("cli/magics", found)
