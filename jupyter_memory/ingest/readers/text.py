"""Text: plain, Markdown, scripts and literate programs, wiki pages, HTML, with their front matter."""

from __future__ import annotations

import codecs
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.dates import in_front_matter
from jupyter_memory.ingest.readers.base import Document, Part, Shortening, note, unencoded
from jupyter_memory.ingest.readers.encoding import declared, guessed, wide
from jupyter_memory.ingest.readers.notebook import Cell, document
from jupyter_memory.text.code import PYTHON, known_language
from jupyter_memory.text.identifiers import CUT
from jupyter_memory.text.markdown import Heading, descend, front_matter, headings
from jupyter_memory.text.unicode import clean, uncoloured

# The marks with which a text begins, each with its encoding; the longer first: UTF-32's begins with UTF-16's.
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BINARY_WITHIN = 8192
# What stands for a byte that is not UTF-8, and how many letters there are for each in a text that nevertheless is.
_REPLACED = "\ufffd"
_FEW_WRONG = 10


@dataclass(frozen=True, slots=True)
class TextReader:
    """Reads files of one language, each as one part."""

    language: str
    suffixes: tuple[str, ...]
    version: int = 0

    def read(self, path: Path, /) -> Document:
        text = read_text(path)
        return Document((Part(text),) if text.strip() else (), self.language)


def read_text(path: Path) -> str:
    """Return the text of a file without colours of a terminal and embedded pictures; raises what ``decoded`` raises."""
    return _tidied(decoded(path.read_bytes()))


def _tidied(text: str) -> str:
    return unencoded(uncoloured(clean(text)))


