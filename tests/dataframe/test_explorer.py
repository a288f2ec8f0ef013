"""Sliders for the weights of a profile: each ranking is that of a new search; the profile as code; the table."""

import json
import re
import tomllib
from pathlib import Path

import nbformat
import pytest
from ipywidgets.embed import dependency_state
from nbclient import NotebookClient
from pages import Page
from pictures import plot, plotting, saved

from jupyter_memory import QueryError
from jupyter_memory.cli import main
from jupyter_memory.dataframe import MemoryExplorer
from jupyter_memory.search import PROFILES, auto, covalence, profile_named, vault

QUERY = "how did we scale the electricity prices in Zürich"
VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def explorer(week_store, now):
    return week_store.explore(QUERY, now=now)


def ids(answer):
    return [hit.memory.id for hit in answer.hits]


def shown(explorer):
    assert explorer.sliders
    return explorer.children[2:]


def table(explorer):
    return shown(explorer)[2].value


def still(explorer, kind="text/html"):
    return explorer._repr_mimebundle_()[kind]


@pytest.mark.parametrize("name", ["auto", "vault"])
def test_moving_is_searching(week_store, now, name):
    """After each move, order and scores are those of a new search by the profile that the sliders make."""
    question = "the prices of the model"
    explorer = week_store.explore(question, profile=name, limit=6, now=now)
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
    weights = {term.name: term.weight for term in auto.terms}
    assert {name: slider.value for name, slider in explorer.sliders.items()} == weights
    assert {field.description: field.value for field in explorer.fields.values()} == weights
    assert explorer.fields["keyword"].tooltip == "Weight of keyword: 0.05*keyword"
    assert explorer.fields["time"].tooltip.endswith("it says nothing of these memories")
    # It can stand in a box with other widgets.
    assert isinstance(explorer, MemoryExplorer) and explorer.model_id


def test_number_and_slider(week_store, now):
    explorer = week_store.explore(QUERY, profile=covalence, now=now)
    assert explorer.fields["tier"].value == 0.18 and explorer.profile is covalence
    explorer.fields["tier"].value = 0.3
    explorer.sliders["recency"].value = 0.026000000000000002 / 10
    assert explorer.sliders["tier"].value == 0.3 and explorer.weights == {"tier": 0.3, "recency": 0.0026}
    assert explorer.fields["recency"].value == 0.0026 and "0.0026}" in explorer.code


@pytest.mark.parametrize("weight", [0.0033, 0.05, 0.06, 0.15, 0.18, 0.25, 0.4, 0.5, 0.9, 1.0, 1.2, 40.0, -0.2])
def test_ranges(week_store, now, weight):
    """A weight lies on its slider, which has room on both sides and a hundred round steps."""
    profile = auto.replace(name="mine", terms=(auto.terms[0], type(auto.terms[1])("tier", weight)))
    slider = week_store.explore(QUERY, profile=profile, now=now).sliders["tier"]
    assert 2.5 <= slider.max / abs(weight) <= 6.3 and slider.min in (0.0, -slider.max) and slider.value == weight
    steps = weight / slider.step
    assert steps == pytest.approx(round(steps)) and slider.max / slider.step == pytest.approx(100)


def test_words_alone(store, week, now):
    filled = store(embedder=None, profile=vault)
    filled.add_many(week, progress=False)
    explorer = filled.explore(QUERY, now=now)
    assert explorer.sliders["semantic"].value == 0.40
    explorer.sliders["semantic"].value = 0.1
    assert explorer.profile.terms == vault.terms and explorer.profile.keyword_only[0].weight == 0.1
    assert ids(explorer.answer) == ids(filled.hits(QUERY, profile=explorer.profile, now=now))


def test_nothing_found_and_nothing_asked(store, week_store):
    explorer = store("empty.sqlite").explore("λ")
    assert "No memories for “λ”." in table(explorer)
    explorer.sliders["keyword"].value = 0.0
    assert explorer.answer.hits == ()
    with pytest.raises(QueryError, match="Add some words"):
        week_store.explore("kind:note")


