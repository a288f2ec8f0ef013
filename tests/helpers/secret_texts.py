"""Fills the formats of secrets by a seed, and puts them where people have them: code, outputs, Markdown, tracebacks."""

import json
import random
import re
import string
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
TOKENS, NAMED, FILES, CODE = (_TABLE[name] for name in ("tokens", "named", "files", "code"))
MISSED = _TABLE["missed"]
HEX = "9f8c1e2ab7d04c55e1f02a3b4c5d6e7f"
BASE = "aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2eF5hJ7"
_DIGITS, _LOWER, _MIXED = string.digits, string.ascii_lowercase, string.ascii_letters
ALPHABETS = {
    "h": "0123456789abcdef", "H": "0123456789ABCDEF", "d": _DIGITS, "a": _LOWER + _DIGITS,
    "U": string.ascii_uppercase + _DIGITS, "A": _MIXED + _DIGITS, "w": _MIXED + _DIGITS + "-_",
    "b": _MIXED + _DIGITS + "+/",
}  # fmt: skip
WORDS = tuple(
    re.findall(
        r"\w+",
        "apple basket candle desert engine fabric garden harbor island jacket kitchen ladder magnet napkin orange "
        "pencil quarter rabbit saddle timber umbrella vacuum window yellow zebra bridge copper dragon entire famous "
        "gravity hidden immune jungle kidney lecture marble neutral obvious palace rocket stumble tunnel useful "
        "velvet wisdom",
    )
)
PLACEMENTS = ("code", "output", "markdown", "yaml", "json", "traceback")
FORMATS = (*TOKENS, *(f"{name} (name)" for name in NAMED), *FILES, *CODE)
_FIELD = re.compile(r"\{(?:!(p)|!words(\d+)|(u)|([A-Za-z])(\d+))\}")


@dataclass(frozen=True)
class Planted:
    """A text with made-up secrets in it."""

    format: str
    placement: str
    text: str
    secrets: tuple[str, ...]


def planted(source: random.Random) -> Iterator[Planted]:
    for name in FORMATS:
        for placement in PLACEMENTS:
            yield plant(name, placement, source)


def plant(name: str, placement: str, source: random.Random) -> Planted:
    if name in TOKENS:
        value, secrets = filled(TOKENS[name], source)
        text = _token(value, placement, source)
    elif name.endswith(" (name)"):
        called = name.removesuffix(" (name)")
        value, secrets = filled(NAMED[called], source)
        text = _named(called, value, placement, source)
    else:
        value, secrets = filled((FILES | CODE)[name], source)
        text = excerpt(value, placement, name in CODE)
    return Planted(name, placement, text, secrets)


def password(source: random.Random) -> str:
    """Return a password as people choose them: a word with a year, letters and digits at random, with a sign."""
    word, number = source.choice(WORDS), source.randrange(10, 9999)
    mixed = [*source.choices(_MIXED, k=6), *source.choices(_DIGITS, k=3)]
    source.shuffle(mixed)
    return source.choice(
        [f"{word.title()}{number}", f"{word}{number}xQ", f"{word.title()}-{number}!", "x" + "".join(mixed) + "Z"]
    )


def filled(template: str, source: random.Random) -> tuple[str, tuple[str, ...]]:
    """Return a template with its fields filled, and what was filled in, as far as it has to go."""
    secrets = []

    def fill(field: re.Match[str]) -> str:
        chosen, words, uuid, letter, count = field.groups()
        if chosen:
            value = password(source)
        elif words:
            value = " ".join(source.sample(WORDS, int(words)))
        elif uuid:
            value = "-".join(_some("h", count, source) for count in (8, 4, 4, 4, 12))
        else:
            value = _some(letter, int(count), source)
        # Numbers and short parts of tokens tell nobody anything.
        if len(value) >= 6 and letter != "d":
            secrets.append(value)
        return value

    return _FIELD.sub(fill, template), tuple(secrets)


