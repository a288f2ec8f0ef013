"""One judged set from its folder to its rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from jupyter_memory.evaluation.beds import beds
from jupyter_memory.evaluation.judged import read_judged, read_judged_cells
from jupyter_memory.evaluation.rows import Row, rows
from jupyter_memory.evaluation.run import measure
from jupyter_memory.protocols import Embedder
from jupyter_memory.search.profiles.builtin import Profile


def evaluate(
    folder: Path,
    arms: Mapping[str, Profile],
    embedder: str | Embedder,
    *,
    notebooks: Path | None = None,
    work: Path | None = None,
    by_type: bool = False,
    folds: str = "query",
    baseline: str = "",
    progress: bool = False,
) -> tuple[list[Row], list[str]]:
    """Return a row for each arm (and type of question), and what a reader of them should know.

    ``notebooks`` is the folder that a set without a corpus judges the cells of.

    Raises:
        InputError: a file of the set is missing or cannot be read.
    """
    cells = notebooks is not None and not (folder / "corpus.jsonl").exists()
    judged = read_judged_cells(folder) if cells else read_judged(folder)
    notices = [f"{judged.name}: {judged.unjudged} questions without an answer are left out."] if judged.unjudged else []
    name = embedder if isinstance(embedder, str) else embedder.name
    with beds(judged, embedder, notebooks=notebooks if cells else None, work=work, progress=progress) as opened:
        measured = measure(judged, opened, arms, progress)
    return list(rows(measured, judged.name, name, by_type=by_type, folds=folds, baseline=baseline)), notices
