"""Secrets by what surrounds them: the patterns of ``patterns.toml``, names that they are assigned to, columns."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from jupyter_memory.ingest.redaction import values


@dataclass(frozen=True)
class Shape:
    """What a kind of secret looks like. A text without any of ``hints`` in lower case has no such secret."""

    what: str
    hints: tuple[str, ...]  # of at least three bytes, because they are found by their first three
    regex: str  # whose group ``secret`` is replaced, or the whole match if there is no such group
    check: Callable[[str], bool]  # must agree
    settings: bool  # only files of settings have it
    tail: str  # the regex from the name of a secret on, if it has one

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Return the pattern, compiled on first use: few texts have a hint, and all take 40 ms."""
        return re.compile(self.regex)

    @cached_property
    def _from_name(self) -> re.Pattern[str]:
        return re.compile(self.tail)

    def secrets(self, text: str, places: Sequence[int]) -> Iterator[tuple[int, int, str]]:
        """Yield the secrets of this kind; with a ``tail`` only those around names that begin at ``places``."""
        windows = [] if self.tail else [[0, len(text)]]
        for place in places if self.tail else ():
            if self._from_name.match(text, place) is None:
                continue
            begin, end = max(0, place - _BEFORE), place + _BEHIND
            if windows and begin <= windows[-1][1]:
                windows[-1][1] = end
            else:
                windows.append([begin, end])
        group = self.pattern.groupindex.get("secret", 0) if windows else 0
        for begin, end in windows:
            for match in self.pattern.finditer(text, begin, end):
                if self.check(match.group(group)):
                    yield *match.span(group), self.what


# Characters around a name of a secret that are searched.
_BEFORE, _BEHIND = 600, 1_500


def _whole(pattern: str) -> str:
    return re.sub(r"\{([A-Z_]+)\}", lambda name: PARTS[name[1]], pattern)


def _token(beginnings: Sequence[str]) -> str:
    # What a token begins with, where no longer word ends with it. The letters come before the look behind them, because
    # that is much faster. In a string of JSON, the letter before a token may belong to an escaped line break.
    tokens = [rf"{begin}(?:(?<![\w-]{begin})|(?<=\\[nrt]{begin}))" for begin in beginnings]
    return f"(?:{'|'.join(tokens)})" if len(tokens) > 1 else "".join(tokens)


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PARTS: dict[str, str] = {}
for _name, _pattern in _TABLE["parts"].items():
    PARTS[_name] = _whole(_pattern)

# The languages in which files of settings are written.
SETTINGS = frozenset(_TABLE["settings"])


def _hints(of_row: Sequence[str]) -> Iterator[str]:
    for hint in of_row:
        yield from _hints(_TABLE["hints"][hint[1:]]) if hint[0] == "*" else (hint,)


def _tail(row: Mapping[str, Any]) -> str:
    # A search for the names finds few places in few texts, and these rows are tried there alone.
    if row["hints"] != ["*placed"]:
        return ""
    pattern: str = row["pattern"]
    # What depends on a group before the name may or may not be there.
    return _whole(re.sub(r"\(\?\(\w+\)", "(?:", pattern[pattern.index("{PLACED}") :]))


# In the order in which they are looked for.
SHAPES = tuple(
    Shape(
        row["what"],
        tuple(_hints(row["hints"])),
        _token(row.get("begins", ())) + _whole(row["pattern"]),
        getattr(values, row["check"]) if "check" in row else bool,
        row.get("settings", False),
        _tail(row),
    )
    for row in _TABLE["secret"]
)

_PLACED = frozenset(_hints(["*placed"]))
_PLACE = re.compile(f"(?={PARTS['PLACED']})")


def places(text: str, low: str, hints: Iterable[str]) -> list[int]:
    """Return where names begin that a ``tail`` begins with, in order; ``low`` is the text in lower case."""
    found: set[int] = set()
    for hint in _PLACED.intersection(hints):
        at = low.find(hint)
        while at >= 0:
            # A name begins at most so far before a hint ("mot de passe"), or within it ("dbpass").
            found.update(place.start() for place in _PLACE.finditer(text, max(0, at - 4), at + 18))
            at = low.find(hint, at + 1)
    return sorted(found)


