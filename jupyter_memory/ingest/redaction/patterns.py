"""Patterns of secrets: commands, files, services, prose."""

from __future__ import annotations

from jupyter_memory.ingest.redaction.values import (
    ABROAD,
    BEFORE,
    BREAK,
    GAP,
    LINE_END,
    OF_ABROAD,
    QUOTE,
    QUOTED,
    TO,
    WORD,
    is_argument,
    is_cookie,
    is_credential,
    is_driver_password,
    is_exclaimed,
    is_given,
    is_key,
    is_mingled,
    is_mixed,
    is_noise,
    is_phrase,
    is_scrambled,
    is_seed_phrase,
    is_spelled,
    is_spoken,
    is_strong,
    looks_random,
    shape,
    word,
)

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

# Secrets in the notation of files, protocols and libraries: `.netrc`, kubeconfig, cookies, Spark's settings.
#
# Lines may have the numbers of a traceback before them, and may be escaped within a string of JSON.

_TO = r"(?:" + QUOTE + r")?\]?\s{0,9}[:=,]\s{0,9}(?:" + QUOTE + r")?"
_SPELLED = r"(?P<secret>[^\s\"'`\\]{4,200})"
# A line of a file of settings: a name and a value without quotes.
_SETTING = r"[\w.-]{1,40}[ \t]{0,9}[:=][ \t]{0,9}[^\s\"'(){}\[\]\\]{1,100}"
# The value of a name on the line below it. A search for the colon is the fastest.
_PASSWORD_NAMES = ("assword", "ASSWORD", "asswort", "asswd", "assphrase", r"\b[Pp]wd", r"\bPWD", r"\b[Pp]w")
_KEY_NAMES = ("[Kk]ey", "KEY", "[Tt]oken", "TOKEN", "[Ss]ecret", "SECRET")


def _below(names: tuple[str, ...], sign: str = ":") -> str:
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

# Tokens of common services, known by how they begin or by the address that they stand in.

_BEGIN_KEY = r"-----BEGIN[ A-Z0-9]{0,30}PRIVATE KEY[ A-Z]{0,10}-----"
_END_KEY = r"-----END[ A-Z0-9]{0,30}PRIVATE KEY[ A-Z]{0,10}-----"
_CREDENTIALS = r"(?P<secret>[A-Za-z0-9._~+/-]{8,}+={0,2})"
_HEX = tuple("0123456789abcdef")

