"""The cells of scripts: as Jupytext, knitr, RStudio, Sphinx-Gallery, Databricks and marimo write them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from inspect import cleandoc
from itertools import pairwise
from textwrap import dedent

from jupyter_memory.ingest.readers.notebook import Cell
from jupyter_memory.text.code import PYTHON, cell_language, syntax_tree

# `[markdown]` and `[md]` after the mark of a cell make it prose, and so does `[raw]`, in the light format `active=""`.
_KIND = re.compile(r"\[(?:markdown|md|raw)\]|\bactive=\"\"")
# Options of Jupytext after the title: a mapping, or `tags=["a"]`.
_OPTIONS = re.compile(r"[ \t]\w+=|\{")
_HEADER_LINES = 200
# Where a header says that paragraphs are cells.
_LIGHT = re.compile(r"format_name:[ \t]*['\"]?(?:light|nomarker|bare)\b")


def _percent_cells(text: str, comment: str) -> Iterator[Cell]:
    marks = list(_mark(comment).finditer(text))
    line, counted = 1, 0
    before = _without_header(text[: marks[0].start()], comment)
    if before.strip():
        yield Cell(True, before, line=1)
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=True):
        rest = mark["rest"]
        prose = _KIND.search(rest)
        begin = min(mark.end() + 1, end)
        line, counted = line + text.count("\n", counted, begin), begin
        source = _uncommented(text[begin:end], comment) if prose else text[begin:end]
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
            at = _end_of_paragraph(lines, begin, begins, comment)
            is_prose = all(line.startswith(comment) for line in lines[begin:at])
            is_prose = is_prose and not lines[begin].startswith((f"{comment} %", f"{comment} !"))
            rest = ""
        source = "\n".join(lines[begin:at])
        source = _uncommented(source, comment) if is_prose else source
        yield Cell(not is_prose, source, line=begin + 1, title=title_in(rest), tags=tags_in(rest))


def _end_of_paragraph(lines: Sequence[str], at: int, begins: re.Pattern[str], comment: str) -> int:
    # A blank line within quotes, or before an indented line, does not end it.
    quotes = 0
    while at < len(lines) and not begins.match(lines[at]):
        line = lines[at]
        if not line.strip() and not quotes % 2:
            after = next((one for one in lines[at : at + 3] if one.strip()), "")
            if not after[:1].isspace():
                break
        if not line.startswith(comment):
            quotes += line.count('"""') + line.count("'''")
        at += 1
    return at


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
        return _section_cells(text)
    return None


# Scripts of R: for `knitr::spin`, in which `#'` begins a line of prose and `#+` a chunk, or with RStudio's sections.

_SPIN = re.compile(r"^#(?:\+[ \t]*\S|'[ \t]*(?:---[ \t]*$|#{1,6}[ \t]))", re.MULTILINE)
_CHUNK = re.compile(r"#[+-][ \t]*+(?P<label>[\w.-]*+)(?![ \t]*=)(?P<options>.*+)")
# What follows the comment of a function for roxygen, whose tags are such as `@param`.
_DOCUMENTED = re.compile(
    r"[^\s#][^\n=<]{0,200}(?:<-|=)[ \t]*function\b|set[A-Z]\w*\(|NULL[ \t]*$|[\"'][\w.]++[\"'][ \t]*$"
)
_ROXYGEN = re.compile(r"#'[ \t]*@[a-z]")
_SECTION = re.compile(r"^#+[ \t]*+(?P<name>\w[^\n]{0,200}?)[ \t]{0,20}(?:-{4,}+|={4,}+|#{4,}+)[ \t]*+$", re.MULTILINE)


def _spin_cells(text: str) -> Iterator[Cell]:
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        begin, end = at, _end_of_prose(lines, at)
        if not lines[at].strip():
            at += 1
            continue
        if end > begin:
            at = end
            source = "\n".join(line[2:].removeprefix(" ") for line in lines[begin:end])
            yield Cell(False, source, line=begin + 1)
            continue
        chunk = _CHUNK.fullmatch(lines[at])
        at = _after_roxygen(lines, at)
        while at < len(lines) and not _CHUNK.fullmatch(lines[at]) and _end_of_prose(lines, at) == at:
            at = _after_roxygen(lines, at)
        # The line of a chunk stays where it has a caption.
        first = begin if chunk is None or "cap" in chunk["options"] else begin + 1
        label, tags = (chunk["label"], tags_in(chunk["options"])) if chunk else ("", ())
        yield Cell(True, "\n".join(lines[first:at]), label=label, line=first + 1, tags=tags)


def _after_roxygen(lines: Sequence[str], at: int) -> int:
    # The line after this one, or after the comment that it begins.
    end = at + 1
    while lines[at].startswith("#'") and end < len(lines) and lines[end].startswith("#'"):
        end += 1
    return end


def _end_of_prose(lines: Sequence[str], at: int) -> int:
    end = at
    while end < len(lines) and lines[end].startswith("#'"):
        end += 1
    is_roxygen = any(map(_ROXYGEN.match, lines[at:end])) or (end < len(lines) and _DOCUMENTED.match(lines[end]))
    return at if is_roxygen else end


def _section_cells(text: str) -> Iterator[Cell]:
    marks = list(_SECTION.finditer(text))
    yield Cell(True, text[: marks[0].start()], line=1)
    line = text.count("\n", 0, marks[0].start()) + 1
    for mark, after in zip(marks, (*(one.start() for one in marks[1:]), len(text)), strict=True):
        source = text[mark.end() + 1 : after]
        yield Cell(True, source, line=line + 1, title=mark["name"])
        line += text.count("\n", mark.start(), after)


