"""What installing us adds to a notebook environment: megabytes on the disk, by package.

    python benchmarks/footprint.py [WHEEL] [--extras hub] [--most 110]

A fresh virtual environment gets numpy, pandas, ipython and ipywidgets, then our wheel, which is built from this folder
unless one is named. What the wheel adds is listed, the largest first. Files count with their bytecode, as pip leaves
them. With ``--most``, the script fails where more megabytes are added.
"""

from __future__ import annotations

import json
import sys
import tempfile
import venv
from collections.abc import Mapping
from pathlib import Path

from measure import ROOT, output_of, parser_of

BASE = ("numpy", "pandas", "ipython", "ipywidgets")
MB = 1_000_000
# Run inside an environment. `pip` is there before anything is installed.
SIZES = """
import json
from importlib.metadata import distributions

def size(one):
    places = (file.locate() for file in one.files or ())
    return sum(place.stat().st_size for place in places if place.is_file())

print(json.dumps({one.name.lower().replace("_", "-"): size(one) for one in distributions() if one.name != "pip"}))
"""


def sizes(python: Path) -> dict[str, int]:
    """Return the bytes of each package of an environment."""
    found: dict[str, int] = json.loads(output_of([python, "-I", "-c", SIZES]))
    return found


def added(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """Return the bytes that came with each package, the largest first; what both have in the same size is left out."""
    more = {name: taken - before.get(name, 0) for name, taken in after.items()}
    return {name: more[name] for name in sorted(more, key=lambda name: (-more[name], name)) if more[name]}


def table(found: Mapping[str, int], smallest: float = 0.5) -> str:
    """Return lines of megabytes and names, those below ``smallest`` megabytes as one, then their sum."""
    large = {name: taken for name, taken in found.items() if taken >= smallest * MB}
    small = sum(found.values()) - sum(large.values())
    lines = [f"{taken / MB:8.1f}  {name}" for name, taken in large.items()]
    lines += [f"{small / MB:8.1f}  {len(found) - len(large)} smaller ones"] if len(found) > len(large) else []
    return "\n".join([*lines, f"{sum(found.values()) / MB:8.1f}  all"])


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("wheel", nargs="?", type=Path, help="a built wheel, instead of one of this folder")
    parser.add_argument("--extras", default="", metavar="NAMES", help="extras to install with it, such as hub,plots")
    parser.add_argument("--most", type=float, metavar="MB", help="fail where more is added")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="footprint-") as made:
        work = Path(made)
        if arguments.wheel is None:  # the panel is built with it where it has not been
            wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", work, ROOT]
            output_of(wheel)
        [built] = [arguments.wheel.resolve()] if arguments.wheel else work.glob("jupyter_memory-*.whl")
        venv.create(work / "environment", with_pip=True)
        python = work / "environment" / "bin" / "python"
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        output_of([*install, *BASE])
        before = sizes(python)
        output_of([*install, f"{built}[{arguments.extras}]" if arguments.extras else built])
        found = added(before, sizes(python))
    print(f"{sum(before.values()) / MB:.0f} MB with {', '.join(BASE)} alone. On top of it, MB:\n{table(found)}")
    taken = sum(found.values()) / MB
    if arguments.most is not None and taken > arguments.most:
        sys.exit(f"{taken:.1f} MB are more than {arguments.most:g}.")


if __name__ == "__main__":
    main()
