"""Receipts of answers, checked later against both databases: what they hold, and what became of each memory."""

import hmac
import json
from hashlib import blake2b

import pytest
from commands import runner
from shells import made

from jupyter_memory import InputError, MemoryStore, StoreError, open_store
from jupyter_memory.search import Receipt

TEXTS = {"a": "λ of the prices is 3.", "b": "prices are net of tax", "c": "prices of Zürich", "d": "old prices"}


@pytest.fixture(params=["sqlite", "postgres"])
def week(request, tmp_path):
    """A store of four files and a note, and the folder of these files."""
    place = tmp_path / "s.sqlite" if request.param == "sqlite" else request.getfixturevalue("emptied_postgres")
    (folder := tmp_path / "w").mkdir()
    for name, text in TEXTS.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    with MemoryStore(place) as store:
        store.index(folder, progress=False)
        store.add("Müller wants prices", title="Müller")
        yield store, folder


@pytest.fixture
def verify(capsys, tmp_path):
    """Check a receipt in a terminal: the exit code, the states by title, and the sentence."""
    run = runner(capsys)

    def check(store, receipt):
        file = tmp_path / "checked.json"
        file.write_text(receipt if isinstance(receipt, str) else json.dumps(receipt), encoding="utf-8")
        done = run("--store", str(store.path), "verify", str(file))
        rows = [line.split() for line in done.out.splitlines()]
        said = done.err.splitlines()[-1] if done.code else done.out.splitlines()[-1]
        return (
            done.code,
            {" ".join(row[3:]) or row[1]: row[2] for row in rows if len(row[1:2]) and row[0].isdigit()},
            said,
        )

    return check


def resealed(receipt, key, /, **changes):
    """Change a receipt as one who has the key can."""
    told = {name: value for name, value in {**receipt, **changes}.items() if name not in ("digest", "seal")}
    whole = json.dumps(told, sort_keys=True).encode()
    seal = hmac.digest(key.read_bytes(), whole, "sha256").hex()
    return {**told, "digest": blake2b(whole, digest_size=16).hexdigest(), "seal": seal}


@pytest.fixture
def key(home):
    return home / "data" / "memory" / "receipt.key"


def test_a_receipt_tells_no_word(week, tmp_path):
    """It has ids, ranks, scores and how the answer was made; of texts, files and the question only salted digests."""
    store, _ = week
    found = store.search("λ prices", as_of="2999")
    receipt, again = found.memory.receipt(tmp_path / "r.json"), found.memory.receipt()
    written = (tmp_path / "r.json").read_text()
    assert json.loads(written) == receipt
    assert not [word for word in ("λ", "\\u03bb", "prices", "Zürich", ".md", str(tmp_path)) if word in written]
    assert (receipt["profile"], receipt["embedder"]) == ("auto", store.hits("prices").embedder)
    assert receipt["embedder"].startswith("static") and receipt["as_of"].startswith("2999-12-31T23:59")
    hits = receipt["hits"]
    assert [hit["memory_id"] for hit in hits] == found["memory_id"].tolist()
    assert [hit["score"] for hit in hits] == found["score"].tolist() and hits[0]["rank"] == 1
    assert not {hit["text"] for hit in hits} & {hit["text"] for hit in again["hits"]}
    assert receipt["query"] != again["query"] and len({hit["source"] for hit in hits}) == 5
    with pytest.raises(InputError, match="already exists"):
        found.memory.receipt(tmp_path / "r.json")
    assert len(found.head(2).memory.receipt()["hits"]) == 2


def test_each_memory_is_unchanged_changed_gone_or_replaced(week, verify):
    """After edits and forgetting, the table says what became of each; only if all is as it was, the exit code is 0."""
    store, folder = week
    receipt = store.search("prices").memory.receipt()
    code, states, said = verify(store, receipt)
    assert (code, set(states.values()), len(states)) == (0, {"unchanged"}, 5)
    assert said.startswith("Since 20") and said.endswith(": 5 unchanged.")
    forgotten = {hit.memory.headline: hit.memory.id for hit in store.hits("prices").hits}
    # A new title, tag or pin changes no text.
    store.update(forgotten["Müller"], title="Herr Müller", tags=["wish"])
    (folder / "b.md").write_text("prices are gross", encoding="utf-8")
    (folder / "c.md").unlink()
    store.forget(forgotten["d.md"], now=True)
    (folder / "d.md").write_text("newer prices", encoding="utf-8")
    store.index(folder, progress=False)
    code, states, said = verify(store, receipt)
    assert states == {
        "a.md": "unchanged", "Herr Müller": "unchanged", "b.md": "changed", "d.md": "replaced",
        forgotten["c.md"]: "gone",
    }  # fmt: skip
    assert code == 1 and "2 unchanged" in said and said.count(".") == 1


