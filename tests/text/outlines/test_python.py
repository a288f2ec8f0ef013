"""Claims about the outline of Python."""

from __future__ import annotations

from jupyter_memory.text import Block, around, definitions_and_places, outline

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
