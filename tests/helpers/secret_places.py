"""Passwords and keys where people type them, made by the grammar of ``secret_places.toml``."""

import random
import tomllib
from collections.abc import Iterator
from pathlib import Path

from secret_texts import Planted, excerpt, filled

_RULES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_NAMES = _RULES.pop("names")
_OF_KEYS = _RULES.pop("names of keys")
_AROUND = ("code", "output", "markdown", "json", "traceback")


def typed(source: random.Random, *, whole: bool = False) -> Iterator[Planted]:
    """Yield a secret for each construct of each language in each of its quotings; ``whole``: with each of the names."""
    for language, rules in _RULES.items():
        for construct in rules["constructs"]:
            is_named = any(mark in construct.lower() for mark in ("<name>", "<option>", "<words>"))
            names = [*_NAMES, *_OF_KEYS] if is_named else [rules.get("name", "password")]
            for quotes in rules["quotes"] if "<value>" in construct else ["@"]:
                for name in names if whole else [source.choice(names)]:
                    value, secrets = filled(_OF_KEYS.get(name, "{!p}"), source)
                    text = _named(construct, name.split()).replace("<value>", quotes.replace("@", value))
                    around = source.choice(_AROUND)
                    text = excerpt(text.replace("<bare>", value), around, True)
                    yield Planted(f"{language}: {construct}", around, text, secrets)


def _named(construct: str, words: list[str]) -> str:
    camel = words[0] + "".join(word.title() for word in words[1:])
    cases = {"<name>": "_".join(words), "<NAME>": "_".join(words).upper(), "<Name>": camel}
    cases |= {"<option>": "-".join(words), "<words>": " ".join(words), "\\n": "\n", "\\t": "\t"}
    for mark, case in cases.items():
        construct = construct.replace(mark, case)
    return construct
