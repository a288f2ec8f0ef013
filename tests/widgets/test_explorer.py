"""The sliders: each ranking is that of a new search, in a notebook too."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest
from ipywidgets.embed import dependency_state
from nbclient import NotebookClient
from pages import Tables
from pictures import plot, plotting, saved

from jupyter_memory.cli import main
from jupyter_memory.search import PROFILES, vault
from jupyter_memory.search.profiles import auto, covalence
from jupyter_memory.widgets import MemoryExplorer, explore
from jupyter_memory.widgets.controls import range_of

QUERY = "how did we scale the electricity prices in Zürich"
VIEW = "application/vnd.jupyter.widget-view+json"


def ids(answer):
    """Return the ids of an answer's memories in order."""
    return [hit.memory.id for hit in answer.hits]


@pytest.mark.parametrize("name", PROFILES)
def test_moving_is_searching(week_store, now, name):
    """After each move, order and scores are those of a new search by the profile that the sliders make."""
    question = "the prices of the model"
    explorer = explore(week_store, question, profile=name, limit=6, now=now)
    orders = {tuple(ids(explorer.answer))}
    for slider in explorer.sliders.values():
        for value in (slider.min, slider.max, slider.min + 3 * slider.step):
            slider.value = value
            fresh = week_store.hits(question, profile=explorer.profile, limit=6, now=now)

            assert ids(explorer.answer) == ids(fresh)
            assert [hit.score for hit in explorer.answer.hits] == [hit.score for hit in fresh.hits]
            for hit in explorer.answer.hits:
                assert hit.score == pytest.approx(sum(seen.contribution for seen in hit.signals.values()), abs=1e-9)
            orders.add(tuple(ids(fresh)))

    assert len(orders) > 2


def test_every_weight_has_a_slider(explorer):
    """A slider a term, at its weight, and beside it a number with its name and the formula to read."""
    assert {name: slider.value for name, slider in explorer.sliders.items()} == {
        term.name: term.weight for term in auto.terms
    }
    assert {field.description: field.value for field in explorer.fields.values()} == {
        term.name: term.weight for term in auto.terms
    }
    assert explorer.fields["keyword"].tooltip == "Weight of keyword: 0.05*keyword"
    assert explorer.fields["time"].tooltip.endswith("it says nothing of these memories")


def test_number_and_slider(week_store, now):
    """Number and slider are one value; neither shows the digits that steps leave behind."""
    explorer = explore(week_store, QUERY, profile=covalence, now=now)
    assert explorer.fields["tier"].value == 0.18 and explorer.profile is covalence
    explorer.fields["tier"].value = 0.3
    explorer.sliders["recency"].value = 0.026000000000000002 / 10

    assert explorer.sliders["tier"].value == 0.3
    assert explorer.weights == {"tier": 0.3, "recency": 0.0026}
    assert explorer.fields["recency"].value == 0.0026 and "0.0026}" in explorer.code


def test_no_move_is_a_search(explorer, week_store, monkeypatch):
    """The store is asked once, however often a slider moves; even a closed one does."""
    week_store.close()
    before = ids(explorer.answer)
    explorer.sliders["recency"].value = explorer.sliders["recency"].max
    explorer.sliders["max_sim"].value = 0.0

    assert sorted(ids(explorer.answer)) == sorted(before) and explorer.answer.profile == "my-auto"


def test_resetting(explorer):
    """Reset gives the profile that was searched with and its table; so does moving a slider back."""
    before, table = ids(explorer.answer), explorer._controls.table.value
    explorer.sliders["keyword"].value = 0.0
    assert explorer._controls.table.value != table
    explorer._controls.again.click()

    assert explorer.profile is auto and explorer.weights == {} and ids(explorer.answer) == before
    assert explorer._controls.table.value == table
    explorer.sliders["tier"].value = 0.1
    explorer.sliders["tier"].value = 0.05 + 0.01
    assert explorer.profile is auto


