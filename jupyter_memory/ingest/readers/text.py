"""Text: plain, Markdown, scripts and literate programs, wiki pages, HTML, with their front matter."""

from __future__ import annotations

import codecs
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.dates import in_front_matter
from jupyter_memory.ingest.readers.base import Document, Part, note, safe, unencoded
from jupyter_memory.ingest.readers.encoding import declared, guessed, wide
from jupyter_memory.ingest.readers.notebook import Cell, document
from jupyter_memory.ingest.readers.pages import read_page
from jupyter_memory.ingest.readers.scripts import (
    PLUTO,
    PLUTO_FRONT,
    between,
    listed_tags,
    script_cells,
    tags_in,
    title_in,
)
from jupyter_memory.text.code import PYTHON, known_language
from jupyter_memory.text.identifiers import CUT
from jupyter_memory.text.markdown import front_matter, headings
from jupyter_memory.text.unicode import clean, uncoloured

_NAMES = tomllib.loads(Path(__file__).with_name("plain.toml").read_text(encoding="utf-8"))

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
    """Reads files of text; ``document`` returns what a text says, by the path of its file."""

    suffixes: tuple[str, ...]
    document: Callable[[str, Path], Document]
    version: int = 0

    def read(self, path: Path, /) -> Document:
        return self.document(read_text(path), path)


def plain(text: str, path: Path, *, language: str) -> Document:
    return Document((Part(text),) if text.strip() else (), language)


def read_text(path: Path) -> str:
    """Return the text of a file without colours of a terminal and embedded pictures; raises what ``decoded`` raises."""
    return tidied(decoded(path.read_bytes()))


def tidied(text: str) -> str:
    """Return a text without colours of a terminal and embedded pictures, in characters that can be stored."""
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


def _described(document: Document, text: str) -> Document:
    # With the tags and the date that the front matter of its text names: YAML, TOML, or the properties of a page.
    block = front_matter(text)
    if block.startswith("+++"):
        values: dict[str, Any] = {}
        with suppress(ValueError):
            values = tomllib.loads(block.strip().strip("+"))
        inner = [value for value in values.values() if isinstance(value, dict)]
        lines = [(key, value) for one in (values, *inner) for key, value in one.items()]
        block = "\n".join(
            f"{key}: {', '.join(map(str, value)) if isinstance(value, list) else value}" for key, value in lines
        )
    elif not block and (page := _PROPERTIES.match(text)):
        block = page[0].replace("::", ":").replace("- ", "").replace("[[", "").replace("]]", "")
    words: list[str] = []
    if match := _TAGS.search(block):
        words = match["line"].strip().strip("[]").split(",") + [line.strip()[1:] for line in match["list"].split("\n")]
    tags = dict.fromkeys(tag for word in words if (tag := word.strip().strip("\"'#").strip()))
    return replace(document, tags=tuple(tags), written=in_front_matter(block, datetime.now(UTC)))


# Reads documents of prose and code: Quarto, R Markdown, MyST and Jupytext's Markdown, chunk by chunk.

# ```{r tariffs, echo=FALSE}, ```{code-cell} ipython3, ```python.
_OPEN = re.compile(r"(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?P<info>[^`\n]*+)")
_BRACED = re.compile(r"\{(?P<inside>(?:[^{}\n]|\{[^{}\n]*+\})*+)\}[ \t]*+(?P<after>.*+)")
_NAME = re.compile(r"[A-Za-z][\w+#.-]*")
_OPTION = re.compile(
    r"(?<![\w.-])([A-Za-z][\w.-]*+)[ \t]*+=[ \t]*+"
    r"(\"(?:[^\"\\\n]|\\.)*+\"|'[^'\n]*'|c\([^()\n]*+\)|\[[^\[\]\n]*+\]|[^,\s]+)"
)
# `#| label: fig-prices` in Quarto, `:label: fig-prices` in MyST, and lines that go on with a value.
_INNER = re.compile(r"(?:(?:#|//|--|%%?)\||:(?=[a-z]))[ \t]*+([\w.-]++)(?::|[ \t]*+=)[ \t]*+(.*+)")
_MORE = re.compile(r"(?:#|//|--|%%?)\|[ \t]{2,}+(?:-[ \t]++)?(\S.*+)")
# Options that hold words for readers: captions and texts in place of pictures.
_CAPTION = re.compile(r"(?:\w+[.-])?(?:sub|s)?(?:cap|caption|alt)")
_COMMENTS = {"sql": "--", "javascript": "//", "dot": "//", "cpp": "//", "stan": "//", "mermaid": "%%", "matlab": "%"}
_KERNEL = re.compile(r"^[ \t]*(?:kernelspec|jupytext):", re.MULTILINE)
# Jupytext's marks around a cell of Markdown.
_REGION = re.compile(r"<!--[ \t]*+#(region|md|raw)\b(?P<rest>[^\n]*?)-->")
# Directives of MyST and Sphinx that documents of Quarto and R Markdown also have.
_DIRECTIVES = frozenset(_NAMES["directives"].split())
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


