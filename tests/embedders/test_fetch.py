"""nomic from a hub on loopback, a folder or a cache: whole, converted, or not at all, and the reason said."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from fetched import PROGRAM, SMALL, WEIGHTS, last_line, nothing_left, refused
from programs import running
from small_models import mx

from jupyter_memory import EmbedderUnavailable, FetchError, InputError
from jupyter_memory.embedders import NOMIC, CachedModel, fetch, open_embedder, take

TEXT = "Sales in Zürich rose by four percent; the λ of the Poisson model is 3.2."


def opened(cached):
    return open_embedder("nomic-64", models=cached.models)


def there(cached):
    return sorted(path.name for path in cached.models.iterdir())


def test_fetched(hub, cached, nomic):
    """A fetched model embeds as its source does, is its owner's alone, and leaves no download behind, also again."""
    made = fetch(cached, progress=False)

    embedder, source = opened(cached), nomic.open()
    assert embedder.fingerprint == source.fingerprint
    assert embedder.embed_query(TEXT) @ source.embed_query(TEXT) > 0.9999
    assert (made.repository, made.revision) == (NOMIC.repository, NOMIC.revision)
    assert made.source[WEIGHTS] == hub.etag(WEIGHTS) and there(cached) == [".nomic.lock", "nomic"]
    assert {path.stat().st_mode & 0o077 for path in (cached.models, *cached.models.rglob("*"))} == {0}
    files = {file.name for file in NOMIC.files}
    assert {name for name, _ in hub.asked_for("HEAD")} == {name for name, _ in hub.asked_for("GET")} == files
    assert len(hub.asked) == 6 and [agent.split("/")[0] for agent in hub.agents] == ["jupyter-memory"]

    (cached.folder / WEIGHTS).write_bytes(b"damaged")
    fetch(cached, progress=False)
    assert opened(cached).embed_query("prices").shape == (64,) and there(cached) == [".nomic.lock", "nomic"]


@pytest.mark.parametrize("deaf", [False, True], ids=["ranges", "no ranges"])
def test_broken_off_and_resumed_at_once(hub, cached, deaf):
    """A connection that breaks off is taken up again where it was; at a hub without ranges the file is begun anew."""
    hub.deaf = deaf
    hub.broken[WEIGHTS] = [100_000] if deaf else [100_000, 200_000]
    fetch(cached, progress=False)
    ranges = [wanted for name, wanted in hub.asked_for("GET") if name == WEIGHTS]
    assert cached.is_here and ranges == [None, "bytes=100000-", *([] if deaf else ["bytes=200000-"])]


@pytest.fixture(scope="module")
def came(tmp_path_factory):
    return tmp_path_factory.mktemp("came") / "parts"


@pytest.fixture
def partly(hub, cached, came):
    """A model of which 100,000 bytes came, before the connection broke off for good: once, since that takes seconds."""
    if came.exists():
        shutil.copytree(came, cached.parts)
    else:
        hub.broken[WEIGHTS] = [100_000] * 9
        assert "broke off after 100,000 of 349,232 bytes" in refused(cached)
        shutil.copytree(cached.parts, came)
        hub.broken.clear()
        hub.asked.clear()
    assert cached.state == "partly fetched"
    return cached


def test_broken_off_for_good_and_resumed_later(hub, partly):
    fetch(partly, progress=False)
    assert hub.asked_for("GET") == [(WEIGHTS, "bytes=100000-")] and partly.state == "here"


def test_damaged_part(partly):
    next(partly.parts.glob(f"{WEIGHTS}*")).write_bytes(bytes(100_000))
    assert "has the wrong checksum" in refused(partly)
    fetch(partly, progress=False)
    assert partly.is_here


def test_another_file_is_not_gone_on_with(hub, partly):
    hub.files[WEIGHTS] = (SMALL / WEIGHTS).read_bytes() + b" "
    fetch(partly, progress=False)
    assert (WEIGHTS, None) in hub.asked_for("GET")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", WEIGHTS])
