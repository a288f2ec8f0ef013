"""The bundled model's files: found without importing the package that brings them, and never used damaged."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from jupyter_memory.embedders.tokenizer.bundled import bundled_file, bundled_tokenizer

EMBED = """
import sys
from jupyter_memory.embedders import open_embedder
from jupyter_memory.errors import EmbedderUnavailable
try:
    print(open_embedder().embed_query("Umsatz in Zürich").shape)
except EmbedderUnavailable as error:
    print(error)
"""


@pytest.fixture
def package(tmp_path):
    """A copy of wordllama's layout, first on the path, that cannot stand being imported."""
    package = tmp_path / "wordllama"
    for which in ("weights", "tokenizer"):
        original = bundled_file(which)
        (package / original.parent.name).mkdir(parents=True)
        shutil.copy(original, package / original.parent.name)
    (package / "__init__.py").write_text("raise AssertionError('imported')\n")
    return package


def embed(folder, code=EMBED):
    """Return what a fresh interpreter prints that looks in ``folder`` first."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(folder)},
        check=True,
        capture_output=True,
        text=True,
        timeout=100,
    )
    return done.stdout.strip()


def test_whole(package):
    """The files alone are enough: their package is not imported, nor what it would bring."""
    code = EMBED + "print('wordllama' in sys.modules, 'pydantic' in sys.modules, 'requests' in sys.modules)"

    assert embed(package.parent, code).splitlines() == ["(256,)", "False False False"]


@pytest.mark.parametrize("which", ["weights", "tokenizer"])
def test_damaged(package, which):
    """A file in which one byte is another is refused by name, with the line that repairs it."""
    file = next((package / bundled_file(which).parent.name).iterdir())
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)

    said = embed(package.parent)

    assert file.name in said
    assert "pip install --force-reinstall --no-deps wordllama" in said


@pytest.mark.parametrize("which", ["weights", "tokenizer"])
def test_missing_file(package, which):
    """A file that is gone is named, with the line that brings it back."""
    file = next((package / bundled_file(which).parent.name).iterdir())
    file.unlink()

    said = embed(package.parent)

    assert file.name in said
    assert "pip install --force-reinstall --no-deps wordllama" in said


def test_missing_package(tmp_path):
    """Without the package, the error says which one to install."""
    said = embed(tmp_path, "import sys\nsys.modules['wordllama'] = None\n" + EMBED)

    assert "pip install wordllama" in said


def test_tokenizer():
    """The tokenizer loses nothing of words with λ and ü, and is read once."""
    encoding = bundled_tokenizer().encode("λ of Zürich", add_special_tokens=False)

    assert bundled_tokenizer().decode(encoding.ids) == "λ of Zürich"
    assert bundled_tokenizer() is bundled_tokenizer()
