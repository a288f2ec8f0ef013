"""Help, pages and notebooks say the same: what they tell people to type exists, and every option is told."""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

import nbformat
import pytest
import shells

from jupyter_memory.cli import main
from jupyter_memory.interface import ADD, SEARCH

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MAGICS = (DOCS / "magics.md").read_text(encoding="utf-8")
PAGES = sorted([ROOT / "README.md", ROOT / "PRIVACY.md", *DOCS.glob("*.md"), *(ROOT / "notebooks").glob("0*.ipynb")])
# Commands whose options are told by a page of their own.
ELSEWHERE = {"model": "models.md", "history": "history.md"}
# In backticks to their end, elsewhere to the comment that stands some spaces behind.
MAGIC = re.compile(r"(`)?%{1,2}(memsearch|memadd|memory|memeval)\b(?!\?)((?(1)[^`\n]*|(?:(?!  )[^`\n])*))")
COMMAND = re.compile(r"(?:`|^ *|\s{4})jupyter-memory (?:--store \S+ )?(?!keeps)([a-z]+)\b([^`\n]*)", re.MULTILINE)
FLAG = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-[a-z])(?![\w-])")
ROW = re.compile(r"^\| (.+?) \| (.+) \|$", re.MULTILINE)
# An option in help: its flags, and its words after two blanks or on the next line.
OPTION = re.compile(r"^  (-\S.*?)(?:  +|\n +)(\S.*?)(?=\n  -|\n\n|\Z)", re.MULTILINE | re.DOTALL)


def text_of(page: Path) -> str:
    if page.suffix == ".ipynb":
        return "\n\n".join(cell.source for cell in nbformat.read(page, as_version=4).cells)
    return page.read_text(encoding="utf-8")


