"""Which secrets are taken out of a text, and which texts stay; every secret is made up, and pieced together."""

import random
import string
import time
import tomllib
from importlib.resources import files
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import bytes_beside
from pictures import saved
from secret_places import typed
from secret_texts import BASE, COMMANDS, FORMATS, HEX, MISSED, NAMED, PLACEMENTS, TOLD, filled, plant
from secret_texts import HARMLESS as LISTED

from jupyter_memory import MemoryStore
from jupyter_memory.ingest import redact, suspicious

LONG = BASE * 3
PEM = "\n".join([BASE + "+/=="] * 4)
TOKENS = [
    "AKIA" + "Z7Q4LMN2XWERT5YU", "ghp_" + BASE, "github_pat_" + BASE + "_" + BASE, "glpat-" + "aB3dE5gH7-jK9mN1pQ_4",
    "xoxb-" + "123456789012-" + BASE, "xapp-" + "1-A0B1C2-" + HEX, "sk-ant-" + "api03-" + LONG,
    "sk-" + "proj-" + BASE + "_" + BASE, "AIza" + BASE[:35], "GOCSPX-" + BASE[:28], "sk_" + "live_" + BASE[:24],
    "hf_" + BASE[:34], "npm_" + BASE, "pypi-" + "AgEIcHlwaS5vcmc" + LONG, "SG." + BASE[:22] + "." + LONG[:43],
    "dapi" + HEX, "gsk_" + LONG[:52], "dop_v1_" + HEX * 2, "123456789" + ":AA" + BASE[:33],
    "eyJ" + BASE + ".eyJ" + BASE + "." + BASE, "hvs." + BASE, "lin_api_" + BASE, "pplx-" + BASE + BASE[:12],
    "tvly-dev-" + BASE, "shpat_" + HEX, "sq0csp-" + BASE, "AGE-SECRET-KEY-1" + HEX.upper() + HEX.upper()[:26],
    "Abc8Q~" + BASE[:34],
]  # fmt: skip
# What is missed is a word that anybody could have written: taking it out would take much else.
HARMLESS = [*LISTED, *MISSED, "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAA" * 40]


def halves(frame):
    before, _, after = frame.partition("@")
    return before, after


SENTENCES = [secret.join(halves(frame)) for frame, secret in (*TOLD, *COMMANDS)]
AROUND = (("", ""), ("Preise in Zürich\n" * 50, "\nλ = 3\n" * 50))


@pytest.mark.parametrize("token", TOKENS, ids=lambda token: token[:9])
@pytest.mark.parametrize(
    "frame", ["{}", "λ = '{}'  # ü", "see {}, it works", "\nout: {}\n", 'f("{}", x)', "https://h/{}/x"]
)
def test_well_known_tokens_go_wherever_they_stand(token, frame):
    text, count = redact(frame.format(token))
    before, after = frame.split("{}")
    assert (count, token in text) == (1, False)
    assert text.startswith(before + "[redacted: ") and text.endswith("]" + after)


@pytest.mark.parametrize(("frame", "secret"), TOLD, ids=[frame for frame, _ in TOLD])
def test_what_is_told_goes(frame, secret):
    before, after = halves(frame)
    for start, end in AROUND:
        text, count = redact(start + before + secret + after + end)
        assert (count, secret in text) == (1, False)
        assert text.startswith(start + before + "[redacted: ") and text.endswith("]" + after + end)
        assert suspicious([start + before + secret + after + end])[0]


@pytest.mark.parametrize(("frame", "secret"), COMMANDS, ids=[frame for frame, _ in COMMANDS])
def test_passwords_of_commands_go(frame, secret):
    before, after = halves(frame)
    for start, end in AROUND:
        text = start + before + secret + after + end
        assert redact(text) == (start + before + "[redacted: password]" + after + end, 1)
        assert suspicious([text])[0]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text):
    assert redact(text) == (text, 0)


