"""A store leaves its place: exports, imports and copies bring everything, pictures too, and refuse what is wrong."""

import json
import os
import subprocess
import sys
import time
from contextlib import closing, suppress

import apsw
import pytest
from hashing import Hashing
from hypothesis import given, settings
from hypothesis import strategies as st
from pictures import base64, plot, plotting, saved
from transferred import NOTES, PLAIN, RUNS, answers, carried, contents, fill, write_files

from jupyter_memory import EmbedderUnavailable, EmbeddingMismatch, InputError, JupyterMemory, MemoryStore


@given(st.lists(NOTES, max_size=6), st.lists(RUNS, max_size=6))
@settings(max_examples=10)
def test_export_and_import_give_back_the_same_store(tmp_path_factory, notes, runs):
    """Every field of every memory, its chunks, its runs and the answers to questions are exactly those of before."""
    folder = tmp_path_factory.mktemp("store")
    with MemoryStore(folder / "a.sqlite", "static", settings=PLAIN) as store:
        write_files(folder / "week")
        store.index(folder / "week", progress=False)
        # Of two notes with the same text, either may stand for both.
        added = [store.add(**note | {"text": f"{note['text']} no {number}"}) for number, note in enumerate(notes)]
        store.history.record(runs)
        for memory in added[:2]:
            store.note_access(memory.id)
            store.feedback(memory.id, True)
        before, asked = contents(store), answers(store)
        report = store.export(folder / "out")
    with MemoryStore(folder / "b.sqlite", "static", settings=PLAIN) as store:
        imported = store.import_(folder / "out", progress=False)
        found, scores = answers(store)
        assert contents(store) == before and found == asked[0]
        # A vector depends on the batch in which it is computed, in its last bits.
        assert scores == pytest.approx(asked[1], abs=1e-6)
        assert store.doctor() == [] and imported.added == report.memories == len(before[0])
        again = store.import_(folder / "out", update=True, progress=False)
        assert (again.added, again.updated, again.merged, again.kept) == (0, 0, 0, report.memories)
        assert contents(store) == before and store.index(folder / "week", progress=False).unchanged == 2


@given(st.lists(NOTES, max_size=6), st.lists(RUNS, max_size=6))
@settings(max_examples=4)
def test_a_copy_is_and_answers_like_its_source(tmp_path_factory, notes, runs):
    """Everything is exactly as in the source, the vectors to the last bit; hits, snippets and scores are the same."""
    folder = tmp_path_factory.mktemp("store")
    with MemoryStore(folder / "a.sqlite", "static", settings=PLAIN) as store:
        fill(store, folder / "week", notes, runs)
        before, more, asked = contents(store), carried(store), answers(store)
        report = store.copy_to(folder / "b.sqlite", progress=False)
        again = store.copy_to(folder / "b.sqlite", progress=False)
    assert (report.memories.added, report.without_vectors, report.searches) == (len(before[0]), 0, len(more[-1]))
    assert (again.memories.added, again.memories.kept, again.searches) == (0, len(before[0]), 0)
    with MemoryStore(folder / "b.sqlite", settings=PLAIN) as store:
        assert contents(store) == before
        assert carried(store) == more
        assert answers(store) == asked
        assert store.doctor() == []
        assert store.index(folder / "week", progress=False).unchanged == 2


def test_a_copy_knows_how_long_its_chunks_are(tmp_path):
    """A copy in a new file has those of its source and says so; what comes into another store is cut as it cuts."""
    small, usual = JupyterMemory(chunk_tokens=64), JupyterMemory()
    with MemoryStore(tmp_path / "a.sqlite", embedder="static", settings=small) as store:
        note = store.add("Prices are net of tax. " * 40)
        store.copy_to(tmp_path / "b.sqlite")
        with MemoryStore(tmp_path / "c.sqlite", embedder="static") as other:
            store.give(note.id, other)
            assert [len(contents(one)[0][0].chunks) for one in (store, other)] == [12, 1]
            other.forget(note.id)
            other.add("Orders are counted by day.")
            assert store.copy_to(other.path).without_vectors == 0
            assert [len(one.chunks) for one in contents(other)[0]] == [1, 1] and other.doctor() == []
    for name, sizes, others in (("b", small, 0), ("b", usual, 1), ("c", usual, 0), ("c", small, 1)):
        with MemoryStore(tmp_path / f"{name}.sqlite", embedder="static", settings=sizes) as copy:
            assert copy.stats(sizes=True)["other_chunks"] == others, (name, others)


