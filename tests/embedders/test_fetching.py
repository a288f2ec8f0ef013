"""A model fetched from a hub on loopback, or taken from a folder: whole, or not at all."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hub_like import HubLike

from jupyter_memory.embedders import hub as hub_module
from jupyter_memory.embedders import open_embedder
from jupyter_memory.embedders.fetching import fetch, take
from jupyter_memory.embedders.nomic import NomicEmbedder
from jupyter_memory.embedders.registry import NOMIC
from jupyter_memory.embedders.shelf import Shelf
from jupyter_memory.errors import EmbedderUnavailable, FetchError, InputError

SMALL = Path(__file__).parent / "nomic_small"
WEIGHTS = "model.safetensors"
PROGRAM = """
import sys
from pathlib import Path
from jupyter_memory.embedders.fetching import fetch
from jupyter_memory.embedders.registry import NOMIC
from jupyter_memory.embedders.shelf import Shelf
fetch(Shelf(Path(sys.argv[1]), NOMIC), progress=False)
"""


@pytest.fixture
def hub(monkeypatch):
    """A hub on loopback that has the small model."""
    for variable in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_TOKEN", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(hub_module, "_PAUSE", 0.0)
    with HubLike(SMALL) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield running


@pytest.fixture
def shelf(tmp_path):
    """The place of nomic in a folder that is not there yet."""
    return Shelf(tmp_path / "data" / "models", NOMIC)


def nothing_left(shelf):
    """Return whether neither a model nor a half-made one is there; what was fetched may wait to be gone on with."""
    return not shelf.is_here and not [path for path in shelf.models.glob(".nomic.new-*")]


def refused(shelf, **options):
    """Return why fetching fails; it leaves no half-made model."""
    with pytest.raises(FetchError) as caught:
        fetch(shelf, progress=False, **options)
    assert nothing_left(shelf)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_fetched(hub, shelf):
    """A fetched model embeds as its source does, is readable by its owner alone, and leaves no download behind."""
    made = fetch(shelf, progress=False)

    embedder = open_embedder("nomic-64", models=shelf.models)
    assert embedder.fingerprint == NomicEmbedder(SMALL, 64).fingerprint
    assert embedder.embed_query("λ in Zürich") @ NomicEmbedder(SMALL, 64).embed_query("λ in Zürich") > 0.9999
    assert (made.repository, made.revision) == (NOMIC.repository, NOMIC.revision)
    assert made.source[WEIGHTS] == hub.etag(WEIGHTS)
    assert sorted(path.name for path in shelf.models.iterdir()) == [".nomic.lock", "nomic"]
    assert {path.stat().st_mode & 0o077 for path in (shelf.models, *shelf.models.rglob("*"))} == {0}


def test_what_is_said_to_the_hub(hub, shelf):
    """The hub is asked for the three files and nothing else, and is told the name of this package alone."""
    fetch(shelf, progress=False)

    files = {file.name for file in NOMIC.files}
    assert {name for name, _ in hub.asked_for("HEAD")} == {name for name, _ in hub.asked_for("GET")} == files
    assert len(hub.asked) == 6
    assert [agent.split("/")[0] for agent in hub.agents] == ["jupyter-memory"]


def test_fetching_again_is_one_model(hub, shelf):
    """A model that is fetched again takes the place of the one before."""
    fetch(shelf, progress=False)
    (shelf.folder / WEIGHTS).write_bytes(b"damaged")

    fetch(shelf, progress=False)

    assert NomicEmbedder(shelf.folder, 64).embed_query("prices").shape == (64,)
    assert sorted(path.name for path in shelf.models.iterdir()) == [".nomic.lock", "nomic"]


def test_broken_off_and_resumed_at_once(hub, shelf):
    """A connection that breaks off is taken up again where it was, without being asked."""
    hub.broken[WEIGHTS] = [100_000, 200_000]

    fetch(shelf, progress=False)

    ranges = [wanted for name, wanted in hub.asked_for("GET") if name == WEIGHTS]
    assert ranges == [None, "bytes=100000-", "bytes=200000-"]
    assert shelf.is_here


def test_broken_off_for_good_and_resumed_later(hub, shelf):
    """When nothing more comes, that is said; the next attempt goes on where it was, and the whole is checked."""
    hub.broken[WEIGHTS] = [100_000] * 9

    assert "broke off after 100,000 of 349,232 bytes" in refused(shelf)
    assert shelf.state == "partly fetched"

    hub.broken.clear()
    hub.asked.clear()
    fetch(shelf, progress=False)
    assert hub.asked_for("GET") == [(WEIGHTS, "bytes=100000-")]
    assert shelf.state == "here"


def test_a_hub_that_knows_no_ranges(hub, shelf):
    """Where a server sends the whole file again, it is begun anew."""
    hub.deaf = True
    hub.broken[WEIGHTS] = [100_000]

    fetch(shelf, progress=False)

    assert shelf.is_here


def test_damaged_part(hub, shelf):
    """A part that was changed meanwhile makes the whole wrong: it is thrown away, and the next attempt is a new one."""
    hub.broken[WEIGHTS] = [100_000] * 9
    refused(shelf)
    part = next(shelf.parts.glob(f"{WEIGHTS}*"))
    part.write_bytes(bytes(100_000))
    hub.broken.clear()

    assert "its checksum is another one" in refused(shelf)
    fetch(shelf, progress=False)
    assert shelf.is_here


def test_another_file_is_not_gone_on_with(hub, shelf):
    """The beginning of another file of the same name is left alone."""
    hub.broken[WEIGHTS] = [100_000] * 9
    refused(shelf)
    hub.broken.clear()
    hub.files[WEIGHTS] = (SMALL / WEIGHTS).read_bytes() + b" "
    hub.asked.clear()

    fetch(shelf, progress=False)

    assert (WEIGHTS, None) in hub.asked_for("GET")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", WEIGHTS])
def test_wrong_checksum(hub, shelf, name):
    """Bytes that are not those of the checksum, sha256 or git's, are thrown away."""
    hub.lying.add(name)

    assert f"{name} is not what the hub says it is" in refused(shelf)
    assert not list(shelf.parts.glob(f"{name}*"))


