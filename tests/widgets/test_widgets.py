"""The result with sliders: its ranking is that of a new search, and its table stays without them."""

from __future__ import annotations

import re
import tomllib
from html.parser import HTMLParser

import nbformat
import pytest
from ipywidgets.embed import dependency_state
from nbclient import NotebookClient

from jupyter_memory.errors import QueryError
from jupyter_memory.search.profiles import PROFILES, auto, covalence, profile_named, vault
from jupyter_memory.widgets import MemoryExplorer, explore
from jupyter_memory.widgets.explorer import range_of

QUERY = "how did we scale the electricity prices in Zürich"
VIEW = "application/vnd.jupyter.widget-view+json"


class Tables(HTMLParser):
    """The cells of a page's tables row by row, what stands outside of them, and every tag that was opened."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.tags, self.text = [], [], ""
        self._cell = None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self._cell = ""

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.rows[-1].append(self._cell)
            self._cell = None

    def handle_data(self, data):
        if self._cell is None:
            self.text += data
        else:
            self._cell += data


def ids(answer):
    """Return the ids of an answer's memories in order."""
    return [hit.memory.id for hit in answer.hits]


@pytest.fixture
def explorer(week_store, now):
    """The week, asked for prices."""
    return explore(week_store, QUERY, now=now)


# -- the sliders -------------------------------------------------------------------------------------------------------


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
    before, table = ids(explorer.answer), explorer._table.value
    explorer.sliders["keyword"].value = 0.0
    assert explorer._table.value != table
    explorer._again.click()

    assert explorer.profile is auto and explorer.weights == {} and ids(explorer.answer) == before
    assert explorer._table.value == table
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


# -- the profile that was found ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROFILES)
def test_the_code_makes_the_profile(week_store, now, name):
    """The Python code, run, binds the very profile of the sliders."""
    explorer = explore(week_store, QUERY, profile=name, now=now)
    next(iter(explorer.sliders.values())).value = 0.123
    names = {}
    exec(explorer.code, names)

    assert names["mine"] == explorer.profile != PROFILES[name]


@pytest.mark.parametrize("embedder", ["static", None], ids=["both retrievers", "words alone"])
@pytest.mark.parametrize("name", PROFILES)
def test_the_file_makes_the_profile(store, week, now, tmp_path, name, embedder):
    """The TOML, saved under the name that it tells, is read as the same terms."""
    filled = store(embedder=embedder)
    filled.add_many(week, progress=False)
    explorer = explore(filled, QUERY, profile=name, now=now)
    next(iter(explorer.sliders.values())).value = 0.123
    file = tmp_path / f"my-{name}.toml"
    assert f"./{file.name}" in explorer.toml
    file.write_text(explorer.toml, encoding="utf-8")
    read, mine = profile_named(str(file)), explorer.profile

    assert (read.name, read.terms, read.keyword_only) == (mine.name, mine.terms, mine.keyword_only)
    assert len(tomllib.loads(explorer.toml)) == 2  # the base and one weight


def test_a_profile_of_ones_own(week_store, now, tmp_path):
    """Code and file hold for profiles that have no name here: from a file, or made a moment ago."""
    own = covalence.replace(name="λ").without("title").replace(name="λ")
    explorer = explore(week_store, QUERY, profile=own, now=now)
    explorer.sliders["tier"].value = 0.3
    names = {"profile": own}
    exec(explorer.code, names)
    (tmp_path / "my-λ.toml").write_text(explorer.toml, encoding="utf-8")
    read = profile_named(str(tmp_path / "my-λ.toml"))

    assert names["mine"] == explorer.profile
    assert (read.name, read.terms, read.signals) == ("my-λ", explorer.profile.terms, own.signals)

    again = explore(week_store, QUERY, profile=str(tmp_path / "my-λ.toml"), now=now)
    again.sliders["tier"].value = 0.2
    exec(again.code, names)
    assert names["mine"] == again.profile and again.profile.name == "my-λ"


def test_the_button_shows_the_code(explorer):
    """The code is hidden until it is asked for; it follows the sliders."""
    assert explorer._code.layout.display == "none"
    explorer._open.value = True
    explorer.sliders["keyword"].value = 0.1

    assert explorer._code.layout.display is None and explorer._open.description == "Hide code"
    text = Tables(explorer._code.value).text
    assert "{&quot;keyword&quot;: 0.1}" in explorer._code.value and '{"keyword": 0.1}' in text
    assert "[terms.keyword]\nweight = 0.1" in text


# -- the table ---------------------------------------------------------------------------------------------------------


def test_the_table(explorer):
    """A real table: a caption, heads with a scope, a row a hit, every contribution and how far each has moved."""
    explorer.sliders["max_sim"].value = explorer.sliders["keyword"].value = explorer.sliders[
        "semantic_margin"
    ].value = 0.0
    for name in ("tier", "recency", "title"):
        explorer.sliders[name].value = explorer.sliders[name].max
    page = Tables(explorer._table.value)
    head, *rows = page.rows

    assert head == [
        "rank",
        "memory",
        "score",
        "keyword",
        "semantic_margin",
        "max_sim",
        "length_penalty",
        "tier",
        "recency",
    ]
    assert {attributes["scope"] for tag, attributes in page.tags if tag == "th"} == {"col", "row"}
    assert f"“{QUERY}”, by my-auto." in page.text
    for row, hit in zip(rows, explorer.answer.hits, strict=True):
        was = explorer._before[hit.memory.id]
        moved = "" if was == hit.rank else f"▲{was - hit.rank}" if was > hit.rank else f"▼{hit.rank - was}"
        assert row[0].split() == [str(hit.rank), *([moved] if moved else [])]
        assert hit.memory.title in row[1] and hit.snippet in row[1]
        assert [float(cell) for cell in row[2:]] == pytest.approx(
            [hit.score, *(hit.signals[name].contribution for name in head[3:])], abs=5e-5
        )
    assert any("▲" in row[0] for row in rows)


