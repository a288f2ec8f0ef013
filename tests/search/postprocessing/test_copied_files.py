"""Of a cell that stands in several copies of a notebook, one is shown, and the others are told of."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest

from jupyter_memory.search.postprocessing import DeduplicateFiles, alike, shingles, stem
from jupyter_memory.search.profiles import auto

SCALED = "prices = prices - prices.mean() # the λ of Zürich is fitted on prices of zero mean and unit variance"
CELLS = (
    "# How the prices are scaled\n\nBefore the forecast every price loses the mean of its zone.",
    "scaled = (prices - prices.groupby('zone').transform('mean')) / prices.groupby('zone').transform('std')",
    "forecast = ridge.fit(scaled, demand)  # λ = 0.3 for Zürich",
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("prices.ipynb", "prices-Copy1.ipynb"),
        ("/week/prices.ipynb", "/old/prices.ipynb"),
        ("prices.ipynb", "Copy of Prices (3).ipynb"),
        ("prices.ipynb", "prices_final_v2.ipynb"),
        ("prices.ipynb", "prices copy 2.ipynb"),
        ("report_2026-02.ipynb", "report_2026-03.ipynb"),
        ("notes.md", "notes.bak.md"),
    ],
)
def test_names_of_copies(one, other):
    """A copy has the name of its original, with the marks of a copy or a version, or stands in another folder."""
    assert stem(one) == stem(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("prices.ipynb", "demand.ipynb"),
        ("04_prices.ipynb", "05_demand.ipynb"),
        ("renewal.md", "new.md"),
        ("2026-03-02.md", "2026-03-03.md"),
        ("turn_1", "turn_2"),
    ],
)
def test_other_names(one, other):
    """Another name is another file, however much of it both share; so is what is no file."""
    assert stem(one) != stem(other)


def test_alike():
    """One word of 43 changed leaves 40 of 44 pairs in common; two apart from each other 38 of 46."""
    words = [f"w{number}" for number in range(43)]
    one = shingles(" ".join(words))
    changed = shingles(" ".join([*words[:20], "λ", *words[21:]]))
    twice = shingles(" ".join([*words[:10], "λ", *words[11:30], "ü", *words[31:]]))

    assert len(one & changed) == 40 and alike(one, changed, 0.9)  # 40 / 44
    assert len(one & twice) == 38 and not alike(one, twice, 0.9)  # 38 / 46
    assert alike(shingles("df.head()"), shingles("DF.head() "), 0.9)
    assert not alike(shingles("a = b"), shingles("b = a"), 0.9) and not alike(shingles(""), shingles(""), 0.9)


def deduplicated(rank, *memories, limit=10):
    """Return which of these memories, found in their order, are left."""
    found = {number: float(100 - number) for number in range(1, len(memories) + 1)}
    result = rank(
        auto.replace(terms=auto.terms[:1], signals=auto.signals[:1]), {"keyword": found}, *memories, limit=limit
    )
    return [row.candidate.key for row in result.ranked], dict(result.duplicates), result.notices


def test_the_best_copy_stays(rank, memory):
    """Of a cell and its copy only the better is shown; the same words in another file, or in a note, are left alone."""
    cells = [
        memory(1, source="/week/prices.ipynb", text=SCALED),
        memory(2, source="/week/prices-Copy1.ipynb", text=SCALED),
        memory(3, source="/week/demand.ipynb", text=SCALED),
        memory(4, source="", text=SCALED),
        memory(5, source="/week/prices-Copy1.ipynb", text="another cell of the copy: λ"),
        memory(6, source="/week/prices.ipynb", text=SCALED),
    ]

    assert deduplicated(rank, *cells) == (
        [1, 3, 4, 5, 6],
        {2: 1},
        ("1 duplicate of a result is not shown.",),
    )


def test_the_original_stays(rank, memory):
    """Of a file and its copy the file stays, also where the copy is better; of two versions the better one."""
    copied = [
        memory(1, source="/week/prices-Copy1.ipynb", text=SCALED),
        memory(2, source="/week/prices.ipynb", text=SCALED),
    ]
    versions = [
        memory(1, source="/week/prices_v2.ipynb", text=SCALED),
        memory(2, source="/week/prices_v1.ipynb", text=SCALED),
    ]

    assert deduplicated(rank, *copied)[:2] == ([2], {1: 2})
    assert deduplicated(rank, *versions)[:2] == ([1], {2: 1})


def test_only_among_the_best(rank, memory):
    """What is too far down to be shown is not compared; a larger limit looks further."""
    cells = [memory(key, source=f"/week/{key}/prices.ipynb", text=f"{SCALED} {'λ ' * (key % 2)}") for key in (1, 2)]
    others = [memory(key, source="", text=f"note {key}") for key in range(3, 42)]
    copy = memory(42, source="/old/prices.ipynb", text=SCALED)

    assert deduplicated(rank, *cells, *others, copy)[1] == {2: 1}
    assert deduplicated(rank, *cells, *others, copy, limit=25)[1] == {2: 1, 42: 1}


def test_the_step_in_words():
    """The step says what it does, as the profile is shown."""
    assert DeduplicateFiles() in auto.steps
    assert "copied notebooks" in str(DeduplicateFiles())


def test_a_copied_notebook(store, tmp_path):
    """A notebook that was copied does not double a hit: by default each cell comes once, and why can be asked."""
    folder = tmp_path / "week"
    folder.mkdir()
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_markdown_cell(CELLS[0]), *map(nbformat.v4.new_code_cell, CELLS[1:])]
    nbformat.write(notebook, folder / "prices.ipynb")
    shutil.copy(folder / "prices.ipynb", folder / "prices-Copy1.ipynb")
    memories = store()
    memories.index(folder, progress=False)
    question = "how are the prices scaled before the forecast"
    answer, doubled = memories.hits(question), memories.hits(question, profile=auto.replace(steps=()))

    assert len(doubled.hits) == 6 and len(answer.hits) == 3
    assert {hit.memory.text.split("\n")[0] for hit in answer.hits} == {cell.split("\n")[0] for cell in CELLS}
    assert "3 duplicates of results are not shown." in answer.notices
    assert {Path(hit.memory.source).name for hit in answer.hits} == {"prices.ipynb"}
    shown = {hit.memory.id: hit for hit in answer.hits}
    copy = next(hit.memory for hit in doubled.hits if hit.memory.id not in shown)
    [reason] = memories.explain(question, copy.id).reasons
    assert reason.startswith("It is a duplicate of “prices") and "at rank" in reason


def test_a_name_of_many_copies_is_read_at_once():
    """Each piece of such a name can be read in two ways; a hundred of them are read in one."""
    assert stem("λ" + " -copy 7" * 100 + "a.md").endswith("copy 7a")
    assert stem("λ" + " -copy 7" * 20 + ".md") == "λ"