# A name whose value may be a secret ends with one of these: OPENAI_API_KEY, dbPassword.
_NAMES = {
    "password": rf"passw(?:or)?d|passphrase|passwort|{PARTS['ABROAD']}|(?<=[a-z]_)pass",
    # French for short, and a Markov decision process.
    "mdp": r"(?<![a-z])mdp",
    "pwd": r"pwd|(?<![a-z])pw",  # also the working directory
    "token": r"(?<!publickey)token",
    "API key": (
        r"(?:api|access|account|auth|private|signing|encryption|shared|master|service|secret|subscription)[ _.-]?key"
    ),
    "secret": r"secret|credential",
    # Any other key: only what is as random as one is taken for it, since caches and databases have keys too.
    "other key": r"(?<=[a-z0-9])[_.-]?key",
}
_CALLED = {"pwd": "password", "mdp": "password", "other key": "API key"}
# Where such a name may end: much faster to search for than the names, and most texts have none.
_HINT = re.compile(
    r"(?:pass|pwd?|token|key|secret|credential|mdp|kennwort|contrase(?:n\u0303|\\u00f1)?|senha|wachtwoord)"
    r"[\w-]{0,15}\\?[\"']?\]?\s{0,9}[=:,!]"
)
_NAME = re.compile(  # in lower case
    "(?:" + "|".join(f"({name})" for name in _NAMES.values()) + ")"
    r"(?:[_-]?(?:v?\d{1,3}|prod(?:uction)?|dev|test|staging|live|main|old|new))?"
    r"(?P<quote>\\?[\"']?)\]?\s{0,9}"
    # An annotation may come in between: `token: str = "..."`.
    r"(?P<sign>:\s{0,5}(?:str|bytes|optional|final|secretstr)\b[^=\n]{0,40}=(?!=)|=>|:=|!=|={1,3}|:|,)"
    # A value in quotes may stand in parentheses, on lines that a traceback numbers.
    rf"(?:\s{{0,9}}\({PARTS['BREAK']})?\s{{0,9}}"
)
_QUOTED = re.compile(r"""[rbu]{0,2}\\?(?:"(?P<double>[^"\n]{4,500}+)"|'(?P<single>[^'\n]{4,500}+)')""", re.IGNORECASE)
# A value without quotes ends with the word; what is then called, indexed or followed by a dot is code. An & may be part
# of a password, unless another name follows it, as in a URL, or HTML.
_BARE = re.compile(
    r"""(?P<bare>(?:[^\s"'`,;&()\[\]{}<>|\\]|&(?![&\s]|[\w.%-]{1,40}=|#?\w{1,8};|$)){6,500}+)(?=[\s"'`,;&)\]}<\\]|$)"""
)
# `KEY=value`, as in .env files and after `export` or `%env`.
_ENV_NAME = re.compile(r"[ \t]*(?:(?:export|set|ENV|[%!]\w+) )?[A-Z][A-Z0-9_]*")
# The same as a word of a command, after another word or a quote, as in `docker run -e KEY=value`.
_COMMAND_NAME = re.compile(r"(?:.*(?:[!$\"']|[^,(\s][ \t]{1,4}))?[A-Z][A-Z0-9_]*")
# `name=value` alone on its line, as in property files. A variable that is passed on is named after its content.
_LINE_NAME = re.compile(r"[\w.-]+")
# Words before `password=…` in a sentence, in a string or in a line of an inventory, and what ends them.
_NUMBER = re.compile(PARTS["NUMBER"])
_SAID = re.compile(r"[^()\[\]{}<>\"'`\\]*[\s;&]")
_NO_SENTENCE = re.compile(r"\s[=+]|[=+]\s|\s(?:def|lambda|let|var|const|val|if|for)\s")
_OTHER_KEY = re.compile(
    r"(?:cache|primary|foreign|pub(?:lic)?|partition|sort|index|hash|idempotency|dedup|content|row|block|node|object|group"
    r"|data|etag|file|s3|storage|websocket)$"
)
_HANDED_ON = re.compile(r"pass|pw|secret|token|key|cred|arg", re.IGNORECASE)

# What ends a sentence or a line of code is not part of a value without quotes.
_STOPS = ".:!?"


