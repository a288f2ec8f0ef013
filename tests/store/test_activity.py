"""What a store notes of its use: recent searches, uses and feedback, kept in bounds, and forgotten without a trace."""

from datetime import UTC, datetime

import numpy as np
import pytest
from inside import while_another_writes

from jupyter_memory import InputError, JupyterMemory, MemoryStore, UnknownMemory
from jupyter_memory.search import auto
from jupyter_memory.types import Filters, Recent


def search(store, query, origin="magic", **asked):
    answer = store.hits(query, **asked)
    store.note_search(answer, origin)
    return answer


def test_the_newest_first(week_store):
    first = search(week_store, "the λ of the Poisson model")
    second = search(week_store, "tag:prices Zürich", "panel", profile="covalence", limit=1)
    assert [(one.query, one.origin, one.profile, one.hits, one.query_id) for one in week_store.recent()] == [
        ("tag:prices Zürich", "panel", "covalence", 1, second.query_id),
        ("the λ of the Poisson model", "magic", "auto", len(first.hits), first.query_id),
    ]
    assert [one.query for one in week_store.recent(1)] == ["tag:prices Zürich"]
    assert all(one.at.tzinfo is not None for one in week_store.recent())


def test_what_is_no_search_of_a_person(week_store):
    """What a program asks and browsing are not noted, filters that were typed are; an unknown origin is refused."""
    for ask in (week_store.search, week_store.hits, week_store.trace):
        ask("Poisson λ")
    week_store.note_search(week_store.browsed(), "panel")
    search(week_store, "tag:prices", "panel")
    assert [one.query for one in week_store.recent()] == ["tag:prices"]
    with pytest.raises(InputError, match="There is no origin 'lab'"):
        week_store.note_search(week_store.hits("λ"), "lab")


def test_in_bounds(store):
    """Beyond 200, the oldest searches are let go, never for calls of programs; one asked again moves to the front."""
    memory = store(embedder=None)
    memory.add("λ is 3.2")
    for number in (*range(220), 30):
        search(memory, f"λ {number}")
    expected = [f"λ {number}" for number in (30, *range(219, 30, -1), *range(29, 19, -1))]
    assert [one.query for one in memory.recent(500)] == expected
    for number in range(220):
        assert memory.note_call(called("codex", number), ["a"])
    kept = [(one.query_id, one.origin, one.client, one.tool, one.hits) for one in memory.recent(1_000)]
    assert kept[:200] == [(f"c{number}", "mcp", "codex", "memory_search", 1) for number in range(219, 19, -1)]
    assert [one.query for one in memory.recent(1_000)[200:]] == expected


def test_secrets_in_a_question(week_store, bytes_of):
    search(week_store, "where is AKIAQ7X2M4N8P1R5T9V3 of Zürich")
    assert week_store.note_call(called("codex", 1, "where is AKIAQ7X2M4N8P1R5T9V3 of Zürich"), [])
    for one in week_store.recent():
        assert "AKIA" not in one.query and "Zürich" in one.query
    assert b"AKIAQ7" not in bytes_of(week_store.path) and len(week_store.recent()) == 2


def test_switched_off(week_store, bytes_of):
    """With log_searches off nothing is written of searches and hits, and the next search removes what is there."""
    search(week_store, "Walrossherde")
    assert b"Walrossherde" in bytes_of(week_store.path)
    week_store.close()
    with MemoryStore(week_store.path, settings=JupyterMemory(log_searches=False)) as store:
        memory = search(store, "Eisbärenzählung λ").hits[0].memory
        store.feedback(memory.id, True, query="a question about Jürgen")
        assert store.recent() == store.feedbacks() == []
        with pytest.raises(UnknownMemory):
            store.feedback("nobody", True)
        content = bytes_of(store.path)
    for word in ("Walrossherde", "Eisbärenzählung", "Jürgen"):
        assert word.encode() not in content


def test_forgotten_without_a_trace(week_store, bytes_of):
    """Forgetting the recent searches leaves no word of them, nor of what was said of their hits, in any file."""
    for number in range(60):
        answer = search(week_store, f"Walrossherde {number} Poisson")
        week_store.feedback(answer.hits[0].memory.id, False, query=f"Quarzlampe {number}")
    assert b"Walrossherde" in bytes_of(week_store.path) and b"Quarzlampe" in bytes_of(week_store.path)
    assert week_store.forget_recent() == 60
    assert b"Walrossherde" not in bytes_of(week_store.path) and b"Quarzlampe" not in bytes_of(week_store.path)
    assert (week_store.recent(), week_store.feedbacks(), week_store.forget_recent()) == ([], [], 0)


