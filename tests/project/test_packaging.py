"""What is packed: one version, the files that Jupyter finds, words that Python and the panel share."""

import hashlib
import json
import re
import tomllib
from pathlib import Path

import yaml

import jupyter_memory
from jupyter_memory.types import UNANSWERED

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGE = json.loads((ROOT / "package.json").read_text("utf-8"))
RECIPE = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text("utf-8"))


def test_one_version_everywhere() -> None:
    version = PROJECT["project"]["version"]
    assert PACKAGE["version"] == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert RECIPE["context"]["version"] == version


def test_conda_installs_what_pip_does() -> None:
    """The recipe asks for the same packages in the same versions, MLX only on Apple Silicon, and nothing else."""
    of_pip = {
        re.sub(r"^(\S+?)([<>].*?)(;.*)?$", r"\1 \2", one).replace("-", "_")
        for one in PROJECT["project"]["dependencies"]
    }
    *of_conda, mac = RECIPE["requirements"]["run"]
    assert mac["if"] == "osx and arm64"
    assert {one.replace("-", "_") for one in [*of_conda, mac["then"]]} == {*of_pip, "python"}


def test_the_wheel_puts_the_panel_where_lab_looks() -> None:
    """The folder that the panel is built into is the one that the wheel puts among Lab's extensions, by its name."""
    shared = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    (place,) = jupyter_memory._jupyter_labextension_paths()
    assert place["dest"] == PACKAGE["name"]
    assert shared[PACKAGE["jupyterlab"]["outputDir"]] == f"share/jupyter/labextensions/{PACKAGE['name']}"
    assert PACKAGE["jupyterlab"]["outputDir"] == f"jupyter_memory/{place['src']}"


def test_the_server_extension_is_switched_on_by_a_file() -> None:
    """The configuration in the wheel switches on the module that says it is a server extension."""
    shared = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    (folder,) = (source for source, target in shared.items() if target == "etc/jupyter/jupyter_server_config.d")
    enabled = json.loads((ROOT / folder / "jupyter_memory.json").read_text("utf-8"))["ServerApp"]["jpserver_extensions"]
    assert enabled == {point["module"]: True for point in jupyter_memory._jupyter_server_extension_points()}


def test_the_bundled_weights_come_with_their_model_card() -> None:
    """The card that states the licences is in the package, beside the very weights that it describes."""
    folder = Path(jupyter_memory.__file__).parent / "embedders" / "bundled"
    card = (folder / "README.md").read_text("utf-8")
    assert hashlib.sha256((folder / "weights.safetensors").read_bytes()).hexdigest() in card
    assert "Apache-2.0" in card


def test_installing_names_the_package_to_remove() -> None:
    """What the extension manager is told to uninstall is this package."""
    told = json.loads((ROOT / "install.json").read_text("utf-8"))
    assert told["packageName"] == PROJECT["project"]["name"]


def test_the_panel_says_what_python_says() -> None:
    """That nothing answers the query has the same words in the panel, in a notebook and in a terminal."""
    labels = (ROOT / "labextension/src/components/shared/labels.ts").read_text("utf-8")
    assert f"trans.__('{UNANSWERED}')" in labels
