"""What every storage must do with what is written: memories, files, models, definitions, activity and the whole."""

import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from contract import EVERYTHING, NOTE, NOTEBOOK, NOW, WEIGHTS, add, everything, read_file, seen
from hashing import Hashing

from jupyter_memory import EmbeddingMismatch, FileState, InputError, UnknownMemory
from jupyter_memory.ingest import prepare
from jupyter_memory.storage import NotedFolder, QueryVector
from jupyter_memory.text import Definitions
from jupyter_memory.types import ChunkTokens, Draft, Feedback, Filters, Recent, Terms


@pytest.mark.parametrize("part", ["snapshot", "writer", "runs", "thumbnails", "transfer", "contents", "forgotten"])
def test_every_method_has_a_test(storage, part):
    """The contract is complete: each method of each part of a storage is called in a test of this folder."""
    tests = "".join(file.read_text(encoding="utf-8") for file in Path(__file__).parent.glob("test_*.py"))
    with storage.snapshot() as snapshot, storage.transfer.contents("") as contents:
        given = {"snapshot": snapshot, "contents": contents}
        methods = [name for name in dir(given.get(part) or getattr(storage, part)) if not name.startswith("_")]
    assert methods and [name for name in methods if f".{name}" not in tests] == []


def test_adding(storage):
    """Memories come back in the order of their drafts; equal and known ones are one, with the tags of all."""
    first, other, again = add(storage, NOTE, Draft(text="μ fell."), replace(NOTE, tags=("prices",)))
    assert first.id == again.id != other.id and len(everything(storage)) == 2
    assert set(again.tags) == {"decision", "prices"} and again.title == "λ"
    assert seen(storage, lambda snapshot: snapshot.same_content([NOTE, Draft(text="ν")]))[1] is None
    told = {"severity": "critical", "domain": "λ", "valid_from": NOW - timedelta(days=1), "valid_until": NOW}
    known = replace(NOTE, tags=("new",), metadata={"a": 1}, pinned=True, **told)
    merged, unknown = storage.writer.merge([known, Draft(text="ν")])
    assert unknown is None and merged.id == first.id
    assert {name: getattr(merged, name) for name in told} == told
    [merged] = storage.writer.merge([replace(NOTE, severity="warning")])
    assert {name: getattr(merged, name) for name in told} == told | {"severity": "warning"}
    assert set(merged.tags) == {"decision", "prices", "new"} and merged.metadata == {"a": 1} and merged.pinned


def test_chunks_of_another_size(storage):
    """The last size that was noted counts; older memories of several chunks, or of a long one, have another."""

    def others(tokens):
        return seen(storage, lambda snapshot: snapshot.of_other_chunks(tokens))

    add(storage, Draft(text="μ " * 130), Draft(text="price of λ " * 400), Draft(text="μ fell."))
    assert (seen(storage, lambda snapshot: snapshot.chunk_size()), others(448), others(64)) == ((448, 0), 0, 2)
    assert storage.writer.note_once("chunks 1700000000000000 64") and storage.writer.note_once("chunked")
    assert others(64) == 0 and others(448) == 1
    assert storage.writer.note_once("chunks 4000000000000000 448")
    assert seen(storage, lambda snapshot: snapshot.chunk_size()) == (448, 4_000_000_000_000_000)
    assert (others(64), others(448)) == (2, 1)


def test_updating(storage):
    """Values, tags and words change; the id stays, and searches find the new words only."""
    [memory] = add(storage, NOTE)
    values = {"severity": "warning", "event_at": NOW - timedelta(days=1), "metadata": {"ü": [1]}, "pinned": True}
    changed = storage.writer.update(memory.id, values, tags=["new"])
    assert {name: getattr(changed, name) for name in values} == values and changed.tags == ("new",)
    [prepared] = prepare([replace(NOTE, text="The μ of Genève is 4.")], None)
    rewritten = storage.writer.update(memory.id, {}, prepared=prepared)
    assert rewritten.id == memory.id and "Genève" in rewritten.text
    for word, held in (("zürich", False), ("genève", True)):
        assert seen(storage, lambda snapshot, word=word: snapshot.corpus.holds_word(word, ["text"])) is held
    with pytest.raises(UnknownMemory):
        storage.writer.update("none", {})