@pytest.mark.parametrize("whole", [True, False])
def test_forgotten_searches_are_not_told(week_store, whole):
    """No answer from before tells what was asked once searches are forgotten, noted or not."""
    searching = week_store.searching if whole else week_store.part(Filters(kind=("note",)))
    answer = searching.hits("the λ of the Poisson model")
    week_store.note_search(answer, "panel")
    for forget in (week_store.forget_recent, week_store.forget_recent, lambda: week_store.forget(everything=True)):
        poisson = answer.hits[0].memory.id
        assert searching.asked(answer.query_id) == answer.query and searching.explain_in(answer, poisson).without
        nothing = searching.hits("λ", filters={"tag": "nowhere"})
        forget()
        assert searching.asked(answer.query_id) is searching.asked(nothing.query_id) is None
        if week_store.count():
            assert searching.explain_in(answer, poisson).without == {}
            answer = searching.hits("λ")


@pytest.mark.parametrize("whole", [True, False])
def test_what_found_a_forgotten_memory_is_not_told(store, week, tmp_path, whole):
    """An answer is no longer told once a memory that it found is forgotten, by any process; every other one is."""
    file = tmp_path / "notes" / "lamp.md"
    file.parent.mkdir()
    file.write_text("Quarzlampe")
    memory, other = store(embedder=None), store(embedder=None)
    memory.add_many(week, progress=False)
    memory.index(file.parent, progress=False)
    searching = memory.searching if whole else memory.part(Filters(kind=("note", "file")))
    lamp, poisson = searching.hits("Quarzlampe"), searching.hits("Poisson")
    assert len(lamp.hits) == 1 and poisson.hits
    memory.describe_folder(file.parent, "The lamps.")
    memory.activity.forget_found(["team:0123456789abcdef"])
    memory.drop_vectors()
    assert searching.asked(lamp.query_id) == lamp.query
    file.unlink()
    memory.index(file.parent, progress=False)
    assert searching.asked(lamp.query_id) is None and searching.asked(poisson.query_id) == poisson.query
    assert searching.explain_in(poisson, poisson.hits[0].memory.id).without
    other.forget([hit.memory.id for hit in poisson.hits])
    assert searching.asked(poisson.query_id) is None


def test_a_search_that_is_forgotten_before_its_answer_is_not_told(week_store):
    class Meanwhile:
        name = "meanwhile"

        def __call__(self, _query, _context, /):
            assert week_store.forget_recent() == 0
            return {}

    profile = auto.replace(name="forgetful", signals=(*auto.signals, Meanwhile()))
    answer = week_store.hits("the λ of the Poisson model", profile=profile)
    assert week_store.searching.asked(answer.query_id) is None
    assert week_store.searching.explain_in(answer, answer.hits[0].memory.id).without == {}


def test_forgetting_a_memory_forgets_who_asked_for_it(week_store, week_memories, bytes_of):
    """With a memory go the searches that had found it and what was said of it; with everything all, of nothing too."""
    poisson = week_memories["Poisson λ"].id
    search(week_store, "Quarzlampe orders an hour", limit=1, filters={"tag": "model", "kind": "note"})
    search(week_store, "Łukasz extract", limit=1)
    week_store.feedback(poisson, True, query="Quarzlampe")
    week_store.feedback(week_memories["Warehouse extract"].id, True, query="Łukasz")
    assert week_store.recent()[1].hits == 1
    week_store.forget(poisson)
    assert [one.query for one in week_store.recent()] == ["Łukasz extract"]
    assert [one.query for one in week_store.feedbacks()] == ["Łukasz"]
    assert b"Quarzlampe" not in bytes_of(week_store.path)
    search(week_store, "Walrossherde", filters={"tag": "nowhere"})
    week_store.forget(everything=True)
    assert week_store.recent() == [] and b"Walrossherde" not in bytes_of(week_store.path)


def test_a_deleted_file(store, tmp_path):
    (tmp_path / "notes").mkdir()
    file = tmp_path / "notes" / "λ.md"
    file.write_text("The λ of the Poisson model is 3.2.")
    memory = store()
    memory.index(tmp_path / "notes", progress=False)
    search(memory, "Poisson")
    memory.feedback(memory.hits("Poisson").hits[0].memory.id, True, query="Poisson")
    file.write_text("The λ of the Poisson model is 3.3.")
    memory.index(tmp_path / "notes", progress=False)
    assert len(memory.recent()) == len(memory.feedbacks()) == 1
    file.unlink()
    memory.index(tmp_path / "notes", progress=False)
    assert memory.recent() == memory.feedbacks() == []