def test_a_copy_that_would_lose_its_vectors_is_refused(tmp_path):
    """A model that cannot be opened here embeds nothing anew for chunks of another size; the other store stays."""
    with MemoryStore(tmp_path / "a.sqlite", Hashing("only-there"), settings=JupyterMemory(chunk_tokens=64)) as store:
        store.add("Prices are net of tax. " * 40)
    with MemoryStore(tmp_path / "b.sqlite", None) as other, MemoryStore(tmp_path / "a.sqlite") as store:
        other.add("Orders are counted by day.")
        with pytest.raises(EmbedderUnavailable, match=r"b\.sqlite has chunks of another size.* cannot be opened here"):
            store.copy_to(other.path, progress=False)
        assert other.count() == 1 and other.stats()["models"] == []
        assert store.copy_to(tmp_path / "c.sqlite", progress=False).without_vectors == 0


def test_an_interrupted_copy_goes_on(tmp_path):
    """A copy that is killed leaves whole memories; the same call copies the rest, and the answers are the same."""
    source, target = tmp_path / "a.sqlite", tmp_path / "b.sqlite"
    notes = [{"text": f"The price of shop {number} rose."} for number in range(3_000)]
    with MemoryStore(source, Hashing(), settings=PLAIN) as store:
        store.add_many(notes, progress=False)
        program = (
            "import sys; from jupyter_memory import MemoryStore; MemoryStore(sys.argv[1], None).copy_to(sys.argv[2])"
        )
        until = time.monotonic() + 60
        with subprocess.Popen([sys.executable, "-c", program, str(source), str(target)]) as process:
            while not stored(target) and time.monotonic() < until:
                time.sleep(0.001)
            process.kill()
        with MemoryStore(target, Hashing(), settings=PLAIN) as half:
            assert 0 < (left := half.count()) < len(notes) and half.doctor() == []
        report = store.copy_to(target, progress=False)
        asked = answers(store)
    assert (report.memories.added, report.memories.kept) == (len(notes) - left, left)
    with MemoryStore(target, Hashing(), settings=PLAIN) as copy:
        assert answers(copy) == asked


def stored(path):
    with suppress(apsw.Error), closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        return connection.execute("select count(*) from memories").get
    return 0


def test_a_space_is_copied_alone_and_without_searches(tmp_path):
    """A store with a space copies what is in it; recent searches tell of other spaces and stay."""
    with MemoryStore(tmp_path / "a.sqlite", Hashing(), space="work", settings=PLAIN) as store:
        store.add("Prices rose.")
        store.add("A private price.", space="private")
        store.note_search(store.hits("price"), "magic")
        report = store.copy_to(tmp_path / "b.sqlite", progress=False)
    assert (report.memories.added, report.searches) == (1, 0)
    with MemoryStore(tmp_path / "b.sqlite", Hashing(), settings=PLAIN) as copy:
        assert [hit.memory.space for hit in copy.browsed().hits] == ["work"]


def test_memories_without_vectors_are_copied_and_counted(tmp_path):
    """What was stored without a model comes along as it is, between others that have vectors."""
    path = tmp_path / "a.sqlite"
    for number, embedder in enumerate([Hashing(), None, Hashing()]):
        with MemoryStore(path, embedder, settings=PLAIN) as store:
            store.add(f"Prices rose in week {number}.")
    with MemoryStore(path, Hashing(), settings=PLAIN) as store:
        report = store.copy_to(tmp_path / "b.sqlite", progress=False)
        assert (report.memories.added, report.without_vectors) == (3, 1)
        missing = carried(store)[0]
    with MemoryStore(tmp_path / "b.sqlite", Hashing(), settings=PLAIN) as copy:
        assert carried(copy)[0] == missing
        assert copy.reembed(progress=False) == 1


def test_another_model_and_the_same_store_are_refused(tmp_path):
    """Nothing is written where the vectors would not go together, or where a store is copied to itself."""
    with MemoryStore(tmp_path / "b.sqlite", Hashing(dimensions=64), settings=PLAIN) as other:
        other.add("Prices fell.")
        with MemoryStore(tmp_path / "a.sqlite", Hashing(), settings=PLAIN) as store:
            store.add("Prices rose.")
            with pytest.raises(EmbeddingMismatch, match="nothing was copied"):
                store.copy_to(tmp_path / "b.sqlite", progress=False)
            (tmp_path / "link.sqlite").symlink_to(tmp_path / "a.sqlite")
            for same in ("a.sqlite", "link.sqlite"):
                with pytest.raises(InputError, match="the store itself"):
                    store.copy_to(tmp_path / same, progress=False)
        assert other.count() == 1 and len(other.stats()["models"]) == 1


