"""A model fetched from a hub on loopback: whole, or not at all; gone on with where it broke off."""

from __future__ import annotations

import json

import pytest
from fetched import SMALL, WEIGHTS, nothing_left, refused

from jupyter_memory import EmbedderUnavailable
from jupyter_memory.embedders import fetch, open_embedder
from jupyter_memory.embedders.nomic_minilm import NomicEmbedder
from jupyter_memory.embedders.registry import NOMIC


def test_fetched(hub, cached):
    """A fetched model embeds as its source does, is readable by its owner alone, and leaves no download behind."""
    made = fetch(cached, progress=False)

    embedder = open_embedder("nomic-64", models=cached.models)
    assert embedder.fingerprint == NomicEmbedder(SMALL, 64).fingerprint
    assert embedder.embed_query("λ in Zürich") @ NomicEmbedder(SMALL, 64).embed_query("λ in Zürich") > 0.9999
    assert (made.repository, made.revision) == (NOMIC.repository, NOMIC.revision)
    assert made.source[WEIGHTS] == hub.etag(WEIGHTS)
    assert sorted(path.name for path in cached.models.iterdir()) == [".nomic.lock", "nomic"]
    assert {path.stat().st_mode & 0o077 for path in (cached.models, *cached.models.rglob("*"))} == {0}


def test_what_is_said_to_the_hub(hub, cached):
    """The hub is asked for the three files and nothing else, and is told the name of this package alone."""
    fetch(cached, progress=False)

    files = {file.name for file in NOMIC.files}
    assert {name for name, _ in hub.asked_for("HEAD")} == {name for name, _ in hub.asked_for("GET")} == files
    assert len(hub.asked) == 6
    assert [agent.split("/")[0] for agent in hub.agents] == ["jupyter-memory"]


def test_fetching_again_is_one_model(hub, cached):
    """A model that is fetched again takes the place of the one before."""
    fetch(cached, progress=False)
    (cached.folder / WEIGHTS).write_bytes(b"damaged")

    fetch(cached, progress=False)

    assert NomicEmbedder(cached.folder, 64).embed_query("prices").shape == (64,)
    assert sorted(path.name for path in cached.models.iterdir()) == [".nomic.lock", "nomic"]


def test_broken_off_and_resumed_at_once(hub, cached):
    """A connection that breaks off is taken up again where it was, without being asked."""
    hub.broken[WEIGHTS] = [100_000, 200_000]

    fetch(cached, progress=False)

    ranges = [wanted for name, wanted in hub.asked_for("GET") if name == WEIGHTS]
    assert ranges == [None, "bytes=100000-", "bytes=200000-"]
    assert cached.is_here


def test_broken_off_for_good_and_resumed_later(hub, cached):
    """When nothing more comes, that is said; the next attempt goes on where it was, and the whole is checked."""
    hub.broken[WEIGHTS] = [100_000] * 9

    assert "broke off after 100,000 of 349,232 bytes" in refused(cached)
    assert cached.state == "partly fetched"

    hub.broken.clear()
    hub.asked.clear()
    fetch(cached, progress=False)
    assert hub.asked_for("GET") == [(WEIGHTS, "bytes=100000-")]
    assert cached.state == "here"


def test_a_hub_that_knows_no_ranges(hub, cached):
    """Where a server sends the whole file again, it is begun anew."""
    hub.deaf = True
    hub.broken[WEIGHTS] = [100_000]

    fetch(cached, progress=False)

    assert cached.is_here


def test_damaged_part(hub, cached):
    """A part that was changed meanwhile makes the whole wrong: it is thrown away, and the next attempt is a new one."""
    hub.broken[WEIGHTS] = [100_000] * 9
    refused(cached)
    part = next(cached.parts.glob(f"{WEIGHTS}*"))
    part.write_bytes(bytes(100_000))
    hub.broken.clear()

    assert "has the wrong checksum" in refused(cached)
    fetch(cached, progress=False)
    assert cached.is_here


def test_another_file_is_not_gone_on_with(hub, cached):
    """The beginning of another file of the same name is left alone."""
    hub.broken[WEIGHTS] = [100_000] * 9
    refused(cached)
    hub.broken.clear()
    hub.files[WEIGHTS] = (SMALL / WEIGHTS).read_bytes() + b" "
    hub.asked.clear()

    fetch(cached, progress=False)

    assert (WEIGHTS, None) in hub.asked_for("GET")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", WEIGHTS])
def test_wrong_checksum(hub, cached, name):
    """Bytes that are not those of the checksum, sha256 or git's, are thrown away."""
    hub.lying.add(name)

    assert f"{name} has the wrong checksum" in refused(cached)
    assert not list(cached.parts.glob(f"{name}*"))


def test_no_model_after_all(hub, cached):
    """What is whole and yet no such model is refused with the reason, and not kept."""
    config = json.loads(hub.files["config.json"]) | {"model_type": "bert"}
    hub.files["config.json"] = json.dumps(config).encode()

    with pytest.raises(EmbedderUnavailable, match="of the type 'bert', not nomic_bert"):
        fetch(cached, progress=False)
    assert nothing_left(cached) and not cached.partly


def test_removed(hub, cached):
    """Removing a model frees its room, that of a part too; afterwards opening it says how to fetch it."""
    fetch(cached, progress=False)
    cached.parts.mkdir()
    (cached.parts / "x.part").write_bytes(bytes(1_000))

    assert cached.remove() > 170_000
    assert cached.bytes == 0
    with pytest.raises(EmbedderUnavailable, match="%memory model use nomic"):
        open_embedder("nomic", models=cached.models)
