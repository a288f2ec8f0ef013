"""The cells of scripts: as Jupytext, knitr, RStudio, Sphinx-Gallery, Databricks, marimo and Pluto write them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from inspect import cleandoc
from textwrap import dedent
from uuid import UUID

from jupyter_memory.ingest.readers.notebook import Cell
from jupyter_memory.text.code import PYTHON, cell_language, syntax_tree

# `[markdown]` and `[md]` after the mark of a cell make it prose, and so does `[raw]`, in the light format `active=""`.
_KIND = re.compile(r"\[(?:markdown|md|raw)\]|\bactive=\"\"")
# Options of Jupytext after the title: a mapping, or `tags=["a"]`.
_OPTIONS = re.compile(r"[ \t]\w+=|\{")
_HEADER_LINES = 200
# Where a header says that paragraphs are cells.
_LIGHT = re.compile(r"format_name:[ \t]*['\"]?(?:light|nomarker|bare)\b")


def between(
    text: str, marks: Iterable[re.Match[str]], begin: int = 0
) -> Iterator[tuple[re.Match[str] | None, str, int]]:
    """Yield the stretch above the first mark and one below each, with its mark and the line on which it begins."""
    found = list(marks)
    begins = [begin, *(mark.end() for mark in found)]
    ends = [*(mark.start() for mark in found), len(text)]
    line, counted = 1, 0
    for mark, first, last in zip([None, *found], begins, ends, strict=True):
        line, counted = line + text.count("\n", counted, first), first
        yield mark, text[first:last], line


def _percent_cells(text: str, comment: str) -> Iterator[Cell]:
    for mark, source, line in between(text, _mark(comment).finditer(text)):
        rest = mark["rest"] if mark else ""
        prose = _KIND.search(rest)
        if mark is None:
            source = _without_header(source, comment)
        elif prose:
            source = _uncommented(source, comment)
        if mark or source.strip():
            yield Cell(prose is None, source, line=line, title=title_in(rest), tags=tags_in(rest))


def _light_cells(text: str, comment: str) -> Iterator[Cell]:
    # A paragraph of comments is prose, any other one code, with the indented lines that follow it. A line such as
    # ``# + Title`` begins a cell that goes on to ``# -``, blank lines included.
    lines = _without_header(text, comment).split("\n")
    begins = re.compile(rf"^{re.escape(comment)} ?(?:\+|region\b)(?P<rest>|[ \t\[{{][^\n]*+)$")
    ends = re.compile(rf"^{re.escape(comment)} ?(?:-|endregion)[ \t]*+$")
    at = 0
    while at < len(lines):
        mark = begins.match(lines[at])
        if not mark and (not lines[at].strip() or ends.match(lines[at])):
            at += 1
            continue
        begin = at + 1 if mark else at
        if mark:
            at = begin
            while at < len(lines) and not (begins.match(lines[at]) or ends.match(lines[at])):
                at += 1
            rest = mark["rest"]
            is_prose = bool(_KIND.search(rest))
        else:
            # A blank line within quotes, or before an indented line, does not end it.
            quotes = 0
            while at < len(lines) and not begins.match(lines[at]):
                after = next((one for one in lines[at : at + 3] if one.strip()), "")
                if not lines[at].strip() and not quotes % 2 and not after[:1].isspace():
                    break
                if not lines[at].startswith(comment):
                    quotes += lines[at].count('"""') + lines[at].count("'''")
                at += 1
            is_prose = all(line.startswith(comment) for line in lines[begin:at])
            is_prose = is_prose and not lines[begin].startswith((f"{comment} %", f"{comment} !"))
            rest = ""
        source = "\n".join(lines[begin:at])
        source = _uncommented(source, comment) if is_prose else source
        yield Cell(not is_prose, source, line=begin + 1, title=title_in(rest), tags=tags_in(rest))


def title_in(rest: str) -> str:
    """Return the title in what follows the mark of a cell.

    >>> title_in(' Load [markdown] tags=["a"]')
    'Load'
    """
    return _OPTIONS.split(_KIND.sub("", rest), maxsplit=1)[0].strip(" \t#*-")