@pytest.mark.parametrize(
    "text",
    [
        f"-----BEGIN PRIVATE KEY-----\n{PEM}",
        f"-----BEGIN OPENSSH PRIVATE KEY-----\\n{PEM}\n-----END OPENSSH PRIVATE KEY-----",
        '{"private_key": "-----BEGIN PRIVATE KEY-----\\n' + BASE * 9 + '\\n-----END PRIVATE KEY-----\\n"}',
        f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{PEM}\n-----END PGP PRIVATE KEY BLOCK-----",
        f"cert:\n-----BEGIN RSA PRIVATE KEY-----\n{PEM}\n-----END RSA PRIVATE KEY-----\nλ = 3",
    ],
    ids=["cut off", "openssh", "json", "pgp", "among lines"],
)
def test_private_keys_of_every_kind_go(text):
    redacted, count = redact(text)
    assert count >= 1 and BASE not in redacted
    if text.startswith("cert:"):
        assert (redacted.split("\n")[1], count) == ("[redacted: private key]", 1)
        assert redacted.split("\n").index("λ = 3") == text.split("\n").index("λ = 3")


def test_every_secret_is_counted():
    """Several in a line included; and the one letter that is longer in lower case moves nothing."""
    assert redact(f"api_key='{HEX}', password='Grünkohl7'\nnpm_{BASE} https://a:b0b@h")[1] == 4
    assert redact(f'İİİİ api_key = "{HEX}" λ')[0] == 'İİİİ api_key = "[redacted: API key]" λ'


@pytest.mark.parametrize("between", [1, 30, 200, 3_000])
def test_names_far_apart_are_all_looked_around(between):
    """A tuple, an argument and a column, near to each other or far: each loses its secret, and no text between them."""
    frames = ['user, pwd = "anna", "@"', 'cfg.get("password", "@")', "password    @", 'x = env.DB_PASSWORD || "@"']
    filler = "\n" + "Preise in Zürich\n" * between
    text = filler.join(frame.replace("@", "Kater-Carlo7") for frame in frames) + "\n"
    hidden = filler.join(frame.replace("@", "[redacted: secret]") for frame in frames) + "\n"
    assert redact(text) == (hidden, 4)


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
def test_random_values_are_recognised(alphabet, length, share):
    """Of generated keys nearly all are told from words."""
    source = random.Random(11)
    keys = ["".join(source.choices(alphabet, k=length)) for _ in range(1000)]
    assert sum(key not in redact(f"token = {key}")[0] for key in keys) / 1000 >= share


# Their letters are too common to look for everywhere: they are found in texts that say what they are.
BESIDE_A_WORD = {"Discord bot token": "the Discord bot: ", "Airtable token": "Airtable: "}


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_caught_in_every_placement(name):
    """In code, output, Markdown, YAML, JSON and a traceback, nothing of the secret is left, and twice is once."""
    for placement in PLACEMENTS:
        text = plant(name, placement, random.Random(7))
        once, count = redact(BESIDE_A_WORD.get(name, "") + text.text)
        assert count > 0 and [secret for secret in text.secrets if secret in once] == [], placement
        assert redact(once) == (once, 0), placement


def test_what_is_typed_goes_wherever_people_type_it():
    """Defaults, tuples, columns, elements, arguments and errors, with any quotes and name; and twice is once."""
    texts = list(typed(random.Random(7), whole=True))
    missed = [text.text for text in texts if any(secret in redact(text.text)[0] for secret in text.secrets)]
    assert len(texts) > 3_500 and len(missed) / len(texts) < 0.02, missed
    for text in typed(random.Random(8)):
        once, _ = redact(text.text)
        assert redact(once) == (once, 0), text.text


