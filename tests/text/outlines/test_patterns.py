"""Claims about the outlines of code and documents."""

from __future__ import annotations

import kinds
import pytest

from jupyter_memory.text import outline


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
