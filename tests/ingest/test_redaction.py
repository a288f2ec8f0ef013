"""Which secrets are taken out of a text, and which texts stay; every secret is made up, and pieced together."""

from __future__ import annotations

import json
import random
import string
import time
import tomllib
from importlib.resources import files

import pytest
from harmless_texts import HARMLESS as HARMLESS_TEXTS
from harmless_texts import MISSED
from hypothesis import given, settings
from hypothesis import strategies as st
from secret_formats import NAMED
from secret_texts import FORMATS, PLACEMENTS, filled, password, plant

from jupyter_memory import MemoryStore
from jupyter_memory.ingest import redact, suspicious

HEX = "9f8c1e2ab7d04c55e1f02a3b4c5d6e7f"
BASE = "aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2eF5hJ7"
LONG = BASE * 3
PEM = "\n".join([BASE + "+/=="] * 4)
PASSWORD = password(random.Random(3))
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
# Where the first @ stands is a secret.
TOLD = [
    ('api_key = "@"', HEX), ("openai_api_key: '@'", BASE), ('os.environ["OPENAI_API_KEY"] = "@"', HEX),
    ("SECRET_TOKEN=@", HEX), ("export DB_PASSWORD=@", "postgres"), ("%env WEATHER_API_KEY=@", HEX),
    ('{"client_secret": "@", "name": "λ"}', "550e8400-e29b-41d4-a716-446655440000"),
    ('connect(user="anna", password="@")', "Grünkohl7"), ("password: @\nhost: db.zürich.example", "hunter2"),
    ('password: str = "@"', "S3cret!pass"), ("password=@", "hunter2"),
    ("db.user=anna\nspring.datasource.password=@\nλ=1", "grünkohl7"),
    ("password: @", "Tr0ub4dor&3x"),
    ("https://db.example/prices?password=@&x=1&amp;y=2", "k4f-f33"),
    ("dbPassword = '@'", "correcthorse"), ('if token == "@":', HEX), ("http://localhost:8888/lab?token=@&x=1", HEX),
    (r'"{\"api_key\": \"@\"}"', HEX),
    ("aws_secret_access_key = @", "wJalr7XUtnF3MI/K7MDENG/bPxRfiCYz5tq4W1aB"),
    ("postgres://anna:@@db.example/prices?λ=1", "k4f/fee".replace("/", "")),
    ("https://anna:@@proxy.example:8080", "p@ss"), ('headers = {"Authorization": "Bearer @"}', BASE),
    ("curl -H 'Authorization: Basic @'", "YW5uYTpncsO8bmtvaGw3"),
    ("Bearer @", HEX), ('wandb.login(key="@")', HEX + "01234567"), ("AccountKey=@;EndpointSuffix", BASE + "=="),
    ("https://store.example/c?sv=2026&sig=@", BASE + "%3D"), ('login("anna", "password", "@")', HEX),
    ("the staging box: password=@ and user anna", "x9kLm2Qa"),
    ("log in with password: @ on the staging box", "x9kLm2Qa"),
    ("the password is @!", "x9kLm2Qa"), ("The password is @.", "x9kLm2Qa"),
    ("The password for the wiki is @, ask Zoë", "x9kLm2Qa"), ("The database password is `@`.", "x9kLm2Qa"),
    ('the password is "@"', "x9kLm2Qa"), ("my password was '@' until May", "Tr0ub4dor&3"),
    ("our wifi password is @", "Gruenkohl77"), ("Password: **@**", "x9kLm2Qa"), ("**Password:** @", "x9kLm2Qa"),
    ("**Password**: `@`", "x9kLm2Qa"), ("- Password: `@`", "hunter2x"),
    ("user anna / password @ (staging)", "x9kLm2Qa"),
    ("api_key = @ in the config, then restart", "sk9f8a7b6c5d4e3f2a1b"),
    ("set api_key = @ and go on", HEX), ("the API key is @", HEX), ("API key: @ (valid until May)", HEX),
    ("The token is @.", HEX), ("password = @ # staging", "x9kLm2Qa"), ("    password = @\n", "x9kLm2Qa"),
    ("    password: @\n", "x9kLm2Qa"), ("pwd=@ on the server", "x9kLm2Qa"), ("| password | @ |", "x9kLm2Qa"),
    ("| API key | `@` |", HEX), ("passphrase: @", "x9kLm2Qa"), ("Passwort: @ (Zürich)", "x9kLm2Qa"),
    ("das Passwort ist @.", "x9kLm2Qa"), ("mot de passe : @", "Azerty123!"), ("mot_de_passe = '@'", "Azerty123!"),
    ("Le mot de passe du wiki est @, voir Zoë", "Azerty123"), ("**Mot de passe :** `@`", "Azerty123"),
    ("mdp: @", "Azerty123!"), ("mdp = '@'", "Azerty123!"), ("contraseña: @", "Azul1234!"),
    ("contrasen\u0303a: @", "Azul1234!"), ("La contraseña de la base es @.", "Azul1234"),
    ('{"contrase\\u00f1a": "@"}', "Azul1234!"), ("kennwort = @", "Hallo2024"),
    ("Das Kennwort für das Wiki lautet @.", "Hallo2024"), ("| Kennwort | `@` |", "Hallo2024"),
    ("a senha é @", "Azul1234"), ("wachtwoord: @", "Azul1234!"), ("password = @", "Sommer2024"),
    ("password=\n  @", "Xy12!zzQ"), ("token @", "7f3k9d0s8f7g6h5j4k3l2m1n"),
    ("use the token @ for it", "7f3k9d0s8f7g6h5j4k3l2m1n"), ("Fernet(b'@')", BASE + "_-3dE5g="),
    ("password=@;", "x9kLm2Qa"), ("(password: @)", "x9kLm2Qa"), ("user=anna, password=@", "x9kLm2Qa"),
    ('token = "@"', "my-secret-9f8a7b6c5d"), ('token = "@"', "secret-9f8a7b6c5d4e"),
    ('api_key = "@"', "the-key-9f8a7b6c5d4e3f2a"), ('password = "@"', "mySecret123!"), ('password = "@"', "secret123"),
    ('password = "@"', "Secret!2024"), ('client_secret: "@"', "my-secret-9f8a7b6c5d4e"),
    ("JWT_SECRET=@", "some-9f8a7b6c5d4e3f2a"), ('password: "@"', "a-9f8a7b6c5d"),
    ("OPENAI_API_KEY=@", "sk-proj-" + BASE), ("DATABASE_PASSWORD=@", "correcthorse"),
    ('SECRET_KEY="@"', "django-insecure-" + BASE), ("DB_PASS=@", "x9kLm2Qa"), ("SMTP_PWD=@", "x9kLm2Qa"),
    ("GITHUB_TOKEN=@", "ghp_" + BASE), ("AUTH_SECRET=@", HEX),
    ("export API_TOKEN=@", "550e8400-e29b-41d4-a716-446655440000"),
    ("COHERE_API_KEY=@", BASE), ("DATABRICKS_TOKEN=@", "dapi" + HEX),
    ("db:\n  user: anna\n  password: @\n", "hunter2x"), ("db:\n  password: '@'\n", "correcthorse"),
    ('  api_key: "@"', HEX), ("  client_secret: @", HEX), ("  token: @\n", HEX), ("  secret_key: @\n", BASE),
    ("  - password: @", "S3cr3t!x"), ('{"password": "@"}', "hunter2x"), ('{"db": {"pwd": "@"}}', "x9kLm2Qa"),
    ('{"api_key":"@"}', HEX), ('{"access_token": "@"}', BASE), ('{"private_key_id": "1", "client_secret": "@"}', BASE),
    ('password = "@"', "hunter2"), ("conn = connect(host='db', password='@')", "x9kLm2Qa"),
    ('os.environ["HF_TOKEN"] = "@"', "hf_aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2eF5h"),
    ('openai.api_key = "@"', "sk-" + BASE + "aB3dE5gH7jK9"), ('client = Client(api_key="@")', HEX),
    ('auth=("anna", "@")', "x9kLm2Qa"), ('HTTPBasicAuth("anna", "@")', "x9kLm2Qa"),
    ('PASSWORD: Final = "@"', "x9kLm2Qa"), ('cfg["password"] = "@"', "x9kLm2Qa"),
    ('os.environ.setdefault("API_KEY", "@")', HEX), ('getpass_default = dict(password="@")', "x9kLm2Qa"),
    ('password = b"@"', "x9kLm2Qa"), ("export PGPASSWORD=@", "x9kLm2Qa"), ("mysql -u root -p@ db", "x9kLm2Qa"),
    ("curl -u anna:@ https://x", "x9kLm2Qa"), ("redis-cli -a @ ping", "x9kLm2Qa"),
    ("echo @ | sudo -S apt update", "x9kLm2Qa"), ("vault login @", "hvs." + BASE),
    ("postgresql://anna:@@db:5432/x", "x9kLm2Qa"), ("mongodb+srv://anna:@@c.mongodb.net", "x9kLm2Qa"),
    ("redis://:@@h:6379/0", "x9kLm2Qa"), ("https://x.example/?api_key=@&y=1", HEX),
    ("Server=db;User Id=anna;Password=@;", "x9kLm2Qa"),
    ("DefaultEndpointsProtocol=https;AccountName=x;AccountKey=@;EndpointSuffix=core", BASE + BASE + "=="),
    ("Endpoint=sb://x.net/;SharedAccessKeyName=R;SharedAccessKey=@", BASE + "abcdefg="),
    ("host=db user=anna password=@ dbname=x", "x9kLm2Qa"), ("jdbc:mysql://h/db?user=anna&password=@", "x9kLm2Qa"),
    ("jdbc:oracle:thin:anna/@@h:1521:x", "x9kLm2Qa"),
    ("git clone https://@@github.com/x/y.git", "ghp_" + BASE),
    ("https://oauth2:@@gitlab.com/x", "glpat-aB3dE5gH7-jK9mN1pQ_4"),
    ("Authorization: Bearer @", BASE), ("Authorization: Basic @", "YW5uYTpncsO8bmtvaGw3"), ("X-API-Key: @", HEX),
    ("-H 'x-api-key: @'", HEX), ("headers = {'X-Auth-Token': '@'}", HEX), ("Ocp-Apim-Subscription-Key: @", HEX),
    ("PRIVATE-TOKEN: @", "glpat-aB3dE5gH7-jK9mN1pQ_4"),
    ("AWS_SECRET_ACCESS_KEY=@", "wJalr7XUtnF3MI/K7MDENG/bPxRfiCYz5tq4W1aB"),
    ("aws_session_token = @", "IQoJb3JpZ2lu" + BASE + BASE + BASE + BASE),
    ("AZURE_CLIENT_SECRET=@", "Abc8Q~aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2eF5h"),
    ('client_secret="@"', "Abc8Q~aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2eF5h"),
    ("https://hooks.slack.com/services/@", "T00000000/B00000000/aB3dE5gH7jK9mN1pQ4sT6vW8"),
    # What people write most.
    *((frame, PASSWORD) for frame in ("the db password=@", "print('password=@')", "machine h\nlogin anna\npassword @")),
    ("secret=@ in notes", "abcd" + "1234" + "efgh"), ('AZURE_OPENAI_KEY = "@"', HEX),
    ("spark.conf.set('fs.azure.account.key.anna.dfs.core.windows.net', '@')", HEX + HEX),
    *((f"https://api.example.org/weather?{query}appid=@", HEX) for query in ("q=Basel&", "")),
    # The keys and tokens that programs are called with.
    ("tool --key @ run", HEX), ('["tool", "--key", "@"]', HEX),
    *((f"tool --{name}", HEX) for name in ("key=@", "token @", "secret @", "secret-access-key @")),
    ("tool --account-key @ --city Basel", HEX + "=="),
]  # fmt: skip
# Where @ stands is a password.
COMMANDS = [
    ("mysql -u root -p@ prices", "hunter2"),
    ("!mysql -h db.zürich.example -u anna -p'@' prices", "grün kohl λ"),
    ("mysqldump -p@ --user=anna prices > prices.sql", "k4f-f33!"),
    ("/usr/bin/mysqladmin -u root \\\n  -p@ status", "hunter2"),
    ("mariadb -uanna -p@", "correcthorse"),
    ('subprocess.run(["mysql", "-u", "root", "-p@"], timeout=100)', "hunter2"),
    ("mysql --user=anna --password=@ prices", "hunter2"),
    ("mysql --password='@' prices", "hunter2"),
    ("curl -u anna:@ https://db.example/prices", "hunter2"),
    ("!curl -sS https://db.example/λ -u 'anna:@' -o prices.json", "k4f f33"),
    ("curl -uanna:@ https://db.example", "correcthorse"),
    ('curl --user "anna:@" https://db.example', "pa:ss:word"),
    ("curl --proxy-user anna:@ https://db.example", "hunter2"),
    ("use `curl -u anna:@` for it", "hunter2"),
    ('["curl", "-u", "anna:@", url]', "hunter2"),
    ("PGPASSWORD=@ psql -h db -U anna prices", "hunter2"),
    ("!PGPASSWORD=@ psql -h db", "hunter2"),
    ("$ PGPASSWORD=@ pg_dump prices", "correcthorse"),
    ("env PGHOST=db PGPASSWORD=@ psql", "hunter2"),
    ("%%bash\nexport PGPASSWORD='@'\npsql", "hunter2"),
    ("docker run -e POSTGRES_PASSWORD=@ postgres:16", "hunter2"),
    ('docker run -e "MYSQL_ROOT_PASSWORD=@" mysql:8', "hunter2"),
    ("sshpass -v -p @ ssh db.example", "hunter2"),
    ("sshpass -p'@' scp prices.csv db:", "k4f f33"),
    ('sshpass -p "@" rsync -av λ/ db:', "hunter2"),
    ("docker login -u anna -p @ registry.example", "hunter2"),
    ("docker login registry.example --username anna --password @", "hunter2"),
    ("podman login -u anna -p='@' quay.example", "correcthorse"),
    ("mongosh -u anna -p @ --authenticationDatabase admin", "correcthorse"),
    ("wget --user=anna --password=@ https://db.example/prices.csv", "hunter2"),
    ("wget --http-password=@ https://db.example", "correcthorse"),
    ("gpg --batch --passphrase '@' -d prices.gpg", "correct horse"),
    ("gpg --passphrase '@' -d prices.gpg", "correct horse battery staple"),
    ('tool --password "@"', "the password is swordfish"),
    ('tool --password "@" run', "the password to use is k4ffee"),
    ('tool --password="@"', "Password For Zürich"),
    ('tool --password "@"', "my secret password"),
    ('tool --password "@"', "a horse for the password"),
    ('tool --password "@"', "password to λ"),
    ("unzip -P @ prices.zip", "Zip7Pass"),
    ('subprocess.run(["unzip", "-P", "@", "prices.zip"])', "Zip7Pass"),
    ("!zip -r -P '@' prices.zip λ", "grün kohl λ"),
    ("7z x -p@ prices.7z", "Zip7Pass"),
    ("openssl enc -k @", "Kp9sQ2x1"),
    ("openssl enc -aes-256-cbc -salt -k '@' -in λ.csv", "grün kohl"),
    ("openssl aes-256-cbc -d -k @ -in prices.enc", "correcthorse"),
    ("openssl rsa -in anna.pem -passin pass:@", "Kp9sQ2x1"),
    ("net use Z: \\\\srv\\prices /user:ada @", "Pa55w0rd9"),
    ("net use Z: \\\\srv\\prices @ /user:ada /persistent:yes", "Pa55w0rd9"),
    ('psycopg2.connect("host=db dbname=prices user=anna password=@")', "hunter2"),
    ('psycopg2.connect("user=anna password=@ sslmode=require")', "correcthorse"),
    ('pyodbc.connect("Driver={ODBC Driver 18};Server=db;UID=anna;PWD=@;")', "hunter2"),
]
HARMLESS = [
    *HARMLESS_TEXTS,
    *MISSED,  # a word that anybody could have written: taking it out would take much else
    # Code and prose that only mention or refer to a secret.
    'token = tokenizer("Die Preise in Zürich")', "max_tokens=512, num_tokens: 1024",
    'df.sort_values(key="price", by="λ")', 'api_key = os.environ["OPENAI_API_KEY"]',
    'api_key=os.getenv("OPENAI_API_KEY")', 'password = getpass.getpass("Password: ")',
    'password = getpass("Password:"), host="db", x="y"', 'password = ""', "password = None", 'api_key = "YOUR_API_KEY"',
    'api_key: "<your key here>"', "SECRET_TOKEN=${SECRET_TOKEN}", "token: {{ secrets.TOKEN }}",
    "API_KEY=xxxxxxxxxxxxxxxxxxxx", "password=my_password", "password=password2", "connect(\n    password=hunter2\n)",
    "password=hunter2, user=anna", "password=args2.value", "token = self.next_token_2",
    "def login(user: str, password: str, token: str | None = None) -> Session:",
    'Field("password", type="string")', '{"password": "string", "token": "lemma"}',
    'columns=["id", "password", "email", "token"]', 'print("password:", pw, "x")',
    'pad_token="[PAD]", eos_token="<|endoftext|>", sep_token = "</s>"',
    'tokenizer = AutoTokenizer.from_pretrained("sentence-transformers/all-MiniLM-L6-v2")',
    "token = 'covid19'", 'token="2026-11-21T10:00:00"', f"Fixed in commit {HEX}, see also a1b2c3d4",
    'run_id = "550e8400-e29b-41d4-a716-446655440000"', "sha256:" + HEX * 2,
    "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAA" * 40,
    "#sk-container-id-1 div.sk-estimator-doc-link.sk-toggleable {}",
    "pwd = 'data'\nPWD=/home/anna/prices",
    'secret_name = "prod/db"; key_vault = "https://v.example/secrets"',
    "docker://python:3.12@sha256:" + HEX, 'url = f"postgres://{user}:{password}@{host}/db"',
    "postgres://$USER:$PASSWORD@db/prices", "git@github.com:anna/prices.git ssh://git@host:22/x",
    "the password is required; Authorization: Bearer tokens are described below",
    'primary_key = "customer_id_2026_q1"', "The key: a long walk in 1999",
    # Options that mean something else, are asked for, filled in by the shell or only spoken of.
    "mkdir -p data/prices && cp -pr notes notes2", "cp -pr mysql.cnf backup", "mysql -p", "mysql -u root -p prices2026",
    "mysql -u root -p -h db.example", 'mysql -u root -p"$MYSQL_PASSWORD" prices',
    "mysql -u root -p$PASS; mkdir -p λ4567", "mysql -u root -p{password}", "mysql -u root -p<password>",
    "mysql -u root -pPASSWORD prices", "mysql\nrsync -prices2", 'os.system("mysql -p\'" + password2 + "\'")',
    'os.system("mysql -p" + password2 + " prices"); os.system("sshpass -p "+password2+" ssh db")',
    'connect("user=anna password=" + password2 + " host=db"); run("wget --password=" + pw + " url")',
    "docker run --name mysql -p3306:3306 -d mysql:8",
    "docker run --name mysql -p 127.0.0.1:3306:3306/tcp mysql",
    "import mysql.connector as mysql; a -p1234", "curl -u anna https://db.example:8080/prices",
    "curl -u anna: https://db.example", 'curl -u "$USER:$PASSWORD" https://db.example',
    "curl -u USER:PASSWORD https://db.example; curl -u user:pass x",
    "curl -L https://db.example:8080/x2 -o x",
    "docker run -u 1000:1000 curlimages/curl https://db.example",
    "curl -Uri https://db.example", "docker login -u anna --password-stdin registry.example",
    "docker login registry.example && docker run -p 8080:8080 web",
    "docker login -u anna -p $TOKEN; podman login -p", "sshpass -e ssh db; sshpass -p ssh -v",
    'sshpass -p "${PASS}" ssh db', "sshpass -f ~/.pass ssh db -p 2222",
    "wget --user=anna --ask-password https://db.example",
    "wget --password=$PASS --password=PASS --password=… https://db.example",
    "mysqldump --password=${DB_PASSWORD} --password=DB_PASSWORD",
    "mysql --password prices",
    "give --password to be asked, or --password, not both in 2026",
    'parser.add_argument("--password", help="read from stdin2")',
    'cmd = f"mysql --password={args.password2} -p{pw}"', "PGPASSWORD=$SECRET psql; PGPASSFILE=~/.pgpass psql",
    "connect(USER=anna, PASSWORD=password2)",
    'psycopg2.connect(f"dbname=prices user=anna password={password}")',
    "psycopg2.connect(host=host, user=user, password=password2)",
    "docker run --name mongo -p 27017-27019:27017-27019 mongo; mysql -password",
    "curl --user-agent=Mozilla:5.0-λ https://db.example",
    "user=args.user; password=args.password; host=λ;password=os.environ['DB']",
    "user=name; password=getpass('Passwort: '); user=name; password=getpass()",
    "UPDATE people SET PASSWORD=new_password WHERE name = 'Jürgen'",
    'give `--password "the password to use"`, or set it once in Zürich',
    "  --passphrase 'Passphrase that protects the key'   asked for if left out",
    'mysql --user=anna --password="your database password"',
    '--password "password for the user\'s account" --passphrase "The passphrase."',
    'curl -u "anna:the password of the host" https://db.example',
    "sshpass -p 'the root password' ssh db",
    "unzip -P $PASS prices.zip; unzip prices.zip -d out2024; zip -r prices2024.zip λ",
    "gunzip prices.gz && nmap -Pn2024 host",
    "openssl enc -k $KEY; openssl enc -aes-256-cbc -kfile pass2.txt; openssl rsa -passin env:PASS2 -passout file:p2",
    "openssl s_client -connect db.example:443 -k key2.pem", "net use Z: \\\\srv\\prices /user:ada * /persistent:yes",
    "net use Z: \\\\srv\\prices2 /user:ada /persistent:yes", "the net use of energy rose by 2024 /user:",
    "aws s3api get-object --key 9f8c1e2ab7d04c55e1f02a3b4c5d6e7f.parquet",
    "aws s3api get-object --key data/9f8c1e2ab7d04c55e1f02a3b4c5d6e7f --secret-key key2.pem",
    "git log -p HEAD2..HEAD; ps -p 12345; ssh -p 2222 db; nmap -p1-65535 db; patch -p1 < λ.diff",
    # Tables without passwords, keys of caches, public keys and sentences about passphrases.
    "user,password = read(path)\nanna,hunter2x = 1, 2",
    "| column | type |\n|---|---|\n| password | VARCHAR2(20) |",
    "if password:\n    login2(x)\n", "password:\n  min_length: 8\n", 'cache_key = "9f8c1e2ab7d04c55e1f02a3b4c5d6e7f"',
    '"primary_key": "9f8c1e2ab7d04c55e1f02a3b4c5d6e7f"', "passphrase: optional passphrase for the private key",
    "mnemonic: the first letters of each word help you remember the order of the planets",
    "const pubkey = 'SIXvRyDmBJSgatgTQRGbInBaAK+hZOQ18UmrSwnDlK8='",
    "Cookie: theme=dark; language=de", "login(user, password)", 'df.set("password", column)',
    "connect(user, password=abc2def)", "https://maps.example.org/?key=value&code=swiss-francs",
    "machine learning with default login and password", "the build took 10:5432:12:13:14 in all",
    # Names of models and versions, which data scientists assign to `token` and `key`.
    *(f"token = {word}" for word in ("gpt-4o-mini-2024-07-18", "bert-base-uncased-v2", "HelloWorldFooBar")),
    *(f"token = {word}" for word in ("en_core_web_sm3", "x86_64", "Meta-Llama-3.1-8B-Instruct")),
    # Prose behind the beginning of a key.
    "-----BEGIN PRIVATE KEY----- is how such a file begins; prices in Zürich rose.",
]  # fmt: skip


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
    """A token of a common service is taken out of code, prose and output alike, and what surrounds it stays."""
    text, count = redact(frame.format(token))
    before, after = frame.split("{}")
    assert (count, token in text) == (1, False)
    assert text.startswith(before + "[redacted: ") and text.endswith("]" + after)