def _mark(comment: str) -> re.Pattern[str]:
    begin = "" if comment == "%" else re.escape(comment) + "[ \\t]?"
    return re.compile(rf"^{begin}%%(?P<rest>(?:[ \t][^\n]*)?)$", re.MULTILINE)


def _without_header(text: str, comment: str) -> str:
    lines = text.split("\n")
    header = _header(lines, comment)
    return "\n".join(["" if number in header else line for number, line in enumerate(lines)]) if header else text


def _header(lines: Sequence[str], comment: str) -> range:
    fence = f"{comment} ---"
    fences = [number for number, line in enumerate(lines[:_HEADER_LINES]) if line.rstrip() == fence]
    if len(fences) < 2 or any(line.strip() and not line.startswith(comment) for line in lines[: fences[0]]):
        return range(0)
    return range(fences[0], fences[1] + 1)


def _uncommented(source: str, comment: str) -> str:
    bare = source.strip()
    for quotes in ('"""', "'''"):
        if bare.startswith(quotes) and bare.endswith(quotes) and len(bare) >= 2 * len(quotes):
            return source.replace(quotes, "")
    lines = (line.removeprefix(comment).removeprefix(" ") for line in source.split("\n"))
    return "\n".join(lines)


# `tags=["a", "b"]` in Python, `tags=c("a", "b")` in R, `"tags": ["a"]` in JSON.
_TAGS = re.compile(r"\btags\"?[ \t]*+[=:][ \t]*+((?:c\(|\[)[^\])\n]*+|[^\s,\]})]++)")


def tags_in(rest: str) -> tuple[str, ...]:
    """Return the tags in what follows the mark of a cell.

    >>> tags_in(' Load tags=["parameters", "λ"]'), tags_in('{"tags": ["a"]}'), tags_in(" Load")
    (('parameters', 'λ'), ('a',), ())
    """
    found = _TAGS.search(rest)
    return listed_tags(found[1]) if found else ()


def listed_tags(value: str) -> tuple[str, ...]:
    """Return the tags of a list in Python, R, JSON or YAML.

    >>> listed_tags('c("a", "b")'), listed_tags("[hide-input]"), listed_tags("")
    (('a', 'b'), ('hide-input',), ())
    """
    words = value.strip().removeprefix("c(").strip("[]()").split(",")
    return tuple(tag for word in words if (tag := word.strip(" \t\"'")))


def script_cells(text: str, language: str, comment: str) -> Iterator[Cell] | None:
    """Return the cells of a script in which ``comment`` begins a line of comment; None where nothing divides it."""
    if text.startswith(f"{comment}{_DATABRICKS}"):
        return _databricks_cells(text, comment)
    if text.startswith(PLUTO):
        return _pluto_cells(text)
    if language == PYTHON and "marimo.App(" in text and (tree := syntax_tree(text)) is not None:
        return _marimo_cells(text, tree)
    if language == PYTHON and (opened := _GALLERY.match(text)) and _GALLERY_MARK.search(text):
        return _gallery_cells(text, opened.start(1))
    if "%%" in text and _mark(comment).search(text):
        return _percent_cells(text, comment)
    lines = text.split("\n") if "format_name:" in text else []
    if any(_LIGHT.search(lines[number]) for number in _header(lines, comment)):
        return _light_cells(text, comment)
    # With its comments for roxygen alone, a script is one.
    if language == "r" and _SPIN.search(text) and len(cells := list(_spin_cells(text))) > 1:
        return iter(cells)
    if language == "r" and _SECTION.search(text):
        parts = between(text, _SECTION.finditer(text))
        return (Cell(True, source, line=line, title=mark["name"] if mark else "") for mark, source, line in parts)
    return None


# Scripts of R: for `knitr::spin`, in which `#'` begins a line of prose and `#+` a chunk, or with RStudio's sections.