def test_forgetting(storage):
    """Memories go by id or by filter; an unknown id keeps all; of what a filter lets through, only the given ids go."""
    texts = ("λ", "μ", "ν", "ξ", "ο")
    first, second, third, fourth, fifth = add(storage, *(Draft(text=text, tags=(text, "all")) for text in texts))
    forget = storage.writer.forget
    with pytest.raises(UnknownMemory):
        forget([first.id, "none"])
    assert len(everything(storage)) == 5
    assert forget([first.id]) == forget(Filters(tag=("μ",))) == 1
    # Those that are gone or do not fit are left alone.
    assert forget(Filters(tag=("ν", "μ")), among=[first.id, second.id, third.id]) == 1
    assert forget(Filters(tag=("ν",)), among=[fourth.id]) == 0
    assert {memory.id for memory in everything(storage)} == {fourth.id, fifth.id}
    assert forget(Filters(), among=[fourth.id], everything=True) == 1
    assert [memory.id for memory in everything(storage)] == [fifth.id]


def test_a_file_that_changed(storage):
    """A cell that is still there keeps id, pin, tags and the count of its uses; one that is gone is forgotten."""
    first, second, _ = read_file(storage, "prices = read()", "prices.mean()", "plot(prices)")
    storage.writer.update(second.id, {"pinned": True}, tags=["mine"])
    storage.writer.note_access(second.id, 0.1)
    after = read_file(storage, "λ = 3", "prices.mean(axis='€')")
    assert [memory.id == second.id for memory in after] == [False, True]
    assert after[1].pinned and (after[1].tags, after[1].accessed) == (("mine",), 1)
    assert first.id not in {memory.id for memory in everything(storage)}
    texts = seen(storage, lambda snapshot: snapshot.file_texts([NOTEBOOK], ""))
    assert texts == {NOTEBOOK: [("#0", "λ = 3"), ("#1", "prices.mean(axis='€')")]}


TEXTS = (
    "prices = pd.read_csv('Zürich.csv')", "prices = prices.dropna(subset=['kwh'])\n\nOut:\n120 rows",
    "model = Ridge(alpha=0.3).fit(X, y)", "model.score(X, y)\n\nOut:\n0.93", "plot(prices)",
)  # fmt: skip
EDITED = "model = Ridge(alpha=0.5).fit(X_train, y_train)"
OTHER = "%timeit np.linalg.svd(np.random.rand(500, 500))"


@pytest.mark.parametrize(
    ("texts", "were"),
    [
        (TEXTS, [0, 1, 2, 3, 4]),
        # Without cell ids, an edited cell is known by what it still says, wherever it moved.
        (["import antigravity", *TEXTS[:2], EDITED, *TEXTS[3:]], [None, 0, 1, 2, 3, 4]),
        # Other outputs make no other cell.
        ([text.replace("120", "98").replace("0.93", "0.71") for text in TEXTS], [0, 1, 2, 3, 4]),
        # A cell that says something else carries nothing on.
        ([*TEXTS[:4], OTHER], [0, 1, 2, 3, None]),
    ],
    ids=["unchanged", "edited, below a new one", "run again", "another"],
)
def test_a_cell_is_itself(storage, texts, were):
    before = [memory.id for memory in read_file(storage, *TEXTS)]
    after = [memory.id for memory in read_file(storage, *texts)]
    assert [before.index(id_) if id_ in before else None for id_ in after] == were


def test_the_record_of_files(storage):
    """Files are known by path within their space, and forgotten with their memories; notes about them stay."""
    read_file(storage, "λ = 3")
    # Whoever read it did not say that it has a date.
    touched = FileState(NOTEBOOK, 7, 5, "hash", dated=False)
    storage.writer.touch_file(replace(touched, dated=None), "")
    with storage.snapshot() as snapshot:
        [(known, held)] = snapshot.files_under("/week", "").items()
        assert (known, replace(held, indexed_at=None)) == (NOTEBOOK, touched)
        assert snapshot.file_texts([NOTEBOOK, "/none"], "") == {NOTEBOOK: [("#0", "λ = 3")]}
        [key] = snapshot.file_keys([NOTEBOOK, "/none"], "")
        assert snapshot.memories([key])[key].source == NOTEBOOK and snapshot.file_keys([NOTEBOOK], "other") == []
        assert snapshot.file_states([(NOTEBOOK, ""), (NOTEBOOK, "other"), ("/none", "")]) == {(NOTEBOOK, ""): held}
        assert snapshot.files_under("/week", "other") == snapshot.file_texts([NOTEBOOK], "other") == {}
    add(storage, replace(NOTE, source=NOTEBOOK))
    assert storage.writer.forget_files([NOTEBOOK], "") == 1
    assert seen(storage, lambda snapshot: snapshot.files_under("/", "")) == {}
    assert [memory.title for memory in everything(storage)] == ["λ"]