@pytest.mark.parametrize(("frame", "secret"), TOLD, ids=[frame for frame, _ in TOLD])
def test_what_is_told_goes(frame, secret):
    """A secret is taken out where it is told, alone and among many lines; what stands around it stays."""
    before, after = halves(frame)
    for start, end in AROUND:
        text, count = redact(start + before + secret + after + end)
        assert (count, secret in text) == (1, False)
        assert text.startswith(start + before + "[redacted: ") and text.endswith("]" + after + end)
        assert suspicious([start + before + secret + after + end])[0]


@pytest.mark.parametrize(("frame", "secret"), COMMANDS, ids=[frame for frame, _ in COMMANDS])
def test_passwords_of_commands_go(frame, secret):
    """The password that a program is called with is taken out, alone and among many lines; all around it stays."""
    before, after = halves(frame)
    for start, end in AROUND:
        text = start + before + secret + after + end
        assert redact(text) == (start + before + "[redacted: password]" + after + end, 1)
        assert suspicious([text])[0]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text):
    """Code, placeholders, types, words about passwords and hashes of other things are not touched."""
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
    """Cut off by the end of an output, on one line of JSON or from OpenSSH and PGP: the key goes, and lines stay."""
    redacted, count = redact(text)
    assert count >= 1 and BASE not in redacted
    if text.startswith("cert:"):
        assert (redacted.split("\n")[1], count) == ("[redacted: private key]", 1)
        assert redacted.split("\n").index("λ = 3") == text.split("\n").index("λ = 3")


