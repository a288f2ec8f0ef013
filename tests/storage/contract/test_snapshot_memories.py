"""What every storage must answer about the memories, files and activity of one state of the store."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from contract import CELL, DRAFTS, EVERYTHING, NOTEBOOK, NOW, PRICES, RATE, keys_of
from hashing import Hashing

from jupyter_memory import FileState, UnknownMemory
from jupyter_memory.ingest import prepare
from jupyter_memory.storage import Passage, QueryVector
from jupyter_memory.types import Draft, Feedback, Filters, Recent

# -- one state ---------------------------------------------------------------------------------------------------------


def test_versions(filled):
    """The version stays while nothing changes; every change of the chunks has another."""
    versions = []
    for change in (lambda: None, lambda: None, lambda: filled.writer.add(prepare([Draft(text="μ")], None), None)):
        change()
        with filled.snapshot() as snapshot:
            versions.append(snapshot.version)
    with filled.snapshot() as snapshot:
        newest = snapshot.memories(keys_of(snapshot, Draft(text="μ")))
    filled.writer.forget([memory.id for memory in newest.values()])
    with filled.snapshot() as snapshot:
        versions.append(snapshot.version)

    assert versions[0] == versions[1] and len(set(versions)) == 3


def test_reading_in_the_background(filled):
    """Another thread reads the same state, also when somebody writes before it begins."""
    with filled.snapshot() as snapshot:
        result = snapshot.in_background(lambda other: (other.version, other.count(EVERYTHING)))
        assert result() == (snapshot.version, 3)


def test_errors_of_background_work_reach_the_caller(filled):
    """Work that fails in the background fails where its result is asked for."""
    with filled.snapshot() as snapshot, pytest.raises(UnknownMemory):
        snapshot.in_background(lambda other: other.key_of("none"))()


# -- memories ----------------------------------------------------------------------------------------------------------


def test_memories_by_key(filled):
    """A memory has the key that its id leads to, and comes back as it was written; an unknown id is an error."""
    with filled.snapshot() as snapshot:
        keys = keys_of(snapshot, *DRAFTS)
        found = snapshot.memories(keys)
        assert [found[key].text for key in keys] == [draft.text for draft in DRAFTS] == [*snapshot.texts(keys).values()]
        assert [snapshot.key_of(found[key].id) for key in keys] == keys
        rate = found[keys[0]]
        assert (rate.title, rate.event_at, rate.session) == ("Rate", RATE.event_at, "monday")
        assert set(rate.tags) == set(RATE.tags)
        with pytest.raises(UnknownMemory):
            snapshot.key_of("none")


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (EVERYTHING, DRAFTS),
        (Filters(tag=("queue",)), (RATE, PRICES)),
        (Filters(tag=("queue",), not_tag=("zürich",)), (PRICES,)),
        (Filters(tier=("core",)), (PRICES,)),
        (Filters(kind=("cell",), lang=("python",)), (CELL,)),
        (Filters(path=("/week",)), (CELL,)),
        (Filters(path=("/wee",)), ()),
        (Filters(not_session=("monday",)), (PRICES, CELL)),
        (Filters(since=NOW - timedelta(days=1), until=NOW), (CELL,)),
        (Filters(not_word=("genève",)), (RATE, CELL)),
        (Filters(tag=("queue",), also=Filters(tag=("zürich",))), (RATE,)),
        (Filters(space=("elsewhere",)), ()),
    ],
)
def test_filters(filled, filters, expected):
    """Filters let the same memories through for keys, counts, selections and existence."""
    with filled.snapshot() as snapshot:
        assert set(snapshot.keys(filters)) == set(keys_of(snapshot, *expected))
        assert snapshot.count(filters) == len(expected)
        selection, memories = snapshot.selection(filters), snapshot.memories(snapshot.keys(filters)).values()
        assert set(selection.ids) == {memory.id for memory in memories} and selection.filters == filters
        assert selection.kinds == Counter(memory.kind for memory in memories)
        assert selection.pinned == sum(memory.pinned for memory in memories)
        assert selection.tagged == sum(bool(memory.tags) for memory in memories)
        assert snapshot.exists(filters) is bool(expected)


def test_browsing(filled):
    """Pinned memories come first, then notes, then files; ``limit`` cuts."""
    with filled.snapshot() as snapshot:
        assert [memory.text for memory in snapshot.browse(EVERYTHING, 9)] == [
            draft.text for draft in (PRICES, RATE, CELL)
        ]
        assert [memory.text for memory in snapshot.browse(Filters(not_tier=("core",)), 1)] == [RATE.text]


def test_facets(filled):
    """Facets are counted for what the filters let through, and their values listed for the whole store."""
    with filled.snapshot() as snapshot:
        assert snapshot.facet_counts(Filters(tag=("queue",)))["tag"] == {"queue": 2, "zürich": 1}
        assert snapshot.facet_counts(EVERYTHING)["tier"] == {"core": 1, "note": 1, "file": 1}
        assert {facet: set(snapshot.facet_values(facet)) for facet in ("tag", "tier", "path", "session")} == {
            "tag": {"queue", "zürich"},
            "tier": {"core", "note", "file"},
            "path": {NOTEBOOK},
            "session": {"monday", "friday"},
        }
        assert snapshot.tags() == ["queue", "zürich"]


def test_sessions_and_times(filled):
    """Sessions are those of the filtered memories; the span goes from the first event to the last."""
    with filled.snapshot() as snapshot:
        assert set(snapshot.sessions(EVERYTHING)) == {"monday", "friday"}
        assert snapshot.sessions(Filters(tag=("zürich",))) == ["monday"]
        assert snapshot.event_span() == (NOW - timedelta(days=2), NOW)


def test_chunks(storage):
    """Chunks cover their memory's text in order, with their lines, structural prefixes and words."""
    book = Draft(text="\n\n".join(f"# Part {part}\n\n" + f"λ is {part}. " * 300 for part in range(4)), title="Book")
    storage.writer.add(prepare([book], None), None)
    with storage.snapshot() as snapshot:
        [key] = snapshot.keys(EVERYTHING)
        chunks = snapshot.chunks_of([key])
        spans, passages = snapshot.spans(chunks), snapshot.passages(chunks)
        assert len(chunks) > 1 and set(spans) == set(passages) == set(chunks)
        assert [spans[chunk].start for chunk in chunks] == sorted(span.start for span in spans.values())
        for chunk in chunks:
            text = book.text[spans[chunk].start : spans[chunk].stop]
            assert passages[chunk] == Passage("Book", spans[chunk].context, text)
        memory = snapshot.memories([key])[key]
        assert snapshot.first_contexts([memory.id, "none"]) == {memory.id: spans[chunks[0]].context}
        assert snapshot.chunks_of([]) == []