def test_words_alone(store, week, now):
    """Where no model looks, the sliders are those of the terms that count then."""
    filled = store(embedder=None, profile=vault)
    filled.add_many(week, progress=False)
    explorer = explore(filled, QUERY, now=now)
    assert explorer.sliders["semantic"].value == 0.40
    explorer.sliders["semantic"].value = 0.1

    assert explorer.profile.terms == vault.terms and explorer.profile.keyword_only[0].weight == 0.1
    assert ids(explorer.answer) == ids(filled.hits(QUERY, profile=explorer.profile, now=now))


@pytest.mark.parametrize("weight", [0.0033, 0.05, 0.06, 0.15, 0.18, 0.25, 0.4, 0.5, 0.9, 1.0, 1.2, 40.0, -0.2])
def test_ranges(weight):
    """A weight lies on its slider, which has room on both sides and a hundred round steps."""
    ends = range_of(weight)

    assert 2.5 <= ends.high / abs(weight) <= 6.3 and ends.low in (0.0, -ends.high)
    steps = weight / ends.step
    assert steps == pytest.approx(round(steps)) and ends.high / ends.step == pytest.approx(100)


def test_one_bundle(explorer):
    """The widget, the table as HTML and the table as text go together, the title being in both."""
    bundle = explorer._repr_mimebundle_()

    assert set(bundle) == {VIEW, "text/html", "text/plain"}
    assert "Scaling the prices" in bundle["text/html"] and "Scaling the prices" in bundle["text/plain"]
    assert bundle["text/plain"] == repr(explorer)
    assert "score = 0.05*keyword" in bundle["text/plain"]


CELLS = (
    "%load_ext jupyter_memory",
    "%memadd --title Prices --on 2026-03-02 we scaled the prices to zero mean",
    '%memadd --title "Müller" --on 2026-03-06 the prices of λ = 0.3 are Frau Müller\'s',
    "%memsearch --widget scaled prices",
    "explorer = _",
    "for name in explorer.sliders:\n    if name not in ('tier', 'recency'): explorer.sliders[name].value = 0.0",
)


