"""How long until a person can search: `import jupyter_memory`, and the first `%memsearch` of a fresh kernel.

    python benchmarks/import_time.py [--runs 7]

Printed as multiples of a bare interpreter's start in the same run (medians), with the heavy packages that the
import alone woke.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from measure import output_of, parser_of, table, turns

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


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--runs", type=int, default=7)
    runs = range(parser.parse_args().runs)
    output_of([sys.executable, "-c", "import jupyter_memory"])  # the first run writes the bytecode
    codes = ("pass", "import jupyter_memory")
    spent = turns({code: lambda _, code=code: output_of([sys.executable, "-c", code]) for code in codes}, runs)
    start, imported = map(statistics.median, spent.values())
    with tempfile.TemporaryDirectory() as folder:
        # A fresh profile folder too, as IPython writes its history there.
        there = {"JUPYTER_MEMORY_PATH": f"{folder}/memory.sqlite", "IPYTHONDIR": f"{folder}/ipython"}
        for note in NOTES:
            output_of([Path(sys.executable).with_name("jupyter-memory"), "add", note], there)
        told = [output_of([sys.executable, "-c", FIRST_SEARCH], there).splitlines()[-1] for _ in runs]
    searched = statistics.median(map(float, told))
    rows = [("a bare interpreter", 0.0, start), ("import jupyter_memory", imported / start - 1, imported - start)]
    rows.append(("first %memsearch", searched / start, searched))
    table([(name, f"{more:+.1f}", f"({seconds * 1000:.0f} ms)") for name, more, seconds in rows])
    woken = output_of([sys.executable, "-c", WOKEN])
    print(f"woken by the import: {woken or 'none of ' + ', '.join(HEAVY)}")


if __name__ == "__main__":
    main()
