"""What stands in the way of fetching a model, from a hub that is down to a full disk: said, and nothing half-made."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading

import pytest
from fetched import PROGRAM, SMALL, WEIGHTS, nothing_left, refused
from programs import running

from jupyter_memory import FetchError
from jupyter_memory.embedders import CachedModel, fetch
from jupyter_memory.embedders.download import hub as hub_module
from jupyter_memory.embedders.registry import NOMIC


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "refuses access .* HTTP 401. Set HF_TOKEN"),
        (403, "refuses access .* HTTP 403. Set HF_TOKEN"),
        (404, "has no nomic-ai/nomic-embed-text-v1.5 .* Check HF_ENDPOINT"),
        (429, "too many requests .* Wait"),
        (500, "has a problem: HTTP 500. Wait"),
        (503, "has a problem: HTTP 503. Wait"),
    ],
)
def test_errors_of_the_hub(hub, cached, status, said):
    """An answer with an error is put into words, with what to do."""
    hub.status = status

    assert re.search(said, refused(cached))


@pytest.mark.parametrize(
    ("header", "value", "said"),
    [
        ("X-Repo-Commit", None, "does not answer as a hub does"),
        ("X-Repo-Commit", "0" * 40, "gives revision 000000000000"),
    ],
)
def test_no_hub(hub, cached, header, value, said):
    """A server that is no hub, or one with another revision, is refused before anything is fetched."""
    hub.headers[header] = value

    assert said in refused(cached)
    assert hub.asked_for("GET") == []


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
    """Offline mode, no network, no such host and a proxy that is down are told apart, and no password is shown."""
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(cached.models)],
        env={**os.environ, "NO_PROXY": "", **variables},
        capture_output=True,
        text=True,
        timeout=100,
    )

    assert found.stderr.splitlines()[-1].startswith(f"jupyter_memory.errors.FetchError: {said}")
    assert "geheim" not in found.stderr.splitlines()[-1]
    assert hub.asked == []


def test_published_weights(hub, cached, monkeypatch):
    """From the hub itself, weights other than the published ones are refused; a mirror is the user's own choice."""
    monkeypatch.setattr(hub_module, "DEFAULT_ENDPOINT", hub.url)

    assert "another model.safetensors than the one published" in refused(cached)
    assert hub.asked_for("GET") == []


def test_no_room(hub, cached, monkeypatch):
    """Where the disk has less room than is needed, that is said before anything is fetched."""
    real = shutil.disk_usage
    monkeypatch.setattr("shutil.disk_usage", lambda path: real(path)._replace(free=1_000))

    assert "There is not enough room" in refused(cached)
    assert hub.asked_for("GET") == []


@pytest.mark.parametrize("fetched", [False, True], ids=["fetching", "converting"])
def test_disk_full(hub, cached, fetched):
    """A disk that fills up meanwhile leaves no half-made model, and what came is gone on with later."""
    if fetched:
        # The download is there already; only what is made of it does not fit.
        cached.parts.mkdir(parents=True)
        for file in NOMIC.files:
            shutil.copy(SMALL / file.name, cached.parts)
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(cached.models)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=100,
    )

    assert "FetchError: The disk is full" in found.stderr.splitlines()[-1]
    assert nothing_left(cached) and cached.partly
    fetch(cached, progress=False)
    assert cached.is_here


def test_folder_that_cannot_be_written(hub, common_folder, as_user):
    """A folder without the right to write says so, and where another one is set."""
    models = common_folder / "closed"
    models.mkdir(mode=0o555)

    error = as_user(_fetch_error, models / "models")

    assert "cannot be written: Permission denied" in error
    assert "c.JupyterMemory.models" in error


def _fetch_error(models):
    try:
        fetch(CachedModel(models, NOMIC), progress=False)
    except FetchError as error:
        return str(error)
    return ""


def test_a_file_in_the_way(hub, tmp_path):
    """Where a file has the name of the folder of models, that is said."""
    (tmp_path / "models").write_text("a file")

    with pytest.raises(FetchError, match="is in the way"):
        fetch(CachedModel(tmp_path / "models", NOMIC), progress=False)


def test_interrupted(hub, cached):
    """Ctrl-C in the middle leaves what came, and the next attempt goes on from there."""
    hub.gate.clear()
    hub.broken[WEIGHTS] = [200_000]
    command = [sys.executable, "-c", PROGRAM, str(cached.models)]
    with running(command, env=dict(os.environ), stderr=subprocess.PIPE, text=True) as program:
        wait_for_part(cached)
        program.send_signal(signal.SIGINT)
        _, said = program.communicate(timeout=100)

    assert "KeyboardInterrupt" in said
    assert nothing_left(cached)
    came = next(cached.parts.glob(f"{WEIGHTS}*")).stat().st_size
    hub.gate.set()
    hub.asked.clear()
    fetch(cached, progress=False)
    assert (WEIGHTS, f"bytes={came}-") in hub.asked_for("GET")


def wait_for_part(cached):
    """Wait until a part of the weights is on the disk."""
    pause = threading.Event()
    for _ in range(10_000):
        if any(part.stat().st_size for part in cached.parts.glob(f"{WEIGHTS}*.part")):
            return
        pause.wait(0.01)
    raise AssertionError("no part was written")


def test_two_at_once(hub, cached):
    """While one program fetches, another is told to wait; the first one is not disturbed."""
    with cached.locked():
        assert "Another program is fetching or removing nomic" in refused(cached)
    fetch(cached, progress=False)
    assert cached.is_here


def test_after_a_crash(hub, cached):
    """What a crash left half-made is cleared away, and a model that was being replaced is put back."""
    fetch(cached, progress=False)
    cached.folder.rename(cached.models / ".nomic.old")
    (cached.models / ".nomic.new-x1").mkdir()

    with cached.locked():
        assert cached.is_here
    assert sorted(path.name for path in cached.models.iterdir()) == [".nomic.lock", "nomic"]
