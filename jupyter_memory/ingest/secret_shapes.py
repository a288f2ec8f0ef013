"""What secrets look like: the shapes of well-known ones and of those in commands, and what tells them from words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_PIECE = re.compile(r"[A-Za-z0-9]+")
_RUN = re.compile(r"[0-9]+|[A-Z]?[a-z]+|[A-Z]+")
_DIGITS = re.compile(r"[0-9]+")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"\[redacted|[<{\[$%*),:;\]}]|.*\{.*\}|\.\.\.|…|x{4,}|your|(?:my|the|some|an?)[_-]|(?:change|replace|insert|enter)"
    r"|(?:(?:example|sample|dummy|fake|placeholder|secret|token|password|passwd|passwort|passphrase|credential|api[_-]?key)s?"
    r"|none|null|nil|true|false|str|string|text|int|bool|bytes|required|optional|hidden|masked|empty|unknown|default)$",
    re.IGNORECASE,
)
_PATH_OR_URL = re.compile(r"\w+://|[~.]{0,2}/[\w.-]+/|[A-Za-z]:\\")
# What manuals write for a password, another option, ports of a container, or code that puts a command together.
_NO_ARGUMENT = re.compile(
    r"[-\s]|(?:\+.*\+|pass|[A-Z_]*(?:PASS|PW|SECRET|TOKEN|KEY)[A-Z_]*|assword|[\d.]*:?[\d-]+:[\d-]+(?:/\w+)?)$"
)
# What documentation writes in a password's place: "the password to use", "Passphrase that protects the key". Whatever a
# person would choose goes on otherwise or has a digit, a sign or a capital in it: "the password is swordfish".
_DESCRIPTION = re.compile(
    r"(?:(?:[Tt]he|[Aa]n?|[Yy]our) )?(?:(?:database|db|user|admin|root|login|account|new|old|current|same) )?"
    r"(?:[Pp]assw(?:ord|d)|[Pp]assphrase)"
    r"(?: (?:to|for|of|that|which|used|from|with|as|in|on|here)(?: [a-z]+(?:['’]s)?)*)?[.…]?"
)
# What code gives to a name: `args.password`, `os.environ["DB"]`.
_MEMBER = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\[?")


def looks_random(value: str, longest_run: float = 2.6) -> bool:
    """Return whether a value reads as noise: its letters and digits change more often than words and versions do.

    ``longest_run`` is how many characters of one kind may stand together on average.

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
    """Return whether a value only stands for a secret: a placeholder, a template, a path."""
    return len(value) < 4 or _PLACEHOLDER.match(value) is not None or _PATH_OR_URL.match(value) is not None


def _is_mixed(value: str) -> bool:
    """Return whether a value has digits and letters of both cases, as hyphened words do not."""
    return any(map(str.isdigit, value)) and any(map(str.isupper, value)) and any(map(str.islower, value))


def _is_given(value: str) -> bool:
    """Return whether a password is spelled out, rather than filled in by a template."""
    return value[0] not in "{<[$%*"


def _is_credential(value: str) -> bool:
    """Return whether what follows ``Bearer`` or ``Basic`` is more than a word."""
    letters = value.replace("_", "").replace("-", "")
    return not (letters.isalpha() and (letters.islower() or letters.isupper() or letters.istitle()))


def _is_argument(value: str) -> bool:
    """Return whether a password of a command is spelled out."""
    return not refers(value) and _NO_ARGUMENT.match(value) is None and _DESCRIPTION.fullmatch(value) is None


def _is_told(value: str) -> bool:
    """Return whether the password of a driver is spelled out, rather than a variable of code that looks alike."""
    return _is_argument(value) and _MEMBER.fullmatch(value) is None