def decoded(data: bytes, charset: str = "") -> str:
    """Return bytes as text; ``charset`` is what the file itself names. Raises InputError if the file is binary."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    if b"\0" in data[:_BINARY_WITHIN]:
        if encoding := wide(data):
            return data.decode(encoding, "replace")
        raise InputError("The file is binary, not text. Leave it out with a line in .jupytermemoryignore.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    if name := declared(data, charset):
        return data.decode(name)
    text = data.decode("utf-8", "replace")
    wrong = text.count(_REPLACED)
    if wrong * _FEW_WRONG < sum(not one.isascii() for one in text):
        note(f"{wrong:,} of its characters are damaged: they are not UTF-8, as the others are")
        return text
    name, is_certain = guessed(data)
    if not is_certain:
        note(f"its encoding is a guess ({name}); save it as UTF-8 if its letters are wrong")
    return data.decode(name, "replace")


# `tags: [a, b]` and `tags: a, b` on a line, or one tag a line below it.
_TAGS = re.compile(r"^(?:tags|keywords)[ \t]*:[ \t]*(?P<line>[^\n]*)(?P<list>(?:\n[ \t]*-[ \t]+[^\n]*)*)", re.M | re.I)


# `alias:: brown trout` at the top of a page of Logseq, and what it notes for itself anywhere on a page.
_PROPERTIES = re.compile(r"(?:(?:-[ \t]+)?[\w-]++::[ \t][^\n]*+(?:\n|$))++")
_OF_LOGSEQ = re.compile(
    r"^[ \t]*(?:-[ \t]+)?(?:id|collapsed|heading|background-color|(?:created|updated)-at|logseq\.[\w.-]+|card-[\w-]+)"
    r"::[ \t][^\n]*",
    re.MULTILINE,
)


def _as_yaml(text: str) -> str:
    # The front matter, in YAML if it is in TOML or the properties of a page.
    block = front_matter(text)
    if block.startswith("+++"):
        try:
            values: dict[str, Any] = tomllib.loads(block.strip().strip("+"))
        except ValueError:
            return ""
        inner = [value for value in values.values() if isinstance(value, dict)]
        lines = [(key, value) for one in (values, *inner) for key, value in one.items()]
        return "\n".join(
            f"{key}: {', '.join(map(str, value)) if isinstance(value, list) else value}" for key, value in lines
        )
    if not block and (page := _PROPERTIES.match(text)):
        return page[0].replace("::", ":").replace("- ", "").replace("[[", "").replace("]]", "")
    return block


def _described(document: Document, text: str) -> Document:
    # With the tags and the date that the front matter of its text names.
    block = _as_yaml(text)
    words: list[str] = []
    if match := _TAGS.search(block):
        words = match["line"].strip().strip("[]").split(",") + [line.strip()[1:] for line in match["list"].split("\n")]
    tags = dict.fromkeys(tag for word in words if (tag := word.strip().strip("\"'#").strip()))
    return replace(document, tags=tuple(tags), written=in_front_matter(block, datetime.now(UTC)))


# Reads documents of prose and code: Quarto, R Markdown, MyST and Jupytext's Markdown, chunk by chunk.

# ```{r tariffs, echo=FALSE}, ```{code-cell} ipython3, ```python.
_OPEN = re.compile(r"(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?P<info>[^`\n]*+)")
_BRACED = re.compile(r"\{(?P<inside>[^{}\n]*)\}[ \t]*+(?P<after>[\w+.-]*)")
_NAME = re.compile(r"[A-Za-z][\w+#.-]*")
_OPTION = re.compile(r"(?<![\w.-])([A-Za-z][\w.-]*+)[ \t]*+=[ \t]*+(\"[^\"\n]*\"|'[^'\n]*'|[^,\s]+)")
# `#| label: fig-prices` in Quarto, `:label: fig-prices` in MyST.
_INNER = re.compile(r"(?:(?:#|//|--|%)\||:(?=[a-z]))[ \t]*+([\w.-]++):[ \t]*+(.*+)")
_KERNEL = re.compile(r"^(?:kernelspec|jupytext):", re.MULTILINE)
_LANGUAGE = re.compile(r"^[ \t]+language:[ \t]*(\S+)", re.MULTILINE)
_KERNEL_NAME = re.compile(r"^[ \t]+name:[ \t]*(\S+)", re.MULTILINE)
# Fences of Markdown that are shown and not run.
_SHOWN = frozenset({"", "text", "txt", "output", "console", "mermaid", "math", "none"})
_LONGEST_OPTION = 200
_FENCES = frozenset("`~")
_FIRST = re.compile(r"^[`~]{3,}+[ \t]*+\{([A-Za-z]\w*+)", re.MULTILINE)
# What a front matter says to its readers, and not to a program.
_TOLD = re.compile(
    r"^(?:title|subtitle|author|date|abstract|description|categories|tags|keywords)[ \t]*+:[^\n]*+"
    r"(?:\n(?:[ \t]|-[ \t])[^\n]*+)*+",  # a line that goes on, or an item; not the fence that closes it
    re.MULTILINE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class LiterateReader(Shortening):
    """Reads Quarto and R Markdown."""

    suffixes: tuple[str, ...] = (".qmd", ".rmd")

    def read(self, path: Path, /) -> Document:
        usual = "r" if path.suffix.lower() == ".rmd" else PYTHON
        text = read_text(path)
        return _described(_literate_document(text, path.name, usual, self.hide, bare=False), text)


def _literate_document(
    text: str, title: str, usual: str, hide: Callable[[str], str] | None, *, bare: bool = True
) -> Document:
    # All of it in one part where its chunks are too many. With `bare`, a fence that names a language without braces is
    # code too.
    front = front_matter(text)
    named = _LANGUAGE.search(front) or _KERNEL_NAME.search(front)
    language = known_language(named[1].strip("\"'")) if named else ""
    if not language:
        first = _FIRST.search(text)
        name = known_language(first[1]) if first else ""
        language = name if name in ("python", "r", "julia", "sql", "bash", "javascript") else usual
    found = document(_cells(text, front, bare), language, title, hide)
    return Document((Part(text),), "markdown") if found is None else found


def _cells(text: str, front: str, bare: bool) -> Iterator[Cell]:
    lines = text.split("\n")
    begin = number = front.count("\n")
    if told := "\n".join(_TOLD.findall(front)):
        yield Cell(False, told, line=1)
    while number < len(lines):
        opened = _OPEN.fullmatch(lines[number].strip()) if lines[number][:1] in _FENCES else None
        if opened is None:
            number += 1
            continue
        fence = opened["fence"]
        end = number + 1
        while end < len(lines) and (not lines[end].strip().startswith(fence) or lines[end].strip().strip(fence[0])):
            end += 1
        if (chunk := _chunk(opened["info"].strip(), bare)) is not None:
            yield from _prose(lines, begin, number)
            language, label, options = chunk
            first = number + 1
            while first < end and (inner := _INNER.fullmatch(lines[first].strip())):
                options[inner[1]] = inner[2].strip().strip("\"'")[:_LONGEST_OPTION]
                first += 1
            label = label or options.get("label", "")
            metadata = {"options": options} if options else {}
            yield Cell(True, "\n".join(lines[first:end]), language, label, line=first + 1, metadata=metadata)
            begin = end + 1
        number = end + 1
    yield from _prose(lines, begin, len(lines))


def _prose(lines: list[str], begin: int, end: int) -> Iterator[Cell]:
    text = "\n".join(lines[begin:end])
    cuts = sorted({0, len(text), *(heading.start for heading in headings(text))})
    line, counted = begin + 1, 0
    for start, stop in pairwise(cuts):
        line, counted = line + text.count("\n", counted, start), start
        if text[start:stop].strip():
            yield Cell(False, text[start:stop], line=line)


def _chunk(info: str, bare: bool) -> tuple[str, str, dict[str, str]] | None:
    # Language, label and options of a fence, None if it is prose.
    braced = _BRACED.match(info)
    if braced is None:
        name = _NAME.match(info)
        language = name[0].lower() if name else ""
        return (known_language(language), "", {}) if bare and language not in _SHOWN else None
    inside = braced["inside"].strip()
    name = _NAME.match(inside)
    if name is None or inside.startswith((".", "=", "#")):
        return None
    if name[0] in ("code-cell", "code-block", "code"):
        # The language of a code-cell is the kernel's: what follows it is the name of a lexer.
        return ("", "", {}) if name[0] == "code-cell" else None
    if bare and name[0].lower() not in ("python", "r", "julia", "sql", "bash"):
        return None  # a directive of MyST, such as {note}, is prose
    head, _, _ = inside[name.end() :].partition(",")
    options = {key: value.strip("\"'")[:_LONGEST_OPTION] for key, value in _OPTION.findall(inside)}
    return known_language(name[0]), "" if "=" in head else head.strip(), options


# Of Org mode: drawers, and what becomes Markdown: blocks of code, headings, comments.
_DRAWER = re.compile(
    r"^[ \t]*+:(?:PROPERTIES|LOGBOOK):[ \t]*+\n"
    r"(?:(?![ \t]*+:(?:END|PROPERTIES|LOGBOOK):)[ \t]*+(?::|CLOCK|-)[^\n]*+\n)*+[ \t]*+:END:",
    re.MULTILINE,
)
_ORG = re.compile(
    r"^[ \t]*+#\+begin_src[ \t]+(?P<info>[^`\n]*+)\n(?P<code>(?:(?![ \t]*+#\+(?:begin|end)_src)[^\n]*+\n)*+)"
    r"[ \t]*+#\+end_src[^\n]*+"
    r"|^(?P<stars>\*{1,99}+)[ \t]++(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED)[ \t]++)?(?:\[#\w\][ \t]*+)?"
    r"(?P<title>[^\n]*+)"
    r"|^#\+filetags:(?P<tags>[^\n]*+)|^#[ \t]++(?P<comment>[^\n]*+)",
    re.MULTILINE | re.IGNORECASE,
)
_ORG_LANGUAGE, _ORG_FENCE = "org", "`" * 12


@dataclass(frozen=True, slots=True)
class OrgReader(Shortening):
    """Reads Org mode: with blocks of code as a notebook, else as one text."""

    suffixes: tuple[str, ...] = (".org",)

    def read(self, path: Path, /) -> Document:
        tags: dict[str, None] = {}

        def markdown(found: re.Match[str]) -> str:
            if found["info"] is not None:
                return f"{_ORG_FENCE}{found['info']}\n{dedent(found['code'])}{_ORG_FENCE}"
            if found["stars"]:
                title, _, last = found["title"].rstrip().rpartition(" ")
                if not (last.startswith(":") and last.endswith(":")):
                    title, last = found["title"], ""
                tags.update(dict.fromkeys(last.split(":")))
                return f"{'#' * min(len(found['stars']), 6)} {title.strip()}"
            tags.update(dict.fromkeys((found["tags"] or "").strip().split(":")))
            return found[0] if found["tags"] else found["comment"]

        text = _DRAWER.sub(lambda drawer: "\n" * drawer[0].count("\n"), read_text(path))
        shown, found = _ORG.sub(markdown, text), None
        if _ORG_FENCE in shown:
            cells = _cells(shown, "", bare=True)
            prose = (cell if cell.is_code else replace(cell, language=_ORG_LANGUAGE) for cell in cells)
            found = document(prose, _ORG_LANGUAGE, path.name, self.hide)
        found = found or Document((Part(text),) if text.strip() else (), _ORG_LANGUAGE)
        return replace(found, tags=tuple(filter(None, tags)))


# Reads scripts with cells, in the formats of Jupytext.

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
        yield Cell(prose is None, source, line=line, title=_title(rest))


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
            is_prose, title = bool(_KIND.search(mark["rest"])), _title(mark["rest"])
        else:
            at = _end_of_paragraph(lines, begin, begins, comment)
            is_prose = all(line.startswith(comment) for line in lines[begin:at])
            is_prose = is_prose and not lines[begin].startswith((f"{comment} %", f"{comment} !"))
            title = ""
        source = "\n".join(lines[begin:at])
        yield Cell(not is_prose, _uncommented(source, comment) if is_prose else source, line=begin + 1, title=title)


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


def _title(rest: str) -> str:
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


_MINIFIED_IN = frozenset({"javascript", "typescript"})
# Characters of a file from which on lines of such a mean length are no code that a person wrote.
_MINIFIED = 50_000
_LONG_LINES = 1_000


@dataclass(frozen=True, slots=True)
class ScriptReader(Shortening):
    """Reads files of one language of code, in which ``comment`` begins a line of comment."""

    language: str
    suffixes: tuple[str, ...]
    comment: str = "#"
    version: int = 0

    def read(self, path: Path, /) -> Document:
        text = read_text(path)
        is_long = len(text) > _MINIFIED and len(text) > _LONG_LINES * (text.count("\n") + 1)
        if self.language in _MINIFIED_IN and is_long:
            raise InputError(
                f"The code is minified ({len(text):,} characters on {text.count(chr(10)) + 1:,} lines). "
                "Index its source; leave this file out with a line in .jupytermemoryignore."
            )
        if len(text) > _MINIFIED:
            text = _without_bulk(_without_rows(text) if self.language == "sql" else text, self.hide)
        lines = text.split("\n") if "format_name:" in text else []
        divided = None
        if "%%" in text and _mark(self.comment).search(text):
            divided = _percent_cells(text, self.comment)
        elif any(_LIGHT.search(lines[number]) for number in _header(lines, self.comment)):
            divided = _light_cells(text, self.comment)
        if divided and (found := document(divided, self.language, path.name, self.hide)) is not None:
            return found
        return Document((Part(text, line=1),) if text.strip() else (), self.language)


# Of a dump, what its tables and their columns are called is kept.
_INSERT = re.compile(
    r"(insert\s+(?:\w+\s+)?(?:into\s+)?[^\n;']{1,2000}?\bvalues)\b.*|(copy\s[^\n;']{1,2000}\sfrom\s+stdin\b.*)",
    re.IGNORECASE,
)
_STATEMENT = re.compile(r"(?:insert|create|alter|drop|go|set|copy|commit|lock|unlock|use)\b|--|/\*", re.IGNORECASE)
# Characters of a line of code that are kept if it is longer than anybody writes one.
_LONGEST_LINE, _KEPT_OF_IT = 20_000, 2_000


def _without_rows(text: str) -> str:
    kept, seen, end, rows = list[str](), set[str](), "", 0
    for line in text.split("\n"):
        if end == ";" and _STATEMENT.match(line):
            end = ""
        begun = None if end else _INSERT.match(line)
        if begun:
            head = begun[1] or begun[2]
            kept.append("" if head in seen else head)
            seen.add(head)
            end = ";" if begun[1] else "\\."
        else:
            kept.append("" if end else line)
        rows += bool(end)
        # After COPY … FROM stdin; the rows follow.
        if end and line.rstrip().endswith(end) and not (begun and begun[2]):
            end = ""
    if rows:
        note(f"{rows:,} lines with rows of tables are left out of the dump")
    return "\n".join(kept)


def _without_bulk(text: str, hide: Callable[[str], str] | None) -> str:
    lines = text.split("\n")
    long = [place for place, line in enumerate(lines) if len(line) > _LONGEST_LINE]
    for place in long:
        line = lines[place]
        # Half a secret is not recognised.
        lines[place] = (hide(line) if hide else line)[:_KEPT_OF_IT] + CUT
    if long:
        note(f"{len(long):,} of its lines are longer than {_LONGEST_LINE:,} characters; their beginnings are read")
    return "\n".join(lines)


# The marks that Obsidian and its like add to Markdown: links in double brackets, callouts, tags among the words.

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
# `[[1]](url)` is an ordinary link, and `[[1, 2], [3, 4]]` a matrix.
_LINK = re.compile(r"!?\[\[([^\[\]|\n]+)(?:\\?\|([^\[\]\n]*))?\]\](?!\()")
_CALLOUT = re.compile(r"((?:[ \t]*+>)++[ \t]*+)\[!([\w-]+)\][+-]?[ \t]*+(.*)")
_BACKTICKS = re.compile(r"`+")
# At least one letter, so that no issue's number is one; after a blank, so that no anchor of a link is one.
_TAG = re.compile(r"(?<!\S)#(?=[\w/-]*[^\W\d_])([\w][\w/-]*)(?=[\s.,;:!?)]|$)")


def _read_as_text(markdown: str) -> tuple[str, dict[str, None]]:
    # Wiki links and callouts as their reader sees them, and the tags among the words. The target of a link stays beside
    # its alias, so that both are found; code stays as it is.
    if "[[" not in markdown and "[!" not in markdown and "#" not in markdown:
        return markdown, {}
    shown, tags, fence = list[str](), dict[str, None](), ""
    for line in markdown.split("\n"):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        elif not fence:
            if "#" in line:
                prose = "".join(piece for is_code, piece in _pieces(line) if not is_code)
                tags |= dict.fromkeys(tag.rstrip("/") for tag in _TAG.findall(prose))
            if callout := _CALLOUT.fullmatch(line):
                line = callout[1] + (callout[3] or callout[2])
            if "[[" in line:
                line = "".join(piece if is_code else _LINK.sub(_said, piece) for is_code, piece in _pieces(line))
        shown.append(line)
    return "\n".join(shown), tags


def _pieces(line: str) -> Iterator[tuple[bool, str]]:
    # Each with whether it is code between backticks.
    runs = [match.span() for match in _BACKTICKS.finditer(line)]
    # By length, the next one last. A regular expression would try every part of a long run.
    left: dict[int, list[int]] = {}
    for place in reversed(range(len(runs))):
        left.setdefault(runs[place][1] - runs[place][0], []).append(place)
    place = done = 0
    while place < len(runs):
        start, end = runs[place]
        alike = left[end - start]
        while alike and alike[-1] <= place:
            alike.pop()
        if alike:
            place = alike.pop()
            yield False, line[done:start]
            done = runs[place][1]
            yield True, line[start:done]
        place += 1
    yield False, line[done:]


def _said(link: re.Match[str]) -> str:
    target = link[1].strip().replace("#", " > ").strip(" >")
    alias = (link[2] or "").strip()
    return target if not alias or alias == target else f"{alias} ({target})"


# What Excalidraw keeps in a note below its texts, and the names that it gives them there.
_DRAWING = re.compile(r"^```(?:compressed-)?json\n.*?^```$|[ \t]\^\w{8}$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class MarkdownReader(Shortening):
    """Reads Markdown; chunking gives each chunk the headings above it."""

    suffixes: tuple[str, ...] = (".md", ".markdown")
    version: int = 1

    def read(self, path: Path, /) -> Document:
        text = read_text(path)
        if not text.strip():
            return Document((), "markdown")
        front = front_matter(text)
        # Its front matter says that a kernel runs its code.
        if _KERNEL.search(front):
            return _described(_literate_document(text, path.name, PYTHON, self.hide), text)
        if "excalidraw-plugin" in front:
            text = _DRAWING.sub("", text)
        shown, tags = _read_as_text(_OF_LOGSEQ.sub("", text) if "::" in text else text)
        if front:
            _, tags = _read_as_text(text[len(front) :])
        found = _described(Document((Part(shown),), "markdown"), text)
        return replace(found, tags=tuple(dict.fromkeys((*found.tags, *tags))))


_OF_CANVAS = ("text", "label", "file", "url", "name")


@dataclass(frozen=True, slots=True)
class CanvasReader:
    """Reads the texts of canvases of Obsidian and of drawings of Excalidraw."""

    suffixes: tuple[str, ...] = (".canvas", ".excalidraw")

    def read(self, path: Path, /) -> Document:
        text = read_text(path)
        try:
            drawn = json.loads(text or "{}")
            shapes = [one for key in ("nodes", "elements", "edges") for one in drawn.get(key) or ()]
            said = [one[key] for one in shapes for key in _OF_CANVAS if isinstance(one.get(key), str)]
        except (ValueError, RecursionError, AttributeError, TypeError):
            raise InputError("The file is not JSON, so not a canvas. Restore it from a copy.") from None
        shown, tags = _read_as_text("\n\n".join(filter(str.strip, said)))
        return Document((Part(shown),) if shown else (), "markdown", tags=tuple(tags))


# What is not read: programs, styles, drawings, and what only guides through a site.
_SILENT = frozenset({"script", "style", "svg", "template", "noscript", "nav", "head", "iframe", "object", "canvas"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
# Tags within a line; any other begins a new one.
_INLINE = frozenset({
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img", "ins", "kbd",
    "label", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
})  # fmt: skip
_CELLS = frozenset({"td", "th"})
# What begins a line and does not end one.
_ROWS = frozenset({"tr", "li", "dt", "dd", "thead", "tbody", "br", "hr", "option"})
_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset[ \t]{0,4}=[ \t]{0,4}[\"']?([\w.:-]{1,40})"
    rb"|<\?xml[^>]{0,100}?encoding=[\"']([\w.:-]{1,40})",
    re.IGNORECASE,
)
_CHARSET_WITHIN = 2_048
_DECLARATION = re.compile(r"<!--|<[!?]")
_BLANK = re.compile(r"[ \t\r\f\v\n]+")
_GAP = re.compile(r"\n{3,}")
_SLUG = re.compile(r"[^\w]+")
# Sections of one page that become memories; the rest stays with the last one.
_MOST_SECTIONS = 2_000


@dataclass(slots=True)
class _Section:
    line: int
    path: tuple[Heading, ...] = ()
    anchor: str = ""
    pieces: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class HtmlReader:
    """Reads the text of pages, in the charset that they name."""

    suffixes: tuple[str, ...] = (".html", ".htm", ".xhtml")

    def read(self, path: Path, /) -> Document:
        # A part for each heading with the text below it, and one for the text before the first heading.
        data = path.read_bytes()
        named = _CHARSET.search(data, 0, _CHARSET_WITHIN)
        charset = (named[1] or named[2]).decode("ascii", "replace") if named else ""
        page = _Page()
        page.feed(_closed(_tidied(decoded(data, charset))))
        page.close()
        parts, seen = [], set[str]()
        for section in page.sections:
            lines = [line.rstrip() for line in "".join(section.pieces).split("\n")]
            text = _GAP.sub("\n\n", "\n".join(lines)).strip()
            if text:
                names = tuple(heading.text for heading in section.path)
                name = section.anchor or _SLUG.sub("-", names[-1] if names else "").strip("-").lower()[:80]
                number, location = 1, name
                while location in seen:
                    number += 1
                    location = f"{name}-{number}"
                seen.add(location)
                parts.append(Part(text, location=location, line=section.line, headings=names))
        return Document(tuple(parts), "html", title=page.title)


def _closed(text: str) -> str:
    # The parser takes the square of the time for many of them that do not end. The lines of a comment stay.
    pieces, at = [], 0
    last = text.rfind(">")
    while (found := _DECLARATION.search(text, at, last)) is not None:
        mark = "-->" if found[0] == "<!--" else ">"
        end = text.find(mark, found.end(), last + 1)
        if end < 0:
            last = found.start() - 1
            break
        pieces.append(text[at : found.start()])
        pieces.append("\n" * text.count("\n", found.start(), end))
        at = end + len(mark)
    pieces.append(text[at : max(at, last + 1)])
    pieces.append(text[max(at, last + 1) :].replace("<", "&lt;"))
    return "".join(pieces)


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.sections = [_Section(1)]
        self._silent = ""
        self._depth = 0
        self._in_title = False
        self._pre = 0
        self._heading: list[str] | None = None
        self._anchor = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title" and not self.title:
            self._in_title = True
        elif self._silent:
            self._depth += tag == self._silent
        elif tag in _SILENT:
            self._silent, self._depth = tag, 1
        elif tag == "body":
            self._silent, self._depth = "", 0
        elif tag in _HEADINGS and len(self.sections) < _MOST_SECTIONS:
            self._heading = []
            self.sections.append(_Section(self.getpos()[0], anchor=dict(attrs).get("id") or self._anchor))
            self._anchor = ""
        else:
            self._anchor = dict(attrs).get("id") or ("" if tag not in _INLINE else self._anchor)
            self._pre += tag == "pre"
            if tag not in _INLINE and tag not in _CELLS:
                self.sections[-1].pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif self._silent:
            self._depth -= tag == self._silent
            if not self._depth:
                self._silent = ""
        elif tag in _HEADINGS and self._heading is not None:
            level = _HEADINGS[tag]
            text = _BLANK.sub(" ", "".join(self._heading or ())).strip(" ¶#")
            self._heading = None
            section, before = self.sections[-1], self.sections[-2].path
            section.path = descend(before, Heading(0, 0, level, text)) if text else before
            section.pieces.append("\n\n")
        else:
            self._pre = max(0, self._pre - (tag == "pre"))
            if tag not in _INLINE and tag not in _ROWS:
                self.sections[-1].pieces.append("\t" if tag in _CELLS else "\n")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title = _BLANK.sub(" ", self.title + data).strip()[:1_000]
        elif not self._silent:
            if self._heading is not None:
                self._heading.append(data)
            self.sections[-1].pieces.append(data if self._pre else _BLANK.sub(" ", data))