def test_the_frame(explorer, week_store):
    """The result is a DataFrame that explains itself; the store is asked once, and moves need it no more."""
    explorer.sliders["recency"].value = 0.2
    frame = explorer.frame
    assert frame.attrs["memsearch"]["profile"] == "my-auto" and frame["memory_id"].tolist() == ids(explorer.answer)
    recency = explorer.answer.hits[0].signals["recency"].contribution
    assert f"{recency:.6f} for how recent it is (recency" in str(frame.memory.explain(1, all=True))
    week_store.close()
    before = ids(explorer.answer)
    explorer.sliders["recency"].value = explorer.sliders["recency"].max
    explorer.sliders["max_sim"].value = 0.0
    assert sorted(ids(explorer.answer)) == sorted(before) and explorer.answer.profile == "my-auto"


CELLS = (
    "%load_ext jupyter_memory",
    "%memadd --title Prices --on 2026-03-02 we scaled the prices to zero mean",
    '%memadd --title "Müller" --on 2026-03-06 the prices of λ = 0.3 are Frau Müller\'s',
    "%memsearch --widget scaled prices",
    "explorer = _",
    "for name in explorer.sliders:\n    if name not in ('tier', 'recency'): explorer.sliders[name].value = 0.0",
)
QUESTIONS = ("how did we normalise the prices", "where do I read a csv file")


