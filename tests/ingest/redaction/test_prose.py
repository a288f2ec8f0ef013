"""Claims about secrets in prose, in settings and in code, and about what looks like one; all are made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.ingest.redaction.redactor import redact, suspicious

HEX = "9f8c1e2ab7d04c55e1f02a3b4c5d6e7f"
BASE = "aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2eF5hJ7"

# Where the first @ stands is a secret.
TOLD = [
    ("the staging box: password=@ and user anna", "x9kLm2Qa"),
    ("log in with password: @ on the staging box", "x9kLm2Qa"),
    ("the password is @!", "x9kLm2Qa"),
    ("The password is @.", "x9kLm2Qa"),
    ("The password for the wiki is @, ask Zoë", "x9kLm2Qa"),
    ("The database password is `@`.", "x9kLm2Qa"),
    ('the password is "@"', "x9kLm2Qa"),
    ("my password was '@' until May", "Tr0ub4dor&3"),
    ("our wifi password is @", "Gruenkohl77"),
    ("Password: **@**", "x9kLm2Qa"),
    ("**Password:** @", "x9kLm2Qa"),
    ("**Password**: `@`", "x9kLm2Qa"),
    ("- Password: `@`", "hunter2x"),
    ("user anna / password @ (staging)", "x9kLm2Qa"),
    ("api_key = @ in the config, then restart", "sk9f8a7b6c5d4e3f2a1b"),
    ("set api_key = @ and go on", HEX),
    ("the API key is @", HEX),
    ("API key: @ (valid until May)", HEX),
    ("The token is @.", HEX),
    ("password = @ # staging", "x9kLm2Qa"),
    ("    password = @\n", "x9kLm2Qa"),
    ("    password: @\n", "x9kLm2Qa"),
    ("pwd=@ on the server", "x9kLm2Qa"),
    ("| password | @ |", "x9kLm2Qa"),
    ("| API key | `@` |", HEX),
    ("passphrase: @", "x9kLm2Qa"),
    ("Passwort: @ (Zürich)", "x9kLm2Qa"),
    ("das Passwort ist @.", "x9kLm2Qa"),
    ("password=@;", "x9kLm2Qa"),
    ("(password: @)", "x9kLm2Qa"),
    ("user=anna, password=@", "x9kLm2Qa"),
    ('token = "@"', "my-secret-9f8a7b6c5d"),
    ('token = "@"', "secret-9f8a7b6c5d4e"),
    ('api_key = "@"', "the-key-9f8a7b6c5d4e3f2a"),
    ('password = "@"', "mySecret123!"),
    ('password = "@"', "secret123"),
    ('password = "@"', "Secret!2024"),
    ('client_secret: "@"', "my-secret-9f8a7b6c5d4e"),
    ("JWT_SECRET=@", "some-9f8a7b6c5d4e3f2a"),
    ('password: "@"', "a-9f8a7b6c5d"),
    ("OPENAI_API_KEY=@", "sk-proj-" + BASE),
    ("DATABASE_PASSWORD=@", "correcthorse"),
    ('SECRET_KEY="@"', "django-insecure-" + BASE),
    ("DB_PASS=@", "x9kLm2Qa"),
    ("SMTP_PWD=@", "x9kLm2Qa"),
    ("GITHUB_TOKEN=@", "ghp_" + BASE),
    ("AUTH_SECRET=@", HEX),
    ("export API_TOKEN=@", "550e8400-e29b-41d4-a716-446655440000"),
    ("COHERE_API_KEY=@", BASE),
    ("DATABRICKS_TOKEN=@", "dapi" + HEX),
    ("db:\n  user: anna\n  password: @\n", "hunter2x"),
    ("db:\n  password: '@'\n", "correcthorse"),
    ('  api_key: "@"', HEX),
    ("  client_secret: @", HEX),
    ("  token: @\n", HEX),
    ("  secret_key: @\n", BASE),
    ("  - password: @", "S3cr3t!x"),
    ('{"password": "@"}', "hunter2x"),
    ('{"db": {"pwd": "@"}}', "x9kLm2Qa"),
    ('{"api_key":"@"}', HEX),
    ('{"access_token": "@"}', BASE),
    ('{"private_key_id": "1", "client_secret": "@"}', BASE),
    ('password = "@"', "hunter2"),
    ("conn = connect(host='db', password='@')", "x9kLm2Qa"),
    ('os.environ["HF_TOKEN"] = "@"', "hf_aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2eF5h"),
    ('openai.api_key = "@"', "sk-" + BASE + "aB3dE5gH7jK9"),
    ('client = Client(api_key="@")', HEX),
    ('auth=("anna", "@")', "x9kLm2Qa"),
    ('HTTPBasicAuth("anna", "@")', "x9kLm2Qa"),
    ('PASSWORD: Final = "@"', "x9kLm2Qa"),
    ('cfg["password"] = "@"', "x9kLm2Qa"),
    ('os.environ.setdefault("API_KEY", "@")', HEX),
    ('getpass_default = dict(password="@")', "x9kLm2Qa"),
    ('password = b"@"', "x9kLm2Qa"),
    ("export PGPASSWORD=@", "x9kLm2Qa"),
    ("mysql -u root -p@ db", "x9kLm2Qa"),
    ("curl -u anna:@ https://x", "x9kLm2Qa"),
    ("redis-cli -a @ ping", "x9kLm2Qa"),
    ("echo @ | sudo -S apt update", "x9kLm2Qa"),
    ("vault login @", "hvs." + BASE),
    ("postgresql://anna:@@db:5432/x", "x9kLm2Qa"),
    ("mongodb+srv://anna:@@c.mongodb.net", "x9kLm2Qa"),
    ("redis://:@@h:6379/0", "x9kLm2Qa"),
    ("https://x.example/?api_key=@&y=1", HEX),
    ("Server=db;User Id=anna;Password=@;", "x9kLm2Qa"),
    ("DefaultEndpointsProtocol=https;AccountName=x;AccountKey=@;EndpointSuffix=core", BASE + BASE + "=="),
    ("Endpoint=sb://x.net/;SharedAccessKeyName=R;SharedAccessKey=@", BASE + "abcdefg="),
    ("host=db user=anna password=@ dbname=x", "x9kLm2Qa"),
    ("jdbc:mysql://h/db?user=anna&password=@", "x9kLm2Qa"),
    ("jdbc:oracle:thin:anna/@@h:1521:x", "x9kLm2Qa"),
    ("git clone https://@@github.com/x/y.git", "ghp_" + BASE),
    ("https://oauth2:@@gitlab.com/x", "glpat-aB3dE5gH7-jK9mN1pQ_4"),
    ("Authorization: Bearer @", BASE),
    ("Authorization: Basic @", "YW5uYTpncsO8bmtvaGw3"),
    ("X-API-Key: @", HEX),
    ("-H 'x-api-key: @'", HEX),
    ("headers = {'X-Auth-Token': '@'}", HEX),
    ("Ocp-Apim-Subscription-Key: @", HEX),
    ("PRIVATE-TOKEN: @", "glpat-aB3dE5gH7-jK9mN1pQ_4"),
    ("AWS_SECRET_ACCESS_KEY=@", "wJalr7XUtnF3MI/K7MDENG/bPxRfiCYz5tq4W1aB"),
    ("aws_session_token = @", "IQoJb3JpZ2lu" + BASE + BASE + BASE + BASE),
    ("AZURE_CLIENT_SECRET=@", "Abc8Q~aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2eF5h"),
    ('client_secret="@"', "Abc8Q~aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2eF5h"),
    ("https://hooks.slack.com/services/@", "T00000000/B00000000/aB3dE5gH7jK9mN1pQ4sT6vW8"),
]

TOKENS = [
    "hvs." + BASE,
    "lin_api_" + BASE,
    "pplx-" + BASE + BASE[:12],
    "tvly-dev-" + BASE,
    "shpat_" + HEX,
    "sq0csp-" + BASE,
    "AGE-SECRET-KEY-1" + HEX.upper() + HEX.upper()[:26],
    "Abc8Q~" + BASE[:34],
]

HARMLESS = [
    "password = getpass()",
    'password=os.environ["X"]',
    'password = os.getenv("DB_PASSWORD")',
    "token = tokenizer(x)",
    "secret santa",
    "key=value",
    "api_key=api_key",
    "max_tokens=256",
    "password: str",
    "password: str | None = None",
    'def f(password=None, token="", api_key=API_KEY):',
    "Fixed in 1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b",
    "run 550e8400-e29b-41d4-a716-446655440000",
    "<your-password>",
    "password: <your-password>",
    "password=<password>",
    "password: xxxx",
    "password=xxxxxxxx",
    "password: ********",
    'password = "********"',
    "password: ••••••••",
    "password: …",
    "PASSWORD=changeme",
    'api_key = "your-api-key-here"',
    'api_key = "YOUR_API_KEY_HERE"',
    'api_key="sk-..."',
    "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx",
    'token = "my-secret-token"',
    'token = "secret-token"',
    'password = "my-password"',
    'password = "my_secret_password"',
    'password = "your_password1"',
    "the password is required",
    "the password is wrong; the password is too short",
    "the password is incorrect.",
    "the password is optional, see README2",
    "The password is stored in vault2",
    "The password is hashed with SHA256.",
    "The password is hashed by bcrypt2 first",
    "The password is 8 characters long",
    "The password is encrypted with AES256",
    "The token is sent as base64 text",
    "The password is set in config.py",
    "The password is case-sensitive",
    "the password is in `config2`",
    "the password was changed 2024-01-02",
    "the API key is not needed",
    "password: the password of the user2",
    "password (str): password of user2",
    "password: must be at least 8 characters",
    "password: 8 to 20 characters",
    "password: min8chars",
    "password=password1",
    "password = password2",
    "password=self.password2",
    "password = args.password2",
    "password = user_input1",
    "password=hash_password(pw1)",
    "password = config['db2']",
    "password = Config.DB2",
    "password = x1 + y2",
    "password = p1.strip()",
    "password = sha256(x)",
    "password = base64_encode(v2)",
    "hashed_password = sha256",
    "password = v1",
    "token = token_2",
    "token: int32",
    "token = tokens[0]",
    "token = next_token2",
    "token=token1, x=2",
    "api_key: ApiKeyV2",
    "api_key = settings.API_KEY_V2",
    "api_key = ApiKeyAuth2",
    "secret = Secret2Manager",
    "password: Argon2Hasher",
    "password = Argon2PasswordHasher",
    "passwords: UInt64",
    "password: Base64Str",
    "password: utf8mb4",
    "password = utf8",
    "password: varchar(255)",
    "password VARCHAR(255) NOT NULL",
    "password: VARCHAR2",
    "password = models.CharField(max_length=128)",
    "password: z.string().min(8)",
    "password: Annotated[str, Field2]",
    "the secret of Python3",
    'secret = "swordfish is a film"',
    "Basic authentication",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Authorization: Token required",
    "pad_token_id=0, eos_token_id=50256",
    "tokens: 1024x768",
    "keys: k1, k2, k3",
    'key = "A1B2C3"',
    "primary_key: id2",
    "sort_key=lambda x: x[1]",
    "key=lambda2",
    "foreign_key = table1.column2",
    "password='{password1}'",
    "password=%s",
    "password=:pw1",
    "password=?1",
    "password=$1",
    "password=@pw1",
    "password = :password2",
    "password=${DB_PASS1}",
    "password=$(cat pass1)",
    "password=`cat pw1`",
    "{{ password1 }}",
    "password: !vault |",
    "password: ENC[AES256,data]",
    "password: !!str",
    "password: [redacted: password]",
    "password: see 1Password",
    "password: see LastPass2",
    "password manager: 1Password",
    "password: 1Password",
    "password:hunter",
    "password:    see below",
    "https://user:password@host/",
    "https://example.com/password=reset",
    "pwd = /home/anna2/x",
    "PWD=/home/anna2",
    "pwd: ~/data2",
    "os.chdir(pwd1)",
    "![x](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB)",
    "sha256:9f8c1e2ab7d04c55e1f02a3b4c5d6e7f",
    'token_type="bearer"',
    '"token": "##ing"',
    'token="<|im_start|>"',
    "token='B-PER'",
    "token: 'I-LOC2'",
    "secret: my-k8s-secret",
    "secretName: db-secret-v2",
    "secretKeyRef: {name: db2, key: password2}",
    "existingSecret: my-release2-postgresql",
    "passwordSecret: db1-secret-v2",
    "password: test",
    "password: postgres",
    "password=secret",
    "password=Secret",
    "password = form.password1.data",
    "password1 = request.POST['password1']",
    "assert password != old_password1",
    "password, salt2 = f()",
    'print("password:", password2)',
    'f"password={password2}"',
    '"password=" + password2',
    "password => $password2",
    "password => 'required|min:8'",
    "'password' => bcrypt($x1)",
    '"password": 12345',
    "passwordHash: x",
    "password_reset_timeout=3600",
    "password_file=/run/secrets/db2",
    "password_length=16",
    "password_min_length: 12",
    "password_policy: strong8",
    'password_field = "pw2"',
    "password.length == 8",
    "password_hash == sha1hash",
    "password_hash = md5hex2",
    "token == Token.NUMBER2",
    "token := lexer.next2",
    "the pass is x9",
    "it came to pass: 2020 was",
    "pass: 12/15 tests",
    "tests pass: 15of15",
    "bypass=1a2b3c",
    "compass: NE45",
    "password: P1 through P9",
    "Passwords: A1, A2",
    "secret=K8sSecret",
    "client_secret = K8sClientSecret",
    "api_key: 'API_KEY_V2'",
    "hunter2",
    "if password1 == password2:",
    '"the commit 9f8c1e2ab7d04c55 is bad"',
    'token = "the run 9f8c1e2ab7d04c55e1f02a3b was better"',
    'elif args.set_password:\n    password1 = getpass("Passwort: ")',
    '"--secret",\n"run abc123 --job 687f911eaea852de79c4a50a --secrets HF_TOKEN"',
    "http://USER:PWD@proxy.example:8080",
    'publicKeyToken="1fc8b3b9a1e18e3b"',
    'auth=("user", "pass")',
    "auth=(user, password)",
    'HTTPBasicAuth("user", os.environ["PW2"])',
    'echo "$PASSWORD" | sudo -S ls',
    'redis-cli -a "$REDIS_PASSWORD" ping',
    "the token is 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
    'verify_token="eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9..."',
    "The password was changed on 2026-11-21.",
    "das Passwort ist zu kurz",
    "| password | VARCHAR2(20) |",
    "| Password | Email2 |",
    "**password**: `SHA256` of it",
    "`password`: at least 8 characters",
    "**Password:** required",
    "password `hunter2`",
    "the key is 9f8c1e2ab7d04c55",
]

# A text in which a person could find them, and a machine could not: they stay, and PRIVACY.md says so.
MISSED = [
    "the password is swordfish",
    "password=hunter2 and user anna",
    "my password is password1",
    'password = "my-password-2026"',
]


def _parts(frame: str) -> tuple[str, str]:
    before, _, after = frame.partition("@")
    return before, after


@pytest.mark.parametrize(("frame", "secret"), TOLD, ids=[frame for frame, _ in TOLD])
def test_what_is_told_goes(frame: str, secret: str) -> None:
    """A secret is taken out where it is told, alone and among many lines; what stands around it stays."""
    before, after = _parts(frame)
    for start, end in (("", ""), ("Preise in Zürich\n" * 50, "\nλ = 3\n" * 50)):
        text, count = redact(start + before + secret + after + end)

        assert count == 1
        assert secret not in text
        assert text.startswith(start + before + "[redacted: ")
        assert text.endswith("]" + after + end)
        assert suspicious([start + before + secret + after + end])[0]


@pytest.mark.parametrize("token", TOKENS)
def test_tokens_go(token: str) -> None:
    """A token of a service is known by its shape, in code and in a sentence."""
    for before, after in (("", ""), ("see ", ", it works"), ("λ = '", "'")):
        text, count = redact(before + token + after)

        assert (count, token in text) == (1, False)
        assert text.startswith(before + "[redacted: ") and text.endswith("]" + after)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    """Code, placeholders, types, words about passwords and hashes of other things are not touched."""
    assert redact(text) == (text, 0)


@pytest.mark.parametrize("text", MISSED)
def test_what_is_known_to_be_missed(text: str) -> None:
    """A word that anybody could have written is left as it is: taking it out would take much else."""
    assert redact(text) == (text, 0)


MARKS = ["password is ", "**", "`", "|", " ", "\n", "=", ": ", "[redacted: password]"]
SENTENCES = [secret.join(_parts(frame)) for frame, secret in TOLD]
PIECES = st.sampled_from([*SENTENCES, *HARMLESS, *MISSED, *MARKS])


@given(st.lists(PIECES, max_size=8).map("".join))
def test_redacting_prose_twice_changes_nothing_more(text: str) -> None:
    """However sentences are run together, one call finds all that two would."""
    once, _ = redact(text)

    assert redact(once) == (once, 0)