BEGIN = "-----BEGIN PRIVATE KEY-----"
HOSTILE = [
    *(BEGIN, BEGIN + "A" * 30, BEGIN + "A" * 23 + "\n", "-", "://a:", "://a:b", "://", "a", "0a", "{", "\\", "= "),
    *("token='", "token", "sk-", " sk-" + "a" * 22, "eyJ", "eyJaaaaaaaa.", "eyJaaaaaaaa.eyJ", "SG.a", "xoxb-", "?sig="),
    *("Authorization: Bearer ", "bearer ", "pwd = ", "api key ", "PWD=x ", "wandb login ", "password: str"),
    *("password:", 'password="', f"api_key='{HEX[:18]}' ", "key" + " " * 9, "password=a{", "password is "),
    *("password for ", "password for a is ", "**password** ", "password | ", "password: `", "api key is "),
    *("password aA1", "api key " + "a1" * 9 + "(", "auth=('a', '", "echo a1b2 | ", "redis-cli -a ", "my-secret-", "Q~"),
    *("a,password,b\n", "user=a\nb=c\n", "password:\n", "machine a\n", "Private-Lines: 1\nAAAAAAAAAAAAAAAA\n"),
    *("the password=a1 ", "mnemonic is apple ", "passphrase-a-", "login('a', ", "?key=", "cookies={'a':'b',"),
    *("mot de passe ", "mot de passe est ", "kennwort = ", "mdp = a1! ", "password=\n ", "token ", "secret aA1"),
    *("unzip ", "zip -P ", "unzip 7z -pa ", "openssl enc ", "openssl -passin ", "net use \\\\a ", "net use /user:a "),
    *("--key ", "--key a1", "--secret-key ", "Fernet('a"),
    *("a,password=", "a,b,", "password,'a',", "--password','a(b)", "<a name='password' ", "<password>a"),
    *("<input value='a", "<input ", "f('password',", "f(a,'password','", "env('a", "password||", "password=f(a)"),
    *("password:a=", "name=password\n", "password: |\n", "password  a1", "with password ", "password 'a1b2c3' "),
    *("connect('a','a',", "keyring.set_password('a','a',"),
    *("jwt.encode(a, ", "variable 'password' {", "${password:-", "set_password('a1", "#define password "),
    *("mysql -pa ", "\"mysql' -p'", "\\\n mysql", "curl -u a:", "--a-password=", "host=a;password='"),
]


HOSTILE_SETTINGS = (
    "password: a ", "password: a #", "pass" + " " * 40, "a.", "db-pass=", "{password: ", "ENV PASSWORD ",
    "kind: Secret\n", "data:\n a\n", "name: password\n", " password: |\n  a\n", "--a-password\n- ", "token: a1 ",
    "$ANSIBLE_VAULT;1.1;AES256\n", "$2b$", "password(", "echo a:abc | ", "\t", "secret 5 ", "password: " + "a " * 9,
    "${password:-", 'variable "password" {',
)  # fmt: skip


