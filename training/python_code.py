"""Pairs from Python: a docstring's sentence and the body without it, a name and its body, a comment and its code."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator

from training.pairs import LONGEST_CODE, LONGEST_PROSE, Pair
from training.text import asks, first_sentence, one_line, plain, words

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_LONGEST_FILE = 400_000
_LONGEST_BODY = 200
_PROMPT = re.compile(r"(?m)^\s*(?:>>>|\.\.\.) ?")
_COMMENT = re.compile(r"\s*#\s?[^!#\-=*]")
_REMARK = re.compile(r"noqa|type:|pragma|copyright|license|pylint|TODO|fmt:|mypy", re.IGNORECASE)
_EXAMPLE = re.compile(
    r"((?:[^\n>][^\n]+\n){1,4})\s*\n?((?:\s*(?:>>>|\.\.\.).*\n?(?:(?!\s*>>>|\s*\n).*\n?)*)+)",
)
_PARAMETER = re.compile(r"(?m)^(\w+) ?: ([^\n]{2,60})\n((?:    +[^\n]+\n?)+)")


def python_pairs(source: str) -> Iterator[Pair]:
    """Yield the pairs of a module; none of one that cannot be parsed."""
    if len(source) > _LONGEST_FILE:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    lines = source.split("\n")
    for node in ast.walk(tree):
        if isinstance(node, Definition) and 2 <= (node.end_lineno or 0) - node.lineno + 1 <= _LONGEST_BODY:
            yield from _definition_pairs(node, lines)
    yield from comment_pairs(source)


def comment_pairs(source: str) -> Iterator[Pair]:
    """Yield each comment with the lines of code below it."""
    for block in re.finditer(r"(?m)((?:^[ \t]*#.*\n)+)((?:^[ \t]*[^\s#].*\n?){1,12})", source):
        if _COMMENT.match(block.group(1)):
            said = one_line(" ".join(line.strip().lstrip("#") for line in block.group(1).splitlines()))
            if asks(said, 3) and len(said) < 250 and not _REMARK.search(said):
                yield Pair(said, textwrap.dedent(block.group(2)).strip()[:LONGEST_CODE], "comment")


def _definition_pairs(node: Definition, lines: list[str]) -> Iterator[Pair]:
    docstring = ast.get_docstring(node)
    body = _body(node, lines, docstring is not None)
    works = len(node.body) > (docstring is not None)
    if docstring and body:
        yield from _docstring_pairs(docstring, body if works else "", node.name)
    name = words(node.name)
    if len(name) >= 3 and works and len(body) > 80 and name[0] != "init":
        yield Pair(" ".join(name), re.sub(rf"\b{re.escape(node.name)}\b", "f", body)[:LONGEST_CODE], "name")


def _body(node: Definition, lines: list[str], documented: bool) -> str:
    """Return the source of a definition without its docstring, empty where both are on one line."""
    first, last = node.lineno - 1, node.end_lineno
    if not documented:
        return textwrap.dedent("\n".join(lines[first:last])).strip()
    said = node.body[0]
    if said.lineno - 1 == first:
        return ""
    return textwrap.dedent("\n".join(lines[first : said.lineno - 1] + lines[said.end_lineno : last])).strip()


def _docstring_pairs(docstring: str, body: str, name: str) -> Iterator[Pair]:
    first = plain(first_sentence(docstring))
    if asks(first, 3):
        if len(body) > 60:
            yield Pair(first, body[:LONGEST_CODE], "docstring")
        rest = one_line(plain(docstring[len(docstring.split("\n\n")[0]) :]))
        if len(rest) > 80 and not rest.startswith(">>>"):
            yield Pair(first, rest[:LONGEST_PROSE], "docstring-rest")
    yield from _example_pairs(docstring)
    for found in _PARAMETER.finditer(docstring):
        meaning = plain(first_sentence(textwrap.dedent(found.group(3))))
        if asks(meaning, 4):
            yield Pair(meaning, f"{name}({found.group(1)}: {found.group(2)})", "parameter")


def _example_pairs(docstring: str) -> Iterator[Pair]:
    for found in _EXAMPLE.finditer(docstring):
        said = re.sub(r"^Examples?\W+", "", plain(one_line(found.group(1)))).strip(" :-")
        code = _PROMPT.sub("", found.group(2)).strip()
        if asks(said, 3) and len(code) > 15:
            yield Pair(said[-250:], code[:LONGEST_CODE], "example")