def literate(text: str, path: Path, *, bare: bool = False) -> Document:
    """Return the chunks and the prose of Quarto and R Markdown, in one part where they are too many.

    With ``bare``, as in MyST, a fence that names a language without braces is code too.
    """
    front = front_matter(text)
    named = _LANGUAGE.search(front) or _KERNEL_NAME.search(front)
    language = known_language(named[1].strip("\"'")) if named else ""
    if not language:
        first = _FIRST.search(text)
        name = known_language(first[1]) if first else ""
        usual = "r" if path.suffix.lower() == ".rmd" else PYTHON
        language = name if name in ("python", "r", "julia", "sql", "bash", "javascript") else usual
    found = document(_cells(text, front, bare), language, path.name)
    return _described(Document((Part(text),), "markdown") if found is None else found, text)


def _cells(text: str, front: str, bare: bool) -> Iterator[Cell]:
    lines = text.split("\n")
    begin = number = front.count("\n")
    if told := "\n".join(_TOLD.findall(front)):
        yield Cell(False, told, line=1)
    while number < len(lines):
        region = _REGION.fullmatch(lines[number].strip()) if bare and lines[number].startswith("<!--") else None
        if region is not None:
            yield from _prose(lines, begin, number)
            ending = re.compile(rf"<!--[ \t]*#end{region[1]}\b.*")
            begin = next((at for at in range(number, len(lines)) if ending.match(lines[at].strip())), len(lines))
            tags, title = tags_in(region["rest"]), title_in(region["rest"])
            yield from (replace(cell, tags=tags, title=title) for cell in _prose(lines, number + 1, begin))
            begin = number = begin + 1
            continue
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
            first, name = number + 1, ""
            while first < end:
                line = lines[first].strip()
                if inner := _INNER.fullmatch(line):
                    name, value = inner[1], inner[2].strip().rstrip(",")
                elif name and (more := _MORE.fullmatch(line)):
                    value = f"{options[name].strip(' >|-')} {_unquoted(more[1])}".strip()
                else:
                    break
                options[name] = _unquoted(value)
                first += 1
            label = label or options.get("label", "")
            short = {key: safe(of, _LONGEST_OPTION)[:_LONGEST_OPTION] for key, of in options.items()}
            metadata = {"options": short} if options else {}
            # In the line above the code, so that all others stay where they are.
            sign = _COMMENTS.get(language, "#")
            said = " ".join(f"{sign}| {key}: {value}" for key, value in options.items() if _CAPTION.fullmatch(key))
            source = "\n".join(([said] if said else []) + lines[first:end])
            tags = listed_tags(options.get("tags", ""))
            above = 0 if said else 1
            yield Cell(True, source, language, label, line=first + above, metadata=metadata, tags=tags)
            begin = end + 1
        number = end + 1
    yield from _prose(lines, begin, len(lines))


def _unquoted(value: str) -> str:
    quote = value[:1]
    if len(value) < 2 or quote not in "\"'" or value[-1] != quote:
        return value
    return value[1:-1].replace(f"\\{quote}", quote)


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
        options = dict(_OPTION.findall(info))
        return (known_language(language), "", options) if bare and language not in _SHOWN else None
    inside = braced["inside"].strip()
    name = _NAME.match(inside)
    if name is None or inside.startswith((".", "=", "#")):
        return None
    if name[0] in ("code-cell", "code-block", "code"):
        # The language of a code-cell is the kernel's: what follows it is the name of a lexer.
        return ("", "", {}) if name[0] == "code-cell" else None
    # What follows the braces, or a colon in them, is a directive's, such as {note}, and no chunk's: prose.
    is_directive = name[0].lower() in _DIRECTIVES or inside[name.end() :].startswith(":")
    if is_directive or braced["after"]:
        return None
    if bare and name[0].lower() not in ("python", "r", "julia", "sql", "bash"):
        return None  # a directive of MyST, such as {note}, is prose
    head, _, _ = inside[name.end() :].partition(",")
    options = {key: _unquoted(value) for key, value in _OPTION.findall(inside)}
    return known_language(name[0]), "" if "=" in head else head.strip(), options


