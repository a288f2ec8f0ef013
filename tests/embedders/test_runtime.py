"""How models compute: a fast BLAS, one thread of MLX, batches, forks, and how long models stay in memory."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import tomllib
import traceback
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import until
from small_models import mx

from jupyter_memory import EmbedderError, JupyterMemory
from jupyter_memory.embedders import batches, computing, open_embedder

PROGRAMS = tomllib.loads(Path(__file__).with_name("programs.toml").read_text("utf-8"))

linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere MLX has a fast BLAS of its own")
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
SOON = 0.05 / 60
TEXTS = [f"Die λ der Woche {number} " * (1 + number % 5) for number in range(40)]


def installed(distribution):
    try:
        return bool(metadata.version(distribution))
    except metadata.PackageNotFoundError:
        return False


def processor_has(flag):
    cpuinfo = Path("/proc/cpuinfo")
    return not cpuinfo.exists() or flag in cpuinfo.read_text()


needs_openblas = pytest.mark.skipif(
    not installed("cmeel-openblas") or not processor_has("avx512vl"),
    reason="needs the package cmeel-openblas, whose wheel is built for processors with AVX-512",
)


def run(code, *arguments):
    """Return what code prints in a fresh interpreter; one that hangs is ended, with the child that it waits for."""
    command, pipe = [sys.executable, "-c", code, *map(str, arguments)], subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        try:
            said, trouble = process.communicate(timeout=100)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            raise
    assert process.returncode == 0, trouble
    return said.strip()


@linux
@needs_openblas
def test_mlx_multiplies_with_openblas():
    assert run(PROGRAMS["openblas"]).splitlines() == ["NumPy; for larger models MLX with cmeel-openblas 1", "True"]


@linux
@pytest.mark.parametrize(
    ("name", "wakes"),
    [
        ("BertEmbedder", True),
        ("batches", True),
        ("open_embedder('nomic-64', models=models)", True),
        ("StaticEmbedder().embed_query('λ')", False),
    ],
)
def test_openblas_comes_before_mlx(nomic, name, wakes):
    """Whatever of ours wakes MLX, the BLAS was there first; the static model does not wake it."""
    said = run(
        "import sys\nfrom pathlib import Path\nfrom jupyter_memory import embedders\n"
        "models = Path(sys.argv[1])\n"
        f"embedders.{name}\n"
        "print('imported first' in embedders.arithmetic(), 'mlx.core' in sys.modules)",
        nomic.models,
    )
    assert said == f"False {wakes}"


PRINT = "from jupyter_memory.embedders import StaticEmbedder, arithmetic\nprint(arithmetic())\n"
NONE = "from importlib import metadata\nmetadata.files = lambda name: None\n"


@linux
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import mlx.core\n", "it was imported first. Restart Python, and use the model once before you import MLX"),
        (f"import ctypes.util\nctypes.util.find_library = lambda name: None\n{NONE}",
         "no OpenBLAS found). Install a fast one: pip install cmeel-openblas"),
        (f"import sys, ctypes.util\nctypes.util.find_library = lambda name: sys.argv[1]\n{NONE}",
         "(system OpenBLAS: "),
        ("import pathlib\nread = pathlib.Path.read_text\n"
         "pathlib.Path.read_text = lambda path, *a, **b: 'flags: sse2' if 'cpuinfo' in str(path) else read(path)\n",
         "AVX-512" if installed("cmeel-openblas") else "no OpenBLAS found"),
    ],
    ids=["MLX was first", "none installed", "broken library", "processor without AVX-512"],
)  # fmt: skip
def test_without_openblas(tmp_path, code, said):
    """Where OpenBLAS cannot be loaded, models run all the same, and the line for a person says why and what to do."""
    (tmp_path / "libopenblas.so.0").write_bytes(b"not a library")
    found = run(
        f"{code}{PRINT}print(StaticEmbedder().embed_query('λ').shape)\n"
        "from jupyter_memory.embedders import BertEmbedder\nimport mlx.core as mx\n"
        "print(mx.sum(mx.ones((4, 4)) @ mx.ones((4, 4))).item())",
        tmp_path / "libopenblas.so.0",
    )
    assert said in found or ("AVX-512" in said and found.startswith("MLX with system"))
    assert found.count("AVX-512") <= 1
    assert found.splitlines()[1:] == ["(256,)", "64.0"]


@linux
@needs_openblas
def test_threads_of_openblas_as_before(nomic):
    assert run(PROGRAMS["threads"], nomic.models) == "3 3"


def test_no_notice():
    """On macOS, where MLX has Apple's BLAS, none is loaded."""
    said = run(
        "import sys\nfrom pathlib import Path\nsys.platform = 'darwin'\n"
        f"from jupyter_memory.embedders import BertEmbedder\n{PRINT}"
        "maps = Path('/proc/self/maps')\nprint('cmeel' in (maps.read_text() if maps.exists() else ''))"
    )
    assert said.splitlines() == ["NumPy; for larger models MLX with Apple's BLAS", "False"]


def padding(lengths, budget=2048):
    made = list(batches(lengths, budget))
    return 1 - sum(lengths) / sum(batch.tokens * len(batch.rows) for batch in made)