def test_in_a_kernel(home):
    """In a real kernel: the widget's state is there, and the table that stays follows the sliders."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    NotebookClient(notebook, timeout=600, startup_timeout=100, iopub_timeout=60).execute()
    still, live = notebook.cells[3].outputs

    assert still.output_type == live.output_type == "display_data"
    assert set(still.data) == {"text/html", "text/plain"} and set(live.data) == {VIEW, "text/html", "text/plain"}
    rows = Tables(still.data["text/html"]).rows
    # Weighed by nothing but recency and tier, the newer comes first.
    assert [row[1].startswith(title) for row, title in zip(rows[1:], ("Müller", "Prices"), strict=True)] == [True, True]
    assert "Müller" in still.data["text/plain"].splitlines()[1]
    assert "Run the cell again" in live.data["text/plain"]
    states = notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    assert states[live.data[VIEW]["model_id"]]["model_name"] == "VBoxModel"
    pages = [state["state"]["value"] for state in states.values() if state["model_name"] == "HTMLModel"]
    # While the live table is on the page, its style hides the other.
    hidden = re.search(r'class="(jp-MemoryExplorer-\w{32})"', still.data["text/html"])[1]
    assert sum(f".{hidden} {{ display: none; }}" in page for page in pages) == 1


QUESTIONS = ("how did we normalise the prices", "where do I read a csv file")
SAVED = ("%load_ext jupyter_memory", *(f"%memsearch --widget {question}" for question in QUESTIONS))


def test_a_saved_notebook_is_small(home):
    """A widget of ten hits takes 20 KB at most of a notebook that ran by itself: sliders are made when one looks."""
    assert main(["index", str(Path(__file__).parents[2] / "notebooks" / "samples")]) == 0
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in SAVED])
    NotebookClient(notebook, timeout=600, startup_timeout=100, iopub_timeout=60).execute()
    whole = len(nbformat.writes(notebook).encode())
    assert len(Tables(notebook.cells[1].outputs[0].data["text/html"]).rows) == 11

    for cell in notebook.cells[1:]:
        cell.outputs = []
    del notebook.metadata["widgets"]
    assert (whole - len(nbformat.writes(notebook).encode())) / len(QUESTIONS) <= 20_000


def test_the_sliders_come_with_the_first_view(week_store, now):
    """A front end that shows the widget counts its view; then the sliders are there, and stay the same ones."""
    explorer = explore(week_store, QUERY, now=now)
    assert explorer.children == () and explorer.weights == {} and explorer.profile is auto
    explorer.set_state({"_view_count": 1})

    shown = explorer.children
    assert [kind.__class__.__name__ for kind in shown] == ["GridBox", "HBox", "HTML", "HTML", "HTML"]
    explorer.set_state({"_view_count": 2})
    explorer.set_state({"_view_count": 0})
    assert explorer.children == shown and len(explorer.sliders) == len(auto.terms)


# What the renderers of JupyterLab, Notebook 7 and VS Code all hold. Any other module they would have to fetch.
BUNDLED = {"@jupyter-widgets/base": "2.0.0", "@jupyter-widgets/controls": "2.0.0", "@jupyter-widgets/output": "1.0.0"}


def test_no_front_end_of_its_own(explorer):
    """Every model and every view of the tree is of a module that a front end of ipywidgets 8 holds, at its version."""
    assert explorer.sliders
    models = dependency_state(explorer, drop_defaults=False).values()
    parts = [(model["model_module"], model["model_module_version"]) for model in models]
    views = [(state["_view_module"], state["_view_module_version"]) for state in (model["state"] for model in models)]

    assert len(parts) > 3 * len(explorer.sliders)  # a slider and a number with their layouts and styles
    assert {part for part in [*parts, *views] if part[0]} <= set(BUNDLED.items())


def test_it_is_a_widget(explorer):
    """It can stand in a box with other widgets."""
    assert isinstance(explorer, MemoryExplorer) and explorer.model_id


def test_what_nobody_sees_is_marked(store):
    """Titles, tags, the question and the code show controls and changes of direction as marks."""
    memory = store()
    memory.add("λ \x1b[2J costs \u202e5", title="λ \x9b \u2066", tags=["\u200fdraft"])
    shown = explore(memory, "λ costs \u202e5")

    page = "".join(shown._repr_mimebundle_()[kind] for kind in ("text/plain", "text/html"))
    state = "".join(str(part.value) for part in (shown._controls.table, shown._controls.code, shown._controls.formula))
    assert not set(page + state) & set("\x1b\x9b\u2066\u200f\u202e")
    assert "[U+202E]5" in page and "␛[2J" in page


def test_pictures_are_places_in_the_widget_and_in_what_stays(store, tmp_path):
    """The widget and the table that stays have the id of a pictured memory; no state of a widget has a picture."""
    memory = store()
    saved(tmp_path / "nb" / "zürich.ipynb", plotting("plt.plot(arrivals)", plot(1)), plotting("arrivals.describe()"))
    memory.index(tmp_path / "nb", progress=False)
    explorer = explore(memory, "arrivals")
    [pictured] = [hit.memory for hit in explorer.answer.hits if hit.memory.thumbnails]
    place = f'<span class="jp-Memory-outputPicture" data-memory="{pictured.id}"'
    assert explorer._controls.table.value.count(place) == explorer._plainly()["text/html"].count(place) == 1
    state = json.dumps(dependency_state([explorer]))
    assert place.replace('"', '\\"') in state
    assert not [
        left for left in ("<img", "data:image", "thumbnail") if left in state + explorer._plainly()["text/html"]
    ]
