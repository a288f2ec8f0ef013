"""A fast BLAS under MLX, in interpreters of their own: what is loaded cannot be taken back."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

import pytest

linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere MLX has a fast BLAS of its own")


def fresh(code):
    """Run code in a fresh interpreter and return what it prints."""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=100)
    return done.stdout.strip()


def installed(distribution):
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


needs_openblas = pytest.mark.skipif(not installed("cmeel-openblas"), reason="the package cmeel-openblas is missing")


@linux
@needs_openblas
def test_mlx_multiplies_with_it():
    """With the package installed the first function that MLX finds for a product is OpenBLAS's."""
    said = fresh(
        "import ctypes\n"
        "from jupyter_memory.embedders.runtime.mlx import BLAS, mx\n"
        "found = ctypes.cast(ctypes.CDLL(None).cblas_sgemm, ctypes.c_void_p).value\n"
        "own = ctypes.cast(BLAS.library.cblas_sgemm, ctypes.c_void_p).value\n"
        "print(BLAS.name, repr(BLAS.notice), found == own)\n"
        "print(mx.allclose(mx.ones((64, 32)) @ mx.ones((32, 8)), mx.full((64, 8), 32.0)).item())"
    )

    assert said.splitlines() == ["cmeel-openblas '' True", "True"]


@linux
@pytest.mark.parametrize(
    "module",
    [
        "matryoshka",
        "static",
        "nomic.bert",
        "nomic.folder",
        "nomic.embedder",
        "runtime.batching",
        "runtime.safetensors",
    ],
)
def test_before_mlx(module):
    """Whichever of our files wakes MLX, the BLAS was there first, so that there is no notice of that kind."""
    said = fresh(
        f"import jupyter_memory.embedders.{module}\n"
        "from jupyter_memory.embedders.runtime.blas import fast_blas\n"
        "print('imported before' in fast_blas().notice)"
    )

    assert said == "False"


@linux
@needs_openblas
def test_processor_without_avx512():
    """A library that has only kernels for AVX-512 is left alone elsewhere, where it would end the process."""
    said = fresh(
        "from jupyter_memory.embedders.runtime import blas\n"
        "name, path = next(blas._candidates())\n"
        "needs = blas._needs_avx512(blas.Path(path))\n"
        "blas._has_avx512 = lambda: False\n"
        "found = blas.fast_blas()\n"
        "print(needs, found.name == name, 'AVX-512' in found.notice or found.name.startswith('system'))"
    )

    assert said in ("True False True", "False True False")


@linux
def test_mlx_was_first():
    """After MLX nothing is loaded, and the notice says why and what to do."""
    said = fresh(
        "import mlx.core\n"
        "from jupyter_memory.embedders.runtime.blas import fast_blas\n"
        "print(fast_blas().library, fast_blas().notice)"
    )

    assert said.startswith("None ")
    assert "it was imported first" in said


@linux
def test_none_installed():
    """Where there is no OpenBLAS the models run all the same, and the notice says what to install."""
    said = fresh(
        "from jupyter_memory.embedders.runtime import blas\n"
        "blas._candidates = lambda: iter(())\n"
        "from jupyter_memory.embedders.runtime.mlx import BLAS, mx\n"
        "with BLAS.threads(1):\n"
        "    print(mx.sum(mx.ones((4, 4)) @ mx.ones((4, 4))).item(), BLAS.notice)"
    )

    assert said.startswith("64.0 ")
    assert "no OpenBLAS found" in said
    assert "pip install cmeel-openblas" in said


@linux
def test_broken_library(tmp_path):
    """A library that cannot be loaded is passed over and named in the notice."""
    (tmp_path / "libopenblas.so.0").write_bytes(b"not a library")
    said = fresh(
        "from jupyter_memory.embedders.runtime import blas\n"
        f"blas._candidates = lambda: iter([('broken', {str(tmp_path / 'libopenblas.so.0')!r})])\n"
        "print(blas.fast_blas().name, blas.fast_blas().notice)"
    )

    assert said.startswith("reference ")
    assert "broken: " in said


@linux
def test_said_to_a_person(tmp_path):
    """The line for a person names what multiplies, or says what to do where MLX was imported first."""
    first = fresh("from jupyter_memory.interface import models\nprint(models.arithmetic())")
    late = fresh("import mlx.core\nfrom jupyter_memory.interface import models\nprint(models.arithmetic())")
    mended = fresh(
        "from jupyter_memory import MemoryStore\n"
        f"with MemoryStore({str(tmp_path / 'memory.sqlite')!r}) as store:\n"
        "    store.add('the prices of a week')\n"
        "    store.hits('prices')\n"
        "import mlx.core\n"
        "from jupyter_memory.interface import models\n"
        "print(models.arithmetic())"
    )

    assert first and "imported first" not in first
    assert "Restart Python, and search once before you import MLX" in late
    assert mended == first


@linux
@needs_openblas
def test_threads_as_before():
    """Inside the block OpenBLAS uses as many threads as asked, after it as many as before, also after an error."""
    said = fresh(
        "from jupyter_memory.embedders.runtime.blas import fast_blas\n"
        "blas = fast_blas()\n"
        "count = blas.library.openblas_get_num_threads\n"
        "before = count()\n"
        "try:\n"
        "    with blas.threads(1):\n"
        "        inside = count()\n"
        "        raise KeyboardInterrupt\n"
        "except KeyboardInterrupt:\n"
        "    print(inside, count() == before)"
    )

    assert said == "1 True"


def test_never_on_macos():
    """On macOS nothing is loaded, as MLX has Apple's BLAS."""
    said = fresh(
        "import sys\nsys.platform = 'darwin'\n"
        "from jupyter_memory.embedders.runtime.blas import fast_blas\nprint(fast_blas())"
    )

    assert said == "Blas(name='built in', notice='', library=None)"
