"""Hides common secrets in a text before it is remembered."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from jupyter_memory.ingest.redaction.hints import OF_NAMES, hints
from jupyter_memory.ingest.redaction.patterns import SHAPES, Shape
from jupyter_memory.ingest.redaction.values import has_own_digit, is_scrambled, looks_random, refers

# A name whose value may be a secret ends with one of these: OPENAI_API_KEY, dbPassword.
_NAMES = {
    "password": r"passw(?:or)?d|passphrase|passwort|(?<=[a-z]_)pass",
    "pwd": r"pwd",  # also the working directory
    "token": r"(?<!publickey)token",
    "API key": (
        r"(?:api|access|account|auth|private|signing|encryption|shared|master|service|secret|subscription)[ _-]?key"
    ),
    "secret": r"secret|credential",
}
# Where such a name may end: much faster to search for than the names, and most texts have none.
_HINT = re.compile(r"(?:pass|pwd|token|key|secret|credential)[\w-]{0,15}\\?[\"']?\]?\s{0,9}[=:,!]")
_NAME = re.compile(  # in lower case
    "(?:" + "|".join(f"({name})" for name in _NAMES.values()) + ")"
    r"(?:[_-]?(?:v?\d{1,3}|prod(?:uction)?|dev|test|staging|live|main|old|new))?"
    r"(?P<quote>\\?[\"']?)\]?\s{0,9}"
    # An annotation may come in between: `token: str = "..."`.
    r"(?P<sign>:\s{0,5}(?:str|bytes|optional|final|secretstr)\b[^=\n]{0,40}=(?!=)|=>|:=|!=|={1,3}|:|,)"
    r"\s{0,9}"
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
_HANDED_ON = re.compile(r"pass|pw|secret|token|key|cred|arg", re.IGNORECASE)

# What ends a sentence or a line of code is not part of a value without quotes.
_STOPS = ".:!?"

# What a mark begins with.
MARK = "[redacted: "
# Hiding one secret can uncover another one next to it, but not forever.
_ROUNDS = 5


def redact(text: str, found: Collection[str] | None = None) -> tuple[str, int]:
    """Return a text with its secrets replaced by ``[redacted: <what>]``, and how many there were.

    ``found`` is what ``suspicious`` returned for the text, if it was called.

    It hides tokens of common services, private keys, passwords in URLs and in commands such as ``mysql -p…``,
    authorization headers, and values of names such as ``api_key`` or ``password``. What only refers to a secret (a
    variable, a call, a placeholder) stays. Redacting twice changes nothing more.

    >>> redact('connect("postgres://anna:k4ffee@db/prices", api_key=os.environ["API_KEY"])')
    ('connect("postgres://anna:[redacted: password]@db/prices", api_key=os.environ["API_KEY"])', 1)
    """
    total = 0
    for _ in range(_ROUNDS):
        text, count = _once(text, found)
        found = None
        total += count
        if not count:
            break
    return text, total


def suspicious(texts: Sequence[str]) -> list[set[str]]:
    """Return for each text the hints at secrets in it; it is faster to check many texts together."""
    return hints([_lower(text) for text in texts])


def redact_values(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a mapping of JSON values with the secrets in its strings replaced, also those known only by their name.

    >>> redact_values({"owner": "Zoë", "connection": {"password": "k4ffee"}})
    {'owner': 'Zoë', 'connection': {'password': '[redacted: password]'}}
    """
    if not values:
        return values
    text, count = redact(json.dumps(values, ensure_ascii=False))
    if not count:
        return values
    try:
        hidden: dict[str, Any] = json.loads(text)
    except ValueError:
        # A secret that began in one string ended in another.
        hidden = _each(dict(values))
    return hidden


def _each(value: Any) -> Any:
    """Return a JSON value with the secrets in each string replaced, one string at a time."""
    if isinstance(value, str):
        return redact(value)[0]
    if isinstance(value, list):
        return [_each(item) for item in value]
    return {_each(name): _each(item) for name, item in value.items()} if isinstance(value, dict) else value


def _once(text: str, found: Collection[str] | None) -> tuple[str, int]:
    low = _lower(text)
    total = 0
    in_text = set(hints([low])[0] if found is None else found)
    for shape in SHAPES if in_text else ():
        if not in_text.isdisjoint(shape.hints):
            text, count = _without(text, _shaped(text, shape))
            total += count
    if not total and in_text.isdisjoint(OF_NAMES):
        return text, 0
    text, count = _without(text, _assigned(text, low if total == 0 else _lower(text)))
    return text, total + count


def _lower(text: str) -> str:
    """Return a text in lower case of the same length: only the Turkish İ would become two characters."""
    return text.replace("İ", "I").lower()