SERVICES = (
    # The body ends at the next five hyphens, so that no stretch is read twice.
    shape("private key", "--begin", _BEGIN_KEY + r"[^-]*+(?:-(?!----)[^-]*+)*+" + _END_KEY),
    # A key that is cut off: as much as still looks like one.
    shape("private key", "--begin", _BEGIN_KEY + r"(?:(?:[\s\"',+]|\\[nr])*+[A-Za-z0-9+/=]{24,}+)+"),
    shape("password", "://", r"://[^\s/:@'\"<>]{0,100}:(?P<secret>[^\s/?#'\"<>]{1,128})@(?!sha256:)", is_given),
    # Sentry's address of a project, and a token in place of a user.
    shape("token", "://", r"://(?P<secret>[\w-]{20,200}+)@", looks_random),
    shape("AWS access key id", "akia asia", word("A[KS]IA") + r"[A-Z0-9]{16}\b"),
    shape(
        "AWS secret key",
        "aws",
        r"(?i:aws_?secret_?(?:access_?)?key)[\"']?\]?\s{0,9}[:=,]\s{0,9}[\"']?(?P<secret>[A-Za-z0-9/+]{40})(?![\w/+])",
    ),
    shape("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ ub_pat_", word("gh[pousr]_", "github_pat_") + r"\w{22,}+"),
    shape(
        "GitLab token",
        "glpat- glrt- gldt- glptt- glcbt- glsoat- gloas-",
        word("gl") + r"(?:pat|rt|dt|ptt|cbt|soat|oas)-[\w-]{20,}+",
    ),
    shape("Bitbucket password", "atbb", word("ATBB") + r"[A-Za-z0-9]{28,}+", is_mixed),
    shape("Atlassian token", "tt3", word("AT") + r"[AC]TT3[\w-]{50,}+(?:=[0-9A-F]{8})?"),
    shape("Slack token", "xox xapp-", word("xox[abeoprs]-", "xapp-") + r"[\w.-]{10,}+"),
    shape("Slack webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[\w/-]{20,}+)"),
    shape("Discord webhook", "/api/webhooks/", r"/api/webhooks/\d{10,25}/(?P<secret>[\w-]{40,}+)"),
    shape("Discord token", "iscord token bot.run(", word("[MNO]") + r"[\w-]{23,27}\.[\w-]{6}\.[\w-]{27,45}+", is_mixed),
    shape("Teams webhook", "webhook.office.com", r"webhook\.office\.com/webhookb2/(?P<secret>[\w@/-]{40,}+)"),
    shape("Anthropic key", "sk-ant-", word("sk-ant-") + r"[\w-]{20,}+"),
    shape("Langfuse key", "sk-lf-", word("sk-lf-") + r"[0-9a-f-]{36}"),
    shape("OpenAI key", "sk-", word("sk-") + r"[\w-]{20,}+", is_noise),
    shape("LangSmith key", "lsv2_", word("lsv2_") + r"[a-z]{2}_[0-9a-f]{32}_[0-9a-f]{10}"),
    shape("NVIDIA key", "vapi-", word("nvapi-") + r"[\w-]{40,}+"),
    shape("Pinecone key", "pcsk_", word("pcsk_") + r"[A-Za-z0-9_]{40,}+"),
    shape("Fireworks key", " fw_ \"fw_ 'fw_ `fw_ =fw_", word("fw_") + r"[A-Za-z0-9]{22,}+", is_mixed),
    shape("Kaggle token", "kgat_", word("KGAT_") + r"[0-9a-f]{32}\b"),
    shape("Google key", "aiza", word("AIza") + r"[\w-]{35}"),
    shape("Google secret", "gocspx- ya29.", word("GOCSPX-", r"ya29\.") + r"[\w-]{20,500}"),
    shape("Google token", "1//0", r"(?<![\w/.:-])1//0[\w-]{40,}+"),
    shape("Stripe key", "k_live_ k_test_", word("[sr]k_live_", "[sr]k_test_") + r"[A-Za-z0-9]{16,}+"),
    shape("Stripe secret", "whsec_", word("whsec_") + r"[A-Za-z0-9+/=]{16,}+"),
    shape("PayPal token", "token$", word("access_token") + r"\$\w{7,10}\$[a-z0-9]{10,20}\$[0-9a-f]{32}"),
    shape("Hugging Face token", "hf_ api_org_", word("hf_", "api_org_") + r"[A-Za-z0-9]{30,}+"),
    shape("npm token", "npm_", word("npm_") + r"[A-Za-z0-9]{36,}+"),
    shape("PyPI token", "pypi-", word("pypi-") + r"[\w-]{50,}+"),
    shape("RubyGems key", "rubygems_", word("rubygems_") + r"[0-9a-f]{48}\b"),
    shape("Docker token", "dckr_", word("dckr_") + r"[op]at_[\w-]{24,}+"),
    shape("SendGrid key", "sg.", word(r"SG\.") + r"[\w-]{16,40}\.[\w-]{30,60}"),
    shape(
        "Mailchimp key", tuple(f"-us{digit}" for digit in range(1, 10)), word("[0-9a-f]") + r"[0-9a-f]{31}-us\d{1,2}\b"
    ),
    shape("Mailgun key", "key-", word("key-") + r"[0-9a-f]{32}\b"),
    shape("Brevo key", "xkeysib- xsmtpsib-", word("x") + r"(?:key|smtp)sib-[0-9a-f]{64}-\w{16}"),
    shape("Twilio key", tuple(f"sk{digit}" for digit in _HEX), word("SK") + r"[0-9a-f]{32}\b"),
    shape("Databricks token", "dapi", word("dapi") + r"[0-9a-f]{32}(?:-\d)?\b"),
    shape("Groq key", "gsk_", word("gsk_") + r"[A-Za-z0-9]{40,}+"),
    shape("xAI key", "xai-", word("xai-") + r"[A-Za-z0-9]{40,}+"),
    shape("Replicate token", "r8_", word("r8_") + r"[A-Za-z0-9]{30,}+"),
    shape("DigitalOcean token", "_v1_", word("do[opr]_v1_") + r"[0-9a-f]{64}\b"),
    shape("Heroku key", "hrku-", word("HRKU-") + r"[\w-]{30,}+"),
    shape("Notion token", "ntn_ secret_", word("ntn_", "secret_") + r"[A-Za-z0-9]{40,}+", is_mixed),
    shape("Vault token", "hvs. hvb. hvr.", word("hv") + r"[sbr]\.[\w-]{24,}+"),
    shape("Terraform token", ".atlasv1.", word("[A-Za-z0-9]") + r"[A-Za-z0-9]{13}\.atlasv1\.[\w-]{40,}+"),
    shape("Pulumi token", "ul-", word("pul-") + r"[0-9a-f]{40}\b"),
    shape("Doppler token", "dp.", word("dp") + r"\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{1,30}\.)?[A-Za-z0-9]{40,44}\b"),
    shape("Linear key", "_api_", word("lin_api_") + r"[A-Za-z0-9]{32,}+"),
    shape("Perplexity key", "plx-", word("pplx-") + r"[A-Za-z0-9]{40,}+"),
    shape("Tavily key", "tvly-", word("tvly-") + r"(?:dev-|prod-)?[A-Za-z0-9]{24,}+"),
    shape("Shopify token", "shpat_ shpss_ shpca_ shppa_", word("shp") + r"(?:at|ss|ca|pa)_[0-9a-fA-F]{32}\b"),
    shape("Square token", "sq0csp- sq0atp-", word("sq0") + r"(?:csp|atp)-[\w-]{22,}+"),
    shape("Sentry token", "sntrys_ sntryu_", word("sntry[su]_") + r"[\w+/=-]{40,}+"),
    shape("New Relic key", "nrak-", word("NRAK-") + r"[A-Z0-9]{27}\b"),
    shape("Grafana token", "glsa_ glc_ey", word("glsa_", "glc_ey") + r"[\w+/=-]{30,}+"),
    shape("PlanetScale token", "pscale_", word("pscale_") + r"[a-z]{2,5}_[\w.=-]{32,}+"),
    shape("Supabase token", "sbp_", word("sbp_") + r"[0-9a-f]{40}\b"),
    shape("Airtable token", "airtable token", word("pat") + r"[A-Za-z0-9]{14}\.[0-9a-f]{64}\b"),
    shape("Figma token", "igd_", word("figd_") + r"[\w-]{36,}+"),
    shape("Postman key", "pmak-", word("PMAK-") + r"[0-9a-f]{24}-[0-9a-f]{34}\b"),
    shape("Prefect key", "pnu_ pnb_", word("pn[ub]_") + r"[a-z0-9]{36}\b", looks_random),
    shape("CircleCI token", "ccipat_", word("CCIPAT_") + r"\w{40,}+"),
    shape("Alibaba key", "ltai", word("LTAI") + r"[A-Za-z0-9]{12,26}\b", is_mixed),
    shape("Artifactory key", "akcp", word("AKCp") + r"[A-Za-z0-9]{50,}+"),
    shape("Facebook token", "eaa", word("EAA") + r"[A-Za-z0-9]{80,}+", is_mixed),
    shape("age key", "-secret-key-1", word("AGE-SECRET-KEY-1") + r"[A-Z0-9]{58}\b"),
    shape(
        "Azure secret",
        tuple(f"{digit}q~" for digit in range(10)),
        r"(?<![\w.~-])[\w.~-]{3}\dQ~[\w.~-]{31,34}(?![\w.~-])",
    ),
    shape("Telegram token", ":aa", word(r"\d") + r"\d{7,9}:AA[\w-]{32,34}(?![\w-])"),
    shape("Weights & Biases key", "wandb", word("wandb") + r"[. ]login\b[^\n]{0,80}?\b(?P<secret>[0-9a-f]{40})\b"),
    shape("signature", "?sig= &sig= ;sig=", r"[?&;]sig=(?P<secret>[\w%+/=-]{30,}+)"),
    shape(
        "signature",
        "x-amz-signature x-amz-security-token",
        r"(?i:x-amz-(?:signature|security-token))=(?P<secret>[\w%+/=-]{30,}+)",
    ),
    # `?key=…` of an address; names that tell more are found like those of code.
    shape(
        "API key",
        tuple(f"{mark}{name}" for mark in "?&" for name in ("key=", "appid=", "app_key=", "auth=", "code=", "sid=")),
        r"[?&](?i:key|appid|app_key|auth|code|sid)=(?P<secret>[\w.~%+/=-]{16,512})",
        is_key,
    ),
    shape("JSON web token", "eyj", word("eyJ") + r"[\w-]{8,}+\.eyJ[\w-]{8,}+\.[\w-]*+"),
    shape(
        "authorization",
        "authorization",
        r"(?i:authorization)[\"']?\]?\s{0,9}[:=,]\s{0,9}[fF]?[\"']?(?i:bearer|basic|token|apikey)\s{1,9}"
        + _CREDENTIALS,
        is_credential,
    ),
    shape("bearer token", "bearer", r"\b(?i:bearer)\s{1,9}" + _CREDENTIALS, looks_random),
)

# Secrets in sentences, lists and tables: "the password for the wiki is …".

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
_PROSE_KEYS = ("api key", "api_key ", "api-key ", "access token", "access_token ")

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
        (*_PROSE_KEYS, "auth token", "secret key is", "secret is", "token is", "token was"),
        _KEY + _IS + _OPENED + _LETTERS,
        is_key,
    ),
    shape("API key", _PROSE_KEYS, _API_KEY + _BESIDE + _LETTERS, is_key),
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
