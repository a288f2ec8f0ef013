"""Whatever a file repeats, the store and the work grow with its length, not with the square of it."""

import json
from pathlib import Path

import nbformat
import pytest
from growing import SHAPES, exponent, written
from nbformat import v4
from plugins import write_package

from jupyter_memory import InputError
from jupyter_memory.ingest import prepare, read_file

# Linear is 1, and quadratic is 2. A store has pages, and an index has levels.
MOST = 1.35


def _stored(path: Path) -> int:
    """Return how many characters and bytes are stored of a file: texts, titles, prefixes, tags, names."""
    stored = 0
    for one in prepare(read_file(path, root=path.parent) if path.stat().st_size else [], None):
        draft = one.draft
        of_memory = (draft.text, draft.title, draft.lang, draft.source, json.dumps(dict(draft.metadata)), *draft.tags)
        stored += sum(map(len, of_memory))
        for chunk, words in zip(draft.chunks, one.idents, strict=True):
            # The keyword index holds each of them once more with every chunk.
            of_chunk = (draft.text[chunk.start : chunk.end], draft.title, chunk.context, words, *draft.tags)
            stored += sum(map(len, of_chunk))
    return stored


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_stored_of_a_file_grows_with_its_length(tmp_path, shape):
    """Four times of anything is stored in about four times the room."""

    def cost(size: int) -> int:
        try:
            return _stored(written(tmp_path, shape, size))
        except InputError:  # deeper than JSON is read
            return 0

    assert exponent(cost, 30_000) < MOST or cost(120_000) < 1_000


def test_long_names_of_a_note(store):
    """What is longer than 200 characters ends with …, as each chunk repeats it; too many tags are refused."""
    names = {"title": "Prices " * 20_000, "tags": ["p" * 100_000, "q" * 100_000]}
    memory = store().add("Net of λ tax. " * 2_000, **names)
    assert len(memory.tags) == 2
    assert all(len(name) <= 200 and name.endswith("…") for name in (memory.title, *memory.tags))
    with pytest.raises(InputError, match=r"up to 1,000 tags; these are 1,001\. Put the rest in the text\."):
        store().add("net of λ tax", tags=[f"tag {i}" for i in range(1_001)])


def test_a_long_heading_is_found_and_shown(tmp_path, store):
    """What is below a heading of 80,000 characters is found, marked, and placed below the short heading."""
    text = f"# Prices\n\n## {'tariff ' * 11_000}\n\n{'Net of tax. ' * 2_000}\n\nFerries of Genève.\n"
    (tmp_path / "long.md").write_text(text, "utf-8")
    memory = store()
    memory.index(tmp_path / "long.md", progress=False)
    hit = memory.hits("ferries of Genève").hits[0]
    assert [hit.snippet[start:end] for start, end in hit.highlights] == ["Ferries", "Genève"]
    assert hit.context.startswith("Prices > tariff tariff") and hit.context.endswith("…") and len(hit.context) < 220
    assert memory.hits('"tariff tariff tariff"').hits[0].memory.id == hit.memory.id
    assert memory.index(tmp_path / "long.md", progress=False).unchanged == 1


REPEATING = """
from jupyter_memory.ingest import Document, Part
class Log:
    suffixes = (".repeating",)
    def read(self, path):
        parts = int(path.read_text())
        long = "Prices net of tax " * parts
        part = Part("net of λ tax", headings=(long,) * 3 + ("Tariffs",) * parts, above="p" * len(long), language=long)
        return Document((part,) * parts, title=long, tags=(long, *(f"tag {i}" for i in range(parts))))
"""


def test_names_that_any_reader_gives_are_stored_short(tmp_path, monkeypatch):
    """A reader may give each of many parts the same long title, headings, words above it, tags and language."""
    write_package(tmp_path, "repeating", "repeating", REPEATING, "jupyter_memory.readers", {"log": "repeating:Log"})
    monkeypatch.syspath_prepend(tmp_path)

    def stored(parts: int) -> int:
        path = tmp_path / "a.repeating"
        path.write_text(str(parts))
        drafts = read_file(path, root=tmp_path)
        names = ((one.title, one.context, one.lang, *one.tags, *one.metadata["file_tags"]) for one in drafts)
        return sum(len(name) for of_part in names for name in of_part)

    assert exponent(stored, 200) < MOST


def test_half_a_secret_is_not_kept_in_a_short_name(tmp_path, store):
    """A secret at the place where a heading or a title is cut is hidden before it is cut."""
    token = "ghp_" + "a1B2c3D4e5" * 4
    heading = "Prices " * 27 + token + " and more" * 100
    notebook = v4.new_notebook(cells=[v4.new_markdown_cell(f"# {heading}"), v4.new_code_cell("prices.mean()")])
    nbformat.write(notebook, tmp_path / "secret.ipynb")
    memory = store()
    memory.index(tmp_path / "secret.ipynb", progress=False)
    added = memory.add("net of tax", title=heading, tags=[heading])
    shown = [hit.memory for hit in memory.browsed(limit=10).hits]
    assert len(shown) == 3 and "…" in added.title
    assert not any("ghp_" in name for one in shown for name in (one.title, one.text, *one.tags))
    assert not any("ghp_" in (hit.context or "") for hit in memory.hits("prices").hits)