def _some(letter: str, count: int, source: random.Random) -> str:
    alphabet = ALPHABETS[letter]
    plain = [character for character in alphabet if character.isalnum()]
    value = source.choices(alphabet, k=count)
    value[0], value[-1] = source.choice(plain), source.choice(plain)
    # A run of so many characters without a digit hardly ever occurs.
    if count >= 8:
        value[count // 2] = source.choice([character for character in alphabet if character.isdigit()])
    return "".join(value)


def _token(value: str, placement: str, source: random.Random) -> str:
    places = {
        "code": [f'client = Client("{value}")', f"x = load('{value}', n=3)", f"run({value!r})"],
        "output": [f"Using {value} for 3 requests", f"'{value}'", f"{value}\n"],
        "markdown": [f"- it was {value}, see the wiki", f"Use `{value}` for it.", f"| first | {value} |"],
        "yaml": [f"service:\n  value: {value}\n  retries: 3", f'items:\n  - "{value}"\n  - b'],
        "json": [json.dumps({"value": value, "retries": 3}), json.dumps(["a", value], indent=2)],
        "traceback": [_traceback(f'call("{value}")', f"ValueError: refused {value}")],
    }
    return source.choice(places[placement])


def _named(name: str, value: str, placement: str, source: random.Random) -> str:
    plain = name.isidentifier()
    places = {
        "code": [f'{name} = "{value}"', f"connect(host, {name}='{value}')"]
        if plain
        else [f'headers = {{"{name}": "{value}"}}', f"headers['{name}'] = '{value}'"],
        "output": [f"{{'user': 'anna', '{name}': '{value}'}}", f"{name}: {value}", f"{name}={value}"],
        "markdown": [f"- **{name}**: `{value}`", f"| {name} | `{value}` |", f"The {name} is `{value}`."],
        "yaml": [f"service:\n  user: anna\n  {name}: {value}\n", f'{name}: "{value}"\nretries: 3'],
        "json": [json.dumps({"user": "anna", name: value}), json.dumps({"db": {name: value}}, indent=2)],
        "traceback": [
            _traceback(f'connect("db", {{"{name}": "{value}"}})', "ConnectionError: refused"),
            _traceback("connect(settings)", f"ValueError: cannot read {name}='{value}'"),
        ],
    }
    return source.choice(places[placement])


def excerpt(text: str, placement: str, is_code: bool) -> str:
    lines = text.split("\n")
    if placement == "code":
        return text if is_code else f'written = """\n{text}\n"""\nPath(name).write_text(written)'
    if placement == "output":
        return f"$ cat settings\n{text}\n"
    if placement == "markdown":
        return f"Set it up so:\n\n```\n{text}\n```\n\nThen go on."
    if placement == "yaml":
        return f"data:\n  settings: |\n{textwrap.indent(text, '    ')}\n  mode: 1"
    if placement == "json":
        return json.dumps({"name": "settings", "text": text})
    numbered = "\n".join(
        f"{'----> ' if line == len(lines) else '      '}{line} {said}" for line, said in enumerate(lines, 1)
    )
    head = f"ValueError  Traceback (most recent call last)\nCell In[3], line {len(lines)}"
    return f"{head}\n{numbered}\n\nValueError: refused"


def _traceback(line: str, error: str) -> str:
    return (
        "---------------------------------------------------------------------------\n"
        f"{error.partition(':')[0]}                     Traceback (most recent call last)\n"
        f"Cell In[4], line 2\n      1 import prices\n----> 2 {line}\n\n"
        f"File prices.py:14, in call(*args)\n     13 def call(*args):\n---> 14     raise refused\n\n{error}"
    )


PASSWORD = password(random.Random(3))


def _made_up(text: str) -> str:
    return text.replace("<hex>", HEX).replace("<base>", BASE)


# Frames in which @ is the place of a secret, and the secret.
TOLD = [(frame, _made_up(secret).replace("<password>", PASSWORD)) for frame, secret in _TABLE["told"]]
COMMANDS = [(frame, secret) for frame, secret in _TABLE["commands"]]
HARMLESS = [_made_up(text) for text in _TABLE["harmless"]]