def options_in(help_: str) -> list[tuple[list[str], str]]:
    """Return the flags of each option in a help, with its words on one line."""
    _, _, listed = help_.replace("\nOptions:\n", "\noptions:\n").partition("\noptions:\n")
    return [
        (FLAG.findall(flags), " ".join(words.replace("[x>=1]", "").split())) for flags, words in OPTION.findall(listed)
    ]


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """Give a function that returns what a magic prints in a shell with the extension."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
            patch.setenv(name, str(tmp_path_factory.mktemp("home")))
        ip = shells.made()
        ip.run_line_magic("load_ext", "jupyter_memory")

        @cache
        def printed(line: str) -> str:
            with redirect_stdout(io.StringIO()) as written:
                if line.endswith("?"):
                    return ip.object_inspect(f"%{line[:-1]}")["docstring"]
                ip.run_line_magic(*line.partition(" ")[::2])
            return written.getvalue()

        yield printed
        ip.run_line_magic("unload_ext", "jupyter_memory")


@cache
def terminal(*arguments: str) -> str:
    with redirect_stdout(io.StringIO()) as written:
        assert main(list(arguments)) == 0
    return written.getvalue()


def commands(*group: str) -> list[str]:
    # Those of a group stand under one heading, those of the program under several.
    listed = re.split(r"\n(?:Commands|First steps):\n", terminal(*group, "--help"), maxsplit=1)[1:]
    return re.findall(r"^  (\w+) +\w", "".join(listed), re.MULTILINE)


def test_help_is_in_groups(shell: Callable[[str], str]) -> None:
    """The terminal and the notebook show the same groups in the same order, and no command without a group."""
    titles = ["First steps", "Search", "Keep", "The store", "Agents and teams", "Measure"]
    assert re.findall(r"^(\S.*):\n  \w", terminal("--help").partition("\nOptions:\n")[2], re.MULTILINE) == titles
    found = re.findall(r"^([A-Z][a-z ]+)$", shell("memory"), re.MULTILINE)
    assert found == [title for title in titles if title in found] and found[:2] == titles[:2]


def flags_of(command: str) -> set[str]:
    helps = [terminal(command, "--help"), *(terminal(command, below, "--help") for below in commands(command))]
    return {flag for text in helps for flags, _ in options_in(text) for flag in flags}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_is_told_exists(shell: Callable[[str], str], page: Path) -> None:
    """A magic or a command that a page names has that subcommand and those options."""
    for found in MAGIC.finditer(text_of(page)):
        magic, words = found[2], found[3].split()
        if magic in ("memory", "memeval"):
            if not (words and words[0][0].isalpha()):
                continue
            name = re.sub(r"\W+$", "", words[0])
            assert re.search(rf"^%{magic} {name}\b", shell(magic), re.MULTILINE), found[0]
            magic = f"{magic} {name}"
        known = {"--help", *(flag for flags, _ in options_in(shell(f"{magic} --help")) for flag in flags)}
        assert [flag for flag in FLAG.findall(found[3]) if flag not in known] == [], found[0]
    for found in COMMAND.finditer(text_of(page)):
        assert found[1] in commands(), found[0]
        said = re.split(r"\s{4}|  →", found[2])[0]
        assert [flag for flag in FLAG.findall(said) if flag not in flags_of(found[1])] == [], found[0]


def subcommands(shell: Callable[[str], str]) -> list[str]:
    return re.findall(r"^%memory (\w+)", shell("memory"), re.MULTILINE)


def test_what_exists_is_told(shell: Callable[[str], str]) -> None:
    """The pages name every command, subcommand and option of a search, so the patterns read them."""
    told = "\n".join(map(text_of, PAGES))
    assert len(MAGIC.findall(told)) > 100 and len(COMMAND.findall(told)) > 30
    assert len(commands()) > 25 and len(subcommands(shell)) > 25
    assert {found[1] for found in COMMAND.finditer(told)} >= set(commands()) - {"unpin"}
    page = (DOCS / "command-line.md").read_text(encoding="utf-8")
    assert [name for name in commands() if f"jupyter-memory {name}" not in page] == []
    assert all(f"%memory {name}" in told for name in subcommands(shell))
    assert all(flag in told or len(flag) == 2 for option in SEARCH for flag in option.flags)


def section(title: str) -> str:
    return MAGICS.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize(("magic", "options"), [("memsearch", SEARCH), ("memadd", ADD)])
def test_the_options_of_a_magic(shell: Callable[[str], str], magic: str, options) -> None:
    """The table of the page has the options of the help, in the same order and with the same words."""
    rows = [row for row in ROW.findall(section(f"%{magic}")) if row[0].startswith("`-")]
    assert [(FLAG.findall(flags), words) for flags, words in rows] == options_in(shell(f"{magic} --help"))
    shown = "\n".join(first.replace("`", "") for first, _ in rows)
    assert all(f"{one.flags[-1]} {one.metavar}".strip() in shown for one in options)


@pytest.mark.parametrize("magic", ["memsearch", "memadd", "memfix"])
def test_the_question_mark_says_what_help_says(shell: Callable[[str], str], magic: str) -> None:
    """`%memsearch?` shows the help that `%memsearch --help` prints, and so do the other magics."""
    # The text behind `?` is made when the magics are loaded, as wide as the terminal was then.
    printed = shell(f"{magic} --help").split()
    assert shell(f"{magic}?").split() == printed and len(printed) > 50


def test_the_table_of_memory(shell: Callable[[str], str]) -> None:
    """Every command has a row, and every option of its own is in one of its rows, or in a page of its own."""
    told: dict[str, str] = dict.fromkeys(subcommands(shell), "")
    for first, meaning in ROW.findall(section("%memory")):
        for name in re.findall(r"%memory (\w+)", first):
            told[name] += first + meaning
    shared = {option.flags[-1] for option in SEARCH}
    for name, said in told.items():
        own = [flags[-1] for flags, _ in options_in(shell(f"memory {name} --help"))]
        page = (DOCS / ELSEWHERE[name]).read_text(encoding="utf-8") if name in ELSEWHERE else ""
        assert name != "forget" or "--everything" in own
        assert said and [flag for flag in own if flag not in page + said and flag not in shared] == [], name


def test_a_terminal_says_what_a_magic_says() -> None:
    """--help of a search shows every option with the same words as the magics."""
    told = {flags[-1]: words for flags, words in options_in(terminal("search", "--help"))}
    assert [
        option.flags for option in SEARCH if not told[option.flags[-1]].startswith(option.help.split("; ")[0])
    ] == []


def test_every_bound_of_an_agent_is_explained() -> None:
    """The page about agents tells each option that connects a client."""
    page = (DOCS / "agents.md").read_text(encoding="utf-8")
    asked = [flags[-1] for flags, _ in options_in(terminal("connect", "--help"))]
    assert len(asked) > 10
    assert [flag for flag in asked if flag not in page] == [flag for flag in asked if flag in ("--yes", "--help")]