@pytest.mark.parametrize(
    ("piece", "language"), [*product(HOSTILE, [""]), *product(HOSTILE_SETTINGS, ["yaml"])], ids=lambda one: one[:20]
)
def test_hostile_text_takes_no_time(piece, language):
    text = piece * (200_000 // len(piece))
    begun = time.process_time()
    redact(text, language=language)
    # A fraction of a second alone on a slow core; a quadratic pattern takes a minute.
    assert time.process_time() - begun < 10


MARKS = ["=", ": ", '"', "'", "@", "://", "-", "_", ".", "\n", " ", "]", "\\", "[redacted: ", "λ", "İ", "\ud800"]
MARKS += ["password is ", "**", "`", "|", "[redacted: password]", " -p", "mysql "]
PARTS = [BEGIN, BEGIN.replace("BEGIN", "END"), PEM, HEX, "password", "api_key", "sk-", "Bearer ", "token", "user:"]
PIECES = st.sampled_from([*TOKENS, *HARMLESS, *SENTENCES, *PARTS, *MARKS])


@settings(max_examples=600)
@given(st.lists(PIECES | st.text(max_size=8), max_size=10).map("".join))
def test_redacting_twice_changes_nothing_more(text):
    """However secrets are run together, one call finds all that two would; without one the very text comes back."""
    once, count = redact(text)
    assert redact(once) == (once, 0) and (count > 0 or once == text)


# A secret between signs for its beginning and end, in a file of each language.
SET = [
    ("yaml", "db:\n  host: db\n  password: «grapefruit»\n"), ("yaml", "smtp_password: '«blue kettle»'  # theirs\n"),
    ("yaml", "# password: «marmalade»\nport: 1\n"), ("yaml", "- dbPass: «marmalade»\n- port: 5432\n"),
    ("yaml", "login: {user: anna, passphrase: «marmalade», port: 1}\n"), ("yaml", "admin-password: «12345»\n"),
    ("yaml", "environment:\n  - REDIS_PASSWORD=«marmalade»\n"), ("yaml", "  kennwort: «marmalade»\n"),
    ("yaml", "env:\n- name: API_TOKEN\n  value: «marmalade»\n"), ("yaml", "client_secret: «marmalade»\n"),
    ("yaml", "password: >-\n  «marmalade\n  and toast»\nport: 1\n"),
    ("yaml", "args:\n- --db-password\n- «marmalade»\n"),
    ("yaml", "kind: Secret\nstringData:\n  «user: anna\n  word: marmalade»\n---\nkind: Service\ndata:\n  a: b\n"),
    ("yaml", "data:\n  «user: anna»\nkind: Secret\n"), ("yaml", "htpasswd: «$2y$05$abcdefghijklmnopqrstuv»\n"),
    ("ini", "[db]\npassword = «hunter2»\n"), ("ini", "pwd=«marmalade»\r\nport = 1\r\n"),
    ("ini", "; password = «marmalade»\n"),
    ("ini", "secret_key = «abc-def-ghi»\n"), ("ini", "[all]\nweb1 ansible_user=anna ansible_password=«marmalade»\n"),
    ("ini", "enable secret 5 «$1$mERr$hx5rVt7rPNoS4wqbXKX7m0»\n"), ("toml", 'password = "«marmalade»"\nport = 1\n'),
    ("properties", "spring.datasource.password=«marmalade»\n"), ("dockerfile", "FROM a\nENV DB_PASSWORD «marmalade»\n"),
    ("dockerfile", "ENV USER=anna DB_PASSWORD=«marmalade» PORT=1\n"), ("dockerfile", 'ARG DB_PASSWORD="«marmalade»"\n'),
    ("dockerfile", "RUN echo 'anna:«marmalade»' | chpasswd\n"), ("makefile", "export DB_PASSWORD ?= «marmalade»\n"),
    ("makefile", "\tmysql -u anna -p«marmalade1» db\n"), ("stata", 'odbc load, user("anna") password("«marmalade»")\n'),
    ("stata", 'local password "«marmalade»"\n'), ("yaml", "api_token: «q8Zk3vTw8qLd»\n"),
    ("yaml", "pw: ${DB_PASSWORD:«-marmalade»}\n"), ("yaml", "password: «&shared marmalade»\n"),
    ("terraform", 'variable "db_password" {\n  default = "«marmalade»"\n}\n'),
    ("ini", "http_auth = anna:«marmalade»\n"), ("properties", "url=jdbc:x://db?user=anna&password=«marmalade»&a=b\n"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "frame"), SET)
@pytest.mark.parametrize(("before", "after"), [("", ""), ("λ: 1\n" * 80, "\nport: 3\n" * 80)])
def test_what_is_set_goes(language, frame, before, after):
    start, rest = frame.split("«")
    secret, end = rest.split("»")
    once, count = redact(before + start + secret + end + after, language=language)
    assert count == 1 and secret not in once
    assert once.startswith(before + start + "[redacted: ") and once.endswith(end + after)
    assert once.count("\n") == (before + start + secret + end + after).count("\n")
    assert redact(once, language=language) == (once, 0)


@pytest.mark.parametrize(
    "text",
    [
        "password: ${DB_PASSWORD}", "password: '{{ vault_password }}'", "token: ${{ secrets.GITHUB_TOKEN }}",
        "password:",
        "password: !vault\n", "password: *shared",
        "password: ${PASSWORD:-}", "basic_auth: true", 'variable "db_password" {\n  type = string\n}\n',
        "password: null", "password: ~", "password_file: /run/secrets/db",
        "password: /run/secrets/db", "password = %(db_password)s", "max_token: 4096", "pad_token: <pad>",
        "tokenizer: bert-base-uncased2", "secretName: regcred", "secret: regcred", "password = <your password>",
        "ENV DB_PASSWORD=$DB_PASSWORD", "ENV PASSWORD ${X}", "password:\n  type: string\n", "primary_key: customer_id2",
        "kind: ConfigMap\ndata:\n  a: b\n", "require_password: true", "passes: 3", "compass: north", "bypass = yes",
        "DB_PASS := $(shell pass show db)", "local pass `x'", "pwd: .", "env:\n- name: MODE\n  value: fast\n",
    ],
)  # fmt: skip
def test_what_a_setting_only_refers_to_stays(text):
    assert redact(text, language="yaml") == (text, 0)


def test_a_word_is_hidden_in_settings_alone():
    """Elsewhere it may be anything."""
    assert redact("password: marmalade") == ("password: marmalade", 0)


# What a text must hold before patterns are tried on it, as far as the secrets above have it.
HINTS = sorted(set().union(*suspicious([*TOKENS, *SENTENCES])))
WORDS = [*HINTS, *(hint[:-1] for hint in HINTS), "λ", "für", "\ud83d", "\n"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS) | st.text(max_size=5), max_size=12).map("".join), max_size=8)