def test_code_keeps_its_lines(store):
    """Code is shown line by line, in one width, and its marks with it."""
    memory = store()
    memory.add_many([{"text": "for λ in prices:\n    λ = 3\n", "lang": "python"}, {"text": "λ\nin prose"}])
    page = explore(memory, "λ")._table.value

    assert '<div class="jp-MemoryExplorer-code">for <mark>λ</mark> in prices:\n    <mark>λ</mark> = 3</div>' in page
    assert re.search(r"\.jp-MemoryExplorer-code \{[^}]* tab-size: 4;", page), "tabs are as wide as in the panel"
    assert "<div><mark>λ</mark> in prose</div>" in page


def test_the_region_has_a_name(week_store, now):
    """The table can be gone to by the question it answers: two in one notebook have two names, quotes and all."""
    questions = QUERY, 'the "λ" of the ridge model'
    pages = [Tables(explore(week_store, question, now=now)._table.value) for question in questions]

    for page, question in zip(pages, questions, strict=True):
        [region] = [attributes for _, attributes in page.tags if attributes.get("role") == "region"]
        assert region["aria-label"] == f"Results for “{question}”"
        assert region["tabindex"] == "0"


def test_everything_is_escaped(store, now):
    """Titles, texts, tags, sources, the question and the names of terms are text, never HTML."""
    evil = store()
    bad = "<script>alert('λ')</script> & <b>prices"
    evil.add(bad, title=bad, tags=[bad], source=f"/week/{bad}.md", event_at=now)
    renamed = auto.replace(terms=(auto.terms[0], auto.terms[1].__class__("<i>", 0.1, "semantic_margin")))
    explorer = explore(evil, bad, profile=renamed, now=now)
    explorer.sliders["<i>"].value = 0.2

    for page in (
        explorer._table.value,
        explorer._formula.value,
        explorer._code.value,
        explorer._plainly()["text/html"],
    ):
        parsed = Tables(page)
        assert not {tag for tag, _ in parsed.tags} & {"script", "b", "i"}
        assert not any(name.startswith("on") for _, attributes in parsed.tags for name in attributes)


def test_colours_are_those_of_the_page(explorer):
    """Text has the page's colour, lines and grounds a half transparent grey; bars may have JupyterLab's colours."""
    explorer.sliders["keyword"].value = 0.0
    style = re.search(r"<style>(.*?)</style>", explorer._table.value, re.DOTALL)[1]
    colours = re.findall(r"(?:^|[ ;{])(color|background|border(?:-bottom)?): ([^;}]+)", style)

    assert len(colours) > 10
    for name, value in colours:
        if name == "color":
            assert value.strip() == "inherit"
        else:
            assert re.fullmatch(
                r"(1px solid )?#888[0-9a-f]|none|0|var\(--jp-(brand|error)-color1, #\w{6}\)", value.strip()
            )


def test_nothing_found(store):
    """A search without hits has its sliders and says so."""
    explorer = explore(store(), "λ")

    assert "No memories for “λ”." in explorer._table.value
    explorer.sliders["keyword"].value = 0.0
    assert explorer.answer.hits == ()


def test_without_words(week_store):
    """Without a question nothing is weighed: the error says what to add."""
    with pytest.raises(QueryError, match="Add some words"):
        explore(week_store, "kind:note")


def test_the_frame(explorer, week_store, now):
    """The result as it stands is a DataFrame that explains itself."""
    explorer.sliders["recency"].value = 0.2
    frame = explorer.frame

    assert frame.attrs["memsearch"]["profile"] == "my-auto"
    assert frame["memory_id"].tolist() == ids(explorer.answer)
    recency = explorer.answer.hits[0].signals["recency"].contribution
    assert f"recency {recency:.6f}" in str(frame.memory.explain(1))


# -- in a notebook -----------------------------------------------------------------------------------------------------


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
    "for name in ('keyword', 'semantic_margin', 'max_sim'): explorer.sliders[name].value = 0.0",
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


# What the renderers of JupyterLab, Notebook 7 and VS Code all hold. Any other module they would have to fetch.
BUNDLED = {"@jupyter-widgets/base": "2.0.0", "@jupyter-widgets/controls": "2.0.0", "@jupyter-widgets/output": "1.0.0"}


def test_no_front_end_of_its_own(explorer):
    """Every model and every view of the tree is of a module that a front end of ipywidgets 8 holds, at its version."""
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
    state = "".join(str(part.value) for part in (shown._table, shown._code, shown._formula))
    assert not set(page + state) & set("\x1b\x9b\u2066\u200f\u202e")
    assert "[U+202E]5" in page and "␛[2J" in page