_SPIN = re.compile(r"^#(?:\+[ \t]*\S|'[ \t]*(?:---[ \t]*$|#{1,6}[ \t]))", re.MULTILINE)
_PROSE = re.compile(r"^(?:#'[^\n]*+(?:\n|\Z))++", re.MULTILINE)
_CHUNK = re.compile(r"^#[+-][ \t]*+(?P<label>[\w.-]*+)(?![ \t]*=)(?P<options>.*+)$", re.MULTILINE)
# What follows the comment of a function for roxygen, whose tags are such as `@param`.
_DOCUMENTED = re.compile(
    r"[^\s#][^\n=<]{0,200}(?:<-|=)[ \t]*function\b|set[A-Z]\w*\(|NULL[ \t]*$|[\"'][\w.]++[\"'][ \t]*$", re.MULTILINE
)
_ROXYGEN = re.compile(r"^#'[ \t]*@[a-z]", re.MULTILINE)
_SECTION = re.compile(r"^#+[ \t]*+(?P<name>\w[^\n]{0,200}?)[ \t]{0,20}(?:-{4,}+|={4,}+|#{4,}+)[ \t]*+$", re.MULTILINE)


def _spin_cells(text: str) -> Iterator[Cell]:
    prose = (
        block
        for block in _PROSE.finditer(text)
        if not (_ROXYGEN.search(block[0]) or _DOCUMENTED.match(text, block.end()))
    )
    for block, code, line in between(text, prose):
        if block:
            said = [one[2:].removeprefix(" ") for one in block[0].split("\n")]
            yield Cell(False, "\n".join(said), line=line - block[0].count("\n"))
        for chunk, source, below in between(code, _CHUNK.finditer(code)):
            label, options = (chunk["label"], chunk["options"]) if chunk else ("", "")
            # The line of a chunk stays where it has a caption.
            source = chunk[0] + source if chunk and "cap" in options else source
            if chunk or source.strip():
                yield Cell(True, source, label=label, line=line + below - 1, tags=tags_in(options))


# Examples of Sphinx-Gallery: a text in reStructuredText at the top, and below a mark in comments.

_GALLERY = re.compile(
    r"\s*+[ru]*+(\"\"\"|''')[^\n]*+\n(?:[^\n]++\n)??[^\n]++\n(?:={3,}+|-{3,}+|~{3,}+|\*{3,}+)[ \t]*+\n"
)
_GALLERY_MARK = re.compile(
    r"^(?:#{20,}+[ \t]*+|#[ \t]?%%[^\n]*+)$\n?(?P<prose>(?:#(?!#{19}|[ \t]?%%)[^\n]*+(?:\n|\Z))*+)", re.MULTILINE
)


def _gallery_cells(text: str, begin: int) -> Iterator[Cell]:
    quotes = text[begin : begin + 3]
    end = f"{text}{quotes}".find(quotes, begin + 3)
    yield Cell(False, text[begin + 3 : end], "rst", line=1 + text.count("\n", 0, begin))
    for mark, source, line in between(text, _GALLERY_MARK.finditer(text, end), end + 3):
        if mark and (prose := mark["prose"]):
            yield Cell(False, _uncommented(prose, "#"), "rst", line=line - prose.count("\n"))
        yield Cell(True, source, line=line)


# Notebooks of Databricks as source: commands between marks, in which other languages are comments behind MAGIC.

_DATABRICKS = " Databricks notebook source"


def _databricks_cells(text: str, comment: str) -> Iterator[Cell]:
    mark = re.compile(rf"^{re.escape(comment)} COMMAND -+[ \t]*$\n?", re.MULTILINE)
    magic, titled = f"{comment} MAGIC", f"{comment} DBTITLE "
    begin = text.find("\n") + 1 or len(text)
    for _, source, line in between(text, mark.finditer(text), begin):
        lines = source.strip("\n").split("\n")
        line += len(source) - len(source.lstrip("\n"))
        title = ""
        if lines[0].startswith(titled):
            title = lines.pop(0).removeprefix(titled).partition(",")[2].strip()
            line += 1
        if not lines or not lines[0].startswith(magic):
            yield Cell(True, "\n".join(lines), line=line, title=title)
            continue
        lines = [one.removeprefix(magic).removeprefix(" ") for one in lines]
        name, _, rest = lines[0].removeprefix("%").partition(" ")
        is_prose = lines[0].startswith("%md")
        language = cell_language("", f"%%{name}") if lines[0].startswith("%") and not is_prose else ""
        if is_prose or language:
            lines[0] = rest
        yield Cell(not is_prose, "\n".join(lines), language, line=line, title=title)


