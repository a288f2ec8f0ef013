"""Secrets in sentences, lists and tables: "the password for the wiki is …"."""

from __future__ import annotations

from jupyter_memory.ingest.redaction.shapes import ABROAD, OF_ABROAD, shape
from jupyter_memory.ingest.redaction.values import is_key, is_mingled, is_scrambled, is_spoken, is_strong

# Both cases of the first letter are spelled out: that is much faster than a flag.
_ITS_NAME = r"[Pp](?:ass(?:wor[dt]|wd|phrase|code)|ASSWORD|(?<![A-Za-z].)[Ww][Dd]?|(?<=_.)(?:ass|ASS))"
# Its names in other languages are so rare that their hints are enough.
_ITS_NAME_ABROAD = f"(?i:{ABROAD})"
_KEY = r"[AaCcSsTt](?:(?:[Pp][Ii]|ccess|uth)[ _-]?(?:[Kk]ey|[Tt]oken)|lient[ _-][Ss]ecret|ecret[ _-][Kk]ey|oken)"
# Any name of a key, a token or a secret, with the marks of Markdown and what says that its value follows.
_ANY_KEY = (
    r"[KkTtSsAa](?:ey|EY|oken|OKEN|ecret|ECRET|ppid|PPID)"
    r"(?:[*`\"']{1,3}[ \t]{0,3}[:=|]?|[ \t]{0,9}[:=|]|(?=[ \t](?:is|was|ist|war)\b))"
    r"(?:[ \t](?:is|was|ist|war)\b:?)?[*_`]{0,3}[ \t]{0,3}"
)
_API_KEY = r"[Aa](?:[Pp][Ii][ _-][Kk]ey|ccess[ _-][Tt]oken)"
# "for the wiki is now", in several languages, with few characters in between.
_IS = (
    r"(?i:(?:[ \t](?:for|to|of|on|für|zu|zum|zur|von|auf|im|du|del?|da|do|pour|para|van|voor)\b"
    r"[^\n.;:=|\"'`]{1,40}?)?"
    r"[ \t](?:is|was|ist|war|lautet|est|es|é)(?:[ \t](?:now|still|again|just|jetzt|noch|wieder))?:?)[ \t]{1,3}"
)
_OPENED = r"[*_`\"'“„]{0,3}"
# The end of a sentence ends the value. What is called, indexed or has a possessive is no value.
_END = r"(?<![.:!?])(?=[.:!?]{0,3}(?:[\s\"'`”“*,;)|]|$))(?!'s\b)"
_VALUE = r"(?P<secret>[^\s\"'`”“*<>(){}\[\],;|\\]{6,128})" + _END
_LETTERS = r"(?P<secret>[A-Za-z0-9_.~+/=-]{8,512})" + _END
# Into the next cell of a table, or only a space further.
# Marks around the name, and a colon.
_MARKS = r"(?:[*_`]{1,3}[ \t]?:|[ \t]?:[*_`]{1,3}|[ \t]?:(?=[ \t]{1,3}[*_`]))[ \t]{0,3}"
_CELL = r"[*_`]{0,3}[ \t]{0,9}\|[ \t]{0,9}`"
_BESIDE = r"[*_`]{0,3}(?:[ \t]{0,9}\|[ \t]{0,9}|[ \t]{1,3})" + _OPENED

# The hints: names with what follows them in prose, in lower case.
_NAMES = ("password", "passwort", "passphrase", "passcode", "passwd", "pwd")
_SPACED = (*(name + " " for name in (*_NAMES, "pw")), "pass is", "pass |")
_MARKED = (*(name + mark for name in _NAMES for mark in "*`_"), "pass*", "pass`", "pw*", "pw`")
_ANY = ("key", "token", "secret", "appid")
_ANY_MARKED = tuple(name + mark for name in _ANY for mark in ("*", "`", " |", " is", " was", " ist", " war", ": `"))
_KEYS = ("api key", "api_key ", "api-key ", "access token", "access_token ")

IN_PROSE = (
    shape("password", _SPACED, _ITS_NAME + _IS + _OPENED + _VALUE, is_spoken),
    # As Markdown has it: `**Password:** …`, `**Password**: …`, "Password: `…`".
    shape(
        "password",
        (*_MARKED, *(name + ":" for name in (*_NAMES, "pw"))),
        _ITS_NAME + _MARKS + _OPENED + _VALUE,
        is_spoken,
    ),
    shape("password", (*_SPACED, *_MARKED), _ITS_NAME + _BESIDE + _LETTERS, is_scrambled),
    shape(
        "API key",
        (*_KEYS, "auth token", "secret key is", "secret is", "token is", "token was"),
        _KEY + _IS + _OPENED + _LETTERS,
        is_key,
    ),
    shape("API key", _KEYS, _API_KEY + _BESIDE + _LETTERS, is_key),
    # In a table, a code span is a value.
    shape("password", (*_SPACED, *_MARKED), _ITS_NAME + _CELL + _VALUE, is_spoken),
    shape("password", OF_ABROAD, _ITS_NAME_ABROAD + f"(?:{_IS}|{_MARKS}|{_CELL})" + _OPENED + _VALUE, is_spoken),
    shape("password", OF_ABROAD, _ITS_NAME_ABROAD + _BESIDE + _LETTERS, is_scrambled),
    shape(
        "secret",
        ("secret is", "secret*", "secret`", "secret |", "secret: `"),
        r"[Ss]ecret[*_`]{0,3}(?:[ \t](?:is|was)|[ \t]?[:|])[*_`]{0,3}[ \t]{1,3}`(?P<secret>[A-Za-z0-9]{10,200})`",
        is_mingled,
    ),
    shape("API key", _ANY_MARKED, _ANY_KEY + _OPENED + _LETTERS, is_strong),
    shape("token", ("token ", "secret "), r"[TtSs](?:oken|OKEN|ecret|ECRET)[ \t]{1,3}" + _OPENED + _LETTERS, is_strong),
)
