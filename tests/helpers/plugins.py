"""Packages that tests install for a moment: a module and the metadata that pip would write."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"


def shown(section, kind):
    """Return the first block of a kind in a section of docs/extending.md."""
    text = PAGE.read_text(encoding="utf-8").partition(f"\n## {section}\n")[2]
    return re.search(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1]


def write_package(folder, name, module, code, group, points):
    """Write a package of one module with its entry points into a folder of ``sys.path``."""
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    metadata = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = "".join(f"{key} = {value}\n" for key, value in points.items())
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{lines}")