@given(st.lists(st.integers(1, 2048), max_size=80), st.sampled_from([64, 2048, 8192]))
def test_every_row_once(lengths, budget):
    """Every text is in one batch that is long enough, of a power of two of rows, within the budget, little padded."""
    made = list(batches(lengths, budget))
    assert sorted(row for batch in made for row in batch.rows) == list(range(len(lengths)))
    for batch in made:
        assert all(lengths[row] <= batch.tokens for row in batch.rows)
        assert len(batch.rows) & (len(batch.rows) - 1) == 0
        assert batch.tokens * len(batch.rows) <= budget or len(batch.rows) == 1
    assert not lengths or padding(lengths) < 0.15


def test_batches_of_notebooks():
    """For chunks of the lengths that notebooks have, less than a tenth is padding, and there are few shapes."""
    assert padding(np.random.default_rng(1).lognormal(4.3, 0.8, 500).clip(6, 512).astype(int).tolist()) < 0.1
    assert len({batch.tokens for length in range(1, 2049) for batch in batches([length], 64)}) <= 80


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="the system does not list threads as files")
def test_short_lived_threads_that_embed_leave_no_thread_behind(nomic):
    # A thread that has just ended may still be listed, and a tokenizer starts some of its own.
    assert int(run(PROGRAMS["level"], nomic.models)) < 5


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize("length", [1, 30], ids=["short", "long"])
def test_interrupted_while_a_model_computes(nomic, length):
    """Ctrl-C in the middle of a long run is heard, and the model then gives the vectors that it gave before."""
    embedder = nomic.open()
    texts = [f"Ask Müller about the λ of week {number} " * length for number in range(64)]
    wanted = embedder.embed_documents(texts)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(100_000):
            embedder.embed_documents(texts)
    assert time.monotonic() - began < 30
    assert np.array_equal(embedder.embed_documents(texts), wanted)


def test_an_error_shows_where_it_was_raised(nomic):
    nomic.save({name: value * 0 for name, value in nomic.weights.items()})
    with pytest.raises(EmbedderError, match="no direction") as raised:
        nomic.open().embed_query("prices")
    frames = traceback.extract_tb(raised.value.__traceback__)
    assert frames[0].name == "test_an_error_shows_where_it_was_raised" and "raise EmbedderError" in frames[-1].line


def test_no_program_waits_for_a_computation(nomic):
    """A program ends although a call is still running and a model is kept for long."""
    assert run(PROGRAMS["running"], nomic.models) == "done"


@forks
def test_a_forked_child_searches_and_adds(tmp_path):
    """A child of a process that has searched finds by meaning and writes, in each thread; its parent goes on."""
    assert run(PROGRAMS["search"], tmp_path / "memory.sqlite") == "0 ['Umsatz']"


@forks
@pytest.mark.parametrize(
    ("code", "left"),
    [(PROGRAMS["busy"], str([0] * 8)), (PROGRAMS["first"], "set()"), (PROGRAMS["timer"], "0")],
    ids=["lock", "import", "timer"],
)
def test_a_forked_child_waits_for_no_thread_of_its_parent(code, left):
    """Forked while its parent loads or embeds, a child has its own locks and timer; nothing is imported then."""
    assert run(code) == left


@pytest.fixture
def as_before():
    computing.release()
    yield
    computing.release_after(15)
    computing.release()


def test_released_when_idle(wide, as_before):
    gc.collect()
    mx.clear_cache()
    before = mx.get_active_memory()
    embedder = open_embedder("nomic", models=wide)
    vector = embedder.embed_query("the λ of Zürich")
    loaded = mx.get_active_memory() - before
    assert loaded > 5_000_000
    computing.release_after(SOON)
    until(lambda: mx.get_active_memory() - before < loaded / 100)
    assert np.array_equal(embedder.embed_query("the λ of Zürich"), vector)


def test_kept_for_good(wide, as_before):
    before = threading.enumerate()
    computing.release_after(0)
    open_embedder("nomic", models=wide).embed_query("λ")
    assert mx.get_active_memory() > 5_000_000
    assert not [one for one in threading.enumerate() if isinstance(one, threading.Timer) and one not in before]


def test_neither_before_its_time_nor_during_a_computation():
    """What is used again and again, or computes for longer than the time, stays; afterwards it goes."""
    own = type(computing)(1 / 60)
    read = own.kept(lambda: object())
    for _ in range(12):
        with own:
            read()
        time.sleep(0.15)
    assert read.cache_info() == (11, 1, 1, 1)
    until(lambda: read.cache_info().currsize == 0)

    own = type(computing)(SOON)
    read = own.kept(lambda: object())
    for pause in (0, 0.2):
        with own:
            read(), time.sleep(pause)
            assert read.cache_info().currsize == 1
    until(lambda: read.cache_info().currsize == 0)


def test_used_by_many_threads_while_it_goes(nomic, as_before):
    embedder = nomic.open()
    wanted = [embedder.embed_query(text) for text in TEXTS[:4]]
    computing.release_after(0.0001 / 60)
    right = []

    def work(number):
        for _ in range(5):
            right.append(np.array_equal(embedder.embed_query(TEXTS[number]), wanted[number]))
            computing.release()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert right == [True] * 20


def test_the_time_is_a_setting(store, as_before):
    read = computing.kept(lambda: object())
    with computing:
        read()
    store(settings=JupyterMemory(idle_minutes=SOON))
    until(lambda: read.cache_info().currsize == 0)