def test_every_secret_is_counted():
    """Several in a line included; and the one letter that is longer in lower case moves nothing."""
    assert redact(f"api_key='{HEX}', password='Grünkohl7'\nnpm_{BASE} https://a:b0b@h")[1] == 4
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
def test_random_values_are_recognised(alphabet, length, share):
    """Of generated keys nearly all are told from words."""
    source = random.Random(11)
    keys = ["".join(source.choices(alphabet, k=length)) for _ in range(1000)]
    assert sum(key not in redact(f"token = {key}")[0] for key in keys) / 1000 >= share


# -- formats -----------------------------------------------------------------------------------------------------------

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


# -- any text ----------------------------------------------------------------------------------------------------------

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
    *("mysql -pa ", "\"mysql' -p'", "\\\n mysql", "curl -u a:", "--a-password=", "host=a;password='"),
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_no_time(piece):
    """A megabyte made to lead a pattern astray is read in linear time."""
    text = piece * (1_000_000 // len(piece))
    begun = time.process_time()
    redact(text)
    # One to two seconds alone on a slow core; a quadratic pattern takes minutes.
    assert time.process_time() - begun < 20


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


@settings(max_examples=150)
@given(st.lists(st.sampled_from(FORMATS), min_size=1, max_size=4), st.sampled_from(PLACEMENTS), st.integers(0, 99))
def test_formats_run_together_are_redacted_once(names, placement, seed):
    """However formats follow each other, one call finds all that two would."""
    source = random.Random(seed)
    once, _ = redact("\n".join(plant(name, placement, source).text for name in names))
    assert redact(once) == (once, 0)


# -- many texts together -----------------------------------------------------------------------------------------------

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


# -- in a store --------------------------------------------------------------------------------------------------------

TOKEN = plant("GitHub token", "output", random.Random(5)).secrets[0]
KNOWN = f"ghp_{TOKEN}"


def stored(path):
    """Return all bytes of a store."""
    return b"".join(one.read_bytes() for one in path.parent.glob(f"{path.name}*"))


def test_no_part_of_a_memory_keeps_a_secret(tmp_path):
    """Text, title, tags, metadata, the source's address, noted searches: no byte is stored, and other values stay."""
    begin, end = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"
    others = {"λ": ["Zürich"], "n": 3, "none": None, "ok": True}
    split = {"a": [begin + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 2, {"λ": end}]}  # begins in one string, ends in another
    told = {"note": f"the token {KNOWN}", "nested": [{"api_key": KNOWN}], "db": {"password": "k4ffee77"}}
    with MemoryStore(tmp_path / "memory.sqlite") as store:
        memory = store.add(
            told["note"],
            title=told["note"],
            tags=[KNOWN],
            metadata=told | others,
            source=f"https://anna:{TOKEN}@example.org/prices",
        )
        store.add("λ", metadata=split)
        store.search(KNOWN)
        assert {name: memory.metadata[name] for name in others} == others
    kept = stored(tmp_path / "memory.sqlite")
    assert not [secret for secret in (TOKEN, "k4ffee77", "MIIEvQ") if secret.encode() in kept]


def test_no_part_of_a_file_keeps_a_secret(tmp_path, folder):
    """Headings, the text above a cell, tags, an error's name, value and lines: no byte of a secret is stored."""
    error = {"output_type": "error", "ename": KNOWN, "evalue": KNOWN}
    error["traceback"] = [f"----> 1 call('{KNOWN}')", f"E: {KNOWN}"]
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": f"# Prices {KNOWN}\n\nwith {KNOWN}"},
        {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": "call()", "outputs": [error]},
    ]
    (folder / "a.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
    (folder / "b.md").write_text(f"---\ntitle: {KNOWN}\ntags: [{KNOWN}]\n---\n# {KNOWN}\n\n## Zürich {KNOWN}\n\nλ")
    with MemoryStore(tmp_path / "memory.sqlite") as store:
        assert store.index(folder).files == 2
    assert TOKEN.encode() not in stored(tmp_path / "memory.sqlite")


TABLE = files("jupyter_memory") / "ingest" / "redaction" / "patterns.toml"
ROWS = tomllib.loads(TABLE.read_text(encoding="utf-8"))["secret"]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['what']} {row['hints'][0]}" for row in ROWS])
def test_each_pattern_finds_its_sample(row):
    """Each row of the table has one of its hints in its sample, and finds the secret there."""
    text, _ = filled(row["sample"], random.Random(7))
    assert any(hint in text.lower() for hint in row["hints"])
    assert f"[redacted: {row['what']}]" in redact(text)[0]