def test_renaming(storage):
    """A folder that moved takes its memories along, with their uses, in place of what was indexed at the new path."""
    [memory] = read_file(storage, "λ = 3")
    storage.writer.note_access(memory.id, 0.1)
    read_file(storage, "old", path="/month/λ.ipynb")
    assert storage.writer.rename("/week", "/month") == 1
    assert [(one.id, one.source, one.accessed) for one in everything(storage)] == [(memory.id, "/month/λ.ipynb", 1)]


def test_what_leaves_a_part_is_not_there(storage):
    """A file that is renamed takes its memories and their words out of a part, though no word of the store changes."""
    files = {"/team/a.ipynb": "roses and λ", "/team/b.ipynb": "roses"}
    for path, text in files.items():
        read_file(storage, text, path=path)
    for path, left in ((None, 2), ("/team/b.ipynb", 1), ("/team/a.ipynb", 0)):
        if path:
            assert storage.writer.rename(path, path.replace("team", "own")) == 1
        with storage.snapshot(Filters(path=("/team",))) as part:
            [roses] = part.corpus.words("roses")
            assert part.count(EVERYTHING) == part.corpus.chunks == part.corpus.frequencies([roses])[roses] == left
            assert len(part.keyword_matches(Terms(words=("roses",)), WEIGHTS, EVERYTHING, 5)) == left


def test_folders(storage, tmp_path):
    """Folders are noted, watched and removed with what was indexed from them; one that is gone leaves the list."""
    folder, below = str(tmp_path), str(tmp_path / "below")
    read_file(storage, "λ = 3", path=f"{below}/λ.ipynb")
    for one in (below, folder):
        storage.writer.note_folder(one, "", NOW)
    storage.writer.watch(folder, "", True)
    with storage.snapshot() as snapshot:
        assert snapshot.noted_folders("") == [folder] and snapshot.folder_above(below, "") == folder
        assert snapshot.folder_above("/elsewhere", "") is None
        [one] = snapshot.folders("")
        assert (one.path, one.watched, one.files, one.memories, one.indexed_at) == (folder, True, 1, 1, NOW)
        assert snapshot.folders("other") == snapshot.noted_folders("other") == []
    assert storage.writer.remove_folder(folder, "") == 1
    assert seen(storage, lambda snapshot: snapshot.folders("")) == [] == everything(storage)
    for name in ("gone", "watched"):
        storage.writer.note_folder(str(tmp_path / name), "", NOW)
    storage.writer.watch(str(tmp_path / "watched"), "", True)
    storage.writer.drop_vacated("")
    assert seen(storage, lambda snapshot: snapshot.noted_folders("")) == [str(tmp_path / "watched")]


def test_described_folders(storage):
    """A folder within an indexed one is described and hidden without being on the list, whatever is indexed later."""
    read_file(storage, "λ = 3", path="/week/old/λ.ipynb")
    storage.writer.note_folder("/week/old", "", NOW)
    storage.writer.describe_folder("/week/old", "", {"description": "drafts of λ"})
    storage.writer.describe_folder("/week/old", "", {"hidden": True})
    storage.writer.note_folder("/week", "", NOW)
    [told] = seen(storage, lambda snapshot: snapshot.described(""))
    assert told == NotedFolder("/week/old", "", False, None, "drafts of λ", True)
    assert seen(storage, lambda snapshot: snapshot.noted_folders("")) == ["/week"]
    storage.writer.rename("/week", "/month")
    assert [one.path for one in seen(storage, lambda snapshot: snapshot.described(""))] == ["/month/old"]
    storage.writer.describe_folder("/month/old", "", {"description": "", "hidden": False})
    with storage.transfer.contents("") as contents:
        assert [one.path for one in contents.folders()] == ["/month"]


def chunk_tokens(different, order):
    return ChunkTokens.of(np.array(different, np.uint16), bytes(order))