def test_a_store_that_is_read_only(common_folder, as_user):
    path = common_folder / "memory.sqlite"
    with MemoryStore(path) as store:
        memory = store.add("The λ of the Poisson model is 3.2.")
    path.chmod(0o444)
    common_folder.chmod(0o555)

    def used():
        with MemoryStore(path, settings=JupyterMemory()) as store:
            return len(search(store, "Poisson λ").hits), store.recent(), store.note_access(memory.id), uses(store)

    assert as_user(used) == (1, [], False, {})


def test_while_another_writes(week_store, week_memories):
    """Nothing is held up, nor does it fail, because somebody else writes: search, use and call are left out."""
    with while_another_writes(week_store):
        search(week_store, "Poisson λ")
        assert not week_store.note_access(week_memories["Poisson λ"].id)
        assert not week_store.note_call(called("codex", 2), [])
    assert week_store.recent() == [] and uses(week_store) == {}
    search(week_store, "Poisson λ")
    assert len(week_store.recent()) == 1


def test_feedback(week_store, week_memories):
    poisson, zurich, lost = (week_memories[title].id for title in ("Poisson λ", "Zürich and Genève", "Lost events"))
    week_store.feedback(poisson, True, query="orders at night", rank=3, profile="auto")
    week_store.feedback(poisson, False, query="orders at night", rank=2, profile="vault")
    week_store.feedback(zurich, True)
    # The id of a recent search is enough to say what was asked; of a memory that is not there, nothing is said.
    asked = search(week_store, "lost λ", "panel")
    week_store.feedback(lost, True, query_id=asked.query_id, rank=1)
    with pytest.raises(UnknownMemory):
        week_store.feedback("0" * 16, True)
    told = {(one.memory_id, one.accepted, one.query, one.rank, one.profile) for one in week_store.feedbacks()}
    said = {(poisson, False, "orders at night", 2, "vault"), (zurich, True, "", None, "")}
    assert told - said == {(lost, True, "lost λ", 1, "")} and said < told
    assert asked.query_id in {one.query_id for one in week_store.feedbacks()}
    for wrong in ("good", 2, 0.5):
        with pytest.raises(InputError, match="accepted is True"):
            week_store.feedback(poisson, wrong)
    with pytest.raises(InputError, match="query is a text, or the query of an answer, not int"):
        week_store.feedback(poisson, True, query=3)
    # Taken back of one question or of all; what was not there was not taken back.
    assert week_store.feedback(lost, np.bool_(True), query="λ") and len(week_store.feedbacks()) == 4
    assert [week_store.feedback(lost, None, query=one) for one in ("never", "λ", "λ")] == [False, True, False]
    assert [week_store.feedback(lost, None, query_id="gone"), week_store.feedback(lost, None)] == [False, True]
    assert week_store.feedback(lost, True, query=asked.query) and week_store.feedback(lost, None, query="lost λ")
    assert {one.memory_id for one in week_store.feedbacks()} == {poisson, zurich}


def uses(store):
    memories = [hit.memory for hit in store.browsed(limit=1000).hits]
    return {memory.title: memory.accessed for memory in memories if memory.accessed}


def test_uses_are_counted(week_store, week_memories):
    """What a person opened or copied is counted; what a program reads, searches or updates is not."""
    # A closed store and the setting against it count nothing, and raise nothing.
    poisson = week_memories["Poisson λ"].id
    assert week_store.note_access(poisson) and week_store.note_access(poisson)
    assert not week_store.note_access("0" * 16)
    week_store.get(poisson)
    search(week_store, "Poisson λ")
    week_store.update(poisson, tags=["λ"])
    week_store.close()
    with MemoryStore(week_store.path, settings=JupyterMemory(log_searches=False)) as quiet:
        assert not quiet.note_access(poisson) and not week_store.note_access(poisson)
        assert uses(quiet) == {"Poisson λ": 2} and quiet.get(poisson).accessed == 2


def test_memini_ranks_what_was_used_higher(store):
    """A use adds to the quality of the memory that was used, and of no other; in auto it changes no rank."""
    memory = store()
    for text in ("Tariffs of Bern, Genève, Zürich", "Tariffs of Zürich, Genève, Bern"):
        memory.add(text, event_at="2026-03-06")

    def ranked():
        return memory.search("tariffs", profile="memini", now="2026-03-07").set_index("memory_id")["contrib_quality"]

    before, by_auto = ranked(), memory.search("tariffs", now="2026-03-07")
    first, last = before.index
    memory.note_access(last)
    assert memory.search("tariffs", now="2026-03-07").equals(by_auto)
    gained = ranked() - before
    # 0.20 of quality, and of that 0.2 * a / (a + 3).
    assert gained[last] == pytest.approx(0.2 * 0.2 * 1 / 4)
    assert gained[first] == 0


def called(client, number, query="prices"):
    return Recent(f"c{number}", query, "auto", datetime(2026, 3, 1, tzinfo=UTC), "mcp", 1, client, "memory_search")
