"""How long until a person can search: `import jupyter_memory`, and the first `%memsearch` of a fresh kernel.

    python benchmarks/import_time.py [--runs 7]

Printed as multiples of a bare interpreter's start in the same run (medians), with the heavy packages that the
import alone woke.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HEAVY = ("mlx", "pandas", "jupyter_server")
NOTES = (
    "Monthly sales in Zürich rose by 4 % after the price cut",
    "The λ of the Poisson model is 3.2 orders an hour",
    "Normalised the prices with df.groupby('shop').transform('mean')",
)
# What a kernel does before the first cell is not ours: the clock starts when the shell stands.
FIRST_SEARCH = """
import time
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
start = time.perf_counter()
for line in ("%load_ext jupyter_memory", "found = %memsearch how did we normalise the prices"):
    shell.run_cell(line).raise_error()
assert len(shell.user_ns["found"]), "nothing was found"
print(time.perf_counter() - start)
"""
WOKEN = f"import sys, jupyter_memory; print(*(name for name in {HEAVY} if name in sys.modules))"


def run(code: str, environment: dict[str, str] | None = None) -> str:
    """Return what a fresh interpreter prints for a piece of code."""
    return output_of([sys.executable, "-c", code], environment or {})


def output_of(command: list[str], environment: dict[str, str]) -> str:
    """Return what a command prints; where it fails, leave with what it said."""
    # Python keeps its bytecode, as it does for everybody who has not told it otherwise.
    around = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, env={**around, **environment}, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command[:3])} failed:\n{done.stderr or done.stdout}")
    return done.stdout.strip()


def wall(code: str) -> float:
    """Return the seconds that a fresh interpreter lives for a piece of code."""
    start = time.perf_counter()
    run(code)
    return time.perf_counter() - start


def first_search(folder: Path) -> float:
    """Return the seconds of loading the extension and searching once, over a small store made beforehand."""
    # A fresh profile folder too, as IPython writes its history there.
    environment = {
        "JUPYTER_MEMORY_PATH": str(folder / "memory.sqlite"),
        "IPYTHONDIR": str(folder / "ipython"),
    }
    if not (folder / "memory.sqlite").exists():
        for note in NOTES:
            output_of([str(Path(sys.executable).with_name("jupyter-memory")), "add", note], environment)
    return float(run(FIRST_SEARCH, environment).splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    runs = range(parser.parse_args().runs)
    run("import jupyter_memory")  # the first run writes the bytecode
    bare, imported = [], []
    for _ in runs:
        bare.append(wall("pass"))
        imported.append(wall("import jupyter_memory"))
    start = statistics.median(bare)
    added = statistics.median(imported) - start
    print(f"a bare interpreter        1.0    ({start * 1000:.0f} ms)")
    print(f"import jupyter_memory   + {added / start:.1f}    ({added * 1000:.0f} ms)")
    print(f"woken by the import:      {run(WOKEN) or 'none of ' + ', '.join(HEAVY)}")
    with tempfile.TemporaryDirectory() as folder:
        searched = statistics.median(first_search(Path(folder)) for _ in runs)
    print(f"first %memsearch        + {searched / start:.1f}    ({searched * 1000:.0f} ms)")


if __name__ == "__main__":
    main()
