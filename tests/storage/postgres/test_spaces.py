"""A store opened with one space of a database: what is in another one is neither read, counted nor changed."""

import inspect
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import timedelta

import pytest
from contract import EVERYTHING, NOTEBOOK, NOW, PRICES, RATE, WEIGHTS, cells, vector_of
from hashing import Hashing
from postgres_server import as_role, name_of

from jupyter_memory import FileState
from jupyter_memory.ingest import drafted, prepare
from jupyter_memory.storage import QueryVector, RunFilter, Snapshot, open_storage, open_team
from jupyter_memory.text import Definitions
from jupyter_memory.types import Draft, Feedback, Filters, Pictures, Recent, Run, RunError, Terms, Thumbnail

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

EMBEDDER, MODEL = Hashing(), Hashing().fingerprint
RUN = Run("fit(λ)", NOW, "monday", 1, "error", error=RunError("KeyError", "'λ'"), notebook=NOTEBOOK)
PICTURE = Pictures((Thumbnail("image/webp", 4, 3, b"RIFF", "o1"),))
SCALE = "def scale(prices):\n    return prices / 2"
STATE = FileState(NOTEBOOK, 1, 2, "held")
# Every table, as its rows are in one space.
TABLES = (
    "memories", "texts", "tags", "chunks", "postings", "vectors", "chunk_tokens", "definitions", "thumbnails", "files",
    "folders", "runs", "searches", "feedback", "query_vectors", "query_keys", "trust", "done",
)  # fmt: skip


def note(storage, run, space="a"):
    noted = drafted(run, space=space, redacting=True)
    storage.runs.note([noted], prepare([noted[1]], EMBEDDER), EMBEDDER)


def fill(storage, space, more=""):
    """Store something of each kind, with ``more`` one memory that says something else; return the id of one."""
    texts = [replace(RATE, space=space), replace(PRICES, space=space)]
    texts += [Draft(text=more, space=space, tags=(more,), session=more)] * bool(more)
    storage.writer.add(prepare(texts, EMBEDDER), EMBEDDER)
    held = [replace(one, space=space, pictures=PICTURE) for one in cells(SCALE, "plot(λ)", event_at=NOW)]
    storage.writer.replace_files([(STATE, prepare(held, EMBEDDER))], EMBEDDER, space)
    storage.writer.note_folder("/week", space, NOW)
    storage.writer.describe_folder("/week", space, {"description": f"of {space}"})
    note(storage, RUN, space)
    note(storage, replace(RUN, number=2, outcome="ok", error=None, seconds=len(more) + 1.0), space)
    with storage.snapshot() as snapshot:
        rate = snapshot.memories(snapshot.same_content(texts[:1]))
    [id_] = [memory.id for memory in rate.values()]
    storage.writer.note_search(Recent("q1", f"rate {space}", "auto", NOW, "magic", 1), [id_], 1)
    storage.writer.judge(Feedback(id_, True, f"rate {space}", "q1", "auto", 1, NOW))
    storage.writer.keep_query_vectors([QueryVector(MODEL, f"rate {space}", vector_of(RATE))])
    with storage.snapshot() as snapshot:
        storage.writer.keep_calibration(snapshot.active_model(), 3, 0.5)
    storage.writer.note_once("seen")
    storage.writer.note_access(id_, 1)
    return id_


@pytest.fixture(scope="module", params=["owner", "role"])
def spaces(postgres_server, request):
    """A store with space a of a database that has b too, one of a alone, the rows of b by table, and an id of b.

    It is opened by the owner, or by a role that may write into a.
    """
    both, alone = postgres_server.new_database(), postgres_server.new_database()
    with ExitStack() as opened:

        def store(address, space):
            return opened.enter_context(closing(open_storage(address, busy_seconds=5, space=space)))

        theirs = fill(store(both, "b"), "b", more="zanzibar")
        asking = both
        if request.param == "role":
            role = f"ben_{name_of(both)}"
            postgres_server.execute(f"create role {role} login")
            opened.callback(postgres_server.execute, f"drop owned by {role}; drop role {role}", name_of(both))
            with closing(open_team(both, busy_seconds=5)) as team:
                team.grant(role, "writer", "a")
            asking = as_role(both, role)
        within = store(asking, "a")
        fill(within, "a")
        single = store(alone, "a")
        fill(single, "a")
        whole = store(both, "")

        def rows_of_b():
            with whole.database.read() as session:
                return {
                    table: sorted(map(str, session.rows(f"select * from {table} where space = 'b'")))
                    for table in TABLES
                }

        yield within, single, rows_of_b, theirs