def _always(value: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Shape:
    """What a kind of secret looks like. A text that has none of ``hints`` in lower case has none of it.

    What is replaced is the pattern's group ``secret``, or the whole match where it has none, if ``check`` agrees.
    """

    what: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    check: Callable[[str], bool] = _always


def _shape(what: str, hints: str | tuple[str, ...], pattern: str, check: Callable[[str], bool] = _always) -> Shape:
    """Return a shape; hints without spaces may be given as words."""
    return Shape(what, tuple(hints.split()) if isinstance(hints, str) else hints, re.compile(pattern), check)


# A token begins where the run of its characters does, and never gives any back: a run is read once, whatever it holds.
_START = r"(?<![\w-])"
_BEGIN_KEY = r"-----BEGIN[ A-Z0-9]{0,30}PRIVATE KEY[ A-Z]{0,10}-----"
_END_KEY = r"-----END[ A-Z0-9]{0,30}PRIVATE KEY[ A-Z]{0,10}-----"
_CREDENTIALS = r"(?P<secret>[A-Za-z0-9._~+/-]{8,}+={0,2})"

# A word of a command line, in quotes or not; the options before it, to the end of the command; what stands between an
# option and its value, also where a program is called with a list of words.
_OPENED = r"(?P<quote>[\"'])?+"
_WORD = (
    r"(?P<secret>(?(quote)[^\"'\n]{4,500}+|(?:[^\s\"'`;|&<>()\\,]|,(?!\s)|\\[^\w\s\"'\\]){4,500}+))(?(quote)(?P=quote))"
)
_BEFORE = r"(?:\\\n|[^\n;|&]){0,200}?[\s\"']"
_TO = r"(?:[\"'],\s{0,3}|[ =]{0,3})"
_OPTION = r"--(?:[a-z]{1,20}-){0,2}(?:passw(?:or)?d|passphrase)"
_P, _U = ((f" -{letter}", f"'-{letter}", f'"-{letter}') for letter in "pu")

SHAPES = (
    # The body goes to the next five hyphens, so that no two tries read the same stretch.
    _shape("private key", "-----begin", _BEGIN_KEY + r"[^-]*+(?:-(?!----)[^-]*+)*+" + _END_KEY),
    # One that is cut off before its end: as far as it still looks like one.
    _shape("private key", "-----begin", _BEGIN_KEY + r"(?:(?:[\s\"',+]|\\[nr])*+[A-Za-z0-9+/=]{24,}+)+"),
    _shape("password", "://", r"://[^\s/:@'\"<>]{0,100}:(?P<secret>[^\s/?#'\"<>]{1,128})@(?!sha256:)", _is_given),
    _shape("AWS access key id", "akia asia", r"\bA(?:KIA|SIA)[A-Z0-9]{16}\b"),
    _shape(
        "AWS secret key",
        "aws",
        r"(?i:aws_?secret_?(?:access_?)?key)[\"']?\]?\s{0,9}[:=,]\s{0,9}[\"']?(?P<secret>[A-Za-z0-9/+]{40})(?![\w/+])",
    ),
    _shape("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"\b(?:gh[pousr]|github_pat)_\w{22,}+"),
    _shape(
        "GitLab token",
        "glpat- glrt- gldt- glptt- glcbt- glsoat- gloas-",
        _START + r"gl(?:pat|rt|dt|ptt|cbt|soat|oas)-[\w-]{20,}+",
    ),
    _shape("Slack token", "xox xapp-", _START + r"(?:xox[abeoprs]|xapp)-[\w.-]{10,}+"),
    _shape("Slack webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[\w/-]{20,}+)"),
    _shape("Anthropic key", "sk-ant-", _START + r"sk-ant-[\w-]{20,}+"),
    _shape("OpenAI key", "sk-", _START + r"sk-[\w-]{20,}+", _is_mixed),
    _shape("Google key", "aiza gocspx- ya29.", r"\b(?:AIza[\w-]{35}|GOCSPX-[\w-]{20,60}|ya29\.[\w-]{20,500})"),
    _shape(
        "Stripe key",
        "k_live_ k_test_ whsec_",
        r"\b(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}+|whsec_[A-Za-z0-9+/=]{16,}+)",
    ),
    _shape("Hugging Face token", "hf_ api_org_", r"\b(?:hf|api_org)_[A-Za-z0-9]{30,}+"),
    _shape("npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36,}+"),
    _shape("PyPI token", "pypi-", _START + r"pypi-[\w-]{50,}+"),
    _shape("SendGrid key", "sg.", r"\bSG\.[\w-]{16,40}\.[\w-]{30,60}"),
    _shape("Databricks token", "dapi", r"\bdapi[0-9a-f]{32}(?:-\d)?\b"),
    _shape("Groq key", "gsk_", r"\bgsk_[A-Za-z0-9]{40,}+"),
    _shape("xAI key", "xai-", _START + r"xai-[A-Za-z0-9]{40,}+"),
    _shape("Replicate token", "r8_", r"\br8_[A-Za-z0-9]{30,}+"),
    _shape("DigitalOcean token", "_v1_", r"\bdo[opr]_v1_[0-9a-f]{64}\b"),
    _shape("Notion token", "ntn_", r"\bntn_[A-Za-z0-9]{40,}+"),
    _shape("Telegram token", ":aa", r"\b\d{8,10}:AA[\w-]{32,34}(?![\w-])"),
    _shape("Weights & Biases key", "wandb", r"\bwandb[. ]login\b[^\n]{0,80}?\b(?P<secret>[0-9a-f]{40})\b"),
    _shape("signature", "sig=", r"[?&;]sig=(?P<secret>[\w%+/=-]{30,}+)"),
    _shape("JSON web token", "eyj", _START + r"eyJ[\w-]{8,}+\.eyJ[\w-]{8,}+\.[\w-]*+"),
    _shape(
        "authorization",
        "authorization",
        r"(?i:authorization)[\"']?\]?\s{0,9}[:=,]\s{0,9}[fF]?[\"']?(?i:bearer|basic|token|apikey)\s{1,9}"
        + _CREDENTIALS,
        _is_credential,
    ),
    _shape("bearer token", "bearer", r"\b(?i:bearer)\s{1,9}" + _CREDENTIALS, looks_random),
    _shape("password", _P, r"\b(?:mysql|mariadb)\w{0,9}(?=[\s\"'])" + _BEFORE + r"-p" + _OPENED + _WORD, _is_argument),
    _shape("password", _P, r"\bsshpass[\s\"',]{1,5}(?:-v[\s\"',]{1,5})?-p" + _TO + _OPENED + _WORD, _is_argument),
    _shape(
        "password",
        _P,
        r"\b(?:(?:docker|podman|registry)[\s\"',]{1,4}login|mongo(?:sh|dump|restore|import|export)?)(?=[\s\"'])"
        + (_BEFORE + r"-p" + _TO + _OPENED + _WORD),
        _is_argument,
    ),
    _shape(
        "password",
        (*_U, "-user"),
        (r"\bcurl\b" + _BEFORE + r"(?:-[uU]|--(?:proxy-)?user(?![\w-]))")
        + (_TO + _OPENED + r"[^\s:\"']{0,80}:(?!//)" + _WORD),
        _is_argument,
    ),
    _shape("password", "passw passphrase", _OPTION + "=" + _OPENED + _WORD, _is_argument),
    # Words may follow it in a sentence, too.
    _shape(
        "password",
        "passw passphrase",
        _OPTION + r"[ \t]{1,2}(?=[\"']|\S{0,99}\d)" + _OPENED + _WORD,
        _is_argument,
    ),
    # As drivers of databases are told: "dbname=prices user=anna password=…", "Server=db;UID=anna;PWD=…".
    _shape(
        "password",
        "password= pwd=",
        r"\b(?i:host|hostaddr|port|dbname|database|user|server|uid)=[^\s,;\"'(){}]{1,80}(?:;\s?| {1,3})"
        + (r"(?i:password|pwd)=" + _OPENED + _WORD + r"(?!\([\"')])"),
        _is_told,
    ),
)
