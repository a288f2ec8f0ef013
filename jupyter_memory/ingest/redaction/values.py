"""Tells the value of a secret from a word, a placeholder or a piece of code."""

from __future__ import annotations

import re

# "Password" in German, French, Spanish, Portuguese and Dutch, in lower case.
OF_ABROAD = ("kennwort", "de passe", "de_passe", "de-passe", "depasse", "contrase", "senha", "wachtwoord")

_PIECE = re.compile(r"[A-Za-z0-9]+")
_RUN = re.compile(r"[0-9]+|[A-Z]?[a-z]+|[A-Z]+")
_DIGITS = re.compile(r"[0-9]+")
_INSIDE = re.compile(r"[A-Za-z][0-9]+[A-Za-z]")
_DATED = re.compile(r"[A-ZÄÖÜ][a-zäöüß]{3,20}\d{2,4}")
_EXCLAIMED = re.compile(r"\w[!?#$](?!=)")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"\[redacted|[<{\[$%*),:;\]}]|[^{\n]*+\{[^}\n]*+\}|.*(?:\.\.\.|…)$|\.\.\.|…|x{4,}|(?:required|nullable)\|"
    r"|(?:(?:example|sample|dummy|fake|placeholder|secret|token|password|passwd|passwort|passphrase|credential|api[_-]?key"
    r"|kennwort|mot[ _-]?de[ _-]?passe|mdp|contraseña|senha|wachtwoord)s?"
    r"|none|null|nil|true|false|str|string|text|int|bool|bytes|required|optional|hidden|masked|empty|unknown|default)$",
    re.IGNORECASE,
)
# A stand-in for a secret, if it has no noise in it: `my-token`, but not `my-token-9f8a7b6c5d`.
_SPOKEN_OF = re.compile(r"your|(?:my|the|some|an?)[_-]|(?:change|replace|insert|enter)", re.IGNORECASE)
_PATH_OR_URL = re.compile(r"\w+://|~/|\.\.?/|/[\w.-]+/|[A-Za-z]:\\")
# What URLs have instead of a password: `https://user:password@host`.
_CALLED = re.compile(r"pw|pwd|pass|passwd|password|token", re.IGNORECASE)
# What manuals write for a password; another option; ports of a container; code that builds a command.
_NO_ARGUMENT = re.compile(
    r"[-\s]|(?=[A-Z_]++$)[A-Z_]*?(?:PASS|PW|SECRET|TOKEN|KEY)"
    r"|(?:\+.*\+|pass|assword|(?:[\d.]*+:)?[\d-]++:[\d-]++(?:/\w+)?)$"
)
# What documentation writes instead of a password: "the password to use", "Passphrase that protects the key". A password
# that a person chose reads otherwise, or has a digit, a sign or a capital in it: "the password is swordfish".
_DESCRIPTION = re.compile(
    r"(?:(?:[Tt]he|[Aa]n?|[Yy]our) )?(?:(?:database|db|user|admin|root|login|account|new|old|current|same) )?"
    r"(?:[Pp]assw(?:ord|d)|[Pp]assphrase)"
    r"(?: (?:to|for|of|that|which|used|from|with|as|in|on|here)(?: [a-z]+(?:['’]s)?)*)?[.…]?"
)
# Technical terms with digits that occur near passwords: `SHA256`, `argon2id`, `8-character`, `1Password`.
_TECHNICAL = re.compile(
    r"(?<![A-Za-z])(?:(?:hmac)?sha|md|aes|rsa|hs|utf|base|argon|[bs]?crypt|n?(?:var)?char|u?int|float|pbkdf|oauth|python|min|max)"
    r"[-_]?\d+(?:mb\d)?|(?<![A-Za-z])(?:v\d+(?![A-Za-z])|k8s|\dfa\b)|1password|(?<!\w)\d+[-–]",
    re.IGNORECASE,
)
_NAMED = re.compile(r"pass|pw|secret|token|key|cred|arg|user|config|field", re.IGNORECASE)
_FILE_OR_MAIL = re.compile(r".*(?:\.[A-Za-z]{2,5}|\w@\w[\w.-]*\.\w+)")
# Words that a sentence about passphrases has, and lists of words to remember do not.
_GRAMMAR = frozenset(
    re.findall(
        r"\w+",
        "the and for with are was not you your this that has have can must should will would when where which from "
        "into use used using uses key keys file password passphrase private optional encrypt encrypted encryption "
        "protect protects protected decrypt string empty given none provided required set needed value text see his "
        "her our their its but may least than then default type too wrong invalid incorrect match does contains "
        "contain characters letters words word",
    )
)
# What code assigns to a name: `args.password`, `os.environ["DB"]`.
_MEMBER = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\[?")


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
    if len(value) < 4 or _PLACEHOLDER.match(value) is not None or _PATH_OR_URL.match(value) is not None:
        return True
    return _SPOKEN_OF.match(value) is not None and not looks_random(value)


def is_mixed(value: str) -> bool:
    """Return whether a value has digits and letters of both cases, as hyphened words do not."""
    return any(map(str.isdigit, value)) and any(map(str.isupper, value)) and any(map(str.islower, value))


def is_given(value: str) -> bool:
    """Return whether a password is spelled out, rather than a template or the word for it."""
    return value[0] not in "{<[$%*" and _CALLED.fullmatch(value) is None


def is_credential(value: str) -> bool:
    """Return whether what follows ``Bearer`` or ``Basic`` is more than a word."""
    letters = value.replace("_", "").replace("-", "")
    return not (letters.isalpha() and (letters.islower() or letters.isupper() or letters.istitle()))


def is_argument(value: str) -> bool:
    """Return whether a password of a command is spelled out."""
    return not refers(value) and _NO_ARGUMENT.match(value) is None and _DESCRIPTION.fullmatch(value) is None


def is_driver_password(value: str) -> bool:
    """Return whether the password of a connection string is spelled out, rather than a variable in similar code."""
    return is_argument(value) and _MEMBER.fullmatch(value) is None


def is_scrambled(value: str) -> bool:
    """Return whether a value, however short, changes between letters and digits more often than names of variables.

    >>> is_scrambled("x9kLm2Qa"), is_scrambled("ApiKeyV2"), is_scrambled("b64encode")
    (True, False, False)
    """
    runs = len(_RUN.findall(value))
    return len(value) >= 8 and len(value) <= 2 * runs and _INSIDE.search(value) is not None and value.isalnum()


def is_dated(value: str) -> bool:
    """Return whether a value is a word and a number as people make passwords of them, and no variable or term.

    >>> is_dated("Hallo2024"), is_dated("hallo2"), is_dated("Sha256"), is_dated("Password2")
    (True, False, False, False)
    """
    return _DATED.fullmatch(value) is not None and has_own_digit(value) and _NAMED.search(value) is None


def is_exclaimed(value: str) -> bool:
    """Return whether a value has a digit and a sign that names, paths and formulas do not have.

    >>> is_exclaimed("Azerty123!"), is_exclaimed("FrozenLake-8x8"), is_exclaimed("r1+gamma*v2")
    (True, False, False)
    """
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
    return any(map(str.isdigit, _TECHNICAL.sub("", value)))


def is_spoken(value: str) -> bool:
    """Return whether a word in a sentence about a password is the password: it has a digit, at least.

    >>> is_spoken("hunter2"), is_spoken("SHA256"), is_spoken("required")
    (True, False, False)
    """
    return is_scrambled(value) or (
        has_own_digit(value)
        and any(map(str.isalpha, value))
        and not refers(value)
        and _NAMED.search(value) is None
        and _FILE_OR_MAIL.fullmatch(value) is None
    )


def is_spelled(value: str) -> bool:
    """Return whether a value has a digit or a sign, and is no variable, so that it is a password where one belongs."""
    return (
        is_argument(value)
        and not value.isalpha()
        and _NAMED.search(value) is None
        and _MEMBER.fullmatch(value) is None
        and (has_own_digit(value) or not value.isidentifier())
    )


def is_noise(value: str) -> bool:
    """Return whether what follows the beginning of a token is its noise: hyphened words are not."""
    return is_mixed(value) or looks_random(value)


def is_cookie(value: str) -> bool:
    """Return whether a cookie's value looks like that of a session, rather than a setting such as ``theme=dark``."""
    return "=" in value and any(looks_random(part) for part in value.replace(";", "=").split("="))


def is_phrase(value: str) -> bool:
    """Return whether words are a passphrase, rather than a sentence about one.

    >>> is_phrase("correct horse battery staple"), is_phrase("optional passphrase for the key")
    (True, False)
    """
    words = re.split("[ -]", value)
    return _GRAMMAR.isdisjoint(words) and len(set(words)) > 2


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
