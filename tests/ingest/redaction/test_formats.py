"""Claims about secrets of many formats, where people have them; all are made up from a seed."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from secret_formats import NAMED
from secret_texts import FORMATS, PLACEMENTS, password, plant

from jupyter_memory import MemoryStore
from jupyter_memory.ingest import redact

# Their letters are too common to look for everywhere: they are found in texts that say what they are.
BESIDE_A_WORD = {"Discord bot token": "the Discord bot: ", "Airtable token": "Airtable: "}


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_caught_in_every_placement(name: str) -> None:
    """In code, output, Markdown, YAML, JSON and a traceback, nothing of the secret is left, and twice is once."""
    for placement in PLACEMENTS:
        text = plant(name, placement, random.Random(7))
        once, count = redact(BESIDE_A_WORD.get(name, "") + text.text)

        assert count > 0, placement
        assert [secret for secret in text.secrets if secret in once] == [], placement
        assert redact(once) == (once, 0), placement


def test_there_are_enough_formats() -> None:
    """What a share of placements is measured on does not shrink unseen."""
    assert len(FORMATS) >= 128 and len(PLACEMENTS) == 6 and len(NAMED) >= 30


NAMED_IN_FULL = [
    "the db password={p}",
    "print('password={p}')",
    "secret={a} in notes",
    'AZURE_OPENAI_KEY = "{h}"',
    "spark.conf.set('fs.azure.account.key.anna.dfs.core.windows.net', '{h}{h}')",
    "machine db.example.org\nlogin anna\npassword {p}",
    "https://api.example.org/weather?q=Basel&appid={h}",
    "https://api.example.org/weather?appid={h}",
]


@pytest.mark.parametrize("frame", NAMED_IN_FULL)
def test_what_people_write_most_goes(frame: str) -> None:
    """A password in a note, a printed one, keys of hexadecimal digits: gone from text, title, tag, metadata."""
    source = random.Random(3)
    values = {"p": password(source), "a": "abcd" + "1234" + "efgh", "h": f"{source.getrandbits(128) | 1 << 127:032x}"}
    text, count = redact(frame.format(**values))

    assert count == 1
    assert [value for value in values.values() if value in text] == []


HARMLESS = [
    "user,password = read(path)\nanna,hunter2x = 1, 2",
    "| column | type |\n|---|---|\n| password | VARCHAR2(20) |",
    "if password:\n    login2(x)\n",
    "password:\n  min_length: 8\n",
    'cache_key = "9f8c1e2ab7d04c55e1f02a3b4c5d6e7f"',
    '"primary_key": "9f8c1e2ab7d04c55e1f02a3b4c5d6e7f"',
    "passphrase: optional passphrase for the private key",
    "mnemonic: the first letters of each word help you remember the order of the planets",
    "const pubkey = 'SIXvRyDmBJSgatgTQRGbInBaAK+hZOQ18UmrSwnDlK8='",
    "Cookie: theme=dark; language=de",
    "login(user, password)",
    'df.set("password", column)',
    "connect(user, password=abc2def)",
    "https://maps.example.org/?key=value&code=swiss-francs",
    "machine learning with default login and password",
    "the build took 10:5432:12:13:14 in all",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_resembles_these_formats_stays(text: str) -> None:
    """Tables without passwords, keys of caches, public keys and sentences about passphrases are not touched."""
    assert redact(text) == (text, 0)


@settings(max_examples=150)
@given(st.lists(st.sampled_from(FORMATS), min_size=1, max_size=4), st.sampled_from(PLACEMENTS), st.integers(0, 99))
def test_formats_run_together_are_redacted_once(names: list[str], placement: str, seed: int) -> None:
    """However formats follow each other, one call finds all that two would."""
    source = random.Random(seed)
    once, _ = redact("\n".join(plant(name, placement, source).text for name in names))

    assert redact(once) == (once, 0)


def test_no_part_of_a_memory_keeps_a_secret(tmp_path: Path) -> None:
    """Text, title, tags, metadata, the address of the source and the noted searches: no byte of a secret is stored."""
    token = plant("GitHub token", "output", random.Random(5)).secrets[0]
    told = f"the token ghp_{token}"
    with MemoryStore(tmp_path / "memory.sqlite") as store:
        store.add(
            told,
            title=told,
            tags=[f"ghp_{token}"],
            metadata={"note": told, "nested": [{"api_key": f"ghp_{token}"}]},
            source=f"https://anna:{token}@example.org/prices",
        )
        store.search(f"ghp_{token}")
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())

    assert token.encode() not in stored


def test_no_part_of_a_file_keeps_a_secret(tmp_path: Path) -> None:
    """Headings, the text above a cell, tags, an error's name, value and lines: no byte of a secret is stored."""
    token = plant("GitHub token", "output", random.Random(5)).secrets[0]
    told = f"ghp_{token}"
    error = {
        "output_type": "error",
        "ename": told,
        "evalue": told,
        "traceback": [f"----> 1 call('{told}')", f"E: {told}"],
    }
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": f"# Prices {told}\n\nwith {told}"},
        {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": "call()", "outputs": [error]},
    ]
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
    (folder / "b.md").write_text(f"---\ntitle: {told}\ntags: [{told}]\n---\n# {told}\n\n## Zürich {told}\n\nλ")
    with MemoryStore(tmp_path / "memory.sqlite") as store:
        assert store.index(folder).files == 2
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("memory.sqlite*"))

    assert token.encode() not in stored