def test_no_model_after_all(hub, shelf):
    """What is whole and yet no such model is refused with the reason, and not kept."""
    config = json.loads(hub.files["config.json"]) | {"model_type": "bert"}
    hub.files["config.json"] = json.dumps(config).encode()

    with pytest.raises(EmbedderUnavailable, match="of the type 'bert', not nomic_bert"):
        fetch(shelf, progress=False)
    assert nothing_left(shelf) and not shelf.partly


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "refuses access .* HTTP 401. Set HF_TOKEN"),
        (403, "refuses access .* HTTP 403. Set HF_TOKEN"),
        (404, "has no nomic-ai/nomic-embed-text-v1.5 .* Check HF_ENDPOINT"),
        (429, "too many requests .* Wait"),
        (500, "out of order: HTTP 500. Wait"),
        (503, "out of order: HTTP 503. Wait"),
    ],
)
def test_errors_of_the_hub(hub, shelf, status, said):
    """An answer with an error is put into words, with what to do."""
    hub.status = status

    assert re.search(said, refused(shelf))


@pytest.mark.parametrize(
    ("header", "value", "said"),
    [
        ("X-Repo-Commit", None, "does not answer as a hub does"),
        ("X-Repo-Commit", "0" * 40, "gives revision 000000000000"),
    ],
)
def test_no_hub(hub, shelf, header, value, said):
    """A server that is no hub, or one with another revision, is refused before anything is fetched."""
    hub.headers[header] = value

    assert said in refused(shelf)
    assert hub.asked_for("GET") == []


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"HF_HUB_OFFLINE": "1"}, "HF_HUB_OFFLINE is set"),
        ({"HF_ENDPOINT": "http://127.0.0.1:1"}, "127.0.0.1 cannot be reached"),
        ({"HF_ENDPOINT": "http://hub.invalid"}, "hub.invalid is not found"),
        ({"HF_ENDPOINT": "hub"}, "HF_ENDPOINT is no address"),
        (
            {"HF_ENDPOINT": "http://hub.invalid", "HTTP_PROXY": "http://ada:geheim@127.0.0.1:1"},
            "The proxy 127.0.0.1:1 does not let hub.invalid through. Check HTTP_PROXY and",
        ),
        (
            {"HF_ENDPOINT": "http://hub.invalid", "ALL_PROXY": "http://127.0.0.1:1"},
            "The proxy 127.0.0.1:1 does not let hub.invalid through. Check ALL_PROXY and",
        ),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_no_way_to_the_hub(hub, shelf, variables, said):
    """Offline mode, no network, no such host and a proxy that is down are told apart, and no password is shown."""
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(shelf.models)],
        env={**os.environ, "NO_PROXY": "", **variables},
        capture_output=True,
        text=True,
    )

    assert found.stderr.splitlines()[-1].startswith(f"jupyter_memory.errors.FetchError: {said}")
    assert "geheim" not in found.stderr.splitlines()[-1]
    assert hub.asked == []


