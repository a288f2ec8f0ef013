"""Secrets in the notation of files, protocols and libraries: `.netrc`, kubeconfig, cookies, Spark's settings.

Lines may have the numbers of a traceback before them, and may be escaped within a string of JSON.
"""

from __future__ import annotations

from jupyter_memory.ingest.redaction.shapes import BREAK, GAP, LINE_END, QUOTE, shape
from jupyter_memory.ingest.redaction.values import (
    is_cookie,
    is_exclaimed,
    is_key,
    is_mixed,
    is_phrase,
    is_seed_phrase,
    is_spelled,
    is_spoken,
    looks_random,
)

_TO = r"(?:" + QUOTE + r")?\]?\s{0,9}[:=,]\s{0,9}(?:" + QUOTE + r")?"
_SPELLED = r"(?P<secret>[^\s\"'`\\]{4,200})"
# A line of a file of settings: a name and a value without quotes.
_SETTING = r"[\w.-]{1,40}[ \t]{0,9}[:=][ \t]{0,9}[^\s\"'(){}\[\]\\]{1,100}"
# The value of a name on the line below it. A search for the colon is the fastest.
_PASSWORD_NAMES = ("assword", "ASSWORD", "asswort", "asswd", "assphrase", r"\b[Pp]wd", r"\bPWD", r"\b[Pp]w")
_KEY_NAMES = ("[Kk]ey", "KEY", "[Tt]oken", "TOKEN", "[Ss]ecret", "SECRET")


def _below(names: tuple[str, ...], sign: str = ":") -> str:
    """Return what a sign after one of these names, and the beginning of the next line, look like."""
    behind = "|".join(f"(?<={name}{quote}{sign})" for name in names for quote in ("", "[\"']"))
    return rf"{sign}(?:{behind}){BREAK}(?:[|>]-?)?[\"'`]?"