@pytest.fixture
def opened(store):

    def open_(name, space=None, **values):
        return store(f"{name}.sqlite", embedder="static", space=space, settings=JupyterMemory(**values))

    return open_


@pytest.fixture
def exported(opened, tmp_path):
    store = opened("first")
    store.add("Prices are net of tax.", title="Net prices", tags=["decision"])
    store.add("λ is 0.3 at night.", space="work")
    store.export(tmp_path / "out")
    return tmp_path / "out"


def lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_an_export_is_for_its_owner_alone(exported, opened, tmp_path):
    """Files and folders are closed to others, nothing is left beside; a space goes alone, and into new folders only."""
    # A note is a file of Markdown that other programs read, with its title and tags.
    [note] = (exported / "notes").glob("net-prices-*.md")
    assert 'title: "Net prices"\ntags: ["decision"]' in note.read_text()
    assert note.read_text().endswith("---\n\nPrices are net of tax.\n")
    assert exported.stat().st_mode & 0o777 == 0o700
    assert {one.stat().st_mode & 0o777 for one in exported.rglob("*") if one.is_file()} == {0o600}
    assert [one.name for one in exported.parent.iterdir() if one.name not in ("store", "out")] == []
    with pytest.raises(InputError, match="new or empty"):
        opened("first").export(exported)
    assert opened("first", space="work").export(tmp_path / "work").memories == 1


def test_texts_come_without_their_secrets(exported, opened):
    store, file = opened("second"), exported / "memories.jsonl"
    record = json.loads(file.read_text().splitlines()[0])
    record |= {"id": "f" * 16, "text": "password = 'k4ffee-und-kuchen'", "chunks": []}
    file.write_text(json.dumps(record) + "\n")
    store.import_(exported, progress=False)
    assert "[redacted: password]" in store.get(record["id"]).text


def test_files_that_are_indexed_here_are_left_out(opened, tmp_path):
    """Cells of a file that this store has read later are not joined by those of before."""
    week = tmp_path / "week"
    week.mkdir()
    (week / "a.md").write_text("Prices of Monday.")
    first, second = opened("first"), opened("second")
    first.index(week, progress=False)
    first.export(tmp_path / "out")
    (week / "a.md").write_text("Quite another text about λ.")
    second.index(week, progress=False)
    assert second.import_(tmp_path / "out", progress=False).left_out == 1
    assert second.count() == 1


def test_a_broken_line_is_named_and_nothing_is_stored(exported, opened):
    file = exported / "memories.jsonl"
    whole = file.read_text()
    store = opened("second")
    first = json.loads(whole.splitlines()[0])
    changes = (
        {"id": "../../etc"}, {"pinned": 1}, {"tags": "decision"}, {"event_at": "2026-03-01"}, {"kind": "secret"},
        {"accessed": -1}, {"accessed": 2**70}, {"metadata": []}, {"text": " "}, {"chunks": [[0, 10**6, None, ""]]},
        {"chunks": 7}, {"chunks": [1]}, {"space": None}, {"text": "\ud800"},
    )  # fmt: skip
    broken = ["{", "[]", "NaN", "[" * 100_000, *(json.dumps(first | one) for one in changes), whole.splitlines()[0]]
    for line in broken:
        file.write_text(whole + line + "\n")
        with pytest.raises(InputError, match=r"memories\.jsonl, line 3"):
            store.import_(exported, progress=False)
    assert store.count() == 0