def test_published_weights(hub, shelf, monkeypatch):
    """From the hub itself, weights other than the published ones are refused; a mirror is the user's own choice."""
    monkeypatch.setattr(hub_module, "DEFAULT_ENDPOINT", hub.url)

    assert "another model.safetensors than the one published" in refused(shelf)
    assert hub.asked_for("GET") == []


def test_no_room(hub, shelf, monkeypatch):
    """Where the disk has less room than is needed, that is said before anything is fetched."""
    real = shutil.disk_usage
    monkeypatch.setattr("shutil.disk_usage", lambda path: real(path)._replace(free=1_000))

    assert "There is not enough room" in refused(shelf)
    assert hub.asked_for("GET") == []


@pytest.mark.parametrize("fetched", [False, True], ids=["fetching", "converting"])
def test_disk_full(hub, shelf, fetched):
    """A disk that fills up meanwhile leaves no half-made model, and what came is gone on with later."""
    if fetched:
        # The download is there already; only what is made of it does not fit.
        shelf.parts.mkdir(parents=True)
        for file in NOMIC.files:
            shutil.copy(SMALL / file.name, shelf.parts)
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(shelf.models)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
        env=dict(os.environ),
        capture_output=True,
        text=True,
    )

    assert "FetchError: The disk is full" in found.stderr.splitlines()[-1]
    assert nothing_left(shelf) and shelf.partly
    fetch(shelf, progress=False)
    assert shelf.is_here


def test_folder_that_cannot_be_written(hub, common_folder, as_user):
    """A folder without the right to write says so, and where another one is set."""
    models = common_folder / "closed"
    models.mkdir(mode=0o555)

    error = as_user(_fetch_error, models / "models")

    assert "cannot be written: Permission denied" in error
    assert "c.JupyterMemory.models" in error


def _fetch_error(models):
    try:
        fetch(Shelf(models, NOMIC), progress=False)
    except FetchError as error:
        return str(error)
    return ""


def test_a_file_in_the_way(hub, tmp_path):
    """Where a file has the name of the folder of models, that is said."""
    (tmp_path / "models").write_text("a file")

    with pytest.raises(FetchError, match="is in the way"):
        fetch(Shelf(tmp_path / "models", NOMIC), progress=False)


def test_interrupted(hub, shelf):
    """Ctrl-C in the middle leaves what came, and the next attempt goes on from there."""
    hub.gate.clear()
    hub.broken[WEIGHTS] = [200_000]
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(shelf.models)], env=dict(os.environ), stderr=subprocess.PIPE, text=True
    )
    wait_for_part(shelf)
    program.send_signal(signal.SIGINT)
    _, said = program.communicate(timeout=300)

    assert "KeyboardInterrupt" in said
    assert nothing_left(shelf)
    came = next(shelf.parts.glob(f"{WEIGHTS}*")).stat().st_size
    hub.gate.set()
    hub.asked.clear()
    fetch(shelf, progress=False)
    assert (WEIGHTS, f"bytes={came}-") in hub.asked_for("GET")


def wait_for_part(shelf):
    """Wait until a part of the weights is on the disk."""
    pause = threading.Event()
    for _ in range(30_000):
        if any(part.stat().st_size for part in shelf.parts.glob(f"{WEIGHTS}*.part")):
            return
        pause.wait(0.01)
    raise AssertionError("no part was written")


def test_two_at_once(hub, shelf):
    """While one program fetches, another is told to wait; the first one is not disturbed."""
    with shelf.locked():
        assert "Another program is fetching or removing nomic" in refused(shelf)
    fetch(shelf, progress=False)
    assert shelf.is_here


