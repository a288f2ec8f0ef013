"""Claims about reading a file of any known kind."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from jupyter_memory import InputError
from jupyter_memory.ingest import prepare, walk
from jupyter_memory.ingest.preparation import read_file

DATA = Path(os.environ.get("JUPYTER_MEMORY_TEST_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
SECRET = "9f8c1e2ab7d04c55e1f02a3b"


def test_a_documents_title_is_its_path_below_the_root(tmp_path: Path) -> None:
    """The path from the folder that is indexed, with slashes; a file by itself has its name."""
    path = tmp_path / "notes" / "Zürich.md"
    path.parent.mkdir()
    path.write_text("λ")

    assert read_file(path, root=tmp_path)[0].title == "notes/Zürich.md"
    assert read_file(path, root=path)[0].title == "Zürich.md"
    assert read_file(path, root=tmp_path / "other")[0].title == "Zürich.md"


def test_a_notebooks_title_is_its_name(tmp_path: Path, notebook: Callable[..., Path]) -> None:
    """A cell is titled by its notebook and heading, wherever the notebook lies."""
    path = notebook({"cell_type": "markdown", "source": "# λ", "metadata": {}}, name="02_prices.ipynb")

    assert read_file(path, root=tmp_path.parent)[0].title == "02_prices.ipynb – λ"


def test_it_happened_when_the_file_was_last_changed(tmp_path: Path) -> None:
    """The event time is the modification time, aware and in UTC."""
    path = tmp_path / "a.md"
    path.write_text("λ")
    moment = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
    os.utime(path, (moment.timestamp(), moment.timestamp()))

    event_at = read_file(path, root=tmp_path)[0].event_at
    assert event_at is not None and (event_at, event_at.tzinfo) == (moment, UTC)


def test_secrets_do_not_come_along(notebook: Callable[..., Path], tmp_path: Path) -> None:
    """No field of any draft holds a secret: not the text, the outputs, the title, nor the context of the next cell."""
    path = notebook(
        {"cell_type": "markdown", "source": f"# api_key = '{SECRET}'\nUse `token: {SECRET}` for λ.", "metadata": {}},
        {
            "cell_type": "code", "source": f"api_key = '{SECRET}'", "metadata": {}, "execution_count": 1,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": f"?token={SECRET}\nZürich"}],
        },
        {"cell_type": "code", "source": "λ = 3", "metadata": {}, "outputs": [], "execution_count": 2},
    )  # fmt: skip
    drafts = [prepared.draft for prepared in prepare(read_file(path, root=tmp_path), None)]

    assert SECRET not in repr(drafts)
    assert [draft.metadata.get("redacted") for draft in drafts] == [2, 2, None]
    assert drafts[1].text.endswith("Zürich")
    assert SECRET in repr(read_file(path, root=tmp_path, redacting=False))


def test_a_missing_file_is_an_input_error(tmp_path: Path) -> None:
    """What the system says of a file is told in our words."""
    with pytest.raises(InputError, match="No such file"):
        read_file(tmp_path / "gone.md", root=tmp_path)


def test_a_closed_file_is_an_input_error(common_folder: Path, as_user: Callable[..., Any]) -> None:
    """So is a file that may not be read."""
    path = common_folder / "closed.md"
    path.write_text("λ")
    path.chmod(0o000)

    def read() -> str:
        try:
            return repr(read_file(path, root=common_folder))
        except InputError as error:
            return str(error)

    assert as_user(read) == "The file cannot be read: Permission denied."


@pytest.mark.skipif(not (DATA / "notebooks").is_dir(), reason=f"no notebooks at {DATA} (JUPYTER_MEMORY_TEST_DATA)")
def test_real_notebooks_are_read_whole() -> None:
    """Of a book's notebooks every cell that has a source is there once, findable by its location."""
    root = DATA / "notebooks"
    for path in walk(root).files:
        raw = json.loads(path.read_text(encoding="utf-8"))["cells"]
        drafts = read_file(path, root=root)
        wanted = [n for n, cell in enumerate(raw) if cell["cell_type"] != "raw" and "".join(cell["source"]).strip()]

        assert [draft.metadata["index"] for draft in drafts] == wanted
        assert len({draft.location for draft in drafts}) == len(drafts)
        assert all("\x1b" not in draft.text and "\r" not in draft.text for draft in drafts)
        assert not any("redacted" in draft.metadata for draft in drafts)


@pytest.mark.skipif(not (DATA / "markdown").is_dir(), reason=f"no documents at {DATA} (JUPYTER_MEMORY_TEST_DATA)")
def test_real_documents_have_their_headings() -> None:
    """Nearly every chunk of a documentation site is placed by a heading path."""
    root = DATA / "markdown"
    read = [draft for path in walk(root).files for draft in read_file(path, root=root)]
    drafts = [prepared.draft for prepared in prepare(read, None)]
    chunks = [chunk for draft in drafts for chunk in draft.chunks]

    assert len(drafts) > 50
    assert sum(chunk.context.count("\n") >= 2 for chunk in chunks) > 0.95 * len(chunks)


@pytest.mark.parametrize("shift", range(0, 60, 7))
def test_a_secret_where_a_text_is_clipped(notebook: Callable[..., Path], tmp_path: Path, shift: int) -> None:
    """A secret that the clipping of an output would cut in two is taken out whole, wherever the cut falls."""
    token = f"ghp_{SECRET}{SECRET[::-1]}"
    for place in (3_000, 4_000, 6_000):
        printed = f"{'λ' * (place - shift)} {token} {'ü' * (7_000 - place)}"
        path = notebook({
            "cell_type": "code", "source": "train()", "metadata": {}, "execution_count": 1,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": printed}],
        })  # fmt: skip
        (draft,) = read_file(path, root=tmp_path)

        assert not any(token[i : i + 6] in draft.text for i in range(len(token) - 6))
        assert draft.text.count("λ") > 2_000 and "…" in draft.text


def test_secrets_that_clipping_would_hide_are_counted(notebook: Callable[..., Path], tmp_path: Path) -> None:
    """A secret is counted once, in a long output as in a short one."""
    for length in (10, 9_000):
        path = notebook({
            "cell_type": "code", "source": "train()", "metadata": {}, "execution_count": 1,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": f"token: {SECRET}\n{'λ' * length}"}],
        })  # fmt: skip

        assert read_file(path, root=tmp_path)[0].metadata["redacted"] == 1


def test_secrets_in_the_tags_of_a_document(tmp_path: Path) -> None:
    """What a front matter gives as a tag is freed of secrets, in the tags and in what is noted of them."""
    path = tmp_path / "keys.md"
    path.write_text(f"---\ntags: [λ, ghp_{SECRET}]\n---\nZürich")
    (draft,) = read_file(path, root=tmp_path)

    assert SECRET not in repr(draft) + draft.text
    assert draft.tags == ("λ", "[redacted: GitHub token]") == tuple(draft.metadata["file_tags"])
    assert f"ghp_{SECRET}" in read_file(path, root=tmp_path, redacting=False)[0].tags
