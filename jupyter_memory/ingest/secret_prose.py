"""Secrets as people write them in sentences, lists and tables: "the password for the wiki is …"."""

from __future__ import annotations

from jupyter_memory.ingest.secret_shape import shape
from jupyter_memory.ingest.secret_values import is_key, is_scrambled, is_spoken

# The first letter is spelled out, not left to a flag: so it is looked for much faster.
_ITS_NAME = r"[Pp](?:ass(?:wor[dt]|wd|phrase|code)|ASSWORD)"
_KEY = r"[AaCcSsTt](?:(?:[Pp][Ii]|ccess|uth)[ _-]?(?:[Kk]ey|[Tt]oken)|lient[ _-][Ss]ecret|ecret[ _-][Kk]ey|oken)"
_API_KEY = r"[Aa](?:[Pp][Ii][ _-][Kk]ey|ccess[ _-][Tt]oken)"
# "for the wiki is now", in English and German; what stands between two names of things is short.
_IS = (
    r"(?i:(?:[ \t](?:for|to|of|on|für|zu|zum|zur|von|auf|im)\b[^\n.;:=|\"'`]{1,40}?)?"
    r"[ \t](?:is|was|ist|war|lautet)(?:[ \t](?:now|still|again|just|jetzt|noch|wieder))?:?)[ \t]{1,3}"
)
_OPENED = r"[*_`\"'“„]{0,3}"
# What ends a sentence ends the value, and what is called, indexed or belongs to somebody is none.
_END = r"(?<![.:!?])(?=[.:!?]{0,3}(?:[\s\"'`”“*,;)|]|$))(?!'s\b)"
_VALUE = r"(?P<secret>[^\s\"'`”“*<>(){}\[\],;|\\]{6,128})" + _END
_LETTERS = r"(?P<secret>[A-Za-z0-9_.~+/=-]{8,512})" + _END
# Into the next cell of a table, or only a space further.
_BESIDE = r"[*_`]{0,3}(?:[ \t]{0,9}\|[ \t]{0,9}|[ \t]{1,3})" + _OPENED

# What follows a name where a secret may follow, in lower case: it is looked for before any pattern is.
_NAMES = ("password", "passwort", "passphrase", "passcode", "passwd")
_SPACED = tuple(name + " " for name in _NAMES)
_MARKED = tuple(name + mark for name in _NAMES for mark in "*`_")
_KEYS = ("api key", "api_key ", "api-key ", "access token", "access_token ")

IN_PROSE = (
    shape("password", _SPACED, _ITS_NAME + _IS + _OPENED + _VALUE, is_spoken),
    # As Markdown has it: `**Password:** …`, `**Password**: …`, "Password: `…`".
    shape(
        "password",
        (*_MARKED, *(name + ":" for name in _NAMES)),
        _ITS_NAME + r"(?:[*_`]{1,3}[ \t]?:|[ \t]?:[*_`]{1,3}|[ \t]?:(?=[ \t]{1,3}[*_`]))[ \t]{0,3}" + _OPENED + _VALUE,
        is_spoken,
    ),
    shape("password", (*_SPACED, *_MARKED), _ITS_NAME + _BESIDE + _LETTERS, is_scrambled),
    shape(
        "API key",
        (*_KEYS, "auth token", "secret key is", "client secret is", "token is", "token was"),
        _KEY + _IS + _OPENED + _LETTERS,
        is_key,
    ),
    shape("API key", _KEYS, _API_KEY + _BESIDE + _LETTERS, is_key),
)