# Examples of Sphinx-Gallery: a text in reStructuredText at the top, and below a mark in comments.

_GALLERY = re.compile(
    r"\s*+[ru]*+(\"\"\"|''')[^\n]*+\n(?:[^\n]++\n)??[^\n]++\n(?:={3,}+|-{3,}+|~{3,}+|\*{3,}+)[ \t]*+\n"
)
_GALLERY_MARK = re.compile(r"^(?:#{20,}+[ \t]*+|#[ \t]?%%[^\n]*+)$\n?", re.MULTILINE)


def _gallery_cells(text: str, begin: int) -> Iterator[Cell]:
    end = text.find(text[begin : begin + 3], begin + 3)
    end = len(text) if end < 0 else end
    yield Cell(False, text[begin + 3 : end], "rst", line=text.count("\n", 0, begin) + 1)
    cuts = [(end + 3, end + 3), *(mark.span() for mark in _GALLERY_MARK.finditer(text, end)), (len(text), len(text))]
    for number, ((_, first), (last, _)) in enumerate(pairwise(cuts)):
        lines = text[first:last].split("\n")
        prose = 0
        while number and prose < len(lines) and lines[prose].startswith("#"):
            prose += 1
        line = text.count("\n", 0, first) + 1
        if prose:
            yield Cell(False, _uncommented("\n".join(lines[:prose]), "#"), "rst", line=line)
        yield Cell(True, "\n".join(lines[prose:]), line=line + prose)


# Notebooks of Databricks as source: commands between marks, in which other languages are comments behind MAGIC.

_DATABRICKS = " Databricks notebook source"


def _databricks_cells(text: str, comment: str) -> Iterator[Cell]:
    mark = re.compile(rf"^{re.escape(comment)} COMMAND -+[ \t]*$\n?", re.MULTILINE)
    magic, titled = f"{comment} MAGIC", f"{comment} DBTITLE "
    begin = text.find("\n") + 1 or len(text)
    cuts = [(begin, begin), *(found.span() for found in mark.finditer(text)), (len(text), len(text))]
    line, counted = 1, 0
    for (_, start), (stop, _) in pairwise(cuts):
        line, counted = line + text.count("\n", counted, start), start
        lines = text[start:stop].strip("\n").split("\n")
        first = line + len(text[start:stop]) - len(text[start:stop].lstrip("\n"))
        title = ""
        if lines[0].startswith(titled):
            title = lines.pop(0).removeprefix(titled).partition(",")[2].strip()
            first += 1
        if not lines or not lines[0].startswith(magic):
            yield Cell(True, "\n".join(lines), line=first, title=title)
            continue
        lines = [one.removeprefix(magic).removeprefix(" ") for one in lines]
        name, _, rest = lines[0].removeprefix("%").partition(" ")
        is_prose = lines[0].startswith("%md")
        language = cell_language("", f"%%{name}") if lines[0].startswith("%") and not is_prose else ""
        if is_prose or language:
            lines[0] = rest
        yield Cell(not is_prose, "\n".join(lines), language, line=first, title=title)


# Notebooks of marimo: functions whose bodies are the cells.


def _marimo_cells(text: str, tree: ast.Module) -> Iterator[Cell]:
    lines = text.split("\n")
    for node in tree.body:
        if isinstance(node, ast.With) and ast.unparse(node.items[0].context_expr).startswith("app.setup"):
            yield _body(lines, node.body)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            by = [ast.unparse(one).partition("(")[0] for one in node.decorator_list]
            if "app.cell" in by:
                body = node.body[:-1] if isinstance(node.body[-1], ast.Return) else node.body
                if body:
                    yield _said(body) or _body(lines, body)
            elif {"app.function", "app.class_definition"}.intersection(by):
                yield _body(lines, [node])
        elif isinstance(node, ast.Expr) and (broken := _quoted(node.value, "app._unparsable_cell")):
            yield replace(broken, is_code=True)


def _body(lines: Sequence[str], body: Sequence[ast.stmt]) -> Cell:
    # With the comments above it, which the tree does not have.
    first = body[0].lineno - 1
    while first and lines[first - 1].lstrip()[:1] in ("", "#"):
        first -= 1
    return Cell(True, dedent("\n".join(lines[first : body[-1].end_lineno])), line=first + 1)


def _said(body: Sequence[ast.stmt]) -> Cell | None:
    # `mo.md("""…""")` alone is Markdown, `_df = mo.sql(f"""…""")` SQL.
    one = body[0] if len(body) == 1 else None
    if not isinstance(one, ast.Expr | ast.Assign):
        return None
    sql = _quoted(one.value, "mo.sql")
    return replace(sql, is_code=True, language="sql") if sql else _quoted(one.value, "mo.md")


def _quoted(call: ast.expr, name: str) -> Cell | None:
    # The text that a call has as its first argument.
    if not isinstance(call, ast.Call) or not call.args or ast.unparse(call.func) != name:
        return None
    parts = call.args[0].values if isinstance(call.args[0], ast.JoinedStr) else call.args[:1]
    said = "".join(
        str(part.value) if isinstance(part, ast.Constant) else "{" + ast.unparse(getattr(part, "value", part)) + "}"
        for part in parts
    )
    return Cell(False, cleandoc(said), line=call.args[0].lineno + len(said) - len(said.lstrip("\n")))
