"""What the pages and notebooks tell people to type exists: commands, subcommands and options."""

from __future__ import annotations

import re
from pathlib import Path

import click
import nbformat
import pytest

from jupyter_memory.cli.program import cli, commands
from jupyter_memory.interface import ADD, SEARCH, Option
from jupyter_memory.magics.magics import IN_A_NOTEBOOK
from jupyter_memory.magics.memeval import MEMEVAL
from jupyter_memory.magics.subcommands import MEMORY

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "PRIVACY.md", *(ROOT / "docs").glob("*.md")])
NOTEBOOKS = sorted((ROOT / "notebooks").glob("0*.ipynb"))
# In backticks to their end, elsewhere to the comment that stands some spaces behind.
MAGIC = re.compile(r"(`)?%{1,2}(memsearch|memadd|memory|memeval)\b(?!\?)((?(1)[^`\n]*|(?:(?!  )[^`\n])*))")
COMMAND = re.compile(r"(?:`|^ *|\s{4})jupyter-memory (?:--store \S+ )?(?!keeps)([a-z]+)\b([^`\n]*)", re.MULTILINE)
FLAG = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-[a-z])(?![\w-])")


def text_of(page: Path) -> str:
    """Return what a person reads of a page or a notebook."""
    if page.suffix == ".ipynb":
        return "\n\n".join(cell.source for cell in nbformat.read(page, as_version=4).cells)
    return page.read_text(encoding="utf-8")


def flags(options: tuple[Option, ...]) -> set[str]:
    """Return every way to write these options."""
    return {flag for option in options for flag in option.flags}


def known(magic: str, words: list[str]) -> set[str]:
    """Return the options of a magic or of its subcommand, which must exist."""
    if magic in ("memsearch", "memadd"):
        return flags((*SEARCH, *IN_A_NOTEBOOK) if magic == "memsearch" else ADD)
    table = (MEMEVAL if magic == "memeval" else MEMORY).commands()
    name = re.sub(r"\W+$", "", words[0])
    assert name in table, f"%{magic} {name}"
    return flags(tuple(table[name].options))


def options_of(command: str) -> set[str]:
    """Return the options of a command and of the commands below it."""
    context = click.Context(cli)
    found = cli.get_command(context, command)
    assert found is not None
    below = (
        [found.get_command(context, name) for name in found.list_commands(context)]
        if isinstance(found, click.Group)
        else []
    )
    return {"--help"} | {flag for one in (found, *below) if one for param in one.params for flag in param.opts}


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS], ids=lambda page: page.name)
def test_magics_that_are_told(page: Path) -> None:
    """A magic that a page names has that subcommand and those options."""
    for found in MAGIC.finditer(text_of(page)):
        words = found[3].split()
        if found[2] in ("memory", "memeval") and not (words and words[0][0].isalpha()):
            continue
        options = known(found[2], words) | {"--help"}
        assert [flag for flag in FLAG.findall(found[3]) if flag not in options] == [], found[0]


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS], ids=lambda page: page.name)
def test_commands_that_are_told(page: Path) -> None:
    """A command that a page names exists, with those options."""
    for found in COMMAND.finditer(text_of(page)):
        assert found[1] in commands(), found[0]
        said = re.split(r"\s{4}|  →", found[2])[0]
        assert [flag for flag in FLAG.findall(said) if flag not in options_of(found[1])] == [], found[0]


def test_there_is_something_to_compare() -> None:
    """The pages name many magics and commands, so the patterns read them."""
    told = "\n".join(map(text_of, [*PAGES, *NOTEBOOKS]))
    assert len(MAGIC.findall(told)) > 100 and len(COMMAND.findall(told)) > 30
    assert {found[1] for found in COMMAND.finditer(told)} >= set(commands()) - {"unpin"}
    assert all(f"%memory {name}" in told for name in MEMORY.commands())
    assert all(flag in told or len(flag) == 2 for flag in flags(SEARCH))