# Notebooks of marimo: functions whose bodies are the cells; calls whose text is one.

_MARIMO = {"mo.md": "markdown", "mo.sql": "sql", "app._unparsable_cell": ""}


def _marimo_cells(text: str, tree: ast.Module) -> Iterator[Cell]:
    lines = text.split("\n")
    for node in tree.body:
        by = {ast.unparse(one).partition("(")[0] for one in getattr(node, "decorator_list", ())}
        body: list[ast.stmt] = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and "app.cell" in by:
            body = [one for one in node.body if not isinstance(one, ast.Return)]
        elif isinstance(node, ast.With) and ast.unparse(node.items[0].context_expr).startswith("app.setup"):
            body = node.body
        elif isinstance(node, ast.Expr) or by & {"app.function", "app.class_definition"}:
            body = [node]
        # `mo.md("""…""")` alone is Markdown, `_df = mo.sql(f"""…""")` SQL.
        called = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr | ast.Assign) else None
        if isinstance(called, ast.Call) and called.args and (name := ast.unparse(called.func)) in _MARIMO:
            told, language = called.args[0], _MARIMO[name]
            said = "".join(
                str(part.value)
                if isinstance(part, ast.Constant)
                else f"{{{ast.unparse(getattr(part, 'value', part))}}}"
                for part in (told.values if isinstance(told, ast.JoinedStr) else [told])
            )
            line = told.lineno + len(said) - len(said.lstrip("\n"))
            yield Cell(language != "markdown", cleandoc(said), language, line=line)
        elif body and not isinstance(node, ast.Expr):
            # With the comments above it, which the tree does not have.
            first = body[0].lineno - 1
            while first and lines[first - 1].lstrip()[:1] in ("", "#"):
                first -= 1
            yield Cell(True, dedent("\n".join(lines[first : body[-1].end_lineno])), line=first + 1)


# Notebooks of Pluto: cells in the order in which they run, with the order in which they are shown below them.

PLUTO = "### A Pluto.jl notebook ###"
PLUTO_FRONT = re.compile(r"^#> ?([^\n]*\n)", re.MULTILINE)
_PLUTO_CELL = re.compile(r"^# ╔═╡ (Cell order:|[0-9a-f-]{36})[ \t]*$", re.MULTILINE)
_PLUTO_PLACE = re.compile(r"^# (?:╠═|╟─)([0-9a-f-]{36})", re.MULTILINE)
# The settings of a cell, what makes a comment of one that is disabled, and what holds the versions of packages.
_PLUTO_MARK = re.compile(r"^(?:# ╠═╡ [^\n]*+|#=╠═╡|[ \t]*+╠═╡ [^\n]*=#)$", re.MULTILINE)
_PLUTO_PACKAGES = {str(UUID(int=1)), str(UUID(int=2))}
_PLUTO_PROSE = re.compile(r'\s*+(?:md|cm)(?:"""((?:(?!""").)*+)"""|"((?:[^"\\]|\\.)*+)")[\s;]*+', re.DOTALL)


def _pluto_cells(text: str) -> Iterator[Cell]:
    cells: dict[str, Cell] = {}
    for mark, source, line in between(text, _PLUTO_CELL.finditer(text)):
        if mark is None:
            front = PLUTO_FRONT.findall(source)
            yield Cell(False, "".join(front), "toml", line=1 + source.count("\n", 0, source.find("\n#>") + 1))
            continue
        code = _PLUTO_MARK.sub("", source)
        if (prose := _PLUTO_PROSE.fullmatch(code)) and prose.lastindex:
            line += code.count("\n", 0, prose.start(prose.lastindex))
            cells[mark[1]] = Cell(False, dedent(prose[prose.lastindex]), label=mark[1], line=line)
        else:
            cells[mark[1]] = Cell(True, code, label=mark[1], line=line)
    shown = cells.pop("Cell order:", None)
    for id_ in dict.fromkeys([*(_PLUTO_PLACE.findall(shown.source) if shown else ()), *cells]):
        if id_ in cells and id_ not in _PLUTO_PACKAGES:
            yield cells[id_]
