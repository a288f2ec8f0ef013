"""Help and pages say the same: every option with its words, every command in its table."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
import shells

from jupyter_memory.cli.program import cli, commands
from jupyter_memory.interface import ADD, SEARCH, Option
from jupyter_memory.interface.options import BROWSE
from jupyter_memory.magics.magics import IN_A_NOTEBOOK
from jupyter_memory.magics.subcommands import MEMORY

DOCS = Path(__file__).parents[2] / "docs"
MAGICS = (DOCS / "magics.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (.+?) \| (.+) \|$", re.MULTILINE)

# Commands whose options are told by a page of their own.
ELSEWHERE = {"model": "models.md", "history": "history.md"}


def section(title: str) -> str:
    """Return what the page says below a heading."""
    return MAGICS.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def written(option: Option) -> str:
    """Return an option as the first column of a table has it."""
    *short, last = option.flags
    return ", ".join(
        [*(f"`{flag}`" for flag in short), f"`{last} {option.metavar}`" if option.metavar else f"`{last}`"]
    )


@pytest.mark.parametrize(("magic", "options"), [("memsearch", (*SEARCH, *IN_A_NOTEBOOK)), ("memadd", ADD)])
def test_the_options_of_a_magic(magic: str, options: tuple[Option, ...]) -> None:
    """The table of the page has the options of the help, in the same order and with the same words."""
    rows = [row for row in ROW.findall(section(f"%{magic}")) if row[0].startswith("`-")]
    assert rows == [(written(option), option.help) for option in options]


def test_the_question_mark_says_what_help_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """`%memsearch?` shows the help that `%memsearch --help` prints, and so do the other magics."""
    for name in ("HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    shell = shells.made()
    shell.run_cell("%load_ext jupyter_memory")
    try:
        for magic in ("memsearch", "memadd", "memfix"):
            capsys.readouterr()
            shell.run_line_magic(magic, "--help")
            printed = capsys.readouterr().out.strip()
            assert shell.object_inspect(f"%{magic}")["docstring"].strip() == printed and len(printed) > 200
    finally:
        shell.run_line_magic("unload_ext", "jupyter_memory")


def test_the_table_of_memory() -> None:
    """Every command has a row, and every option of its own is in one of its rows."""
    rows = ROW.findall(section("%memory"))
    told = {name: [] for name in MEMORY.commands()}
    for first, meaning in rows:
        for name in re.findall(r"%memory (\w+)", first):
            told[name].append(first + meaning)
    assert [name for name, said in told.items() if not said] == []
    for name, command in MEMORY.commands().items():
        own = [option.flags[-1] for option in command.options if option not in BROWSE]
        page = (DOCS / ELSEWHERE[name]).read_text(encoding="utf-8") if name in ELSEWHERE else ""
        assert [flag for flag in own if flag not in page + " ".join(told[name])] == [], name


def test_the_commands_of_a_terminal() -> None:
    """The page shows every command, and --help shows every option with the same words as the magics."""
    page = (DOCS / "command-line.md").read_text(encoding="utf-8")
    assert [name for name in commands() if f"jupyter-memory {name}" not in page] == []
    context = click.Context(cli)
    found = cli.get_command(context, "search")
    assert found is not None
    shown = " ".join(found.get_help(context).split())
    assert [option.flags for option in SEARCH if option.help.split("; ")[0] not in shown] == []
