"""What secrets look like: well-known tokens, passwords in commands, and secrets in sentences, lists and tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from jupyter_memory.ingest.redaction.values import (
    is_argument,
    is_credential,
    is_driver_password,
    is_given,
    is_key,
    is_mixed,
    is_scrambled,
    is_spoken,
    looks_random,
)


def _always(value: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Shape:
    """What a kind of secret looks like. A text without any of ``hints`` in lower case has no such secret.

    A hint has at least three bytes, because hints are found by their first three. If ``check`` agrees, the pattern's
    group ``secret`` is replaced, or the whole match if there is no such group.
    """

    what: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    check: Callable[[str], bool] = _always


def shape(what: str, hints: str | tuple[str, ...], pattern: str, check: Callable[[str], bool] = _always) -> Shape:
    """Return a shape; hints without spaces may be given in one string."""
    return Shape(what, tuple(hints.split()) if isinstance(hints, str) else hints, re.compile(pattern), check)


# Secrets as people write them in sentences, lists and tables: "the password for the wiki is …".

# Both cases of the first letter are spelled out: that is much faster than a flag.
_ITS_NAME = r"[Pp](?:ass(?:wor[dt]|wd|phrase|code)|ASSWORD)"
_KEY = r"[AaCcSsTt](?:(?:[Pp][Ii]|ccess|uth)[ _-]?(?:[Kk]ey|[Tt]oken)|lient[ _-][Ss]ecret|ecret[ _-][Kk]ey|oken)"
_API_KEY = r"[Aa](?:[Pp][Ii][ _-][Kk]ey|ccess[ _-][Tt]oken)"
# "for the wiki is now", in English and German, with few characters in between.
_IS = (
    r"(?i:(?:[ \t](?:for|to|of|on|für|zu|zum|zur|von|auf|im)\b[^\n.;:=|\"'`]{1,40}?)?"
    r"[ \t](?:is|was|ist|war|lautet)(?:[ \t](?:now|still|again|just|jetzt|noch|wieder))?:?)[ \t]{1,3}"
)
_OPENED = r"[*_`\"'“„]{0,3}"
# The end of a sentence ends the value. What is called, indexed or has a possessive is no value.
_END = r"(?<![.:!?])(?=[.:!?]{0,3}(?:[\s\"'`”“*,;)|]|$))(?!'s\b)"
_VALUE = r"(?P<secret>[^\s\"'`”“*<>(){}\[\],;|\\]{6,128})" + _END
_LETTERS = r"(?P<secret>[A-Za-z0-9_.~+/=-]{8,512})" + _END
# Into the next cell of a table, or only a space further.
_BESIDE = r"[*_`]{0,3}(?:[ \t]{0,9}\|[ \t]{0,9}|[ \t]{1,3})" + _OPENED

# The hints: names with what follows them in prose, in lower case.
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


# A token begins where a run of its characters begins, and possessive patterns read each run only once.
_START = r"(?<![\w-])"
_BEGIN_KEY = r"-----BEGIN[ A-Z0-9]{0,30}PRIVATE KEY[ A-Z]{0,10}-----"
_END_KEY = r"-----END[ A-Z0-9]{0,30}PRIVATE KEY[ A-Z]{0,10}-----"
_CREDENTIALS = r"(?P<secret>[A-Za-z0-9._~+/-]{8,}+={0,2})"

# A word of a command line, in quotes or not; the options before it; and what separates an option from its value, also
# where a program is called with a list of words.
_QUOTED = r"(?P<quote>[\"'])?+"
_WORD = (
    r"(?P<secret>(?(quote)[^\"'\n]{4,500}+|(?:[^\s\"'`;|&<>()\\,]|,(?!\s)|\\[^\w\s\"'\\]){4,500}+))(?(quote)(?P=quote))"
)
_BEFORE = r"(?:\\\n|[^\n;|&]){0,200}?[\s\"']"
_TO = r"(?:[\"'],\s{0,3}|[ =]{0,3})"
_OPTION = r"--(?:[a-z]{1,20}-){0,2}(?:passw(?:or)?d|passphrase)"
_P, _U = ((f" -{letter}", f"'-{letter}", f'"-{letter}') for letter in "pu")

SHAPES = (
    # The body ends at the next five hyphens, so that no stretch is read twice.
    shape("private key", "-----begin", _BEGIN_KEY + r"[^-]*+(?:-(?!----)[^-]*+)*+" + _END_KEY),
    # A key that is cut off: as much as still looks like one.
    shape("private key", "-----begin", _BEGIN_KEY + r"(?:(?:[\s\"',+]|\\[nr])*+[A-Za-z0-9+/=]{24,}+)+"),
    shape("password", "://", r"://[^\s/:@'\"<>]{0,100}:(?P<secret>[^\s/?#'\"<>]{1,128})@(?!sha256:)", is_given),
    shape("AWS access key id", "akia asia", r"\bA(?:KIA|SIA)[A-Z0-9]{16}\b"),
    shape(
        "AWS secret key",
        "aws",
        r"(?i:aws_?secret_?(?:access_?)?key)[\"']?\]?\s{0,9}[:=,]\s{0,9}[\"']?(?P<secret>[A-Za-z0-9/+]{40})(?![\w/+])",
    ),
    shape("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"\b(?:gh[pousr]|github_pat)_\w{22,}+"),
    shape(
        "GitLab token",
        "glpat- glrt- gldt- glptt- glcbt- glsoat- gloas-",
        _START + r"gl(?:pat|rt|dt|ptt|cbt|soat|oas)-[\w-]{20,}+",
    ),
    shape("Slack token", "xox xapp-", _START + r"(?:xox[abeoprs]|xapp)-[\w.-]{10,}+"),
    shape("Slack webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[\w/-]{20,}+)"),
    shape("Anthropic key", "sk-ant-", _START + r"sk-ant-[\w-]{20,}+"),
    shape("OpenAI key", "sk-", _START + r"sk-[\w-]{20,}+", is_mixed),
    shape("Google key", "aiza gocspx- ya29.", r"\b(?:AIza[\w-]{35}|GOCSPX-[\w-]{20,60}|ya29\.[\w-]{20,500})"),
    shape(
        "Stripe key",
        "k_live_ k_test_ whsec_",
        r"\b(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}+|whsec_[A-Za-z0-9+/=]{16,}+)",
    ),
    shape("Hugging Face token", "hf_ api_org_", r"\b(?:hf|api_org)_[A-Za-z0-9]{30,}+"),
    shape("npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36,}+"),
    shape("PyPI token", "pypi-", _START + r"pypi-[\w-]{50,}+"),
    shape("SendGrid key", "sg.", r"\bSG\.[\w-]{16,40}\.[\w-]{30,60}"),
    shape("Databricks token", "dapi", r"\bdapi[0-9a-f]{32}(?:-\d)?\b"),
    shape("Groq key", "gsk_", r"\bgsk_[A-Za-z0-9]{40,}+"),
    shape("xAI key", "xai-", _START + r"xai-[A-Za-z0-9]{40,}+"),
    shape("Replicate token", "r8_", r"\br8_[A-Za-z0-9]{30,}+"),
    shape("DigitalOcean token", "_v1_", r"\bdo[opr]_v1_[0-9a-f]{64}\b"),
    shape("Notion token", "ntn_", r"\bntn_[A-Za-z0-9]{40,}+"),
    shape("Vault token", "hvs. hvb. hvr.", r"\bhv[sbr]\.[\w-]{24,}+"),
    shape("Linear key", "lin_api_", r"\blin_api_[A-Za-z0-9]{32,}+"),
    shape("Perplexity key", "pplx-", _START + r"pplx-[A-Za-z0-9]{40,}+"),
    shape("Tavily key", "tvly-", _START + r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{24,}+"),
    shape("Shopify token", "shpat_ shpss_ shpca_ shppa_", r"\bshp(?:at|ss|ca|pa)_[0-9a-fA-F]{32}\b"),
    shape("Square token", "sq0csp- sq0atp-", _START + r"sq0(?:csp|atp)-[\w-]{22,}+"),
    shape("age key", "age-secret-key-1", r"\bAGE-SECRET-KEY-1[A-Z0-9]{58}\b"),
    shape(
        "Azure secret",
        tuple(f"{digit}q~" for digit in range(10)),
        r"(?<![\w.~-])[\w.~-]{3}\dQ~[\w.~-]{31,34}(?![\w.~-])",
    ),
    shape("Telegram token", ":aa", r"\b\d{8,10}:AA[\w-]{32,34}(?![\w-])"),
    shape("Weights & Biases key", "wandb", r"\bwandb[. ]login\b[^\n]{0,80}?\b(?P<secret>[0-9a-f]{40})\b"),
    shape("signature", "sig=", r"[?&;]sig=(?P<secret>[\w%+/=-]{30,}+)"),
    shape("JSON web token", "eyj", _START + r"eyJ[\w-]{8,}+\.eyJ[\w-]{8,}+\.[\w-]*+"),
    shape(
        "authorization",
        "authorization",
        r"(?i:authorization)[\"']?\]?\s{0,9}[:=,]\s{0,9}[fF]?[\"']?(?i:bearer|basic|token|apikey)\s{1,9}"
        + _CREDENTIALS,
        is_credential,
    ),
    shape("bearer token", "bearer", r"\b(?i:bearer)\s{1,9}" + _CREDENTIALS, looks_random),
    shape(
        "password",
        _P,
        r"\b(?:mysql|mariadb)\w{0,9}(?=[\s\"'])" + _BEFORE + r"-p" + _QUOTED + _WORD,
        is_argument,
    ),
    shape(
        "password",
        _P,
        r"\bsshpass[\s\"',]{1,5}(?:-v[\s\"',]{1,5})?-p" + _TO + _QUOTED + _WORD,
        is_argument,
    ),
    shape(
        "password",
        _P,
        r"\b(?:(?:docker|podman|registry)[\s\"',]{1,4}login|mongo(?:sh|dump|restore|import|export)?)(?=[\s\"'])"
        + (_BEFORE + r"-p" + _TO + _QUOTED + _WORD),
        is_argument,
    ),
    shape(
        "password",
        (*_U, "-user"),
        (r"\bcurl\b" + _BEFORE + r"(?:-[uU]|--(?:proxy-)?user(?![\w-]))")
        + (_TO + _QUOTED + r"[^\s:\"']{0,80}:(?!//)" + _WORD),
        is_argument,
    ),
    shape("password", "passw passphrase", _OPTION + "=" + _QUOTED + _WORD, is_argument),
    # In a sentence, words may follow it too.
    shape(
        "password",
        "passw passphrase",
        _OPTION + r"[ \t]{1,2}(?=[\"']|\S{0,99}\d)" + _QUOTED + _WORD,
        is_argument,
    ),
    shape(
        "password",
        "redis-cli",
        r"\bredis-cli(?=[\s\"'])" + _BEFORE + r"(?:-a|--pass)" + _TO + _QUOTED + _WORD,
        is_argument,
    ),
    shape(
        "password",
        ("sudo -s",),
        r"\becho[ \t]{1,3}" + _QUOTED + _WORD + r"[ \t]{0,3}\|[ \t]{0,3}sudo -S\b",
        is_argument,
    ),
    # What Python passes to a server: `auth=("anna", "…")`.
    shape(
        "password",
        ("auth=(", "auth = (", "auth =(", "auth= (", "basicauth(", "digestauth(", "basic_auth("),
        r"(?:\bauth[ \t]?=[ \t]?\(|(?i:basic|digest)_?[Aa]uth\()\s{0,9}[\"'][^\"'\n]{1,80}[\"'],\s{0,9}(?P<quote>[\"'])"
        r"(?P<secret>[^\"'\n]{4,128})(?P=quote)\s{0,9},?\s{0,9}\)",
        is_argument,
    ),
    shape(
        "password", "jdbc:oracle", r"jdbc:oracle:\w{2,5}:[^/\s\"'@]{1,60}/(?P<secret>[^\s\"'@/]{4,60})@", is_argument
    ),
    # As connection strings of databases have it: "dbname=prices user=anna password=…", "Server=db;UID=anna;PWD=…".
    shape(
        "password",
        "password= pwd=",
        r"\b(?i:host|hostaddr|port|dbname|database|catalog|user(?: id)?|server|uid)=[^\s,;&\"'(){}]{1,80}"
        + (r"(?:;\s?|&(?:amp;)?| {1,3})(?i:password|pwd)=" + _QUOTED + _WORD + r"(?!\([\"')])"),
        is_driver_password,
    ),
    *IN_PROSE,
)