def test_what_is_no_export_is_refused(exported, opened, tmp_path):
    """Folders with a path from the root, regular files, what an export wrote, no newer version; nothing is imported."""
    # A link could lead anywhere, and a pipe never ends.
    store, folders, runs = opened("second"), exported / "folders.jsonl", exported / "runs.jsonl"
    about, whole = json.loads((exported / "store.json").read_text()), folders.read_text()

    def refused(match, folder=exported):
        with pytest.raises(InputError, match=match):
            store.import_(folder, progress=False)

    for path in ("../x", "/a/../b", "a\0b", "", "notes/a.md"):
        folders.write_text(json.dumps({"path": path, "space": "", "watched": True, "indexed_at": None}) + "\n")
        refused(r"folders\.jsonl, line 1: path")
    folders.write_text(whole)
    for make in (lambda: runs.symlink_to(runs.rename(exported.parent / "runs")), lambda: os.mkfifo(runs)):
        make()
        refused("no regular file")
        runs.unlink()
    refused("no exported store", tmp_path)
    (exported / "store.json").write_text(json.dumps(about | {"version": 2}))
    refused("newer version")
    assert store.count() == 0


@pytest.fixture
def illustrated(opened, tmp_path):
    saved(tmp_path / "nb" / "λ.ipynb", plotting("two()", plot(1), plot(2)), plotting("one()", plot(3)))
    store = opened("first")
    store.index(tmp_path / "nb", progress=False)
    assert "3 pictures" in str(store.export(tmp_path / "out"))
    return tmp_path / "out", tmp_path / "nb"


def images(store):
    shown = {hit.memory.id: hit.memory.thumbnails for hit in store.browsed(limit=50).hits}
    return {id_: [store.thumbnail(id_, place) for place in range(count)] for id_, count in shown.items()}


def test_pictures_come_back_although_their_notebook_is_gone(illustrated, opened):
    """Each memory has the pictures that it had, byte for byte; where the notebook is there, it is not read again."""
    out, notebooks = illustrated
    before = images(opened("first"))
    assert sorted(map(len, before.values())) == [1, 2]
    again = opened("again")
    again.import_(out, progress=False)
    assert images(again) == before
    assert again.index(notebooks, progress=False).unchanged == 1
    (notebooks / "λ.ipynb").unlink()
    elsewhere = opened("elsewhere")
    elsewhere.import_(out, progress=False)
    assert images(elsewhere) == before and elsewhere.doctor() == []
    # Once more: nothing comes twice.
    elsewhere.import_(out, update=True, progress=False)
    assert images(elsewhere) == before


def test_pictures_without_room_are_counted_and_read_from_their_notebook_later(illustrated, opened):
    """An import keeps to the settings and says what it left out; the next index run with room reads the notebook."""
    # With the setting off it takes the texts alone; another import with it on brings the pictures.
    out, notebooks = illustrated
    size = max(len(one.image) for of_it in images(opened("first")).values() for one in of_it)
    small = opened("small", thumbnails_max_mb=size * 1.5 / 1_000_000)
    report = small.import_(out, progress=False)
    [(why, number)] = report.pictures.left_out
    assert "thumbnails_max_mb" in why and number == 3 - sum(map(len, images(small).values())) > 0
    assert f"{why}" in str(report)
    small.close()
    larger = opened("small")
    assert larger.index(notebooks, progress=False).pictures.kept == 3
    assert sorted(map(len, images(larger).values())) == [1, 2]
    for pictures, became in ((False, "added"), (True, "kept")):
        with opened("none", thumbnails=pictures) as some:
            assert getattr(some.import_(out, progress=False), became) == 2
            assert some.stats()["thumbnails"]["number"] == 3 * pictures


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("memory", "0" * 32), ("media_type", "image/svg+xml"), ("media_type", "text/html"), ("image", "not base64: ü"),
        ("image", base64(b"<script>alert(1)</script>")),
        ("image", base64(b"RIFF\x00\x00\x00\x00WEBP" + b"\x00" * 12_000)),
        ("width", 0), ("origin", "'; drop table memories"),
    ],
)  # fmt: skip
def test_what_is_no_picture_is_refused(illustrated, opened, name, value):
    """A line that holds anything but a small WebP or PNG of a memory there is named, and nothing is stored."""
    file, store = illustrated[0] / "pictures.jsonl", opened("empty")
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], json.dumps(json.loads(lines[1]) | {name: value}), *lines[2:]]))
    with pytest.raises(InputError, match=f"pictures.jsonl, line 2: {name} must be") as refused:
        store.import_(illustrated[0], progress=False)
    assert str(value) not in str(refused.value) or name == "width"
    # Nor can a folder give a memory more pictures than a card shows.
    file.write_text((lines[0] + "\n") * 9)
    with pytest.raises(InputError, match="line 9: memory must be one that has fewer than 8 pictures"):
        store.import_(illustrated[0], progress=False)
    assert store.count() == 0
