"""Shows the main job on real notebooks: index, search, explain; in a store of its own that is thrown away."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOK = ROOT / "notebooks" / "01_first_memories.ipynb"
QUESTION = "how did we scale the prices"


def main(folders: list[str]) -> None:
    begun = perf_counter()
    with tempfile.TemporaryDirectory(prefix="jupyter-memory-demo-") as work:
        os.environ["JUPYTER_MEMORY_PATH"] = str(Path(work) / "memory.sqlite")
        heading(f"Indexing {', '.join(['notebooks/samples', *folders])}")
        command("index", str(ROOT / "notebooks" / "samples"), *folders)
        heading(f"jupyter-memory search {QUESTION!r}")
        command("search", QUESTION, "--limit", "5")
    heading(f"Running notebooks/{NOTEBOOK.name} in a real kernel")
    os.environ.pop("JUPYTER_MEMORY_PATH")
    show(run(NOTEBOOK))
    sys.stdout.write(f"\nDone in {perf_counter() - begun:.0f} s. Next: make lab, then open notebooks/{NOTEBOOK.name}\n")


def command(*words: str) -> None:
    """Run our command line as a user would."""
    sys.stdout.flush()
    subprocess.run([str(Path(sys.executable).with_name("jupyter-memory")), *words], check=True, timeout=3_600)


def run(path: Path) -> nbformat.NotebookNode:
    """Return the notebook as a kernel of this environment leaves it; no output is stored."""
    notebook = nbformat.read(path, as_version=4)
    wide = "pd.set_option('display.width', 160, 'display.max_columns', 8, 'display.max_colwidth', 44)"
    notebook.cells.insert(0, nbformat.v4.new_code_cell(f"import pandas as pd; {wide}"))
    resources = {"metadata": {"path": str(path.parent)}}
    # The kernel's own warnings about its transport would stand between the results.
    quiet = ["--log-level=ERROR"]
    waits = {"timeout": 600, "startup_timeout": 300, "iopub_timeout": 60}
    NotebookClient(notebook, resources=resources, extra_arguments=quiet, **waits).execute()
    del notebook.cells[0]
    return notebook


def show(notebook: nbformat.NotebookNode) -> None:
    """Print the code cells and what they said."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            sys.stdout.write("\n" + cell.source + "\n")
            continue
        sys.stdout.write("\n" + "".join(f">>> {line}\n" for line in cell.source.splitlines()))
        for output in cell.outputs:
            if "application/vnd.jupyter.widget-view+json" in output.get("data", {}):
                continue  # a bar that was gone when its work was done
            text = output.get("text") or output.get("data", {}).get("text/plain", "")
            sys.stdout.write(text.rstrip() + "\n")


def heading(text: str) -> None:
    sys.stdout.write(f"\n=== {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
