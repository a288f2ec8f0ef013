"""Claims about taking secrets out of a text; every secret here is made up, and pieced together for the scanners."""

from __future__ import annotations

import random
import string
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_memory.ingest import clean, redact, suspicious
from jupyter_memory.types import Draft

HEX = "9f8c1e2ab7d04c55e1f02a3b4c5d6e7f"
BASE = "aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2eF5hJ7"
LONG = BASE * 3
PEM = "\n".join([BASE + "+/=="] * 4)

TOKENS = {
    "AWS access key id": "AKIA" + "Z7Q4LMN2XWERT5YU",
    "GitHub token": "ghp_" + BASE,
    "GitHub fine-grained token": "github_pat_" + BASE + "_" + BASE,
    "GitLab token": "glpat-" + "aB3dE5gH7-jK9mN1pQ_4",
    "Slack token": "xoxb-" + "123456789012-" + BASE,
    "Slack app token": "xapp-" + "1-A0B1C2-" + HEX,
    "Anthropic key": "sk-ant-" + "api03-" + LONG,
    "OpenAI key": "sk-" + "proj-" + BASE + "_" + BASE,
    "Google key": "AIza" + BASE[:35],
    "Google secret": "GOCSPX-" + BASE[:28],
    "Stripe key": "sk_" + "live_" + BASE[:24],
    "Hugging Face token": "hf_" + BASE[:34],
    "npm token": "npm_" + BASE,
    "PyPI token": "pypi-" + "AgEIcHlwaS5vcmc" + LONG,
    "SendGrid key": "SG." + BASE[:22] + "." + LONG[:43],
    "Databricks token": "dapi" + HEX,
    "Groq key": "gsk_" + LONG[:52],
    "DigitalOcean token": "dop_v1_" + HEX * 2,
    "Telegram token": "123456789" + ":AA" + BASE[:33],
    "JSON web token": "eyJ" + BASE + ".eyJ" + BASE + "." + BASE,
}


@pytest.mark.parametrize("name", TOKENS)
@pytest.mark.parametrize(
    "frame", ["{}", "λ = '{}'  # ü", "see {}, it works", "\nout: {}\n", 'f("{}", x)', "https://h/{}/x"]
)
def test_well_known_tokens_go_wherever_they_stand(name: str, frame: str) -> None:
    """A token of a common service is taken out of code, prose and output alike, and what surrounds it stays."""
    text, count = redact(frame.format(TOKENS[name]))

    before, after = frame.split("{}")
    assert count == 1
    assert text.startswith(before + "[redacted: ")
    assert text.endswith("]" + after)


ASSIGNED = [
    ('api_key = "@"', HEX),
    ("openai_api_key: '@'", BASE),
    ('os.environ["OPENAI_API_KEY"] = "@"', HEX),
    ("SECRET_TOKEN=@", HEX),
    ("export DB_PASSWORD=@", "postgres"),
    ("%env WEATHER_API_KEY=@", HEX),
    ('{"client_secret": "@", "name": "λ"}', "550e8400-e29b-41d4-a716-446655440000"),
    ('connect(user="anna", password="@")', "Grünkohl7"),
    ("password: @\nhost: db.zürich.example", "hunter2"),
    ('password: str = "@"', "S3cret!pass"),
    ("password=@", "hunter2"),
    ("db.user=anna\nspring.datasource.password=@\nλ=1", "grünkohl7"),
    ("password: @", "Tr0ub4dor&3x"),
    ("https://db.example/prices?password=@&x=1&amp;y=2", "k4f-f33"),
    ("dbPassword = '@'", "correcthorse"),
    ('if token == "@":', HEX),
    ("http://localhost:8888/lab?token=@&x=1", HEX),
    (r'"{\"api_key\": \"@\"}"', HEX),
    ("aws_secret_access_key = @", "wJalr7XUtnF3MI/K7MDENG/bPxRfiCYz5tq4W1aB"),
    ("postgres://anna:@@db.example/prices?λ=1", "k4f/fee".replace("/", "")),
    ("https://anna:@@proxy.example:8080", "p@ss"),
    ('headers = {"Authorization": "Bearer @"}', BASE),
    ("curl -H 'Authorization: Basic @'", "YW5uYTpncsO8bmtvaGw3"),
    ("Bearer @", HEX),
    ('wandb.login(key="@")', HEX + "01234567"),
    ("AccountKey=@;EndpointSuffix", BASE + "=="),
    ("https://store.example/c?sv=2026&sig=@", BASE + "%3D"),
    ('login("anna", "password", "@")', HEX),
]