# Of Org mode: drawers, and what becomes Markdown: blocks of code, headings, comments.
_DRAWER = re.compile(
    r"^[ \t]*+:(?:PROPERTIES|LOGBOOK):[ \t]*+\n"
    r"(?:(?![ \t]*+:(?:END|PROPERTIES|LOGBOOK):)[ \t]*+(?::|CLOCK|-)[^\n]*+\n)*+[ \t]*+:END:",
    re.MULTILINE,
)
_ORG = re.compile(
    r"^[ \t]*+#\+begin_src[ \t]++(?P<info>[^`\n]*+)\n(?P<code>(?:(?![ \t]*+#\+(?:begin|end)_src)[^\n]*+\n)*+)"
    r"[ \t]*+#\+end_src[^\n]*+"
    r"|^(?P<stars>\*{1,99}+)[ \t]++(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED)[ \t]++)?(?:\[#\w\][ \t]*+)?"
    r"(?P<title>[^\n]*+)"
    r"|^#\+filetags:(?P<tags>[^\n]*+)|^#[ \t]++(?P<comment>[^\n]*+)",
    re.MULTILINE | re.IGNORECASE,
)
_ORG_LANGUAGE, _ORG_FENCE = "org", "`" * 12


def org(text: str, path: Path) -> Document:
    """Return an Org file as a notebook if it has blocks of code, else as one text."""
    tags: dict[str, None] = {}

    def markdown_of(found: re.Match[str]) -> str:
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

    text = _DRAWER.sub(lambda drawer: "\n" * drawer[0].count("\n"), text)
    shown, found = _ORG.sub(markdown_of, text), None
    if _ORG_FENCE in shown:
        cells = _cells(shown, "", True)
        prose = (cell if cell.is_code else replace(cell, language=_ORG_LANGUAGE) for cell in cells)
        found = document(prose, _ORG_LANGUAGE, path.name)
    return replace(found or plain(text, path, language=_ORG_LANGUAGE), tags=tuple(filter(None, tags)))


# Notebooks of Polyglot: a line such as `#!csharp` above each cell.

_KERNELS = _NAMES["polyglot"]
_SWITCH = re.compile(r"^#!([A-Za-z#]+)(?:-[\w-]+)?[ \t]*\r?$", re.MULTILINE)
_DEFAULT = re.compile(r'"defaultKernelName"\s*:\s*"([\w#]+)"')


def polyglot(text: str, path: Path) -> Document:
    """Return the cells of a notebook of .NET's Polyglot."""
    named = _DEFAULT.search(text)
    usual = (_KERNELS.get(named[1].lower(), "") if named else "") or "csharp"
    # A line that begins so and names no kernel, such as `#!time`, is part of a cell.
    marks = [mark for mark in _SWITCH.finditer(text) if mark[1].lower() in _KERNELS]
    spoken = ((_KERNELS[mark[1].lower()] if mark else usual, code, line) for mark, code, line in between(text, marks))
    cells = (
        Cell(language not in ("markdown", "text"), code, language, line=line)
        for language, code, line in spoken
        if language and code.strip()
    )
    return document(cells, usual, path.name) or plain(text, path, language=usual)


_MINIFIED_IN = frozenset({"javascript", "typescript"})
# Characters of a file from which on lines of such a mean length are no code that a person wrote.
_MINIFIED = 50_000
_LONG_LINES = 1_000


