"""The XML of an Excel workbook, as far as it is needed: names of sheets, first rows, formats of dates, texts."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from xml.parsers import expat

from jupyter_memory.errors import InputError

Attributes = Mapping[str, str]

# Rows of a sheet that are looked at, and bytes of a member that are read for them.
ROWS = 51
_BYTES = 20_000_000
_PIECE = 65_536
_LONGEST_CELL = 1_000
# Characters of a format, and of a place such as `A1:F1204`.
_LONGEST_FORMAT, _LONGEST_PLACE = 255, 50
_CELL = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
# The formats of dates and times that need no definition, and how others spell them.
_DATES = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_LITERAL = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')


class _Enough(Exception):
    """Raised to stop reading a member: what was wanted of it is found."""


def parse(
    archive: zipfile.ZipFile,
    member: str,
    start: Callable[[str, Attributes], None],
    text: Callable[[str], None] | None = None,
    end: Callable[[str], None] | None = None,
) -> None:
    """Read the elements of a member, until a handler raises ``_Enough`` or too much was read.

    Raises:
        InputError: it is no XML, or it declares entities, which an Excel workbook never does.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = lambda name, attributes: start(_local(name), attributes)
    if text is not None:
        parser.CharacterDataHandler = text
    if end is not None:
        parser.EndElementHandler = lambda name: end(_local(name))
    parser.StartDoctypeDeclHandler = _refuse
    read = 0
    try:
        with archive.open(member) as opened, suppress(_Enough):
            while read < _BYTES and (piece := opened.read(_PIECE)):
                parser.Parse(piece)
                read += len(piece)
    except expat.ExpatError:
        raise InputError("The Excel workbook is damaged: one of its parts is no XML.") from None


def _refuse(*_: object) -> None:
    raise InputError("The Excel workbook declares entities, as only harmful files do, so it is not read.")


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


def sheet_members(archive: zipfile.ZipFile) -> list[tuple[str, str]]:
    """Return the name of each sheet with its member of the archive, without sheets that are charts."""
    targets: dict[str, str] = {}
    found: list[tuple[str, str]] = []

    def relation(name: str, given: Attributes) -> None:
        if name == "Relationship":
            targets[given.get("Id", "")] = given.get("Target", "")

    def sheet(name: str, given: Attributes) -> None:
        if name == "sheet":
            found.append((given.get("name", ""), targets.get(given.get(f"{_REL} id", ""), "")))

    parse(archive, "xl/_rels/workbook.xml.rels", relation)
    parse(archive, "xl/workbook.xml", sheet)
    known = set(archive.namelist())
    placed = [(name, posixpath.normpath(posixpath.join("xl", target)).lstrip("/")) for name, target in found]
    return [(name, member) for name, member in placed if member in known and "worksheets/" in member]


def date_styles(archive: zipfile.ZipFile) -> frozenset[int]:
    """Return the numbers of the styles in which a number is a date or a time."""
    dates, styles = set(_DATES), set[int]()
    inside, count = [False], [0]

    def start(name: str, given: Attributes) -> None:
        if name == "numFmt" and re.search(
            r"[ymdhs]", _LITERAL.sub("", given.get("formatCode", "")[:_LONGEST_FORMAT]).lower()
        ):
            dates.add(_number(given.get("numFmtId", "")))
        elif name == "cellXfs":
            inside[0] = True
        elif name == "xf" and inside[0]:
            if _number(given.get("numFmtId", "")) in dates:
                styles.add(count[0])
            count[0] += 1

    def end(name: str) -> None:
        if name == "cellXfs":
            raise _Enough

    if "xl/styles.xml" in archive.namelist():
        parse(archive, "xl/styles.xml", start, end=end)
    return frozenset(styles)


def _number(digits: str) -> int:
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else -1


@dataclass(slots=True)
class Cell:
    """A cell as it is written: its type ``t``, the number of its style, its value."""

    kind: str
    style: int
    value: str = ""


@dataclass(slots=True)
class SheetRows:
    """The first rows of a sheet, each with its cells by column; ``last`` is the row with which the sheet says it ends.

    ``ended`` says that these are all rows.
    """

    last: int = 0
    rows: list[dict[int, Cell]] = field(default_factory=list)
    first: int = 0
    ended: bool = False
    _cell: Cell | None = None
    _in_value: bool = False

    def start(self, name: str, given: Attributes) -> None:
        """Take the beginning of an element."""
        if name == "dimension":
            found = _CELL.findall(given.get("ref", "")[:_LONGEST_PLACE])
            self.last = int(found[-1][1]) if len(found) > 1 else 0
        elif name == "row":
            if len(self.rows) == ROWS:
                raise _Enough
            self.rows.append({})
        elif name == "c" and self.rows:
            self._cell = Cell(given.get("t", "n"), _number(given.get("s", "0")))
            self.rows[-1][self._column(given.get("r", ""))] = self._cell
        elif name in ("v", "t"):
            self._in_value = True

    def text(self, piece: str) -> None:
        """Take text of a cell."""
        if self._in_value and self._cell is not None and len(self._cell.value) < _LONGEST_CELL:
            self._cell.value += piece

    def end(self, name: str) -> None:
        """Take the end of an element."""
        if name in ("v", "t"):
            self._in_value = False
        elif name == "sheetData":
            self.ended = True
            raise _Enough
        elif name == "row" and not any(cell.value for cell in self.rows[-1].values()):
            del self.rows[-1]  # empty rows above or within the table

    def _column(self, place: str) -> int:
        found = _CELL.fullmatch(place[:_LONGEST_PLACE])
        if found is None:
            return len(self.rows[-1])
        if not self.first:
            self.first = int(found[2])
        column = 0
        for letter in found[1]:
            column = column * 26 + ord(letter) - 64
        return column - 1


@dataclass(slots=True)
class SharedTexts:
    """Some of the texts that all sheets share, ``found`` by their numbers."""

    wanted: frozenset[int]
    found: dict[int, str] = field(default_factory=dict)
    _at: int = -1
    _in_text: bool = False
    _text: str = ""

    def start(self, name: str, _: Attributes) -> None:
        """Take the beginning of an element."""
        if name == "si":
            self._at += 1
            self._text = ""
        self._in_text = name == "t"

    def text(self, piece: str) -> None:
        """Take a piece of text."""
        if self._in_text and self._at in self.wanted and len(self._text) < _LONGEST_CELL:
            self._text += piece

    def end(self, name: str) -> None:
        """Take the end of an element."""
        self._in_text = False
        if name != "si":
            return
        if self._at in self.wanted:
            self.found[self._at] = self._text
        if len(self.found) == len(self.wanted):
            raise _Enough


def shared_texts(archive: zipfile.ZipFile, wanted: Iterable[int]) -> dict[int, str]:
    """Return some of the texts that all sheets share, by their numbers."""
    texts, member = SharedTexts(frozenset(wanted)), "xl/sharedStrings.xml"
    if texts.wanted and member in archive.namelist():
        parse(archive, member, texts.start, texts.text, texts.end)
    return texts.found
