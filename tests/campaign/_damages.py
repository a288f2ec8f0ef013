"""What damages a store: changes of rows, and of the bytes of its file and its log."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

_PAGE = 4096

# What is done to rows, by name; ``:row`` is the key of a chunk or a memory, which are the same in the sound store.
OF_ROWS = {
    "a chunk gone": "delete from chunks where id = :row",
    "a text gone": "delete from texts where memory = :row",
    "a memory gone, its text left": "delete from memories where key = :row",
    "all chunks gone": "delete from chunks",
    "another text": "update texts set text = 'quite another thing' where memory = :row",
    "one letter of a text": "update texts set text = replace(text, 'e', 'E') where memory = :row",
    "another title": "update memories set title = 'quite another' where key = :row",
    "another hash": "update memories set content_hash = 'feed' where key = :row",
    "text that is no text": "update texts set text = x'c3c3c3' where memory = :row",
    "a vector gone": "delete from vectors_1 where chunk = :row",
    "a code gone": "delete from codes_1 where chunk = :row",
    "vector and code gone": "delete from vectors_1 where chunk = :row; delete from codes_1 where chunk = :row",
    "a vector too short": "update vectors_1 set embedding = substr(embedding, 1, 400) where chunk = :row",
    "a vector of odd bytes": "update vectors_1 set embedding = substr(embedding, 1, 401) where chunk = :row",
    "a vector too long": "update vectors_1 set embedding = embedding || zeroblob(8) where chunk = :row",
    "an empty vector": "update vectors_1 set embedding = x'' where chunk = :row",
    "a vector of zeros": "update vectors_1 set embedding = zeroblob(1024) where chunk = :row",
    "a vector that is no number": (
        "update vectors_1 set embedding = cast(replace(hex(zeroblob(256)), '00', char(1,1,192,127)) as blob) "
        "where chunk = :row"
    ),
    "the vector of another": (
        "update vectors_1 set embedding = (select embedding from vectors_1 where chunk = :row % 20 + 1) "
        "where chunk = :row"
    ),
    "a vector for nothing": "insert into vectors_1 select 99999, embedding from vectors_1 limit 1",
    "a code for nothing": "insert into codes_1 select 99999, code from codes_1 limit 1",
    "a code too short": "update codes_1 set code = substr(code, 1, 100) where chunk = :row",
    "another code": "update codes_1 set code = zeroblob(128) where chunk = :row",
    "no table of vectors": "drop table vectors_1",
    "no table of codes": "drop table codes_1",
    "a word not indexed": (
        "insert into keyword (keyword, rowid, title, context, text, tags, ident) select 'delete', id, title, "
        "context, text, tags, ident from chunk_texts where id = :row"
    ),
    "a row of the index's data gone": "delete from keyword_data where id > 10",
    "a row of the index's sizes gone": "delete from keyword_docsize where id = :row",
    "the index's structure gone": "delete from keyword_data where id = 10",
    "the index's averages gone": "delete from keyword_data where id = 1",
    "metadata that is no JSON": "update memories set metadata = '{\"a\": ' where key = :row",
    "metadata that is a list": "update memories set metadata = '[1, 2]' where key = :row",
    "an unknown kind": "update memories set kind = 'kund' where key = :row",
    "an unknown tier": "update memories set tier = 'tear' where key = :row",
    "an unknown severity": "update memories set severity = 'odd' where key = :row",
    "a time beyond the calendar": "update memories set event_at = 9e17 where key = :row",
    "a time that is a word": "update memories set event_at = 'soon' where key = :row",
    "a time of indexing that is a word": "update memories set indexed_at = 'soon' where key = :row",
    "a tag of nothing": "insert into tags values (99999, 'lost')",
    "another tag": "insert into tags values (:row, 'slipped in')",
    "tokens of nothing": "insert into chunk_tokens values (99999, x'fe7c01000100')",
    "tokens of odd bytes": "update chunk_tokens set ids = substr(ids, 1, 5) where chunk = :row",
    "tokens beyond the vocabulary": "update chunk_tokens set ids = x'fe7c0100ffff' where chunk = :row",
    "another part": "update chunks set text = 'not a part of it' where id = :row",
    "a part beyond its text": "update chunks set start = 100000, stop = 100010 where id = :row",
    "a chunk of nothing": "insert into chunks (memory, start, stop) values (99999, 0, 5)",
    "a chunk of another memory": "update chunks set memory = :row % 20 + 1 where id = :row",
    "other words for identifiers": "update chunks set ident = 'other words' where id = :row",
    "other dimensions": "update models set dimensions = 300",
    "no active model": "update models set active = 0",
    "two active models": "insert into models (fingerprint, name, dimensions, active) values ('x', 'x', 3, 1)",
    "no model": "delete from models",
    "a list of hits that is no JSON": (
        "insert into searches (query_id, query, profile, origin, at, hits) values ('a', 'b', 'auto', 'x', 5, "
        "'[')"
    ),
    "a search at a word": (
        "insert into searches (query_id, query, profile, origin, at, hits) values ('a', 'b', 'auto', 'x', "
        "'soon', '[]')"
    ),
    "feedback that is no number": "insert into feedback values ('a', 'b', 'c', 'auto', 1, 'odd', 'soon')",
    "a file without a time": "insert into files values ('/x/y.md', '', 'soon', 'odd', 'h', 'soon')",
    "a folder at a word": "insert into folders values ('/x', '', 0, 'soon')",
    "no key of questions": "delete from query_keys",
    "a question's vector too short": "insert into query_vectors (model, digest, embedding) values (1, x'00', x'00')",
    "no counters": "delete from counters",
    "no view": "drop view chunk_texts",
    "no index by identity": "drop index memories_identity",
    "trust of a word": "insert or replace into trust values (1, 5, 'much')",
}  # fmt: skip


def flipped(path: Path, rng: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(rng.randrange(1, 40)):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def zeroed(path: Path, rng: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(rng.randrange(1, 4)):
        page = rng.randrange(len(content) // _PAGE)
        content[page * _PAGE : (page + 1) * _PAGE] = bytes(_PAGE)
    path.write_bytes(content)


def cut(path: Path, rng: random.Random) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: rng.randrange(len(content))])


def swapped(path: Path, rng: random.Random) -> None:
    content = bytearray(path.read_bytes())
    one, other = (rng.randrange(1, len(content) // _PAGE) * _PAGE for _ in range(2))
    content[one : one + _PAGE], content[other : other + _PAGE] = (
        content[other : other + _PAGE],
        content[one : one + _PAGE],
    )
    path.write_bytes(content)


def log_flipped(path: Path, rng: random.Random) -> None:
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        (flipped if rng.random() < 0.5 else cut)(log, rng)


OF_BYTES: tuple[Callable[[Path, random.Random], None], ...] = (flipped, zeroed, cut, swapped, log_flipped)
