"""Documents as a row of headings, paragraphs, code and definitions: Markdown, reStructuredText, HTML and notebooks."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Literal

from training.text import one_line, plain

Kind = Literal["heading", "text", "code", "term"]

_FENCED = re.compile(r"(?ms)^ *(```.*?^ *```|~~~.*?^ *~~~)")
_PROMPT = re.compile(r"(?m)^(?:>>>|\.\.\.|In \[\d+\]:) ?")
_OUTPUT = 300
_RULE = re.compile(r"^([=\-~^\"'*+#.])\1{2,}\s*$")
_DIRECTIVE = re.compile(r"\s*\.\. (ipython|code-block|code|sourcecode|plot|prompt)::")


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a document; the text of a ``term`` is explained by the block after it."""

    kind: Kind
    text: str


def notebook_blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a notebook in the current format; code with the start of what it printed."""
    try:
        cells = json.loads(text)["cells"]
    except (ValueError, KeyError, TypeError):
        return
    for cell in cells:
        source = "".join(cell.get("source", ""))
        if cell.get("cell_type") == "markdown":
            yield from markdown_blocks(source)
        elif cell.get("cell_type") == "code" and source.strip():
            printed = "".join(
                "".join(output.get("text") or output.get("data", {}).get("text/plain") or "")
                for output in cell.get("outputs", [])
            )
            yield Block("code", f"{source}\n{printed[:_OUTPUT]}".strip())


def markdown_blocks(text: str) -> Iterator[Block]:
    for part in _FENCED.split(re.sub(r"(?s)<!--.*?-->", "", text)):
        if part.startswith(("```", "~~~")):
            yield Block("code", _PROMPT.sub("", "\n".join(part.split("\n")[1:-1])).strip())
            continue
        for paragraph in re.split(r"\n\s*\n|\n(?=#+ )", part):
            found = re.match(r"\s*#+\s*(.+)", paragraph)
            if found:
                yield Block("heading", plain(found.group(1)).strip("# "))
            rest = paragraph[found.end() if found else 0 :].strip()
            if rest and not rest.startswith(("|", "---", "<", "{")):
                yield Block("text", plain(one_line(rest)))


def rst_blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of reStructuredText, paragraph by paragraph."""
    lines = re.sub(r"(?m)^\.\. (?:_|\|).*$", "", text).split("\n")
    place = 0
    while place < len(lines):
        last = _paragraph_end(lines, place)
        paragraph = lines[place:last]
        place = max(last, place + 1)
        if heading := _heading(paragraph):
            yield Block("heading", plain(heading))
            continue
        said = one_line(" ".join(paragraph))
        directive = _DIRECTIVE.match(paragraph[0]) if paragraph else None
        if said.startswith(">>>"):
            yield Block("code", _PROMPT.sub("", textwrap.dedent("\n".join(paragraph))))
        elif directive or (said.endswith("::") and not said.startswith("..")):
            if not directive and said != "::":
                yield Block("text", plain(said[:-1]))
            start = place - len(paragraph) + 1 if directive else place
            place, code = _indented(lines, start, _indent(paragraph[0]))
            yield Block("code", code)
        elif said and not said.startswith((".. ", ":")):
            yield Block("text", plain(said))


def _heading(paragraph: list[str]) -> str:
    """Return the words that a rule stands under, empty where there are none."""
    ruled = len(paragraph) >= 2 and any(_RULE.match(line) for line in paragraph[1:3])
    return next((line.strip() for line in paragraph if not _RULE.match(line)), "") if ruled else ""


def _paragraph_end(lines: list[str], first: int) -> int:
    last = first
    while last < len(lines) and lines[last].strip():
        last += 1
    return last


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _indented(lines: list[str], first: int, outer: int) -> tuple[int, str]:
    """Return the line after a block that is indented deeper than ``outer``, and the block without its options."""
    last = first
    while last < len(lines) and (not lines[last].strip() or _indent(lines[last]) > outer):
        last += 1
    kept = [line for line in lines[first:last] if not re.match(r"\s+:\w+:", line)]
    return last, _PROMPT.sub("", textwrap.dedent("\n".join(kept)).strip())


def html_blocks(text: str) -> Iterator[Block]:
    reader = _Html()
    reader.feed(text)
    yield from reader.blocks


class _Html(HTMLParser):
    """Collects the text of the tags that carry prose or code; what is in a menu is left out."""

    _KINDS: dict[str, Kind] = {  # noqa: RUF012 - never changed
        **dict.fromkeys(("h1", "h2", "h3", "h4", "h5"), "heading"),
        "p": "text", "dd": "text", "pre": "code", "dt": "term",
    }  # fmt: skip
    _SKIPPED = frozenset({"script", "style", "nav", "head", "table"})

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[Block] = []
        self._kind: Kind | None = None
        self._held: list[str] = []
        self._skipping = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._skipping += tag in self._SKIPPED
        if tag in self._KINDS:
            self._end()
            self._kind = self._KINDS[tag]

    def handle_endtag(self, tag: str) -> None:
        self._skipping = max(self._skipping - (tag in self._SKIPPED), 0)
        if tag in self._KINDS:
            self._end()

    def handle_data(self, data: str) -> None:
        if self._kind and not self._skipping:
            self._held.append(data)

    def _end(self) -> None:
        held = "".join(self._held).replace("¶", "").strip()
        if self._kind and held:
            self.blocks.append(Block(self._kind, _PROMPT.sub("", held) if self._kind == "code" else one_line(held)))
        self._kind, self._held = None, []
