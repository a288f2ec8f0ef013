"""Claims about the passwords of commands, in a terminal's lines and in those of a notebook; all are made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.ingest import redact, suspicious

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
CASES = [(*frame.split("@", 1), secret) for frame, secret in COMMANDS]

HARMLESS = [
    "mkdir -p data/prices && cp -pr notes notes2",
    "cp -pr mysql.cnf backup",
    "mysql -p",
    "mysql -u root -p prices2026",
    "mysql -u root -p -h db.example",
    'mysql -u root -p"$MYSQL_PASSWORD" prices',
    "mysql -u root -p$PASS; mkdir -p λ4567",
    "mysql -u root -p{password}",
    "mysql -u root -p<password>",
    "mysql -u root -pPASSWORD prices",
    "mysql\nrsync -prices2",
    'os.system("mysql -p\'" + password2 + "\'")',
    'os.system("mysql -p" + password2 + " prices"); os.system("sshpass -p "+password2+" ssh db")',
    'connect("user=anna password=" + password2 + " host=db"); run("wget --password=" + pw + " url")',
    "docker run --name mysql -p3306:3306 -d mysql:8",
    "docker run --name mysql -p 127.0.0.1:3306:3306/tcp mysql",
    "import mysql.connector as mysql; a -p1234",
    "curl -u anna https://db.example:8080/prices",
    "curl -u anna: https://db.example",
    'curl -u "$USER:$PASSWORD" https://db.example',
    "curl -u USER:PASSWORD https://db.example; curl -u user:pass x",
    "curl -L https://db.example:8080/x2 -o x",
    "docker run -u 1000:1000 curlimages/curl https://db.example",
    "curl -Uri https://db.example",
    "docker login -u anna --password-stdin registry.example",
    "docker login registry.example && docker run -p 8080:8080 web",
    "docker login -u anna -p $TOKEN; podman login -p",
    "sshpass -e ssh db; sshpass -p ssh -v",
    'sshpass -p "${PASS}" ssh db',
    "sshpass -f ~/.pass ssh db -p 2222",
    "wget --user=anna --ask-password https://db.example",
    "wget --password=$PASS --password=PASS --password=… https://db.example",
    "mysqldump --password=${DB_PASSWORD} --password=DB_PASSWORD",
    "mysql --password prices",
    "give --password to be asked, or --password, not both in 2026",
    'parser.add_argument("--password", help="read from stdin2")',
    'cmd = f"mysql --password={args.password2} -p{pw}"',
    "PGPASSWORD=$SECRET psql; PGPASSFILE=~/.pgpass psql",
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
    "openssl s_client -connect db.example:443 -k key2.pem",
    "net use Z: \\\\srv\\prices /user:ada * /persistent:yes",
    "net use Z: \\\\srv\\prices2 /user:ada /persistent:yes",
    "the net use of energy rose by 2024 /user:",
    "aws s3api get-object --key 9f8c1e2ab7d04c55e1f02a3b4c5d6e7f.parquet",
    "aws s3api get-object --key data/9f8c1e2ab7d04c55e1f02a3b4c5d6e7f --secret-key key2.pem",
    "git log -p HEAD2..HEAD; ps -p 12345; ssh -p 2222 db; nmap -p1-65535 db; patch -p1 < λ.diff",
]


@pytest.mark.parametrize(("before", "after", "secret"), CASES, ids=[frame for frame, _ in COMMANDS])
def test_passwords_of_commands_go(before: str, after: str, secret: str) -> None:
    """The password that a program is called with is taken out, alone and among many lines; all around it stays."""
    for start, end in (("", ""), ("Preise in Zürich\n" * 50, "\nλ = 3\n" * 50)):
        text = start + before + secret + after + end

        assert redact(text) == (start + before + "[redacted: password]" + after + end, 1)
        assert suspicious([text])[0]


@pytest.mark.parametrize("text", HARMLESS)
def test_other_options_stay(text: str) -> None:
    """Options that mean something else, are asked for, filled in by the shell or only spoken of are not touched."""
    assert redact(text) == (text, 0)


HEX = "9f8c1e2ab7d04c55e1f02a3b4c5d6e7f"
KEYS = [
    (f"tool --key {HEX} run", HEX),
    (f'["tool", "--key", "{HEX}"]', HEX),
    (f"tool --key={HEX}", HEX),
    (f"tool --token {HEX}", HEX),
    (f"tool --secret {HEX}", HEX),
    (f"tool --account-key {HEX}== --city Basel", HEX),
    (f"tool --secret-access-key {HEX}", HEX),
]


@pytest.mark.parametrize(("text", "secret"), KEYS)
def test_keys_of_commands_go(text: str, secret: str) -> None:
    """The key or token that a program is called with is taken out, whatever the program is."""
    redacted, count = redact(text)

    assert (count, secret in redacted) == (1, False)
    assert suspicious([text])[0]


PIECES = st.sampled_from([*(b + secret + a for b, a, secret in CASES), *HARMLESS, " -p", "'", '"', "\n", " ", "mysql "])


@given(st.lists(PIECES, max_size=8).map("".join))
def test_redacting_commands_twice_changes_nothing_more(text: str) -> None:
    """However commands are run together, one call finds all that two would."""
    once, _ = redact(text)

    assert redact(once) == (once, 0)