def chunks(snapshot):
    return snapshot.chunks_of(snapshot.keys(EVERYTHING))


def texts_of(snapshot, keys):
    return sorted(memory.text for memory in snapshot.memories(keys).values())


def model(snapshot):
    return snapshot.active_model()


ALL, B = Filters(), Filters(space=("b",))
ASKED = Terms(words=("rate", "zanzibar"))
# What each method shows, without ids and keys, which differ between two databases.
READS = {
    "accepted": lambda s: s.accepted(), "active_model": lambda s: s.active_model().name,
    "browse": lambda s: [memory.text for memory in s.browse(ALL, 50)],
    "chunk_size": lambda s: s.chunk_size(),
    "calibration": lambda s: s.calibration(model(s)), "chunks_of": lambda s: len(chunks(s)),
    "chunks_without_tokens": lambda s: len(s.chunks_without_tokens(99)),
    "chunks_without_vectors": lambda s: len(s.chunks_without_vectors(model(s), 99)),
    "corpus": lambda s: (
        s.corpus.chunks, s.corpus.frequencies(["rate", "zanzibar"]), list(s.corpus.beginning("z")),
        list(s.corpus.ending(("bar",))), s.corpus.holds_word("zanzibar", WEIGHTS),
        s.corpus.holds_phrase("zanzibar", WEIGHTS), s.corpus.chunk_count("rate", WEIGHTS),
    ),
    "by_id": lambda s: len(s.by_id([one.id for one in s.memories(s.keys(ALL)).values()])),
    "cosines": lambda s: sorted(s.cosines(model(s), vector_of(RATE), s.keys(ALL)).values()),
    "count": lambda s: (s.count(ALL), s.count(B)),
    "count_undated": lambda s: (s.count_undated(ALL), s.count_undated(B)),
    "count_without_vectors": lambda s: s.count_without_vectors(model(s)),
    "definitions": lambda s: sorted(s.definitions(s.keys(ALL)).values()),
    "embedded_parts": lambda s: sorted(s.embedded_parts(chunks(s)).values()),
    "event_span": lambda s: s.event_span(),
    "exists": lambda s: (s.exists(ALL), s.exists(B), s.exists(Filters(tag=("zanzibar",)))),
    "facet_counts": lambda s: s.facet_counts(ALL),
    "facet_values": lambda s: [s.facet_values(facet) for facet in ("tag", "tier", "path", "kind", "session", "space")],
    "feedback": lambda s: [one.query for one in s.feedback()],
    "file_keys": lambda s: texts_of(s, s.file_keys([NOTEBOOK], "a") + s.file_keys([NOTEBOOK], "b")),
    "file_states": lambda s: sorted(s.file_states([(NOTEBOOK, "a"), (NOTEBOOK, "b")])),
    "file_texts": lambda s: (s.file_texts([NOTEBOOK], "a"), s.file_texts([NOTEBOOK], "b")),
    "files_under": lambda s: (sorted(s.files_under("/week", "a")), sorted(s.files_under("/week", "b"))),
    "first_contexts": lambda s: len(s.first_contexts([one.id for one in s.memories(s.keys(ALL)).values()])),
    "folder_above": lambda s: (s.folder_above(NOTEBOOK, "a"), s.folder_above(NOTEBOOK, "b")),
    "folders": lambda s: [[replace(one, indexed_at=None) for one in s.folders(space)] for space in "ab"],
    "has_query_vectors": lambda s: s.has_query_vectors(),
    "highlights": lambda s: s.highlights(ASKED, WEIGHTS, {1: "the rate in zanzibar"}),
    "key_of": lambda s: [s.key_of(one.id) == key for key, one in s.memories(s.keys(ALL)).items()],
    "keys": lambda s: (texts_of(s, s.keys(ALL)), s.keys(B)),
    "keyword_matches": lambda s: [round(one.score, 9) for one in s.keyword_matches(ASKED, WEIGHTS, ALL, 50)],
    "keyword_scores": lambda s: sorted(round(one, 9) for one in s.keyword_scores(ASKED, WEIGHTS, s.keys(ALL)).values()),
    "known": lambda s: s.known({"nothing": next(iter(s.memories(s.keys(ALL)).values())).content_hash}, ALL),
    "last_search": lambda s: s.last_search("magic")[0].query, "memories": lambda s: texts_of(s, s.keys(ALL)),
    "whole": lambda s: sorted(one.text for one in s.whole(s.keys(ALL)).values()),
    "memory": lambda s: sorted(s.memory(one.id).text for one in s.memories(s.keys(ALL)).values()),
    "model": lambda s: s.model(MODEL).name, "models": lambda s: [one.name for one in s.models()],
    "newest_chunk": lambda s: s.newest_chunk() == max(chunks(s)),
    "described": lambda s: (s.described("a"), s.described("b")),
    "noted_folders": lambda s: (s.noted_folders("a"), s.noted_folders("b")),
    "passages": lambda s: sorted(map(str, s.passages(chunks(s)).values())),
    "query_of": lambda s: s.query_of("q1"),
    "query_vector": lambda s: [s.query_vector(MODEL, f"rate {space}") is not None for space in "ab"],
    "recent_searches": lambda s: [one.query for one in s.recent_searches(9)],
    "same_content": lambda s: [
        key is not None for key in s.same_content([replace(RATE, space=space) for space in "ab"])
    ],
    "sample": lambda s: len(s.sample(50)),
    "selection": lambda s: (len(s.selection(ALL).ids), s.selection(ALL).kinds, s.selection(ALL).tagged),
    "of_other_chunks": lambda s: s.of_other_chunks(64),
    "spans": lambda s: sorted(s.spans(chunks(s)).values()),
    "tags": lambda s: s.tags(), "texts": lambda s: sorted(s.texts(s.keys(ALL)).values()),
    "tokens": lambda s: len(s.tokens(chunks(s))),
    "vector_matches": lambda s: [
        round(one.score, 9) for one in s.vector_matches(model(s), vector_of(RATE), ALL, 50, None)
    ],
    "vectors": lambda s: len(s.vectors(model(s), chunks(s)).ids),
    "version": lambda s: type(s.version),
    "without_definitions": lambda s: len(s.without_definitions(50)),
}  # fmt: skip


