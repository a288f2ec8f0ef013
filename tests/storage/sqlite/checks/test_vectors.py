"""Checks of vectors: their lengths, values and codes, and their repair."""

from __future__ import annotations

import shutil
from contextlib import closing

import apsw
import pytest

from jupyter_memory import MemoryStore

NOT_A_NUMBER = "c07f" * 512

DAMAGE = [
    "update vectors_1 set embedding = substr(embedding, 1, 400) where chunk = 1",
    "update vectors_1 set embedding = cast(embedding || 'abcd' as blob) where chunk = 1",
    "update vectors_1 set embedding = x'' where chunk = 1",
    "update vectors_1 set embedding = zeroblob(1024) where chunk = 1",
    f"update vectors_1 set embedding = x'{NOT_A_NUMBER}' where chunk = 1",
    "update vectors_1 set embedding = (select embedding from vectors_1 where chunk = 7) where chunk = 1",
    "update codes_1 set code = zeroblob(128) where chunk = 1",
    "update codes_1 set code = substr(code, 1, 100) where chunk = 1",
    "delete from vectors_1 where chunk = 1",
    "insert into vectors_1 select 99, embedding from vectors_1 where chunk = 1",
]


@pytest.mark.parametrize("statement", DAMAGE)
def test_a_damaged_vector(found, statement):
    """A vector has the length of its model and of 1, finite values, its own code, and a chunk."""
    assert ["1 vector of static is damaged" in finding for finding in found(statement)] == [True]


@pytest.mark.parametrize("change", ["substr(ids, 1, 3)", "x'fe7c01000500ff'", "x'fe7c0100ffff'", "x'fe7c020002000100'"])
def test_damaged_tokens(found, change):
    """Different tokens are of the vocabulary and ascending, and each token of the text is one of them."""
    findings = found(f"update chunk_tokens set ids = {change} where chunk = 1")
    assert ["The tokens of 1 chunks are damaged" in finding for finding in findings] == [True]


def test_repaired(sound, tmp_path):
    """What doctor says mends it: reembed computes damaged vectors anew, and rebuild damaged tokens."""
    path = tmp_path / "memory.sqlite"
    shutil.copyfile(sound, path)
    path.chmod(0o600)
    with closing(apsw.Connection(str(path))) as connection:
        for statement in (DAMAGE[0], DAMAGE[-1], "update chunk_tokens set ids = x'fe7c01' where chunk = 2"):
            connection.execute(statement)
    with MemoryStore(path, "static") as store:
        assert len(store.doctor()) == 2
        assert store.reembed(progress=False) == 1
        store.rebuild()
        assert store.doctor() == []
        assert store.hits("the λ of Zürich is 0").hits[0].memory.title == "λ 0"