@given(TEXTS | st.lists(st.sampled_from([*TOKENS, "λ = 3", "api_key = 'x'", "", "PASSWORD=hunter2secret", "Zürich"])))
def test_hints_are_those_that_stand_in_a_text(texts):
    """Each text has the hints that it holds, and none of its neighbours'; without one, it holds no secret."""
    for text, found in zip(texts, suspicious(texts), strict=True):
        low = text.replace("İ", "I").lower()
        assert found >= {hint for hint in HINTS if hint in low} and all(hint in low for hint in found)
        assert found == suspicious([text])[0] and (found or redact(text) == (text, 0))


def test_each_hint_is_found_among_other_texts():
    """Also the shortest, and those at both ends of a text that is long enough for arithmetic alone."""
    assert len(HINTS) > 60 and [hint for hint in HINTS if hint not in suspicious(["", f"λ {hint}"])[1]] == []
    # What a share of placements is measured on does not shrink unseen.
    assert len(FORMATS) >= 128 and len(PLACEMENTS) == 6 and len(NAMED) >= 30
    assert suspicious(["pwd," + 500 * " Preise für λ-Züge" + "ghp_"]) == [{"pwd", "ghp_"}]
    assert suspicious(["eyj" + "x" * 500 + "ke", "y" + "x" * 500 + "sk-"]) == [{"eyj"}, {"sk-"}]


TOKEN = plant("GitHub token", "output", random.Random(5)).secrets[0]
KNOWN = f"ghp_{TOKEN}"


def test_no_part_of_a_memory_keeps_a_secret(tmp_path):
    """Text, title, tags, metadata, the source's address, noted searches: no byte is stored, and other values stay."""
    begin, end = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"
    others = {"λ": ["Zürich"], "n": 3, "none": None, "ok": True}
    split = {"a": [begin + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 2, {"λ": end}]}  # begins in one string, ends in another
    told = {"note": f"the token {KNOWN}", "nested": [{"api_key": KNOWN}], "db": {"password": "k4ffee77"}}
    with MemoryStore(tmp_path / "memory.sqlite") as store:
        memory = store.add(
            told["note"], title=told["note"], tags=[KNOWN], metadata=told | others,
            source=f"https://anna:{TOKEN}@example.org/prices",
        )  # fmt: skip
        store.add("λ", metadata=split)
        store.search(KNOWN)
        assert {name: memory.metadata[name] for name in others} == others
    kept = bytes_beside(tmp_path / "memory.sqlite")
    assert not [secret for secret in (TOKEN, "k4ffee77", "MIIEvQ") if secret.encode() in kept]


def test_no_part_of_a_file_keeps_a_secret(tmp_path, folder):
    """Headings, the text above a cell, tags, an error's name, value and lines: no byte of a secret is stored."""
    error = {"output_type": "error", "ename": KNOWN, "evalue": KNOWN}
    error["traceback"] = [f"----> 1 call('{KNOWN}')", f"E: {KNOWN}"]
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": f"# Prices {KNOWN}\n\nwith {KNOWN}"},
        {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": "call()", "outputs": [error]},
    ]
    saved(folder / "a.ipynb", *cells)
    (folder / "b.md").write_text(f"---\ntitle: {KNOWN}\ntags: [{KNOWN}]\n---\n# {KNOWN}\n\n## Zürich {KNOWN}\n\nλ")
    (folder / "c.yml").write_text("db:\n  password: marmalade\n")
    with MemoryStore(tmp_path / "memory.sqlite") as store:
        assert store.index(folder).files == 3
    kept = bytes_beside(tmp_path / "memory.sqlite")
    assert TOKEN.encode() not in kept and b"marmalade" not in kept


TABLES = files("jupyter_memory") / "ingest" / "redaction"
ROWS = tomllib.loads((TABLES / "patterns.toml").read_text(encoding="utf-8"))["secret"]
KINDS = tomllib.loads((TABLES / "values.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['what']} {row['hints'][0]}" for row in ROWS])
def test_each_pattern_finds_its_sample(row):
    text, _ = filled(row["sample"], random.Random(7))
    assert suspicious([text]) != [set()]
    assert f"[redacted: {row['what']}]" in redact(text, language="yaml" if row.get("settings") else "")[0]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_value_leaves_its_sample(kind):
    """What looks like one of the kinds of values that are no secrets stays."""
    assert redact(KINDS[kind]["sample"]) == (KINDS[kind]["sample"], 0)
