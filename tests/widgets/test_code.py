"""The profile that was found, as code and as a file."""

from __future__ import annotations

import tomllib

import pytest
from pages import Tables

from jupyter_memory.search import PROFILES, profile_named
from jupyter_memory.search.profiles import covalence
from jupyter_memory.widgets import explore

QUERY = "how did we scale the electricity prices in Zürich"


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
    assert explorer._controls.code.layout.display == "none"
    explorer._controls.open.value = True
    explorer.sliders["keyword"].value = 0.1

    assert explorer._controls.code.layout.display is None and explorer._controls.open.description == "Hide code"
    text = Tables(explorer._controls.code.value).text
    assert "{&quot;keyword&quot;: 0.1}" in explorer._controls.code.value and '{"keyword": 0.1}' in text
    assert "[terms.keyword]\nweight = 0.1" in text