def _names(low: str) -> Iterator[re.Match[str]]:
    """Yield the names of secrets that something is assigned to."""
    done = 0
    for hint in _HINT.finditer(low):
        # A name begins at most so far before its last word, and an annotation ends at most so far after it.
        name = _NAME.search(low, max(done, hint.start() - 14), hint.end() + 80)
        if name:
            done = name.end()
            yield name


def _without(text: str, secrets: Iterator[tuple[int, int, str]]) -> tuple[str, int]:
    """Return a text without these secrets ``(start, end, what)``, given in order."""
    pieces: list[str] = []
    done = count = 0
    for start, end, what in secrets:
        if start < done:
            continue
        # Line breaks stay, so that everything after them keeps its line.
        pieces += [text[done:start], f"{MARK}{what}]", "\n" * text.count("\n", start, end)]
        done = end
        count += 1
    return ("".join(pieces) + text[done:], count) if count else (text, 0)


def _shaped(text: str, shape: Shape) -> Iterator[tuple[int, int, str]]:
    """Yield the secrets of a well-known shape."""
    group = shape.pattern.groupindex.get("secret", 0)
    for match in shape.pattern.finditer(text):
        if shape.check(match.group(group)):
            yield *match.span(group), shape.what


def _assigned(text: str, low: str) -> Iterator[tuple[int, int, str]]:
    """Yield the values assigned to names of secrets."""
    for name in _names(low):
        found = _QUOTED.match(text, name.end()) or _bare(text, name)
        if found is None or (name["sign"] == "," and not name["quote"]):
            continue
        form = str(found.lastgroup)
        # The closing quote of JSON within a string is escaped.
        value = found[form].removesuffix("\\")
        what = next(what for group, what in enumerate(_NAMES, start=1) if name.group(group))
        sign = name["sign"]
        if sign != "," and (form != "bare" or _is_env_line(text, name, found) or _is_own_line(text, name, found)):
            sign = "quoted"
        if not refers(value) and _is_secret(value, what, sign):
            start = found.start(form)
            yield start, start + len(value), "password" if what == "pwd" else what


def _bare(text: str, name: re.Match[str]) -> re.Match[str] | None:
    """Return the value without quotes after a name, if it is on the same line: the next line is other code."""
    return None if "\n" in text[name.start("sign") : name.end()] else _BARE.match(text, name.end())


def _is_secret(value: str, what: str, sign: str) -> bool:
    """Return whether the value of a secret's name is a secret, given how it was assigned."""
    if what not in ("password", "pwd"):
        # A sentence with noise in it is no key: `"the run 9f8c1e2ab7d0 was better"`.
        return len(value.split()) < 3 and looks_random(value, 3.5 if sign == "quoted" and what != "token" else 2.6)
    return looks_random(value) or not _is_word(value, what, sign)


def _is_word(value: str, what: str, sign: str) -> bool:
    """Return whether the value of a password's name is a word, a sentence or a variable rather than a password."""
    if sign == "," or any(map(str.isspace, value)):
        return True
    if sign == "quoted":
        return what == "pwd" and value.isalpha()
    if is_scrambled(value.rstrip(_STOPS)):
        return False
    return not has_own_digit(value) or (sign != ":" and value.rstrip(_STOPS).replace(".", "_").isidentifier())


def _is_env_line(text: str, name: re.Match[str], found: re.Match[str]) -> bool:
    """Return whether a name begins its line, or a word of a command, and is followed by ``=`` as in an .env file."""
    end = name.start("quote")
    begin = max(text.rfind("\n", max(0, end - 100), end) + 1, end - 100, 0)
    if text[end : name.end()] != "=":
        return False
    if _ENV_NAME.fullmatch(text, begin, end):
        return True
    behind, value = text[found.end() : found.end() + 1], found["bare"]
    return (
        (not behind or behind.isspace() or behind in "\"'")
        and _COMMAND_NAME.fullmatch(text, begin, end) is not None
        and (_HANDED_ON.search(value) is None or any(map(str.isdigit, value)))
    )


def _is_own_line(text: str, name: re.Match[str], found: re.Match[str]) -> bool:
    """Return whether a line, not indented, has only a name and its value, and the value has a digit."""
    end = name.start("quote")
    begin = max(text.rfind("\n", max(0, end - 100), end) + 1, end - 100, 0)
    value = found["bare"]
    return (
        text[end : name.end()] == "="
        and text[found.end() : found.end() + 1] in ("", "\n", "\r")
        and _LINE_NAME.fullmatch(text, begin, end) is not None
        and any(map(str.isdigit, value))
        and _HANDED_ON.search(value) is None
    )