@pytest.mark.parametrize(("frame", "secret"), ASSIGNED, ids=[frame for frame, _ in ASSIGNED])
def test_values_of_telling_names_go(frame: str, secret: str) -> None:
    """What is assigned to a key, token, secret or password is taken out, the name and the rest of the line stay."""
    before, after = frame.split("@", 1)
    text, count = redact(before + secret + after)

    assert secret not in text
    assert count == 1
    assert text.startswith(before + "[redacted: ")
    assert text.endswith("]" + after)


HARMLESS = [
    'token = tokenizer("Die Preise in Zürich")',
    "max_tokens=512, num_tokens: 1024",
    'df.sort_values(key="price", by="λ")',
    'api_key = os.environ["OPENAI_API_KEY"]',
    'api_key=os.getenv("OPENAI_API_KEY")',
    'password = getpass.getpass("Password: ")',
    'password = getpass("Password:"), host="db", x="y"',
    'password = ""',
    "password = None",
    'api_key = "YOUR_API_KEY"',
    'api_key: "<your key here>"',
    "SECRET_TOKEN=${SECRET_TOKEN}",
    "token: {{ secrets.TOKEN }}",
    "API_KEY=xxxxxxxxxxxxxxxxxxxx",
    "password=my_password",
    "password=password2",
    "connect(\n    password=hunter2\n)",
    "password=hunter2, user=anna",
    "password=args2.value",
    "token = self.next_token_2",
    "def login(user: str, password: str, token: str | None = None) -> Session:",
    'Field("password", type="string")',
    '{"password": "string", "token": "lemma"}',
    'columns=["id", "password", "email", "token"]',
    'print("password:", pw, "x")',
    'pad_token="[PAD]", eos_token="<|endoftext|>", sep_token = "</s>"',
    'tokenizer = AutoTokenizer.from_pretrained("sentence-transformers/all-MiniLM-L6-v2")',
    "token = 'covid19'",
    'token="2026-11-21T10:00:00"',
    f"Fixed in commit {HEX}, see also a1b2c3d4",
    'run_id = "550e8400-e29b-41d4-a716-446655440000"',
    "sha256:" + HEX * 2,
    "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAA" * 40,
    "#sk-container-id-1 div.sk-estimator-doc-link.sk-toggleable {}",
    "pwd = 'data'\nPWD=/home/anna/prices",
    'secret_name = "prod/db"; key_vault = "https://v.example/secrets"',
    "docker://python:3.12@sha256:" + HEX,
    'url = f"postgres://{user}:{password}@{host}/db"',
    "postgres://$USER:$PASSWORD@db/prices",
    "git@github.com:anna/prices.git ssh://git@host:22/x",
    "the password is required; Authorization: Bearer tokens are described below",
    'primary_key = "customer_id_2026_q1"',
    "The key: a long walk in 1999",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_code_and_prose_stay(text: str) -> None:
    """What only mentions or refers to a secret, or looks a little like one, is not touched."""
    assert redact(text) == (text, 0)


def test_a_private_key_goes_whole_and_the_lines_stay() -> None:
    """A key block is taken out with its fences, and what follows is on the line where it was."""
    text = f"cert:\n-----BEGIN RSA PRIVATE KEY-----\n{PEM}\n-----END RSA PRIVATE KEY-----\nλ = 3"
    redacted, count = redact(text)

    assert (redacted.split("\n")[1], count) == ("[redacted: private key]", 1)
    assert redacted.split("\n").index("λ = 3") == text.split("\n").index("λ = 3")
    assert BASE not in redacted


@pytest.mark.parametrize(
    "text",
    [
        f"-----BEGIN PRIVATE KEY-----\n{PEM}",
        f"-----BEGIN OPENSSH PRIVATE KEY-----\\n{PEM}\n-----END OPENSSH PRIVATE KEY-----",
        '{"private_key": "-----BEGIN PRIVATE KEY-----\\n' + BASE * 9 + '\\n-----END PRIVATE KEY-----\\n"}',
        f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{PEM}\n-----END PGP PRIVATE KEY BLOCK-----",
    ],
    ids=["cut off", "openssh", "json", "pgp"],
)
def test_private_keys_of_every_kind_go(text: str) -> None:
    """Cut off by the end of an output, on one line of JSON or from OpenSSH and PGP: the key goes."""
    redacted, count = redact(text)

    assert count >= 1
    assert BASE not in redacted


def test_what_follows_a_cut_off_key_stays() -> None:
    """Prose behind the beginning of a key is not taken with it."""
    text = "-----BEGIN PRIVATE KEY----- is how such a file begins; prices in Zürich rose."

    assert redact(text) == (text, 0)


def test_every_secret_is_counted() -> None:
    """The count is that of the secrets, several in a line included."""
    text = f"api_key='{HEX}', password='Grünkohl7'\n{TOKENS['npm token']} https://a:b0b@h"

    assert redact(text)[1] == 4


def test_turkish_letters_do_not_shift_what_is_cut() -> None:
    """The one letter that is longer in lower case, before the secret, moves nothing."""
    assert redact(f'İİİİ api_key = "{HEX}" λ')[0] == 'İİİİ api_key = "[redacted: API key]" λ'


@pytest.mark.parametrize(
    ("alphabet", "length", "share"),
    [
        ("0123456789abcdef", 32, 0.99),
        ("0123456789abcdef", 40, 0.99),
        (string.ascii_letters + string.digits, 24, 0.95),
        (string.ascii_letters + string.digits, 40, 0.98),
        (string.ascii_lowercase + string.digits, 32, 0.98),
    ],
)
def test_random_values_are_recognised(alphabet: str, length: int, share: float) -> None:
    """Of generated keys nearly all are told from words."""
    source = random.Random(11)
    keys = ["".join(source.choices(alphabet, k=length)) for _ in range(1000)]

    assert sum(key not in redact(f"token = {key}")[0] for key in keys) / 1000 >= share


@pytest.mark.parametrize(
    "word",
    [
        "gpt-4o-mini-2024-07-18",
        "bert-base-uncased-v2",
        "HelloWorldFooBar",
        "en_core_web_sm3",
        "x86_64",
        "Meta-Llama-3.1-8B-Instruct",
    ],
)
def test_names_of_models_and_versions_are_not_random(word: str) -> None:
    """What data scientists assign to `token` and `key` is not taken for noise."""
    assert redact(f"token = {word}")[0] == f"token = {word}"


BEGIN = "-----BEGIN PRIVATE KEY-----"
HOSTILE = [
    *(BEGIN, BEGIN + "A" * 30, BEGIN + "A" * 23 + "\n", "-", "://a:", "://a:b", "://", "a", "0a", "{", "\\", "= "),
    *("token='", "token", "sk-", " sk-" + "a" * 22, "eyJ", "eyJaaaaaaaa.", "eyJaaaaaaaa.eyJ", "SG.a", "xoxb-", "?sig="),
    *(
        "Authorization: Bearer ",
        "bearer ",
        "pwd = ",
        "api key ",
        "PWD=x ",
        "wandb login ",
        "password: str",
        "password:",
    ),
    *('password="', f"api_key='{HEX[:18]}' ", "key" + " " * 9, "password=a{"),
    *(
        "password is ",
        "password for ",
        "password for a is ",
        "**password** ",
        "password | ",
        "password: `",
        "api key is ",
    ),
    *("password aA1", "api key " + "a1" * 9 + "(", "auth=('a', '", "echo a1b2 | ", "redis-cli -a ", "my-secret-", "Q~"),
    *("a,password,b\n", "user=a\nb=c\n", "password:\n", "machine a\n", "Private-Lines: 1\nAAAAAAAAAAAAAAAA\n"),
    *("the password=a1 ", "mnemonic is apple ", "passphrase-a-", "login('a', ", "?key=", "cookies={'a':'b',"),
    *("mot de passe ", "mot de passe est ", "kennwort = ", "mdp = a1! ", "password=\n ", "token ", "secret aA1"),
    *("unzip ", "zip -P ", "unzip 7z -pa ", "openssl enc ", "openssl -passin ", "net use \\\\a ", "net use /user:a "),
    *("--key ", "--key a1", "--secret-key ", "Fernet('a"),
    *("mysql -pa ", "\"mysql' -p'", "\\\n mysql", "curl -u a:", "--a-password=", "host=a;password='"),
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_no_time(piece: str) -> None:
    """A megabyte made to lead a pattern astray is read in linear time."""
    text = piece * (1_000_000 // len(piece))
    begun = time.process_time()
    redact(text)

    # One to two seconds alone on a slow core; a quadratic pattern takes minutes.
    assert time.process_time() - begun < 20


MARKS = ["=", ": ", '"', "'", "@", "://", "-", "_", ".", "\n", " ", "]", "\\", "[redacted: ", "λ", "İ", "\ud800"]
PARTS = [BEGIN, BEGIN.replace("BEGIN", "END"), PEM, HEX, "password", "api_key", "sk-", "Bearer ", "token", "user:"]
SPELLED = [frame.replace("@", secret, 1) for frame, secret in ASSIGNED]
PIECES = st.sampled_from([*TOKENS.values(), *HARMLESS, *SPELLED, *PARTS, *MARKS])


@settings(max_examples=400)
@given(st.lists(PIECES | st.text(max_size=8), max_size=10).map("".join))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    """However secrets are run together, one call finds all that two would."""
    once, _ = redact(text)

    assert redact(once) == (once, 0)


@given(st.text(st.characters(), max_size=300))
def test_any_text_is_read(text: str) -> None:
    """No text makes it fail, and without a secret the very text comes back."""
    redacted, count = redact(text)

    assert count > 0 or redacted == text


@given(st.lists(st.sampled_from([*TOKENS.values(), "λ = 3", "api_key = 'x'", "", "PASSWORD=hunter2secret", "Zürich"])))
def test_what_is_not_suspicious_holds_no_secret(texts: list[str]) -> None:
    """Of a text that many were looked through with, and that was found harmless, nothing would be taken out."""
    for text, told in zip(texts, suspicious(texts), strict=True):
        assert told or redact(text) == (text, 0)
        assert told == suspicious([text])[0]


def test_values_of_a_mapping() -> None:
    """Secrets go out of the strings of JSON values, by their shape or by their name; all else stays as it is."""
    token = TOKENS["GitHub token"]
    values = {"λ": ["Zürich", f"see {token}"], "db": {"password": "k4ffee77"}, "n": 3, "none": None, "ok": True}
    kept = clean(Draft(text="λ", metadata=values), redacting=True).metadata

    assert token not in str(kept) and "k4ffee77" not in str(kept)
    assert kept["λ"][0] == "Zürich" and (kept["n"], kept["none"], kept["ok"]) == (3, None, True)
    assert clean(Draft(text="λ", metadata={"λ": "Zürich"}), redacting=True).metadata == {"λ": "Zürich"}


def test_values_that_a_secret_runs_through() -> None:
    """What begins in one string and ends in another leaves a mapping all the same."""
    begin, end = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"
    values = {"a": [begin + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 2, {"λ": end}]}
    kept = clean(Draft(text="λ", metadata=values), redacting=True).metadata

    assert "MIIEvQ" not in str(kept)
