"""What the code of commit 98f57c3 wrote is read by the code of today: a store, profiles, a golden set, settings.

Nothing here is written anew: see `store_98f57c3/README.md`. Signals may have other names today, so answers are compared
by their order and their scores. The first search finds the vectors of before (`wordllama`); those of today's model are
then written in the background (`tests/store/test_succession.py`).
"""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from jupyter_memory import JupyterMemory, MemoryStore, load_config

OLD = Path(__file__).parent / "store_98f57c3"
HELD: dict[str, Any] = json.loads((OLD / "store.json").read_text("utf-8"))
NOW = datetime(2026, 3, 6, 18, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A copy of the store, with its golden set beside it."""
    copy = tmp_path / "memory.sqlite"
    copy.write_bytes(gzip.decompress((OLD / "memory.sqlite.gz").read_bytes()))
    copy.chmod(0o600)  # as a store is made
    shutil.copy(OLD / "memory.golden.jsonl", tmp_path)
    return copy


@pytest.fixture
def old(path: Path) -> Iterator[MemoryStore]:
    """The copy, opened as a person opens it."""
    with MemoryStore(path, settings=JupyterMemory()) as store:
        yield store


def iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def test_every_memory_is_there(old):
    """Every memory keeps its id, text, pin, tags, times and whatever else it had; none is new."""
    memories = {hit.memory.id: hit.memory for hit in old.browsed(limit=1_000).hits}
    found = {
        id_: {
            **{
                name: getattr(one, name)
                for name in ("title", "text", "kind", "tier", "pinned", "space", "source", "location", "lang")
            },
            "tags": list(one.tags),
            **{name: getattr(one, name) for name in ("severity", "domain", "session")},
            **{name: iso(getattr(one, name)) for name in ("event_at", "indexed_at", "valid_from", "valid_until")},
            "content_hash": one.content_hash,
            "metadata": dict(one.metadata),
        }
        for id_, one in memories.items()
    }
    assert found == HELD["memories"]
    assert all(old.get(id_).id == id_ for id_ in HELD["memories"])
    assert sum(one["pinned"] for one in found.values()) == 3
    assert old.tags() == HELD["tags"]


def test_use_is_remembered(old):
    """What was said of hits, the recent searches and the watched folder are those of before."""
    said = [
        [one.memory_id, one.accepted, one.query, one.query_id, one.profile, one.rank, one.at.isoformat()]
        for one in old.feedbacks()
    ]
    assert said == HELD["feedback"] and len(said) == 36
    recent = [[one.query_id, one.query, one.profile, one.origin, one.hits, one.at.isoformat()] for one in old.recent()]
    assert recent == HELD["recent"] and len(recent) == 4
    assert [[one.path, one.watched, one.files, one.memories] for one in old.folders()] == HELD["folders"]
    models = [[one["name"], one["fingerprint"], one["vectors"], one["active"]] for one in old.stats()["models"]]
    # The static model of that time has a name of its own now.
    assert models == [["wordllama", *rest] for name, *rest in HELD["models"] if name == "static"]


@pytest.mark.parametrize("asked", HELD["answers"])
def test_answers_are_the_same(old, asked):
    """Hits come in the order of before with their scores, those of `vault` by the weights that it has learnt.

    `auto` compares tokens by the static model of today, so of its answers only the best hits are those of before.
    """
    profile, _, query = asked.partition(": ")
    answer = old.hits(query, profile=profile, now=NOW, limit=6)
    golden = HELD["answers"][asked]
    found, before = [hit.memory.id for hit in answer.hits], [id_ for id_, _ in golden["hits"]]
    if profile == "auto":
        assert found[0] == before[0] and len({*found[:4]} & {*before[:4]}) >= 3
    else:
        assert found == before
        assert [hit.score for hit in answer.hits] == pytest.approx([score for _, score in golden["hits"]], abs=1e-6)
    # Which word it is called by is learnt anew from time to time.
    assert (answer.verdict is None) == (golden["verdict"] is None)


def test_the_store_goes_on(old, path):
    """It takes in more, and is well; opened again, it still holds everything."""
    added = old.add("λ is 0.3 in the new ridge", title="New")
    assert not old.doctor()
    old.close()
    with MemoryStore(path, settings=JupyterMemory()) as again:
        ids = {hit.memory.id for hit in again.browsed(limit=1_000).hits}
        assert ids == {*HELD["memories"], added.id}
        assert len(again.feedbacks()) == 36


def test_a_saved_profile_ranks_as_before(old):
    """The profile that was saved in a file is `auto`, whatever its signals are called today."""
    query = "how did we normalise the prices"
    answer = old.hits(query, profile=str(OLD / "my-auto.toml"), now=NOW, limit=6)
    before = [id_ for id_, _ in HELD["answers"][f"auto: {query}"]["hits"]]
    assert answer.hits[0].memory.id == before[0]
    assert len({hit.memory.id for hit in answer.hits[:4]} & {*before[:4]}) >= 3
    assert answer.profile == "my-auto" and len(answer.terms) == 11


def test_a_profile_that_changes_another(old):
    """A file that names terms and signals by their old names changes those of today."""
    query = "which prices were scaled?"
    weights = {}
    for profile in ("auto", str(OLD / "my-softer.toml")):
        pooled = old.pooled(query, profile=profile, now=NOW, limit=6)
        weights[profile] = {term.name: term.weight for term in pooled.profile.terms}
    auto, changed = weights.values()
    assert len(changed) == len(auto) - 1
    assert sorted(changed[name] for name in changed if changed[name] != auto[name]) == [0.01, 2.0]
    assert pooled.answer.profile == "my-softer" and pooled.answer.hits


def test_the_golden_set_is_read(path, monkeypatch):
    """The questions that were kept are listed, with as many right answers, by the ids that they had."""
    import golden_shell

    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(path))
    notebook = golden_shell.Notebook()
    try:
        listed = notebook.run("%memeval list")["out"].splitlines()
        run = notebook.run("%memeval run -p auto -p trovella")
    finally:
        notebook.close()
    kept = [json.loads(line) for line in (OLD / "memory.golden.jsonl").read_text("utf-8").splitlines()]
    assert [line.split()[:2] for line in listed] == [[one["_id"], str(len(one["right"]))] for one in kept]
    assert run["code"] == 0 and "trovella" in run["out"]


def test_settings_are_read(tmp_path, monkeypatch):
    """Every setting of a file of before is taken, without a complaint."""
    shutil.copy(OLD / "jupyter_memory_config.json", tmp_path)
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    problems: list[str] = []
    settings = load_config(on_problem=problems.append)
    written = json.loads((OLD / "jupyter_memory_config.json").read_text("utf-8"))["JupyterMemory"]
    assert not problems
    assert {name: getattr(settings, name) for name in written} == written


def test_definitions_are_filled_in(old, tmp_path):
    """A run of index finds what the memories in Python define, and changes nothing else of them."""
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "rates.py").write_text("def rate(): ...\n", encoding="utf-8")
    before = {hit.memory.id: hit.memory for hit in old.browsed(limit=1_000).hits}
    old.index(tmp_path / "new", progress=False)
    memories = {hit.memory.id: hit.memory for hit in old.browsed(limit=1_000).hits}
    with old._storage.snapshot() as snapshot:
        keys = [snapshot.key_of(one.id) for one in memories.values() if one.lang == "python"]
        found = snapshot.definitions(keys)

    assert {id_: memories[id_] for id_ in before} == before and len(memories) == len(before) + 1
    assert sorted(found) == sorted(keys) and len(keys) == 4
    assert any(one.assigned for one in found.values())
    assert not old.doctor()
