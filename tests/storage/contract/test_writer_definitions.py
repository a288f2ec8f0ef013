"""What every storage must do with the names that sources define."""

from __future__ import annotations

from contract_writing import add, read_file, seen

from jupyter_memory.ingest import prepare
from jupyter_memory.ingest.chunking import with_chunks
from jupyter_memory.storage import Prepared
from jupyter_memory.text import Definitions
from jupyter_memory.types import Draft


def test_definitions(storage):
    """They are kept of what is in Python and lacks them, and go with the text or the language that they are of."""
    code, prose = Draft(text="def mean(x): ...", lang="Python"), Draft(text="def is a keyword", title="λ")
    memories = storage.writer.add([Prepared(draft, None) for draft in with_chunks([code, prose])], None)
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
    [bare] = [Prepared(draft, None) for draft in with_chunks([Draft(text="x = 1", lang="python")])]
    assert defined(storage.writer.update(note.id, {}, prepared=bare)) == {}