def test_changing_the_model(storage):
    old, new = Hashing("old", 8), Hashing("new", 16)
    add(storage, *(Draft(text=f"Day {day}") for day in range(3)), embedder=old)
    with pytest.raises(EmbeddingMismatch, match="written with old"):
        add(storage, NOTE, embedder=new)
    assert len(everything(storage)) == 3
    model = storage.writer.register_model(new)
    chunks = seen(storage, lambda snapshot: snapshot.chunks_without_vectors(model, 9))
    assert len(chunks) == seen(storage, lambda snapshot: snapshot.count_without_vectors(model)) == 3
    assert seen(storage, lambda snapshot: snapshot.count_without_vectors(snapshot.active_model())) == 0
    assert seen(storage, lambda snapshot: snapshot.chunks_without_vectors(model, 2)) == chunks[:2]
    assert seen(storage, lambda snapshot: snapshot.chunks_without_vectors(model, 9, chunks[0])) == chunks[1:]
    vectors = {chunk: new.vector(str(chunk)) for chunk in chunks}
    assert storage.writer.add_vectors(new, {chunks[0]: vectors[chunks[0]]}) == 1
    assert not storage.writer.activate_model(new)
    # The first has its vector, and the last was never a chunk.
    assert storage.writer.add_vectors(new, {**vectors, 99_999: new.vector("none")}) == 2
    assert storage.writer.activate_model(new)
    assert seen(storage, lambda snapshot: snapshot.active_model()) == model
    both = seen(storage, lambda snapshot: snapshot.models())
    assert [one.name for one in both] == ["old", "new"]
    assert storage.writer.drop_models(both) == 3
    assert seen(storage, lambda snapshot: snapshot.models()) == [model]


def test_calibration_and_tokens(storage):
    """A model's calibration is replaced; tokens are kept of chunks that are there."""
    embedder = Hashing()
    [memory] = add(storage, NOTE, embedder=embedder)
    model = storage.writer.register_model(embedder)
    for calibration in ((100, 0.4), (200, 0.5)):
        storage.writer.keep_calibration(model, *calibration)
    assert seen(storage, lambda snapshot: snapshot.calibration(model)) == (200, 0.5)
    [chunk] = seen(storage, lambda snapshot: snapshot.chunks_of([snapshot.key_of(memory.id)]))
    assert storage.writer.keep_tokens({chunk: chunk_tokens([3, 7], [1, 0, 1]), 99_999: chunk_tokens([1], [0])}) == 1
    kept = seen(storage, lambda snapshot: snapshot.tokens([chunk, 99_999]))
    assert set(kept) == {chunk} and kept[chunk].different.tolist() == [3, 7] and kept[chunk].text.tolist() == [7, 3, 7]
    assert seen(storage, lambda snapshot: snapshot.chunks_without_tokens(9)) == []


def test_damaged_vectors_and_tokens_are_dropped(storage):
    """A vector that is not of length 1 and tokens out of order count as missing once dropped; others stay."""
    embedder = Hashing()
    memories = add(storage, *(Draft(text=f"Day {day}") for day in range(3)), embedder=embedder)
    keys = seen(storage, lambda snapshot: [snapshot.key_of(memory.id) for memory in memories])
    damaged, sound, _ = seen(storage, lambda snapshot: snapshot.chunks_of(keys))
    storage.writer.keep_tokens({damaged: chunk_tokens([7, 3], [0]), sound: chunk_tokens([3, 7], [0])})
    assert storage.writer.drop_damaged_tokens() == 1
    lacking = seen(storage, lambda snapshot: snapshot.chunks_without_tokens(9))
    assert damaged in lacking and sound not in lacking
    assert damaged not in seen(storage, lambda snapshot: snapshot.chunks_without_tokens(9, damaged))
    other = Hashing("other", 8)
    second = storage.writer.register_model(other)
    storage.writer.add_vectors(other, {damaged: 2 * other.vector("a"), sound: other.vector("b")})
    assert storage.writer.drop_damaged_vectors(other) == 1
    lacking = seen(storage, lambda snapshot: snapshot.chunks_without_vectors(second, 9))
    assert damaged in lacking and sound not in lacking
    assert storage.writer.drop_damaged_vectors(embedder) == 0
    assert seen(storage, lambda snapshot: snapshot.count_without_vectors(snapshot.active_model())) == 0


def without(draft):
    return replace(prepare([draft], None)[0], definitions=None)