def test_after_a_crash(hub, shelf):
    """What a crash left half-made is cleared away, and a model that was being replaced is put back."""
    fetch(shelf, progress=False)
    shelf.folder.rename(shelf.models / ".nomic.old")
    (shelf.models / ".nomic.new-x1").mkdir()

    with shelf.locked():
        assert shelf.is_here
    assert sorted(path.name for path in shelf.models.iterdir()) == [".nomic.lock", "nomic"]


def test_removed(hub, shelf):
    """Removing a model frees its room, that of a part too; afterwards opening it says how to fetch it."""
    fetch(shelf, progress=False)
    shelf.parts.mkdir()
    (shelf.parts / "x.part").write_bytes(bytes(1_000))

    assert shelf.remove() > 170_000
    assert shelf.bytes == 0
    with pytest.raises(EmbedderUnavailable, match="%memory model use nomic"):
        open_embedder("nomic", models=shelf.models)


def cache_of(tmp_path, *revisions):
    """Write a cache as Hugging Face's, with the small model under these revisions."""
    model = tmp_path / "hub" / "models--nomic-ai--nomic-embed-text-v1.5"
    for revision in revisions:
        folder = model / "snapshots" / revision
        folder.mkdir(parents=True)
        for file in NOMIC.files:
            blob = model / "blobs" / f"{revision}-{file.name}"
            blob.parent.mkdir(exist_ok=True)
            shutil.copy(SMALL / file.name, blob)
            (folder / file.name).symlink_to(blob)
    return model


@pytest.mark.parametrize("place", ["", "hub", "hub/models--nomic-ai--nomic-embed-text-v1.5", "snapshot"])
def test_taken_from_a_cache(hub, shelf, tmp_path, place):
    """The cache of Hugging Face, the model in it, or a snapshot: the pinned revision is found, the network unasked."""
    model = cache_of(tmp_path, NOMIC.revision, "0" * 40)
    path = model / "snapshots" / NOMIC.revision if place == "snapshot" else tmp_path / place

    made = take(shelf, path, progress=False)

    assert (made.repository, made.revision) == (NOMIC.repository, NOMIC.revision)
    assert shelf.is_here and not (shelf.folder / WEIGHTS).is_symlink()
    assert hub.asked == []


def test_taken_from_a_folder(hub, shelf, small_folder):
    """A folder that is already there is checked and converted; it stays as it is, and no revision is claimed for it."""
    before = {path.name: path.read_bytes() for path in small_folder.iterdir()}

    made = take(shelf, small_folder, progress=False)

    assert made.revision == made.repository == ""
    assert {path.name: path.read_bytes() for path in small_folder.iterdir()} == before
    assert NomicEmbedder(shelf.folder, 64).fingerprint == NomicEmbedder(small_folder, 64).fingerprint
    assert hub.asked == []


@pytest.mark.parametrize("what", ["nothing", "file", "empty", "snapshots"])
def test_no_model_to_take(shelf, tmp_path, what):
    """A path without a model is refused with what was looked for."""
    path = tmp_path / "there"
    if what == "file":
        path.write_text("")
    elif what == "empty":
        path.mkdir()
    elif what == "snapshots":
        path = cache_of(tmp_path, "1" * 40, "2" * 40)

    said = {"nothing": "no folder", "file": "is a file", "empty": "config.json is missing", "snapshots": "Name one"}
    with pytest.raises(InputError, match=said[what]):
        take(shelf, path, progress=False)
    assert not shelf.models.exists()


def test_the_old_one_stays(hub, shelf, small_folder):
    """When a folder cannot be taken, the model that is there stays as it is."""
    fetch(shelf, progress=False)
    content = (small_folder / WEIGHTS).read_bytes()
    (small_folder / WEIGHTS).write_bytes(content[:-1_000])

    with pytest.raises(EmbedderUnavailable, match="is cut short"):
        take(shelf, small_folder, progress=False)

    assert NomicEmbedder(shelf.folder, 64).embed_query("prices").shape == (64,)
    assert sorted(path.name for path in shelf.models.iterdir()) == [".nomic.lock", "nomic"]