def test_wrong_checksum(hub, cached, name):
    hub.lying.add(name)
    assert f"{name} has the wrong checksum" in refused(cached)
    assert not list(cached.parts.glob(f"{name}*"))


def test_no_model_after_all(hub, cached):
    config = json.loads(hub.files["config.json"]) | {"model_type": "bert"}
    hub.files["config.json"] = json.dumps(config).encode()
    with pytest.raises(EmbedderUnavailable, match="of the type 'bert', not nomic_bert"):
        fetch(cached, progress=False)
    assert nothing_left(cached) and not cached.partly


def test_removed(hub, cached):
    fetch(cached, progress=False)
    cached.parts.mkdir()
    (cached.parts / "x.part").write_bytes(bytes(1_000))
    assert cached.remove() > 170_000
    assert cached.bytes == 0
    with pytest.raises(EmbedderUnavailable, match="%memory model use nomic"):
        open_embedder("nomic", models=cached.models)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"status": 401}, "refuses access .* HTTP 401. Set HF_TOKEN"),
        ({"status": 403}, "refuses access .* HTTP 403. Set HF_TOKEN"),
        ({"status": 404}, "has no nomic-ai/nomic-embed-text-v1.5 .* Check HF_ENDPOINT"),
        ({"status": 429}, "too many requests .* Wait"),
        ({"status": 500}, "has a problem: HTTP 500. Wait"),
        ({"status": 503}, "has a problem: HTTP 503. Wait"),
        # A server that is no hub, or one with another revision.
        ({"headers": {"X-Repo-Commit": None}}, "does not answer as a hub does"),
        ({"headers": {"X-Repo-Commit": "0" * 40}}, "gives revision 000000000000"),
    ],
)
def test_errors_of_the_hub(hub, cached, fault, said):
    for name, value in fault.items():
        setattr(hub, name, value)
    assert re.search(said, refused(cached)) and hub.asked_for("GET") == []


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"HF_HUB_OFFLINE": "1"}, "HF_HUB_OFFLINE is set"),
        ({"HF_ENDPOINT": "http://127.0.0.1:1"}, "127.0.0.1 cannot be reached"),
        ({"HF_ENDPOINT": "http://hub.invalid"}, "hub.invalid cannot be resolved"),
        ({"HF_ENDPOINT": "hub"}, "HF_ENDPOINT is not the address"),
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
def test_no_way_to_the_hub(hub, cached, variables, said):
    last = last_line(PROGRAM, cached.models, **variables)
    assert f"FetchError: {said}" in last and "geheim" not in last and hub.asked == []


def test_published_weights(hub, cached, tmp_path, monkeypatch):
    """From the hub itself, weights other than the published ones are refused; a mirror is the user's own choice."""
    monkeypatch.delenv("HF_ENDPOINT")
    said = last_line(
        PROGRAM, cached.models, HTTPS_PROXY=hub.url, SSL_CERT_FILE=str(hub.certify(tmp_path, "huggingface.co"))
    )
    assert "another model.safetensors than the one published" in said and nothing_left(cached)
    assert {name for name, _ in hub.asked_for("HEAD")} == {file.name for file in NOMIC.files}
    assert hub.asked_for("GET") == []


def test_no_room(hub, cached, monkeypatch):
    real = shutil.disk_usage
    monkeypatch.setattr("shutil.disk_usage", lambda path: real(path)._replace(free=1_000))
    assert "There is not enough room" in refused(cached)
    assert hub.asked_for("GET") == []


@pytest.mark.parametrize("fetched", [False, True], ids=["fetching", "converting"])
def test_disk_full(hub, cached, fetched):
    if fetched:
        # The download is there already; only what is made of it does not fit.
        cached.parts.mkdir(parents=True)
        for file in NOMIC.files:
            shutil.copy(SMALL / file.name, cached.parts)
    assert "FetchError: The disk is full" in last_line(PROGRAM, cached.models, most=100_000)
    assert nothing_left(cached) and cached.partly
    fetch(cached, progress=False)
    assert cached.is_here