FILES = (
    # `.netrc`, on one line or on several.
    shape(
        "password",
        ("password ",),
        r"[md](?<!\w.)(?:achine" + GAP + r"[^\s\\]{1,200}|efault)" + GAP + r"login" + GAP + r"[^\s\\]{1,200}"
        rf"(?:{GAP}account{GAP}[^\s\\]{{1,200}})?{GAP}password{GAP}{_SPELLED}",
        is_spelled,
    ),
    # `.pgpass`: host, port, database, user, password.
    shape(
        "password",
        ":543 :643 :*:",
        r"(?<![\w.*:/-])[\w.*-]{1,100}:(?:\d{4,5}|\*):[\w*$-]{1,63}:[\w*@.-]{1,63}:(?P<secret>[^\s:\"'`\\]{4,200})",
        is_spelled,
    ),
    # The settings of a client: a user, and the password on one of the next lines.
    shape(
        "password",
        ("password =", "password=", "passwd =", "passwd=", "password:"),
        r"[UuLlEe](?:ser(?:name)?|SER(?:NAME)?|ogin|mail)[ \t]{0,9}[:=][ \t]{0,9}[\w.@+-]{1,80}"
        rf"(?:{BREAK}{_SETTING}){{0,3}}?{BREAK}[\w.-]{{0,40}}?(?i:password|passwd)[ \t]{{0,9}}[:=][ \t]{{0,9}}"
        rf"(?P<secret>[^\s\"'`(){{}}\[\]\\]{{4,128}}){LINE_END}",
        is_spelled,
    ),
    shape(
        "password",
        "password: passwort: passwd: passphrase: pwd: pw:",
        rf"{_below(_PASSWORD_NAMES)}(?P<secret>[^\s\"'`:(){{}}\[\],;\\]{{6,128}})[\"'`]?{LINE_END}",
        is_spoken,
    ),
    shape(
        "API key",
        "key: token: secret:",
        rf"{_below(_KEY_NAMES)}(?P<secret>[\w.~+/=-]{{16,512}})[\"'`]?{LINE_END}",
        is_key,
    ),
    # Below an equals sign only what is indented: in a file of settings the value may be empty.
    shape(
        "password",
        "password= passwort= passwd= passphrase= pwd= pw=",
        rf"{_below(_PASSWORD_NAMES, '=')}(?<=[ \t\"'`])(?P<secret>[^\s\"'`:=(){{}}\[\],;\\]{{6,128}})[\"'`]?{LINE_END}",
        is_exclaimed,
    ),
    shape(
        "API key",
        "fernet(",
        r"\bFernet\(\s{0,9}[rb]?" + QUOTE + r"(?P<secret>[\w-]{43}=)" + QUOTE,
        is_mixed,
    ),
    shape(
        "private key",
        "key-data",
        r"\bclient-key-data" + _TO + r"(?P<secret>[A-Za-z0-9+/]{24,}+={0,2})",
    ),
    shape(
        "private key",
        "e-lines:",
        r"Private-Lines:[ \t]{0,9}\d{1,4}(?P<secret>(?:" + BREAK + r"[A-Za-z0-9+/=]{16,}+)++)",
    ),
    # Docker's credentials: name and password in base64.
    shape(
        "password",
        ('auth"', "auth'", 'auth\\"'),
        QUOTE
        + r"(?:_?auth|identitytoken)"
        + QUOTE
        + r"\s{0,9}:\s{0,9}"
        + QUOTE
        + r"(?P<secret>[A-Za-z0-9+/_-]{12,}+={0,2})",
        is_mixed,
    ),
    # kaggle.json.
    shape(
        "API key",
        ('"key', "'key"),
        rf"username(?<=[\"']username){QUOTE}\s{{0,9}}:\s{{0,9}}{QUOTE}[\w.-]{{1,80}}{QUOTE},\s{{0,9}}{QUOTE}key{QUOTE}\s{{0,9}}:"
        rf"\s{{0,9}}{QUOTE}(?P<secret>[\w-]{{20,}}+)",
        looks_random,
    ),
    # The key of a Wi-Fi network.
    shape("password", "psk", r"\bpsk\s{0,9}=\s{0,9}(?:" + QUOTE + r")(?P<secret>[^\"'\n\\]{8,64})" + QUOTE, is_spelled),
    shape(
        "API key",
        "account.key",
        r"\bfs\.azure\.account\.key[\w.-]{0,100}" + _TO + r"(?P<secret>[A-Za-z0-9+/]{40,}+={0,2})",
    ),
    shape("API key", "appid", r"(?:appid|APPID|AppId)" + _TO + r"(?P<secret>[0-9a-f]{32})\b"),
    shape(
        "API key",
        "credential(",
        r"\b\w{0,40}Credential\(\s{0,9}" + QUOTE + r"(?P<secret>[\w+/=-]{24,}+)" + QUOTE,
        looks_random,
    ),
    # Settings of Spark and of others: `.option("password", "…")`.
    shape(
        "password",
        ('password"', "password'", 'password\\"'),
        r"\.(?:set|config|option|setdefault|setProperty|put)\(\s{0,9}"
        + QUOTE
        + r"[\w.-]{0,80}?password"
        + QUOTE
        + r"\s{0,9},\s{0,9}"
        + QUOTE
        + r"(?P<secret>[^\"'\n\\]{4,128})"
        + QUOTE,
        is_spelled,
    ),
    shape(
        "cookie",
        'cookie: cookie": cookie\': cookie\\":',
        r"(?i:\b(?:set-)?cookie)(?:" + QUOTE + r")?:\s{0,9}(?:" + QUOTE + r")?(?P<secret>[^\n\"'\\]{8,4000})",
        is_cookie,
    ),
    shape(
        "cookie",
        ("cookies =", "cookies=", 'cookies"', "cookies'"),
        r"\bcookies(?:"
        + QUOTE
        + r")?\s{0,9}[:=]\s{0,9}\{(?:[^{}\n]{0,400}?[\s,])?"
        + QUOTE
        + r"[\w.-]{1,60}"
        + QUOTE
        + r"\s{0,9}:\s{0,9}"
        + QUOTE
        + r"(?P<secret>[\w.%+/=-]{16,}+)",
        looks_random,
    ),
    shape(
        "cookie",
        "nid phpsess csrf",
        r"[SsCc](?i:essionid|essid|srf_?token)(?:" + QUOTE + r"|[*`]{1,3})?\]?\s{0,9}(?:[:=,|]|is\b)[*`]{0,3}\s{0,9}"
        r"(?:" + QUOTE + r"|[*`]{1,3})?(?P<secret>[\w.%+/-]{20,}+)",
        looks_random,
    ),
    shape(
        "seed phrase",
        "nemonic phrase",
        r"[MmSsRr](?:nemonic|NEMONIC|(?:eed|EED|ecovery|ECOVERY)[ _-](?i:phrase))(?:[ _-](?i:phrase|words))?(?:"
        + QUOTE
        + r"|[*`]{1,3})?\]?"
        r"\s{0,9}(?:[:=,|]|(?:is|was)\b:?)[*`]{0,3}\s{0,9}(?:" + QUOTE + r"|[*`]{1,3})?"
        r"(?P<secret>[a-z]{3,8}(?:[ \t]{1,2}[a-z]{3,8}){11,23})(?![\w])",
        is_seed_phrase,
    ),
    shape(
        "passphrase",
        "passphrase",
        r"(?i:passphrase)(?:" + QUOTE + r"|[*`]{1,3})?\]?[ \t]{0,9}(?:[:=,|]|(?:is|was)\b:?)[*`]{0,3}[ \t]{0,9}"
        r"(?:"
        + QUOTE
        + r"|[*`]{1,3})?(?P<secret>[a-z]{3,12}(?:[ -][a-z]{3,12}){2,11})(?=[.!]?(?:[\"'`*|\r\n\\]|[ \t]*\||$))",
        is_phrase,
    ),
)