def script(text: str, path: Path, *, language: str, comment: str) -> Document:
    """Return the cells of code in which ``comment`` begins a line of comment, or all of it where nothing divides it."""
    is_long = len(text) > _MINIFIED and len(text) > _LONG_LINES * (text.count("\n") + 1)
    if language in _MINIFIED_IN and is_long:
        raise InputError(
            f"The code is minified ({len(text):,} characters on {text.count(chr(10)) + 1:,} lines). "
            "Index its source; leave this file out with a line in .jupytermemoryignore."
        )
    if len(text) > _MINIFIED:
        lines = (_without_rows(text) if language == "sql" else text).split("\n")
        long = [place for place, line in enumerate(lines) if len(line) > _LONGEST_LINE]
        for place in long:
            lines[place] = safe(lines[place], _KEPT_OF_IT)[:_KEPT_OF_IT] + CUT
        if long:
            note(f"{len(long):,} of its lines are longer than {_LONGEST_LINE:,} characters; their beginnings are read")
        text = "\n".join(lines)
    divided = script_cells(text, language, comment)
    if divided is not None and (found := document(divided, language, path.name)) is not None:
        is_pluto = text.startswith(PLUTO)
        return _described(found, f"+++\n{''.join(PLUTO_FRONT.findall(text))}+++\n") if is_pluto else found
    return Document((Part(text, line=1),) if text.strip() else (), language)


# Of a dump, what its tables and their columns are called is kept.
_INSERT = re.compile(
    r"(insert\s++(?:\w++\s++)?(?:into\s++)?[^\n;']{1,2000}?\bvalues)\b.*|(copy\s[^\n;']{1,2000}\sfrom\s+stdin\b.*)",
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
_DRAWING = re.compile(r"^```(?:compressed-)?json\n(?:(?!```).*+\n)*+```$|[ \t]\^\w{8}$", re.MULTILINE)


def markdown(text: str, path: Path) -> Document:
    """Return a text in Markdown, which chunking cuts at its headings; notebooks of MyST and Jupytext cell by cell."""
    if not text.strip():
        return Document((), "markdown")
    front = front_matter(text)
    # Its front matter says that a kernel runs its code.
    if _KERNEL.search(front):
        return literate(text, path, bare=True)
    if "excalidraw-plugin" in front:
        text = _DRAWING.sub("", text)
    shown, tags = _read_as_text(_OF_LOGSEQ.sub("", text) if "::" in text else text)
    if front:
        _, tags = _read_as_text(text[len(front) :])
    found = _described(Document((Part(shown),), "markdown"), text)
    return replace(found, tags=tuple(dict.fromkeys((*found.tags, *tags))))


_OF_CANVAS = ("text", "label", "file", "url", "name")


def canvas(text: str, path: Path) -> Document:
    """Return the texts of a canvas of Obsidian or a drawing of Excalidraw."""
    try:
        drawn = json.loads(text or "{}")
        shapes = [one for key in ("nodes", "elements", "edges") for one in drawn.get(key) or ()]
        said = [one[key] for one in shapes for key in _OF_CANVAS if isinstance(one.get(key), str)]
    except (ValueError, RecursionError, AttributeError, TypeError):
        raise InputError("The file is not JSON, so not a canvas. Restore it from a copy.") from None
    shown, tags = _read_as_text("\n\n".join(filter(str.strip, said)))
    return Document((Part(shown),) if shown else (), "markdown", tags=tuple(tags))


_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset[ \t]{0,4}=[ \t]{0,4}[\"']?([\w.:-]{1,40})"
    rb"|<\?xml[^>]{0,100}?encoding=[\"']([\w.:-]{1,40})",
    re.IGNORECASE,
)
_CHARSET_WITHIN = 2_048
_SLUG = re.compile(r"[^\w]+")


@dataclass(frozen=True, slots=True)
class HtmlReader:
    """Reads the text of pages, in the charset that they name."""

    suffixes: tuple[str, ...] = (".html", ".htm", ".xhtml")

    def read(self, path: Path, /) -> Document:
        # A part for each heading with the text below it, and one for the text before the first heading.
        data = path.read_bytes()
        named = _CHARSET.search(data, 0, _CHARSET_WITHIN)
        charset = (named[1] or named[2]).decode("ascii", "replace") if named else ""
        title, sections = read_page(tidied(decoded(data, charset)))
        parts, seen = [], set[str]()
        for section in sections:
            if text := section.text:
                names = tuple(heading.text for heading in section.path)
                name = section.anchor or _SLUG.sub("-", names[-1] if names else "").strip("-").lower()[:80]
                number, location = 1, name
                while location in seen:
                    number += 1
                    location = f"{name}-{number}"
                seen.add(location)
                parts.append(Part(text, location=location, line=section.line, headings=names))
        return Document(tuple(parts), "html", title=title)