def ran(cells):
    """Return a notebook whose cells a real kernel ran."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=600, startup_timeout=100, iopub_timeout=60).execute()
    return notebook


def test_in_a_kernel(home):
    notebook = ran(CELLS)
    still, live = notebook.cells[3].outputs

    assert still.output_type == live.output_type == "display_data"
    assert set(still.data) == {"text/html", "text/plain"} and set(live.data) == {VIEW, "text/html", "text/plain"}
    # Weighed by nothing but recency and tier, the newer comes first.
    _, first, second = Page(still.data["text/html"]).rows
    assert first[1].startswith("Müller") and second[1].startswith("Prices")
    listed = still.data["text/plain"]
    assert listed.index("Müller") < listed.index("Prices")
    assert "Run the cell again" in live.data["text/plain"]
    states = notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    assert states[live.data[VIEW]["model_id"]]["model_name"] == "VBoxModel"
    pages = [state["state"]["value"] for state in states.values() if state["model_name"] == "HTMLModel"]
    # While the live table is on the page, its style hides the other.
    hidden = re.search(r'class="(jp-MemoryExplorer-\w{32})"', still.data["text/html"])[1]
    assert sum(f".{hidden} {{ display: none; }}" in page for page in pages) == 1


def test_a_saved_notebook_is_small(home):
    """A widget of ten hits takes 20 KB at most of a notebook that ran by itself: sliders are made when one looks."""
    assert main(["index", str(Path(__file__).parents[2] / "notebooks" / "samples")]) == 0
    notebook = ran(("%load_ext jupyter_memory", *(f"%memsearch --widget {question}" for question in QUESTIONS)))
    whole = len(nbformat.writes(notebook).encode())
    assert len(Page(notebook.cells[1].outputs[0].data["text/html"]).rows) == 11
    for cell in notebook.cells[1:]:
        cell.outputs = []
    del notebook.metadata["widgets"]
    assert (whole - len(nbformat.writes(notebook).encode())) / len(QUESTIONS) <= 20_000


def test_the_sliders_come_with_the_first_view(explorer):
    """Sliders come with the first view and stay; reset, or moving back, gives the profile and its table again."""
    assert explorer.children == () and explorer.weights == {} and explorer.profile is auto
    explorer.set_state({"_view_count": 1})
    made = explorer.children
    assert [kind.__class__.__name__ for kind in made] == ["GridBox", "HBox", "HTML", "HTML", "HTML"]
    explorer.set_state({"_view_count": 2})
    explorer.set_state({"_view_count": 0})
    assert explorer.children == made and len(explorer.sliders) == len(auto.terms)
    before, first = ids(explorer.answer), table(explorer)
    explorer.sliders["keyword"].value = 0.0
    assert table(explorer) != first
    explorer.children[1].children[0].click()
    assert explorer.profile is auto and explorer.weights == {} and ids(explorer.answer) == before
    assert table(explorer) == first
    explorer.sliders["tier"].value = 0.1
    explorer.sliders["tier"].value = 0.05 + 0.01
    assert explorer.profile is auto


# What the renderers of JupyterLab, Notebook 7 and VS Code all hold. Any other module they would have to fetch.
BUNDLED = {"@jupyter-widgets/base": "2.0.0", "@jupyter-widgets/controls": "2.0.0", "@jupyter-widgets/output": "1.0.0"}


def test_no_front_end_of_its_own(explorer):
    """Models and views are of modules that a front end of ipywidgets 8 holds; beside them is the table, as text too."""
    assert explorer.sliders
    models = dependency_state(explorer, drop_defaults=False).values()
    parts = [(model["model_module"], model["model_module_version"]) for model in models]
    views = [(state["_view_module"], state["_view_module_version"]) for state in (model["state"] for model in models)]
    assert len(parts) > 3 * len(explorer.sliders)  # a slider and a number with their layouts and styles
    assert {part for part in [*parts, *views] if part[0]} <= set(BUNDLED.items())
    bundle = explorer._repr_mimebundle_()
    assert set(bundle) == {VIEW, "text/html", "text/plain"} and bundle["text/plain"] == repr(explorer)
    assert "Scaling the prices" in bundle["text/html"] and "Scaling the prices" in bundle["text/plain"]
    assert "score = 0.05*keyword" in bundle["text/plain"]


@pytest.mark.parametrize("name", PROFILES)
def test_code_and_file_make_the_profile(week_store, now, tmp_path, name):
    """The Python code, run, binds the very profile of the sliders; the TOML is read as the same terms."""
    explorer = week_store.explore(QUERY, profile=name, now=now)
    next(iter(explorer.sliders.values())).value = 0.123
    names, file = {}, tmp_path / f"my-{name}.toml"
    exec(explorer.code, names)
    assert names["mine"] == explorer.profile != PROFILES[name]
    assert f"./{file.name}" in explorer.toml and len(tomllib.loads(explorer.toml)) == 2  # the base and one weight
    file.write_text(explorer.toml, encoding="utf-8")
    read, mine = profile_named(str(file)), explorer.profile
    assert (read.name, read.terms, read.keyword_only) == (mine.name, mine.terms, mine.keyword_only)


def test_a_profile_of_ones_own(week_store, now, tmp_path):
    """Code and file hold for profiles that have no name here: from a file, or made a moment ago."""
    own = covalence.replace(name="λ").without("title").replace(name="λ")
    explorer = week_store.explore(QUERY, profile=own, now=now)
    explorer.sliders["tier"].value = 0.3
    names, file = {"profile": own}, tmp_path / "my-λ.toml"
    exec(explorer.code, names)
    file.write_text(explorer.toml, encoding="utf-8")
    read = profile_named(str(file))
    assert names["mine"] == explorer.profile
    assert (read.name, read.terms, read.signals) == ("my-λ", explorer.profile.terms, own.signals)
    again = week_store.explore(QUERY, profile=str(file), now=now)
    again.sliders["tier"].value = 0.2
    exec(again.code, names)
    assert names["mine"] == again.profile and again.profile.name == "my-λ"


def test_the_button_shows_the_code(explorer):
    code, _, _ = shown(explorer)
    button = explorer.children[1].children[1]
    assert code.layout.display == "none"
    button.value = True
    explorer.sliders["keyword"].value = 0.1
    assert code.layout.display is None and button.description == "Hide code"
    assert "{&quot;keyword&quot;: 0.1}" in code.value and '{"keyword": 0.1}' in Page(code.value).text
    assert "[terms.keyword]\nweight = 0.1" in Page(code.value).text


def test_the_table(explorer):
    before = explorer.pooled.ranks(auto)
    for name in ("max_sim", "keyword", "semantic_margin", "best_passage", "title_match"):
        explorer.sliders[name].value = 0.0
    for name in ("tier", "recency", "title"):
        explorer.sliders[name].value = explorer.sliders[name].max
    page = Page(table(explorer))
    head, *rows = page.rows

    assert head == [
        "rank", "memory", "score", *(one.name for one in explorer.pooled.terms if explorer.pooled.speaks(one)),
    ]  # fmt: skip
    assert {"keyword", "semantic_margin", "max_sim", "length_penalty", "tier", "recency"} <= set(head)
    assert {attributes["scope"] for attributes in page.all("th")} == {"col", "row"}
    assert f"“{QUERY}”, by my-auto." in page.text
    for row, hit in zip(rows, explorer.answer.hits, strict=True):
        was = before[hit.memory.id]
        moved = [] if was == hit.rank else [f"▲{was - hit.rank}" if was > hit.rank else f"▼{hit.rank - was}"]
        assert row[0].split() == [str(hit.rank), *moved]
        assert hit.memory.title in row[1] and hit.snippet in row[1]
        contributions = [hit.score, *(hit.signals[name].contribution for name in head[3:])]
        assert [float(cell) for cell in row[2:]] == pytest.approx(contributions, abs=5e-5)
    assert any("▲" in row[0] for row in rows)


def test_code_keeps_its_lines(store):
    memory = store()
    memory.add_many([{"text": "for λ in prices:\n    λ = 3\n", "lang": "python"}, {"text": "λ\nin prose"}])
    page = table(memory.explore("λ"))
    assert "<pre>for <mark>λ</mark> in prices:\n    <mark>λ</mark> = 3</pre>" in page
    assert re.search(r"\.jp-MemoryResult pre \{[^}]* tab-size: 4;", page), "tabs are as wide as in the panel"
    assert "<div><mark>λ</mark> in prose</div>" in page


@pytest.mark.parametrize("question", [QUERY, 'the "λ" of the ridge model'])
def test_the_region_has_a_name(week_store, now, question):
    page = Page(table(week_store.explore(question, now=now)))
    [region] = [attributes for _, attributes in page.tags if attributes.get("role") == "region"]
    assert (region["aria-label"], region["tabindex"]) == (f"Results for “{question}”", "0")


def test_everything_is_escaped(store, now):
    evil = store()
    bad = "<script>alert('λ')</script> & <b>prices \x1b[2J \u202e5"
    evil.add(bad, title=f"{bad} \x9b \u2066", tags=[f"\u200f{bad}"], source=f"/week/{bad}.md", event_at=now)
    renamed = auto.replace(terms=(auto.terms[0], auto.terms[1].__class__("<i>", 0.1, "semantic_margin")))
    explorer = evil.explore(bad, profile=renamed, now=now)
    explorer.sliders["<i>"].value = 0.2
    for page in (*(part.value for part in shown(explorer)), still(explorer)):
        assert not {tag for tag, _ in Page(page).tags} & {"script", "b", "i"}
        assert not any(name.startswith("on") for _, attributes in Page(page).tags for name in attributes)
        assert not set(page + still(explorer, "text/plain")) & set("\x1b\x9b\u2066\u200f\u202e")
    assert "[U+202E]5" in still(explorer) and "␛[2J" in still(explorer)


def test_colours_are_those_of_the_page(explorer):
    """Text has the page's colour, lines and grounds a half transparent grey; bars may have JupyterLab's colours."""
    explorer.sliders["keyword"].value = 0.0
    style = "".join(re.findall(r"<style>(.*?)</style>", table(explorer), re.DOTALL))
    colours = re.findall(r"(?:^|[ ;{])(color|background|border(?:-bottom)?): ([^;}]+)", style)
    allowed = (
        r"(1px solid )?#(888[0-9a-f]|(2da44e|2f81f7|f5a623)(26|55)?)|none|0|var\(--jp-(brand|error)-color1, #\w{6}\)"
    )
    assert len(colours) > 10
    for name, value in colours:
        assert re.fullmatch("inherit" if name == "color" else allowed, value.strip())


def test_pictures_are_places_in_the_widget_and_in_what_stays(store, tmp_path):
    memory = store()
    saved(tmp_path / "nb" / "zürich.ipynb", plotting("plt.plot(arrivals)", plot(1)), plotting("arrivals.describe()"))
    memory.index(tmp_path / "nb", progress=False)
    explorer = memory.explore("arrivals")
    [pictured] = [hit.memory for hit in explorer.answer.hits if hit.memory.thumbnails]
    place = f'<span class="jp-Memory-outputPicture" data-memory="{pictured.id}"'
    assert table(explorer).count(place) == still(explorer).count(place) == 1
    state = json.dumps(dependency_state([explorer]))
    assert place.replace('"', '\\"') in state
    assert not [left for left in ("<img", "data:image", "thumbnail") if left in state + still(explorer)]