def assigned(text: str, low: str) -> Iterator[tuple[int, int, str]]:
    """Yield the values assigned to names of secrets; ``low`` is the text in lower case."""
    done = 0
    for hint in _HINT.finditer(low):
        # A name begins at most so far before its last word, and an annotation ends at most so far after it.
        name = _NAME.search(low, max(done, hint.start() - 14), hint.end() + 80)
        if name is None:
            continue
        done = name.end()
        found = _QUOTED.match(text, done) or (
            None if "\n" in text[name.start("sign") : done] else _BARE.match(text, done)
        )
        sign = name["sign"]
        if found is None or (sign == "," and not name["quote"]):
            continue
        form = str(found.lastgroup)
        # The closing quote of JSON within a string is escaped.
        value = found[form].removesuffix("\\")
        what = next(what for group, what in enumerate(_NAMES, start=1) if name.group(group))
        if form == "bare" and text[done - 1 : done].isspace() and "(" in text[name.end("sign") : done]:
            continue
        if form != "bare":
            sign = "quoted" if sign != "," else sign
        elif text[name.start("quote") : done] == "=":
            sign = "quoted" if _is_line(text, name, found) else "said" if _is_said(text, name, found) else sign
        if what == "other key" and _OTHER_KEY.search(low[max(0, name.start() - 20) : name.start()]):
            continue
        if not values.refers(value) and _is_secret(value, what, sign):
            start = found.start(form)
            yield start, start + len(value), _CALLED.get(what, what)


def _is_secret(value: str, what: str, sign: str) -> bool:
    if what == "other key":
        return values.is_strong(value)
    if what == "mdp":
        return values.is_exclaimed(value)
    if what == "secret" and values.is_mingled(value) and _HANDED_ON.search(value) is None:
        return True
    if what not in ("password", "pwd"):
        # A sentence with noise in it is no key: `"the run 9f8c1e2ab7d0 was better"`.
        return len(value.split()) < 3 and values.looks_random(
            value, 3.5 if sign == "quoted" and what != "token" else 2.6
        )
    return values.looks_random(value) or not _is_word(value, what, sign)


def _is_word(value: str, what: str, sign: str) -> bool:
    if sign == "," or any(map(str.isspace, value)):
        return True
    if sign == "quoted":
        return what == "pwd" and value.isalpha()
    if sign == "said":
        value = value.rstrip(_STOPS)
        return not values.has_own_digit(value) or "." in value or _HANDED_ON.search(value) is not None
    if values.is_scrambled(value.rstrip(_STOPS)) or values.is_dated(value.rstrip(_STOPS)):
        return False
    return not values.has_own_digit(value) or (sign != ":" and value.rstrip(_STOPS).replace(".", "_").isidentifier())


def _is_line(text: str, name: re.Match[str], found: re.Match[str]) -> bool:
    end = name.start("quote")
    begin = max(text.rfind("\n", max(0, end - 100), end) + 1, end - 100, 0)
    if _ENV_NAME.fullmatch(text, begin, end):
        return True
    behind, value = text[found.end() : found.end() + 1], found["bare"]
    has_digit, is_handed_on = any(map(str.isdigit, value)), _HANDED_ON.search(value) is not None
    ends = not behind or behind.isspace() or behind in "\"'"
    if ends and (has_digit or not is_handed_on) and _COMMAND_NAME.fullmatch(text, begin, end):
        return True
    is_own = behind in ("", "\n", "\r") and _LINE_NAME.fullmatch(text, begin, end) is not None
    return is_own and has_digit and not is_handed_on


def _is_said(text: str, name: re.Match[str], found: re.Match[str]) -> bool:
    end = name.start("quote")
    behind = text[found.end() : found.end() + 1]
    if behind and not behind.isspace() and behind not in "\"'\\":
        return False
    since = max(0, end - 200)
    begin = max(text.rfind(mark, since, end) + len(mark) for mark in ("\n", '"', "'", "\\n"))
    numbered = _NUMBER.match(text, max(begin, since), end)
    begin = numbered.end() if numbered else max(begin, since)
    # The name may have words before its last one: `ansible_password=…`.
    first = end
    while first > begin and (text[first - 1].isalnum() or text[first - 1] in "_.-"):
        first -= 1
    said, opened = text[begin:first], text[begin - 1 : begin]
    if opened in ('"', "'") and behind in (opened, "\\") and not said.strip():
        return True
    return (
        any(map(str.isalpha, said))
        and not said.lstrip().startswith(",")
        and _SAID.fullmatch(said) is not None
        and _NO_SENTENCE.search(f" {said}") is None
    )