def test_folder_that_cannot_be_written(hub, common_folder, as_user):
    """A folder without the right to write says so, and where another one is set; a file in the way is told as well."""

    def fetched(models):
        try:
            fetch(CachedModel(models, NOMIC), progress=False)
        except FetchError as error:
            return str(error)

    (common_folder / "closed").mkdir(mode=0o555)
    error = as_user(fetched, common_folder / "closed" / "models")
    assert "cannot be written: Permission denied" in error and "c.JupyterMemory.models" in error
    (common_folder / "models").write_text("a file")
    assert "is in the way" in fetched(common_folder / "models")


def test_interrupted_and_gone_on_with(hub, cached):
    hub.gate.clear()
    hub.broken[WEIGHTS] = [200_000]
    command, pause = [sys.executable, "-c", PROGRAM, str(cached.models)], threading.Event()
    with running(command, env=dict(os.environ), stderr=subprocess.PIPE, text=True) as program:
        while not any(part.stat().st_size for part in cached.parts.glob(f"{WEIGHTS}*.part")):
            assert program.poll() is None
            pause.wait(0.01)
        program.send_signal(signal.SIGINT)
        _, said = program.communicate(timeout=100)

    assert "KeyboardInterrupt" in said and nothing_left(cached)
    came = next(cached.parts.glob(f"{WEIGHTS}*")).stat().st_size
    hub.gate.set()
    hub.asked.clear()
    fetch(cached, progress=False)
    assert (WEIGHTS, f"bytes={came}-") in hub.asked_for("GET")


def test_two_at_once_and_after_a_crash(hub, cached):
    """While one program fetches, another is told to wait; what a crash left is cleared away, the old model put back."""
    with cached.locked():
        assert "Another program is fetching or removing nomic" in refused(cached)
    fetch(cached, progress=False)
    cached.folder.rename(cached.models / ".nomic.old")
    (cached.models / ".nomic.new-x1").mkdir()
    with cached.locked():
        assert cached.is_here
    assert there(cached) == [".nomic.lock", "nomic"]


def cache_of(tmp_path, *revisions):
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
def test_taken_from_a_cache(hub, cached, tmp_path, place):
    """The cache of Hugging Face, the model in it, or a snapshot: the pinned revision is found, the network unasked."""
    model = cache_of(tmp_path, NOMIC.revision, "0" * 40)
    path = model / "snapshots" / NOMIC.revision if place == "snapshot" else tmp_path / place
    made = take(cached, path, progress=False)
    assert (made.repository, made.revision) == (NOMIC.repository, NOMIC.revision)
    assert cached.is_here and not (cached.folder / WEIGHTS).is_symlink()
    assert hub.asked == []


def test_taken_from_a_folder(hub, cached, nomic, tmp_path):
    """A folder is checked and converted, and stays as it is; no revision is claimed; a broken one changes nothing."""
    small_folder = Path(shutil.copytree(SMALL, tmp_path / "small"))
    before = {path.name: path.read_bytes() for path in small_folder.iterdir()}
    made = take(cached, small_folder, progress=False)
    assert made.revision == made.repository == ""
    assert {path.name: path.read_bytes() for path in small_folder.iterdir()} == before
    assert opened(cached).fingerprint == nomic.open().fingerprint and hub.asked == []
    (small_folder / WEIGHTS).write_bytes(before[WEIGHTS][:-1_000])
    with pytest.raises(EmbedderUnavailable, match="is cut short"):
        take(cached, small_folder, progress=False)
    assert opened(cached).embed_query("prices").shape == (64,) and there(cached) == [".nomic.lock", "nomic"]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "no folder"),
        (lambda path: path.write_text(""), "is a file"),
        (lambda path: path.mkdir(), "config.json is missing"),
        (lambda path: cache_of(path, "1" * 40, "2" * 40), "Name one"),
    ],
    ids=["nothing", "file", "empty", "snapshots"],
)
def test_no_model_to_take(cached, tmp_path, make, said):
    make(tmp_path / "there")
    with pytest.raises(InputError, match=said):
        take(cached, tmp_path / "there", progress=False)
    assert not cached.models.exists()


