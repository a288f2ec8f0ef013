"""Passwords that a program is called with, in a terminal's line or in code, and those of connection strings."""

from __future__ import annotations

from jupyter_memory.ingest.redaction.shapes import BEFORE, QUOTE, QUOTED, TO, WORD, shape
from jupyter_memory.ingest.redaction.values import is_argument, is_driver_password, is_key, is_spelled

_OPTION = r"--(?:[a-z]{1,20}-){0,2}(?:passw(?:or)?d|passphrase)"
_KEYS = ("access", "account", "auth", "secret", "private", "shared", "master", "storage", "subscription")
# An option and its value do not run together.
_APART = r"(?:[\"'],\s{0,3}|[ =]{1,3})"
_P, _U, _B = ((f" -{letter}", f"'-{letter}", f'"-{letter}') for letter in "pub")

COMMANDS = (
    shape(
        "password",
        _P,
        r"m(?<!\wm)(?:ysql|ariadb)\w{0,9}(?=[\s\"'])" + BEFORE + r"-p" + QUOTED + WORD,
        is_argument,
    ),
    shape(
        "password",
        _P,
        r"sshpass(?<!\wsshpass)[\s\"',]{1,5}(?:-v[\s\"',]{1,5})?-p" + TO + QUOTED + WORD,
        is_argument,
    ),
    shape(
        "password",
        _P,
        r"[dprm](?<!\w.)(?:(?:ocker|odman|egistry)[\s\"',]{1,4}login|ongo(?:sh|dump|restore|import|export)?)(?=[\s\"'])"
        + (BEFORE + r"-p" + TO + QUOTED + WORD),
        is_argument,
    ),
    shape(
        "password",
        (*_U, "-user"),
        (r"curl(?<!\wcurl)\b" + BEFORE + r"(?:-[uU]|--(?:proxy-)?user(?![\w-]))")
        + (TO + QUOTED + r"[^\s:\"']{0,80}:(?!//)" + WORD),
        is_argument,
    ),
    shape("password", "passw passphrase", _OPTION + "=" + QUOTED + WORD, is_argument),
    # In a sentence, words may follow it too.
    shape(
        "password",
        "passw passphrase",
        _OPTION + r"[ \t]{1,2}(?=[\"']|\S{0,99}\d)" + QUOTED + WORD,
        is_argument,
    ),
    shape(
        "password",
        "s-cli",
        r"\bredis-cli(?=[\s\"'])" + BEFORE + r"(?:-a|--pass)" + TO + QUOTED + WORD,
        is_argument,
    ),
    shape(
        "password",
        ("sudo -s",),
        r"\becho[ \t]{1,3}" + QUOTED + WORD + r"[ \t]{0,3}\|[ \t]{0,3}sudo -S\b",
        is_argument,
    ),
    # Archives and ciphers: `unzip -P … prices.zip`, `7z x -p…`, `openssl enc -k …`, `openssl rsa -passin pass:…`.
    shape(
        "password",
        _P,
        r"zip(?:(?<![\w.-]zip)|(?<=\bunzip))(?=[\s\"'])" + BEFORE + r"-P" + _APART + QUOTED + WORD,
        is_argument,
    ),
    shape(
        "password",
        _P,
        r"7z(?<![\w.-]7z)[arz]?(?=[\s\"'])" + BEFORE + r"-p" + QUOTED + WORD,
        is_argument,
    ),
    shape(
        "password",
        "openssl",
        r"\bopenssl(?=[\s\"'])" + BEFORE + r"-pass(?:in|out)?" + _APART + QUOTED + "pass:" + WORD,
        is_argument,
    ),
    shape(
        "password",
        "openssl",
        r"\bopenssl[\s\"',]{1,5}(?:enc|aes|des)[\w-]{0,20}(?=[\s\"'])" + BEFORE + r"-[kK]" + _APART + QUOTED + WORD,
        is_argument,
    ),
    # `net use Z: \\server\share … /user:anna`, with the password before or after the user.
    shape(
        "password",
        ("net use",),
        r"\bnet use[ \t][^\n]{0,200}?/[Uu](?:ser|SER):\S{1,80}[ \t]{1,3}(?!/)" + QUOTED + WORD,
        is_argument,
    ),
    shape(
        "password",
        ("net use",),
        r"\bnet use[ \t](?:[\w*]:?[ \t]{1,3})?\\\\\S{1,200}[ \t]{1,3}(?!/)"
        + QUOTED
        + WORD
        + r"[ \t]{1,3}/[Uu](?:ser|SER):",
        is_argument,
    ),
    # A key is an option's value: of `--key` alone only hexadecimal digits, since caches and buckets have keys too.
    shape(
        "API key",
        "--key",
        r"--key" + _APART + r"[\"']?(?P<secret>[0-9a-fA-F]{32,128})(?![\w./-])",
        is_key,
    ),
    shape(
        "API key",
        tuple(f"{name}-key{mark}" for name in _KEYS for mark in " \"'"),
        rf"--(?:secret-)?(?:{'|'.join(_KEYS)})-key" + _APART + r"[\"']?(?P<secret>[\w+/=.~-]{16,512})",
        is_key,
    ),
    # What Python passes to a server: `auth=("anna", "…")`.
    shape(
        "password",
        ("auth=(", "auth = (", "auth =(", "auth= (", "auth("),
        r"[Aa]uth(?:(?<!\w.uth)[ \t]?=[ \t]?|(?<=[Bb]asic.uth)|(?<=[Bb]asic_.uth)|(?<=[Dd]igest.uth))\(\s{0,9}"
        r"\\?[\"'][^\"'\n]{1,80}[\"'],\s{0,9}"
        r"(?P<quote>\\?[\"'])(?P<secret>[^\"'\n\\]{4,128})(?P=quote)\s{0,9},?\s{0,9}\)",
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
        + (r"(?:;\s?|&(?:amp;)?| {1,3})(?i:password|pwd)=" + QUOTED + WORD + r"(?!\([\"')])"),
        is_driver_password,
    ),
    shape(
        "password",
        "htpasswd",
        r"\bhtpasswd[ \t](?:-\w{1,9}[ \t]{1,3}){1,4}[^\s;|&]{1,100}[ \t]{1,3}[\w.@-]{1,60}[ \t]{1,3}" + QUOTED + WORD,
        is_spelled,
    ),
    shape(
        "cookie",
        (*_B, "-cookie"),
        (r"curl(?<!\wcurl)\b" + BEFORE + r"(?:-b|--cookie(?![\w-]))")
        + (TO + QUOTED + r"[\w.-]{1,60}=(?P<secret>[\w.%+/=;-]{16,500}+)"),
        is_key,
    ),
    # SQL: `CREATE USER anna WITH PASSWORD '…'`, `IDENTIFIED BY '…'`.
    shape(
        "password",
        ("password '", "y '"),
        r"[PpIi](?:assword|ASSWORD|dentified by|DENTIFIED BY)[ \t]{1,3}\\?'(?P<secret>[^'\n\\]{4,128})\\?'",
        is_spelled,
    ),
    # `smtp.login("anna", "…")`.
    shape(
        "password",
        "ogin(",
        r"\blogin\(\s{0,9}(?:"
        + QUOTE
        + r"[^\"'\n\\]{1,100}"
        + QUOTE
        + r"|[\w.]{1,60}),\s{0,9}"
        + QUOTE
        + r"(?P<secret>[^\"'\n\\]{4,128})"
        + QUOTE
        + r"\s{0,9},?\s{0,9}\)",
        is_spelled,
    ),
)
