"""Claims about secrets in prose, in settings and in code, and about what looks like one; all are made up."""

from __future__ import annotations

import pytest
from harmless_texts import HARMLESS, MISSED
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.ingest import redact, suspicious

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
    ("mot de passe : @", "Azerty123!"),
    ("mot_de_passe = '@'", "Azerty123!"),
    ("Le mot de passe du wiki est @, voir Zoë", "Azerty123"),
    ("**Mot de passe :** `@`", "Azerty123"),
    ("mdp: @", "Azerty123!"),
    ("mdp = '@'", "Azerty123!"),
    ("contraseña: @", "Azul1234!"),
    ("contrasen\u0303a: @", "Azul1234!"),
    ("La contraseña de la base es @.", "Azul1234"),
    ('{"contrase\\u00f1a": "@"}', "Azul1234!"),
    ("kennwort = @", "Hallo2024"),
    ("Das Kennwort für das Wiki lautet @.", "Hallo2024"),
    ("| Kennwort | `@` |", "Hallo2024"),
    ("a senha é @", "Azul1234"),
    ("wachtwoord: @", "Azul1234!"),
    ("password = @", "Sommer2024"),
    ("password=\n  @", "Xy12!zzQ"),
    ("token @", "7f3k9d0s8f7g6h5j4k3l2m1n"),
    ("use the token @ for it", "7f3k9d0s8f7g6h5j4k3l2m1n"),
    ("Fernet(b'@')", BASE + "_-3dE5g="),
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
