"""The outlines of code and documents."""

from __future__ import annotations

import kinds
import pytest

from jupyter_memory.text import Block, around, definitions_and_places, outline


@pytest.mark.parametrize(
    ("lang", "source", "names"),
    [
        ("r", kinds.R, [(1, "Load data"), (1, "net_of_tax")]),
        ("julia", kinds.JULIA, [(1, "Tariffs"), (1, "net!"), (1, "area")]),
        ("sql", kinds.SQL, [(1, "net.tariffs"), (1, ""), (1, "log")]),
        ("bash", kinds.BASH, [(1, "build"), (1, "deploy")]),
        ("javascript", kinds.JAVASCRIPT, [(1, "Store"), (2, "get"), (1, "clean")]),
        ("java", kinds.JAVA, [(1, "Store"), (2, "add")]),
        ("cpp", kinds.CPP, [(1, "tariffs"), (1, "Store"), (2, "get"), (1, "Store::add")]),
        ("rust", kinds.RUST, [(1, "Store"), (1, "impl<T> Store<T>"), (2, "add")]),
        ("go", kinds.GO, [(1, "Add"), (1, "Store")]),
        ("matlab", kinds.SAMPLES[".m"], [(1, "net")]),
        ("sas", kinds.SAMPLES[".sas"], [(1, "data work.prices"), (1, "proc means")]),
        ("stan", kinds.SAMPLES[".stan"], [(1, "data"), (1, "model")]),
        ("scala", kinds.SAMPLES[".scala"], [(1, "Main"), (2, "net")]),
        ("cobol", "IDENTIFICATION DIVISION.", []),
    ],
)
def test_the_blocks_of_code_are_named(lang: str, source: str, names: list[tuple[int, str]]) -> None:
    """Functions and types are found in each language; what is within one has the second level."""
    assert [(one.level, one.name) for one in outline(lang, source)] == names


def test_a_block_begins_with_its_comments_and_ends_with_its_brace() -> None:
    """What documents a function belongs to it; what comes after it does not."""
    source = kinds.R + "prices <- net_of_tax(tariffs)\n"
    [_, found] = outline("r", source)
    assert source[found.start : found.end].startswith("#' Net of tax")
    assert source[found.end :] == "prices <- net_of_tax(tariffs)\n"


@pytest.mark.parametrize(
    ("lang", "source", "names"),
    [
        ("latex", kinds.LATEX, [(3, "Net of tax"), (4, "Rates")]),
        ("org", kinds.ORG, [(1, "Net of tax"), (2, "Rates")]),
        ("asciidoc", kinds.ASCIIDOC, [(1, "Tariffs"), (2, "Net of tax")]),
        ("markdown", "# Tariffs", []),
    ],
)
def test_the_sections_of_documents_are_named(lang: str, source: str, names: list[tuple[int, str]]) -> None:
    """Titles are as people read them, without commands, states and tags."""
    assert [(one.level, one.name) for one in outline(lang, source)] == names


SOURCE = '''\
import os

# Keeps tariffs.
@final
@registered(
    "store",
)
class Store(Base):
    """Tariffs."""

    rate = 0.081

    @property
    def net(self) -> float:
        return 1.0


RATE = 0.081


async def fetch(
    url: str,
) -> bytes:
    """Fetch the tariffs of a city."""
    def inner(): ...
    return b""
'''


def blocks(source: str) -> list[Block]:
    read = definitions_and_places("file", "python", source)
    assert read is not None
    return outline("python", source, read[1])


def test_classes_methods_and_functions_are_blocks() -> None:
    """The functions right within a class or function have the second level."""
    assert [(one.level, one.name) for one in blocks(SOURCE)] == [(1, "Store"), (2, "net"), (1, "fetch"), (2, "inner")]


def test_a_block_begins_with_decorators_and_ends_before_the_next_statement() -> None:
    """Decorators of several lines and comments belong to what they decorate, a constant below does not."""
    store, net, fetch, _ = blocks(SOURCE)
    assert SOURCE[store.start :].startswith("# Keeps tariffs.\n@final")
    assert SOURCE[store.end :].startswith("RATE = 0.081")
    assert SOURCE[net.start :].startswith("    @property")
    assert fetch.end == len(SOURCE)


def test_a_long_block_says_how_it_began() -> None:
    """The chunk in the middle of a long function has its signature and the first line of its docstring."""
    long = SOURCE + "    x = 1\n" * 200
    assert blocks(long)[2].about == "async def fetch( url: str, ) -> bytes: Fetch the tariffs of a city."
    assert blocks(SOURCE)[2].about == ""


def test_the_blocks_around_a_place() -> None:
    """A place within a method has the class before it, one between functions has nothing around it."""
    found = blocks(SOURCE)
    places = [0, SOURCE.index("return 1.0"), SOURCE.index("RATE = 0.081"), SOURCE.index("return b")]
    names = [[one.name for one in of_it] for of_it in around(found, places)]
    assert names == [[], ["Store", "net"], [], ["fetch"]]


def test_what_python_cannot_read_has_no_blocks() -> None:
    """A syntax error, or another version of Python, leaves the text as it is."""
    assert blocks("def f(:\n    pass\n") == []