def test_definitions(storage):
    """They are kept of what is in Python and lacks them, and go with the text or the language that they are of."""
    code, prose = Draft(text="def mean(x): ...", lang="Python"), Draft(text="def is a keyword", title="λ")
    memories = storage.writer.add([without(draft) for draft in (code, prose)], None)
    [of_code, of_prose] = seen(storage, lambda snapshot: [snapshot.key_of(one.id) for one in memories])
    found = Definitions("mean", "", "inner")
    assert seen(storage, lambda snapshot: snapshot.without_definitions(9)) == [of_code]
    assert seen(storage, lambda snapshot: snapshot.without_definitions(9, of_code)) == []
    assert seen(storage, lambda snapshot: snapshot.definitions([of_code, of_prose])) == {}
    assert storage.writer.keep_definitions(dict.fromkeys((of_code, of_prose, 99_999), found)) == 1
    assert storage.writer.keep_definitions({of_code: Definitions("other")}) == 0
    assert seen(storage, lambda snapshot: snapshot.definitions([of_code, of_prose])) == {of_code: found}
    assert storage.writer.drop_damaged_definitions() == 1  # its text holds no "inner"
    assert seen(storage, lambda snapshot: snapshot.without_definitions(9)) == [of_code]
    storage.writer.keep_definitions({of_code: Definitions("mean")})
    assert storage.writer.drop_damaged_definitions() == 0
    storage.writer.update(memories[0].id, {"lang": "r"})
    assert seen(storage, lambda snapshot: snapshot.definitions([of_code])) == {}
    storage.writer.forget([one.id for one in memories])
    assert seen(storage, lambda snapshot: snapshot.without_definitions(9)) == []


def test_definitions_of_what_is_prepared(storage):
    """They are written with a memory and with its new text, and go when it is replaced or forgotten."""

    def defined(memory):
        return seen(storage, lambda snapshot: snapshot.definitions([snapshot.key_of(memory.id)]))

    [note] = add(storage, Draft(text="def mean(x): ...", lang="python"))
    assert list(defined(note).values()) == [Definitions("mean")]
    [changed] = prepare([Draft(text="MEAN = 3", lang="python")], None)
    assert list(defined(storage.writer.update(note.id, {}, prepared=changed)).values()) == [Definitions("", "MEAN")]
    [one] = read_file(storage, "class Λ: ...")
    assert list(defined(one).values()) == [Definitions("Λ")]
    [again] = read_file(storage, "class Λ: ...\nλ = 3")
    assert again.id == one.id and list(defined(again).values()) == [Definitions("Λ", "λ")]
    bare = without(Draft(text="x = 1", lang="python"))
    assert defined(storage.writer.update(note.id, {}, prepared=bare)) == {}


def test_searches_and_feedback(storage):
    """Searches come newest first; feedback needs a memory, and goes with it; uses are counted, of one memory alone."""
    memory, other = add(storage, NOTE, replace(NOTE, text="The μ of Genève."))
    for number, query in enumerate(("λ", "μ", "λ")):
        storage.writer.note_search(Recent(f"id{number}", query, "auto", NOW, "python", 1), [memory.id], 0.1)
    assert [search.query_id for search in seen(storage, lambda snapshot: snapshot.recent_searches(9))] == ["id2", "id1"]
    assert seen(storage, lambda snapshot: snapshot.recent_searches(0)) == []
    assert seen(storage, lambda snapshot: (snapshot.query_of("id1"), snapshot.query_of("id0"))) == ("μ", "")
    said = Feedback(memory.id, True, "λ", "id2", "auto", 1, NOW)
    storage.writer.judge(said)
    assert seen(storage, lambda snapshot: (snapshot.feedback(), snapshot.accepted())) == ([said], (1, 1))
    storage.writer.judge(replace(said, accepted=False))
    assert seen(storage, lambda snapshot: snapshot.feedback()) == [replace(said, accepted=False)]
    assert seen(storage, lambda snapshot: snapshot.accepted()) == (0, 1)
    with pytest.raises(UnknownMemory):
        storage.writer.judge(replace(said, memory_id="none"))
    assert [storage.writer.note_access(memory.id, 0.1) for _ in range(3)] == [True] * 3
    assert not storage.writer.note_access("none", 0.1) and not storage.writer.note_access("\ud800", 0.1)
    assert {one.id: one.accessed for one in everything(storage)} == {memory.id: 3, other.id: 0}
    storage.writer.note_search(Recent("id3", "ν", "auto", NOW, "python", 1), [f"team:{memory.id}"], 0.1)
    assert [storage.writer.drop_searches([f"team:{one.id}"]) for one in (other, memory, memory)] == [0, 1, 0]
    assert storage.writer.forget_searches() == 2 and storage.writer.forget_searches() == 0
    assert seen(storage, lambda snapshot: snapshot.feedback()) == []
    assert [one.accessed for one in everything(storage)] == [0, 0]