def public(of):
    return {name for name, _ in inspect.getmembers(of) if not name.startswith("_")}


def test_every_method_is_asked(spaces):
    """A new method of a snapshot or a writer has its row here."""
    assert READS.keys() == public(Snapshot)
    assert {name for name, *_ in CHANGES} == public(type(spaces[0].writer)) | public(type(spaces[0].runs)) - {
        "durations", "find", "holds", "numbers", "status"
    }  # fmt: skip


@pytest.mark.parametrize("method", READS)
def test_a_read_is_of_one_space(spaces, method):
    """It shows what it shows in a database that has this space alone."""
    within, single, *_ = spaces
    with within.snapshot() as snapshot, single.snapshot() as other:
        assert READS[method](snapshot) == READS[method](other)


def test_history_pictures_and_transfer_are_of_one_space(spaces):
    """So are the runs, the pictures and what leaves the store; no id leads to a memory of the other space."""
    within, single, _, theirs = spaces
    with within.snapshot() as snapshot:
        assert snapshot.keys(EVERYTHING, [theirs]) == []
    for read in (
        lambda s: [run.number for run in s.runs.find(RunFilter(), 9)],
        lambda s: [run.number for run in s.runs.find(RunFilter(notebook=NOTEBOOK, cell=""), 9)],
        lambda s: s.runs.durations("", [(NOTEBOOK, "")], 3)[NOTEBOOK, ""],
        lambda s: (s.runs.numbers("monday"), s.runs.status("").runs, s.runs.status("b").runs),
        lambda s: s.runs.holds([drafted(RUN, space=space, redacting=True)[1] for space in "ab"]),
        lambda s: (len(s.thumbnails.of_file(NOTEBOOK, "a")), len(s.thumbnails.of_file(NOTEBOOK, "b"))),
        lambda s: (s.thumbnails.size((), "a"), s.thumbnails.unread([NOTEBOOK], "b")),
        lambda s: {name: value for name, value in s.stats().items() if name not in ("store", "bytes")},
    ):
        assert read(within) == read(single)
    with within.transfer.contents("") as ours, single.transfer.contents("") as others:
        for one in (ours, others):
            assert one.spaces() == ["a"] and {stored.memory.space for stored in one.memories()} == {"a"}
            assert [len(list(part())) for part in (one.files, one.folders, one.feedback, one.searches)] == [1] * 4


def tokens(storage):
    with storage.snapshot() as snapshot:
        return next(iter(snapshot.tokens(chunks(snapshot)).values()))