def test_damage_and_forgery_are_told(week, verify, key):
    """One sentence for what is no receipt, is damaged or was changed; one for what was sealed with another key."""
    store, _ = week
    receipt = store.search("prices").memory.receipt()
    whole = json.dumps(receipt, indent=4)
    for wrong in (
        "", "[]", "{}", "null", '"x"', "[" * 100_000, "\0", whole[:-20], whole.replace('"rank": 1', '"rank": 9'),
        {**receipt, "profile": "vault"}, {**receipt, "receipt": 2}, {**receipt, "salt": "00" * 16},
        {**receipt, "hits": receipt["hits"][1:]}, {**receipt, "more": 1}, {**receipt, "digest": 5},
        {name: value for name, value in receipt.items() if name != "seal"},
    ):  # fmt: skip
        code, states, said = verify(store, wrong)
        assert (code, states) == (1, {}) and said.endswith(
            "checked.json is not a receipt, or it has been damaged or changed."
        )
    for odd in (
        {"hits": 5}, {"hits": [5]}, {"hits": [{}]}, {"hits": [{**receipt["hits"][0], "rank": "first"}]}, {"date": 5},
        {"date": "soon"}, {"salt": "no"}, {"salt": "00" * 99}, {"receipt": 2}, {"hits": None},
    ):  # fmt: skip
        assert Receipt.read(json.dumps(resealed(receipt, key, **odd))) is None
    # The key of somebody else: a forger who writes all digests anew has no other.
    assert key.stat().st_mode & 0o077 == 0
    mine = key.read_bytes()
    key.unlink()
    forged = store.search("prices").memory.receipt()
    assert key.read_bytes() != mine
    key.write_bytes(mine)
    code, states, said = verify(store, forged)
    assert (code, set(states.values())) == (1, {"unchanged"})
    assert said.endswith("unchanged; it was not sealed with your key here, so it may be forged.")
    assert not Receipt.read(json.dumps({**forged, "seal": receipt["seal"]})).is_sealed
    assert verify(store, receipt)[0] == 0


def test_a_key_that_cannot_be_made(week, monkeypatch, tmp_path):
    """The reason names the file and says what to do; a receipt is not blamed for it."""
    store, _ = week
    receipt = json.dumps(store.search("prices").memory.receipt())
    (tmp_path / "taken").touch()
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "taken"))
    for read in (store.search("prices").memory.receipt, lambda: Receipt.read(receipt)):
        with pytest.raises(StoreError, match=r"receipt\.key cannot be written: .* set JUPYTER_DATA_DIR to another"):
            read()


def test_a_key_that_cannot_be_read(week, key):
    """Nothing is sealed with a part of a key, and no receipt is blamed for it."""
    receipt = json.dumps(week[0].search("prices").memory.receipt())
    for spoil in (lambda: key.write_bytes(key.read_bytes()[:9]), key.unlink, key.mkdir):
        spoil()
        if key.exists():
            for read in (week[0].search("prices").memory.receipt, lambda: Receipt.read(receipt)):
                with pytest.raises(StoreError, match=r"receipt\.key cannot be read, or is damaged\. Move it away"):
                    read()


def test_another_salt_or_store_fits_nothing(week, verify, store, key):
    """A receipt sealed here over another salt finds other texts; in a store without its memories all are gone."""
    kept, _ = week
    found = kept.search("prices")
    receipt, other = found.memory.receipt(), found.memory.receipt()
    mixed = resealed(receipt, key, salt=other["salt"])
    assert set(verify(kept, mixed)[1].values()) == {"changed"}
    code, states, _ = verify(store("other.sqlite"), receipt)
    assert code == 1 and set(states.values()) == {"gone"}


def test_a_receipt_is_of_one_recent_answer(week):
    """Rows of several searches, and of an answer that the session no longer has, get none."""
    import pandas as pd

    store, _ = week
    first = store.search("prices")
    both = pd.concat({"one": first, "two": store.search("Müller")})
    for _ in range(32):
        store.search("tax")
    for frame in (both, first):
        with pytest.raises(InputError, match="A receipt is made of one answer"):
            frame.memory.receipt()


def test_a_notebook_says_what_the_terminal_says(tmp_path, monkeypatch, capsys):
    """%memory verify shows the table and the sentence, and stops no cell where something changed."""
    monkeypatch.chdir(tmp_path)
    shell = made(JupyterMemory={"path": str(tmp_path / "m.sqlite")})
    shell.run_line_magic("load_ext", "jupyter_memory")
    store = open_store(tmp_path / "m.sqlite")
    note = store.add("prices are net", title="Net")
    store.search("prices").memory.receipt("r.json")
    store.update(note.id, text="prices are gross")
    capsys.readouterr()
    outcome = shell.run_cell("%memory verify r.json")
    written = capsys.readouterr().out
    assert outcome.success and f"1  {note.id}  changed  Net\n" in written and written.endswith(": 1 changed.\n")