# Finds the columns of passwords in printed frames, Markdown tables and lines of CSV.

# The name of such a column; what follows is another column, or the end of the line.
_COLUMN_NAME = r"p(?<![a-z0-9.'(=-]p)(?:assw(?:or)?d|asswort|assphrase|wd)s?"
_COLUMN = re.compile(rf"{_COLUMN_NAME}(?=[\"']?(?:[ \t]{{0,40}}(?:[|\t]|\\?[\r\n]|\\n)|[,;]\S|[ \t]{{2,40}}\w|$))")
_LINE = re.compile(r"(?:(?!\\n)[^\n])*+")
_CELL_NUMBER = re.compile(r"[ \t]*+(?:-{1,6}>[ \t]*+)?\d{1,5}[ \t]")
_WORDS = re.compile(r"[ \t]*[\"']?[\w.%#-]+(?: [\w.%#-]+)*[\"']?[ \t]*")
_SPACED = re.compile(r"\S+(?: \S+)*")
_PRINTED = re.compile(r"\S+")
# Rows below a header that are looked at, and characters of a line.
_ROWS, _WIDTH = 300, 2_000

Span = tuple[int, int]


def columns(text: str, low: str) -> Iterator[tuple[int, int, str]]:
    """Yield the passwords in the columns of tables; ``low`` is the text in lower case."""
    done = 0
    for name in _COLUMN.finditer(low):
        if name.start() < done:
            continue
        place = name.start()
        since = max(0, place - _WIDTH)
        found = ((low.rfind(mark, since, place), len(mark)) for mark in ("\n", "\\n", '": "'))
        begin = max((since, *(at + length for at, length in found if at >= 0)))

        header = _line(low, begin)
        if header is None or header.end() < name.end():
            continue
        separator = next((mark for mark in "|\t;," if mark in header.group()), None)
        if separator:
            spans = _separated(text, header, begin, name.start(), separator)
        else:
            spans = _aligned(text, header, begin, name.span())
        # One column of a table. Its rows are no headers, so each line is read twice at most.
        done = header.end()
        for start, end in spans:
            done = end
            value = text[start:end]
            if values.is_spoken(value) or values.is_scrambled(value) or values.is_noise(value):
                yield start, end, "password"


def _line(text: str, begin: int) -> re.Match[str] | None:
    return _LINE.match(text, begin, begin + _WIDTH)


def _rows(text: str, header: re.Match[str]) -> Iterator[tuple[int, str]]:
    end = header.end()
    for _ in range(_ROWS):
        begin = end + (2 if text.startswith("\\n", end) else 1)
        row = _line(text, begin) if begin < len(text) else None
        if row is None or not row.group().strip():
            return
        yield begin, row.group()
        end = row.end()


def _fields(line: str, begin: int, separator: str) -> list[Span]:
    numbered = _CELL_NUMBER.match(line)
    start = numbered.end() if numbered else 0
    fields = []
    for field in line[start:].split(separator):
        bare = field.strip(" \t\r\"'`\\")
        at = begin + start + field.find(bare)
        fields.append((at, at + len(bare)))
        start += len(field) + 1
    return fields


def _separated(text: str, header: re.Match[str], begin: int, name: int, separator: str) -> Iterator[Span]:
    line = text[begin : header.end()]
    fields = _fields(line, begin, separator)
    if not all(_WORDS.fullmatch(text[start:end] or "x") for start, end in fields):
        return
    column = next((index for index, (start, end) in enumerate(fields) if start <= name < end), None)
    for at, row in _rows(text, header):
        cells = _fields(row, at, separator)
        if column is None or len(cells) != len(fields):
            return
        yield cells[column]


def _aligned(text: str, header: re.Match[str], begin: int, name: Span) -> Iterator[Span]:
    line = text[begin : header.end()]
    if len(list(_SPACED.finditer(line))) != len(line.split()) or len(line.split()) < 2:
        return
    for at, row in _rows(text, header):
        for value in _PRINTED.finditer(row):
            start, end = value.start() + begin, value.end() + begin
            if start < name[1] and end > name[0]:
                yield value.start() + at, value.end() + at
