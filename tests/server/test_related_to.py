"""Cells like one that is being written: of other notebooks, without a trace of the text."""

from __future__ import annotations

import json

import pytest

ASKED = "prices = load_prices('zürich.csv')\nprices['net'] = prices['gross'] / (1 + VAT)\nprices.plot()"
OTHERS = [
    "orders = read_orders('orders.csv')\norders.groupby('hour').size().plot()",
    "model = PoissonRegressor()\nmodel.fit(X, y)",
    "weather = fetch_weather(station='Genève')\nweather.resample('D').mean()",
    "events = FileSyncService().drain()\nlen(events)",
    "from pathlib import Path\nfolder = Path.home() / 'work'",
    "shops = shops.merge(regions, on='region_id', how='left')",
    "fig, axes = plt.subplots(2, 2, figsize=(8, 4))",
    "assert not frame.isna().any().any()",
]


def write(folder, name, *sources):
    """Write a notebook of code cells without ids."""
    cells = [{"cell_type": "code", "source": one, "metadata": {}, "outputs": []} for one in sources]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))


@pytest.fixture
def notebooks(jp_root_dir, service):
    """Two notebooks with a cell like the one that is asked about, among others, and the store that holds them."""
    folder = jp_root_dir / "work"
    write(folder, "open.ipynb", ASKED, *OTHERS[:4])
    write(folder, "old.ipynb", ASKED.replace("zürich", "genève"), *OTHERS[4:])
    store = service.provider.store(create=True)
    store.index(folder, progress=False)
    return store


async def test_cells_of_other_notebooks_are_told(ask, fits, notebooks):
    """The cell of the other notebook is in the answer with its place, and no cell of the open one."""
    answered = await ask("related-to", {"text": ASKED, "path": "work/open.ipynb"})
    assert answered.code == 200
    answer = fits("answer", answered.json)
    assert answer["notices"] == []
    assert [place["path"] for place in answer["places"]] == ["work/old.ipynb"]
    assert "genève" in answer["hits"][0]["snippet"]


async def test_the_open_notebook_is_left_out_whatever_it_is_called(ask, notebooks, jp_root_dir):
    """A notebook that is opened through a link is the same notebook."""
    (jp_root_dir / "link").symlink_to(jp_root_dir / "work")
    answer = (await ask("related-to", {"text": ASKED, "path": "link/open.ipynb"})).json
    assert {place["path"] for place in answer["places"]} == {"work/old.ipynb"}


async def test_a_notebook_that_was_never_indexed_is_no_matter(ask, notebooks):
    """The open notebook may be new: then nothing is left out, and nothing is said of it."""
    answer = (await ask("related-to", {"text": ASKED, "path": "work/new.ipynb"})).json
    assert (len(answer["hits"]), answer["notices"]) == (2, [])


async def test_what_is_like_nothing_has_no_answer(ask, notebooks):
    """Nobody asked, so nothing is shown that may be about something else."""
    text = "The committee met on Tuesday and adopted the report without a vote."
    assert (await ask("related-to", {"text": text})).json["hits"] == []


async def test_only_cells_are_told(ask, notebooks):
    """A note with the same text is none of the cells that the line counts, and a filter still holds."""
    notebooks.add(ASKED, title="a note")
    answer = (await ask("related-to", {"text": ASKED, "path": "work/open.ipynb"})).json
    assert {hit["kind"] for hit in answer["hits"]} == {"cell"}
    within = {"filters": {"kind": ["note"]}}
    assert (await ask("related-to", {"text": ASKED, **within})).json["hits"] == []


async def test_nothing_of_the_text_is_kept(ask, notebooks, store_file):
    """It is no recent search, counts for no memory, and its words are nowhere in the store's files."""
    secret = "xylophonquartett"
    before = {hit.memory.id: hit.memory.accessed for hit in notebooks.browsed(limit=50).hits}
    assert (await ask("related-to", {"text": f"{ASKED}\n{secret}"})).code == 200
    assert notebooks.recent() == []
    assert {hit.memory.id: hit.memory.accessed for hit in notebooks.browsed(limit=50).hits} == before
    files = [file for file in store_file.parent.iterdir() if file.is_file()]
    assert files and not any(secret.encode() in file.read_bytes() for file in files)


@pytest.mark.parametrize(
    "body",
    [{}, {"text": 7}, {"text": "x" * 20_001}, {"text": ASKED, "path": "../out.ipynb"}, {"text": "x", "log": True}],
)
async def test_what_cannot_be_read_is_refused(ask, notebooks, body):
    """A text that is too long, missing or no text, and a path out of Lab's folder: the field is named."""
    refused = await ask("related-to", body)
    assert (refused.code, refused.json["reason"]) == (400, "InvalidField")


@pytest.mark.parametrize("text", ["", " \n", '"', "tag:x -kind:cell", "東京の売上", "\ud800", "x" * 20_000])
async def test_any_text_has_an_answer(ask, notebooks, text):
    """What would be read as something else in a query is a text like any other."""
    assert (await ask("related-to", json.dumps({"text": text}))).code == 200