# -- contents, files and folders ---------------------------------------------------------------------------------------


def test_contents(filled):
    """Known content is recognised in its place, and by its hash wherever it is."""
    with filled.snapshot() as snapshot:
        assert snapshot.same_content([replace(RATE, source="/elsewhere"), Draft(text="ν")]) == [None, None]
        memories = snapshot.memories(keys_of(snapshot, RATE, PRICES))
        rate, prices = memories.values()
        contents = {rate.id: "0", "copy": prices.content_hash, "none": "0"}
        assert snapshot.known(contents, EVERYTHING) == {rate.id, "copy"}
        assert snapshot.known(contents, Filters(tag=("zürich",))) == {rate.id}


def test_files_and_folders(storage, tmp_path):
    """Files and folders are listed by path, in their own space only."""
    folder = str(tmp_path)
    path = str(tmp_path / "λ.ipynb")
    state = FileState(path, 1, 2, "hash", dated=True)
    storage.writer.replace_files([(state, prepare([replace(CELL, source=path)], None))], None, "")
    storage.writer.note_folder(folder, "", NOW)

    with storage.snapshot() as snapshot:
        assert {one: replace(known, indexed_at=None) for one, known in snapshot.files_under(folder, "").items()} == {
            path: replace(state, indexed_at=None)
        }
        assert snapshot.file_texts([path, "/none"], "") == {path: [("#0", CELL.text)]}
        [key] = snapshot.file_keys([path, "/none"], "")
        assert snapshot.memories([key])[key].source == path and snapshot.file_keys([path], "other") == []
        [(place, state)] = snapshot.file_states([(path, ""), (path, "other"), ("/none", "")]).items()
        assert place == (path, "") and state == snapshot.files_under(folder, "")[path]
        [listed] = snapshot.folders("")
        assert (listed.path, listed.files, listed.memories, listed.indexed_at) == (folder, 1, 1, NOW)
        assert snapshot.noted_folders("") == [folder] and snapshot.folder_above(path, "") == folder
        assert snapshot.folder_above("/elsewhere", "") is None
        assert snapshot.files_under(folder, "other") == snapshot.file_texts([path], "other") == {}
        assert snapshot.folders("other") == snapshot.noted_folders("other") == []


# -- activity ----------------------------------------------------------------------------------------------------------


def test_activity(embedded):
    """Searches, feedback and the vectors of questions come back as they were noted."""
    with embedded.snapshot() as snapshot:
        [memory] = snapshot.memories(keys_of(snapshot, RATE)).values()
        assert snapshot.recent_searches(9) == snapshot.feedback() == [] and snapshot.accepted() == (0, 0)
    embedder, search = Hashing(), Recent("id", "λ?", "auto", NOW, "python", 1)
    said = Feedback(memory.id, True, "λ?", "id", "auto", 1, NOW)
    embedded.writer.note_search(search, [memory.id], 0.1)
    embedded.writer.judge(said)
    embedded.writer.keep_query_vectors([QueryVector(embedder.fingerprint, "λ?", embedder.vector("λ?"))])

    with embedded.snapshot() as snapshot:
        assert snapshot.recent_searches(9) == [search] and snapshot.recent_searches(0) == []
        assert (snapshot.query_of("id"), snapshot.query_of("none")) == ("λ?", "")
        assert snapshot.feedback() == [said] and snapshot.accepted() == (1, 1)
        vector, ageing = snapshot.query_vector(embedder.fingerprint, "λ?")
        assert np.array_equal(vector, embedder.vector("λ?")) and not ageing and snapshot.has_query_vectors()
        assert snapshot.query_vector(embedder.fingerprint, "μ?") is None