def test_half_precision(cached, nomic):
    """What is kept takes half the room, gives the same vectors but for rounding, and has the same fingerprint."""
    made = take(cached, nomic.folder, progress=False)
    kept = cached.folder / WEIGHTS
    assert opened(cached).fingerprint == nomic.open().fingerprint
    assert opened(cached).embed_query(TEXT) @ nomic.open().embed_query(TEXT) > 0.9999
    assert kept.stat().st_size < 0.55 * nomic.file.stat().st_size
    assert {value.dtype for value in mx.load(str(kept)).values()} == {mx.float16}
    assert made.files[WEIGHTS] == hashlib.sha256(kept.read_bytes()).hexdigest()
    assert made.source[WEIGHTS] == hashlib.sha256(nomic.file.read_bytes()).hexdigest()


@pytest.mark.parametrize("kind", [mx.float16, mx.bfloat16], ids=["float16", "bfloat16"])
def test_half_precision_already(cached, nomic, kind):
    weights = {name: value.astype(kind) for name, value in nomic.weights.items()}
    nomic.save(weights)
    take(cached, nomic.folder, progress=False)
    after = mx.load(str(cached.folder / WEIGHTS))
    assert after.keys() == weights.keys()
    assert all(np.array_equal(after[name], np.asarray(weights[name].astype(mx.float16))) for name in weights)


def test_several_files(cached, nomic):
    weights, expected = list(nomic.weights.items()), nomic.open().embed_query(TEXT)
    mx.save_safetensors(str(nomic.folder / "model-1.safetensors"), dict(weights[:5]))
    mx.save_safetensors(str(nomic.folder / "model-2.safetensors"), dict(weights[5:]))
    nomic.file.unlink()
    take(cached, nomic.folder, progress=False)
    assert [one.name for one in cached.folder.glob("*.safetensors")] == [WEIGHTS]
    assert opened(cached).embed_query(TEXT) @ expected > 0.9999


def test_what_was_kept(cached, nomic, tmp_path):
    """It can be taken to another machine and converted again as the same model; other weights in its place are not."""
    made, again = take(cached, nomic.folder, progress=False), CachedModel(tmp_path / "again", NOMIC)
    assert take(again, cached.folder, progress=False).identity == made.identity
    assert opened(again).fingerprint == nomic.open().fingerprint
    weights = {name: value + 1 for name, value in mx.load(str(cached.folder / WEIGHTS)).items()}
    mx.eval(weights)
    mx.save_safetensors(str(cached.folder / WEIGHTS), weights)
    assert opened(cached).fingerprint != nomic.open().fingerprint
    # A model with a broken manifest is none.
    (cached.folder / "manifest.json").write_text("{")
    assert cached.state == "not fetched"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"encoder.layers.1.mlp.fc2.weight": None}, r"missing: layers\.1\.mlp"),
        ({"emb_ln.weight": mx.full((64,), 70_000.0)}, r"emb_ln\.weight has values above 65,504"),
    ],
    ids=["missing", "too large"],
)
def test_not_converted(cached, nomic, change, said):
    """A source that lacks tensors, or has values that half precision cannot hold, is refused with their names."""
    nomic.save({name: value for name, value in (nomic.weights | change).items() if value is not None})
    with pytest.raises(EmbedderUnavailable, match=said):
        take(cached, nomic.folder, progress=False)
    assert not cached.is_here


def test_quantised_weights_stay(cached, nomic):
    weights = nomic.weights
    for name, value in nomic.weights.items():
        if value.ndim == 2 and "token_type" not in name:
            layer = name.removesuffix(".weight")
            weights[name], weights[f"{layer}.scales"], weights[f"{layer}.biases"] = mx.quantize(value, 32, 8)
    nomic.save(weights, quantization={"group_size": 32, "bits": 8})
    assert take(cached, nomic.folder, progress=False).recipe == "as published"
    assert nomic.file.read_bytes() == (cached.folder / WEIGHTS).read_bytes()