def test_the_last_search_from_one_place(storage):
    """It has the ids of its hits in their order; searches from elsewhere and calls of programs are others."""

    def note(query, origin, hits, client=""):
        search = Recent(query, query, "auto", NOW, origin, len(hits), client)
        storage.writer.note_search(search, hits, 1)

    assert seen(storage, lambda snapshot: snapshot.last_search("command line")) is None
    note("λ", "command line", ["b", "a"])
    note("μ", "magic", ["c"])
    note("ν", "command line", ["d"], client="agent")
    found, ids = seen(storage, lambda snapshot: snapshot.last_search("command line"))
    assert (found.query, found.query_id, ids) == ("λ", "λ", ("b", "a"))
    # The vectors of questions are kept for models that the store has.
    embedder = Hashing()
    storage.writer.register_model(embedder)
    vector, known = embedder.vector("λ"), embedder.fingerprint
    storage.writer.keep_query_vectors(QueryVector(fingerprint, "λ", vector) for fingerprint in (known, "unknown"))
    kept, ageing = seen(storage, lambda snapshot: snapshot.query_vector(known, "λ"))
    assert np.array_equal(kept, vector) and not ageing and seen(storage, lambda snapshot: snapshot.has_query_vectors())
    for fingerprint, query in (("unknown", "λ"), (known, "μ")):
        assert seen(storage, lambda snapshot, of=(fingerprint, query): snapshot.query_vector(*of)) is None
    storage.writer.clear_query_vectors()
    assert not seen(storage, lambda snapshot: snapshot.has_query_vectors())


def test_what_it_says_of_itself(storage, tmp_path):
    """A new store is whole, writable and counted, its index built anew, and no file leaves a trace once it is tidy."""
    # A file is copied into a file; a store on a server says how it is dumped or copied, and makes no file.
    add(storage, NOTE)
    known = {memory.id: memory.content_hash for memory in everything(storage)}
    assert storage.created and not (storage.read_only or storage.replaced) and not storage.notices
    assert storage.stats()["memories"] == seen(storage, lambda snapshot: snapshot.count(Filters())) == 1
    assert seen(storage, lambda snapshot: snapshot.tags()) == ["decision"]
    assert seen(storage, lambda snapshot: snapshot.known({**known, "none": "0"}, Filters())) == set(known)
    # The first note of something is told from every later one, and other notes are other things.
    assert [storage.writer.note_once(what) for what in ("one", "one", "other")] == [True, False, True]
    storage.writer.rebuild()
    assert seen(storage, lambda snapshot: snapshot.corpus.holds_word("zürich", ["text"]))

    read_file(storage, "the word zanzibar", "the λ of Zürich")
    read_file(storage, "the λ of Zürich")
    storage.tidy()
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"zanzibar" in path.read_bytes()]
    assert list(storage.problems()) == []

    copy = tmp_path / "copy.sqlite"
    if isinstance(storage.path, Path):
        storage.backup(copy)
        assert copy.exists()
    else:
        with pytest.raises(InputError, match="pg_dump"):
            storage.backup(copy)
        assert not copy.exists()


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        ("update texts set text = 'other' where memory = {}", "1 memory has another text or title than was stored"),
        ("update memories set title = 'other' where key = {}", "1 memory has another text or title than was stored"),
        ("update chunks set start = 900, stop = 910 where memory = {}", "1 memory has chunks that are no part of the"),
        ("delete from chunks where memory = {}", "1 row of memories has no chunk"),
    ],
)
def test_damage_to_a_memory_is_named_with_its_cure(filled, damage, named):
    """What somebody changed in the tables by hand is named in both databases, with the memory to forget."""
    [id_] = [memory.id for memory in everything(filled) if memory.title == "Rate"]
    key = seen(filled, lambda snapshot: snapshot.key_of(id_))
    filled.change(lambda session: session.changed(damage.format(key)))
    assert any(named in problem and f"jupyter-memory forget {id_}" in problem for problem in filled.problems())


def test_a_snapshot_stays_as_it_is(storage):
    add(storage, NOTE)
    with storage.snapshot() as snapshot:
        assert snapshot.count(Filters()) == 1
        writing = threading.Thread(target=lambda: add(storage, Draft(text="μ")))
        writing.start()
        writing.join(100)
        assert snapshot.count(Filters()) == 1
    assert seen(storage, lambda snapshot: snapshot.count(Filters())) == 2