LATER = NOW + timedelta(days=1)
# Of chunks and memories of both spaces.
EVERY_KEY = range(1, 50)
# Each change, with arguments that fit rows of both spaces.
CHANGES = [
    ("add", lambda s, id_: s.writer.add(prepare([replace(RATE, space="a")], EMBEDDER), EMBEDDER)),
    ("merge", lambda s, id_: s.writer.merge([replace(RATE, space=space, tags=("more",)) for space in "ab"])),
    ("update", lambda s, id_: s.writer.update(id_, {"title": "Rate", "event_at": LATER}, tags=("changed",))),
    ("touch_file", lambda s, id_: s.writer.touch_file(replace(STATE, size=3), "a")),
    ("replace_files", lambda s, id_: s.writer.replace_files(
        [(STATE, prepare([replace(one, space="a") for one in cells("x = 1")], EMBEDDER))], EMBEDDER, "a")),
    ("watch", lambda s, id_: s.writer.watch("/week", "a", True)),
    ("describe_folder", lambda s, id_: s.writer.describe_folder("/week", "a", {"description": "λ", "hidden": True})),
    ("note_folder", lambda s, id_: s.writer.note_folder("/", "a", NOW)),
    ("drop_vacated", lambda s, id_: s.writer.drop_vacated("a")),
    ("note_search", lambda s, id_: s.writer.note_search(Recent("q2", "rate b", "auto", NOW, "magic", 1), [id_], 1)),
    ("note_access", lambda s, id_: s.writer.note_access(id_, 1)),
    ("judge", lambda s, id_: s.writer.judge(Feedback(id_, False, "rate b", "q1", "auto", 1, NOW))),
    ("keep_query_vectors", lambda s, id_: s.writer.keep_query_vectors(
        [QueryVector(MODEL, "rate b", vector_of(PRICES))])),
    ("clear_query_vectors", lambda s, id_: s.writer.clear_query_vectors()),
    ("register_model", lambda s, id_: s.writer.register_model(EMBEDDER)),
    ("add_vectors", lambda s, id_: s.writer.add_vectors(EMBEDDER, dict.fromkeys(EVERY_KEY, vector_of(RATE)))),
    ("activate_model", lambda s, id_: s.writer.activate_model(EMBEDDER)),
    ("drop_models", lambda s, id_: s.writer.drop_models([])),
    ("keep_calibration", lambda s, id_: s.writer.keep_calibration(s.writer.register_model(EMBEDDER), 9, 0.1)),
    ("note_once", lambda s, id_: s.writer.note_once("seen")),
    ("keep_tokens", lambda s, id_: s.writer.keep_tokens(dict.fromkeys(EVERY_KEY, tokens(s)))),
    ("keep_definitions", lambda s, id_: s.writer.keep_definitions(
        dict.fromkeys(EVERY_KEY, Definitions("scale", "", "")))),
    ("drop_damaged_vectors", lambda s, id_: s.writer.drop_damaged_vectors(EMBEDDER)),
    ("drop_damaged_tokens", lambda s, id_: s.writer.drop_damaged_tokens()),
    ("drop_damaged_definitions", lambda s, id_: s.writer.drop_damaged_definitions()),
    ("rebuild", lambda s, id_: s.writer.rebuild()),
    ("retain", lambda s, id_: s.runs.retain("", since=LATER, most=0)),
    ("rename", lambda s, id_: s.writer.rename(NOTEBOOK, "/week/moved.ipynb")),
    ("drop_searches", lambda s, id_: s.writer.drop_searches([id_])),
    ("forget_searches", lambda s, id_: s.writer.forget_searches()),
    ("forget_files", lambda s, id_: s.writer.forget_files([NOTEBOOK, "/week/moved.ipynb"], "a")),
    ("remove_folder", lambda s, id_: s.writer.remove_folder("/", "a")),
    ("note", lambda s, id_: note(s, replace(RUN, number=2, outcome="ok", error=None))),
    ("forget", lambda s, id_: s.writer.forget(EVERYTHING, everything=True)),
]  # fmt: skip


def test_no_change_reaches_another_space(spaces):
    """One after the other, all changes of a writer leave every row of the other space as it was."""
    within, _, rows_of_b, _ = spaces
    before = rows_of_b()
    assert all(before[table] for table in TABLES if table != "trust")
    with within.snapshot() as snapshot:
        [memory] = snapshot.memories(snapshot.same_content([replace(RATE, space="a")])).values()
    for name, change in CHANGES:
        change(within, memory.id)
        assert rows_of_b() == before, name
    within.thumbnails.clear()
    within.tidy()
    assert rows_of_b() == before
    with within.snapshot() as snapshot:
        assert snapshot.count(EVERYTHING) == 0
