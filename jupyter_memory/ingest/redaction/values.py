"""Tells the value of a secret from a word, a placeholder or a piece of code."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

# "Password" in German, French, Spanish, Portuguese and Dutch, in lower case.
OF_ABROAD = ("kennwort", "de passe", "de_passe", "de-passe", "depasse", "contrase", "senha", "wachtwoord")

# What is no secret, by kinds: each with its patterns.
_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_KINDS = {
    name: re.compile("|".join(row["any"]), re.IGNORECASE if row.get("any_case") else re.NOFLAG)
    for name, row in _TABLE.items()
}
_PIECE = re.compile(r"[A-Za-z0-9]+")
_RUN = re.compile(r"[0-9]+|[A-Z]?[a-z]+|[A-Z]+")
_DIGITS = re.compile(r"[0-9]+")
_INSIDE = re.compile(r"[A-Za-z][0-9]+[A-Za-z]")
_DATED = re.compile(r"[A-ZÄÖÜ][a-zäöüß]{3,20}\d{2,4}")
_EXCLAIMED = re.compile(r"\w[!?#$](?!=)")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def looks_random(value: str, longest_run: float = 2.6) -> bool:
    """Return whether a value reads as noise: it changes between letters and digits more often than words and versions.

    ``longest_run`` is the longest average run of characters of one kind.

    >>> looks_random("9f8c1e2ab7d04c55"), looks_random("sentence-transformers/all-MiniLM-L6-v2")
    (True, False)
    """
    noise = 0
    for piece in _PIECE.findall(value):
        runs = len(_RUN.findall(piece))
        interleaved = len(piece) >= 16 and len(_DIGITS.findall(piece)) >= 2
        if runs >= 3 and (interleaved or len(piece) <= runs * longest_run):
            noise += len(piece)
    return noise >= 10 or _UUID.fullmatch(value) is not None


def refers(value: str) -> bool:
    """Return whether a value only refers to a secret: a placeholder, a template, a path."""
    if (
        len(value) < 4
        or _KINDS["placeholder"].match(value) is not None
        or _KINDS["path_or_url"].match(value) is not None
    ):
        return True
    return _KINDS["stand_in"].match(value) is not None and not looks_random(value)


def is_mixed(value: str) -> bool:
    """Return whether a value has digits and letters of both cases, as hyphened words do not."""
    return any(map(str.isdigit, value)) and any(map(str.isupper, value)) and any(map(str.islower, value))


def is_given(value: str) -> bool:
    """Return whether a password is spelled out, rather than a template or the word for it."""
    return value[0] not in "{<[$%*" and _KINDS["called"].fullmatch(value) is None


def is_credential(value: str) -> bool:
    """Return whether what follows ``Bearer`` or ``Basic`` is more than a word."""
    letters = value.replace("_", "").replace("-", "")
    return not (letters.isalpha() and (letters.islower() or letters.isupper() or letters.istitle()))


def is_argument(value: str) -> bool:
    """Return whether a password of a command is spelled out."""
    return (
        not refers(value)
        and _KINDS["no_argument"].match(value) is None
        and _KINDS["description"].fullmatch(value) is None
    )


def is_driver_password(value: str) -> bool:
    """Return whether the password of a connection string is spelled out, rather than a variable in similar code."""
    return is_argument(value) and _KINDS["member"].fullmatch(value) is None


def is_scrambled(value: str) -> bool:
    """Return whether a value, however short, changes between letters and digits more often than names of variables."""
    runs = len(_RUN.findall(value))
    return len(value) >= 8 and len(value) <= 2 * runs and _INSIDE.search(value) is not None and value.isalnum()


def is_dated(value: str) -> bool:
    """Return whether a value is a word and a number as people make passwords of them, and no variable or term.

    >>> is_dated("Hallo2024"), is_dated("hallo2"), is_dated("Sha256"), is_dated("Password2")
    (True, False, False, False)
    """
    return _DATED.fullmatch(value) is not None and has_own_digit(value) and _KINDS["named"].search(value) is None


def is_exclaimed(value: str) -> bool:
    """Return whether a value has a digit and a sign that names, paths and formulas do not have."""
    return is_scrambled(value) or (is_spoken(value) and _EXCLAIMED.search(value) is not None)


def is_mingled(value: str) -> bool:
    """Return whether a value is letters with digits among them, and no separators: `abcd1234efgh`."""
    return (
        len(value) >= 10
        and value.isalnum()
        and sum(map(str.isdigit, value)) >= 2
        and _INSIDE.search(value) is not None
        and has_own_digit(value)
    )


def has_own_digit(value: str) -> bool:
    """Return whether a value has a digit that is not part of a technical term."""
    return any(map(str.isdigit, _KINDS["technical"].sub("", value)))


def is_spoken(value: str) -> bool:
    """Return whether a word in a sentence about a password is the password: it has a digit, at least."""
    return is_scrambled(value) or (
        has_own_digit(value)
        and any(map(str.isalpha, value))
        and not refers(value)
        and _KINDS["named"].search(value) is None
        and _KINDS["file_or_mail"].fullmatch(value) is None
    )


def is_spelled(value: str) -> bool:
    """Return whether a value has a digit or a sign, and is no variable, so that it is a password where one belongs."""
    return (
        is_argument(value)
        and not value.isalpha()
        and _KINDS["named"].search(value) is None
        and _KINDS["member"].fullmatch(value) is None
        and (has_own_digit(value) or not value.isidentifier())
    )


def is_noise(value: str) -> bool:
    """Return whether what follows the beginning of a token is its noise: hyphened words are not."""
    return is_mixed(value) or looks_random(value)


def is_cookie(value: str) -> bool:
    """Return whether a cookie's value looks like that of a session, rather than a setting such as ``theme=dark``."""
    return "=" in value and any(looks_random(part) for part in value.replace(";", "=").split("="))


def is_phrase(value: str) -> bool:
    """Return whether words are a passphrase, rather than a sentence about one."""
    words = re.split("[ -]", value)
    return not any(map(_KINDS["grammar"].fullmatch, words)) and len(set(words)) > 2


def is_seed_phrase(value: str) -> bool:
    """Return whether words are as many as in a wallet's seed phrase, and no sentence."""
    return len(value.split()) in (12, 15, 18, 21, 24) and is_phrase(value)


def is_strong(value: str) -> bool:
    """Return whether a value is so long and random that only a key or a hash is like it."""
    return len(value) >= 24 and is_key(value) and _UUID.fullmatch(value) is None


def is_key(value: str) -> bool:
    """Return whether a word in a sentence about a key or token is the key."""
    return (
        len(value) >= 16
        and (not value.startswith("0x") or len(value) == 66)
        and not refers(value)
        and looks_random(value)
    )


def is_set(value: str) -> bool:
    """Return whether a setting for a password spells it out: no reference, switch, tag, mark of a block or alias."""
    return _KINDS["no_setting"].fullmatch(value) is None and (not refers(value) if len(value) >= 4 else value.isalnum())


def is_set_key(value: str) -> bool:
    """Return whether a setting for a key or token spells it out, rather than naming another setting or a number."""
    has_both = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return is_set(value) and (is_mixed(value) or looks_random(value) or (has_both and value.isalnum()))
