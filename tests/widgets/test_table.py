"""The table below the sliders: whole, escaped and readable in every theme."""

from __future__ import annotations

import re

import pytest
from pages import Tables

from jupyter_memory import QueryError
from jupyter_memory.search.profiles import auto
from jupyter_memory.widgets import explore

QUERY = "how did we scale the electricity prices in Zürich"


def test_the_table(explorer):
    """A real table: a caption, heads with a scope, a row a hit, every contribution and how far each has moved."""
    for name in ("max_sim", "keyword", "semantic_margin", "best_passage", "title_match"):
        explorer.sliders[name].value = 0.0
    for name in ("tier", "recency", "title"):
        explorer.sliders[name].value = explorer.sliders[name].max
    page = Tables(explorer._controls.table.value)
    head, *rows = page.rows

    assert head == ["rank", "memory", "score", *explorer._columns]
    assert {"keyword", "semantic_margin", "max_sim", "length_penalty", "tier", "recency"} <= set(head)
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
    page = explore(memory, "λ")._controls.table.value

    assert '<div class="jp-MemoryExplorer-code">for <mark>λ</mark> in prices:\n    <mark>λ</mark> = 3</div>' in page
    assert re.search(r"\.jp-MemoryExplorer-code \{[^}]* tab-size: 4;", page), "tabs are as wide as in the panel"
    assert "<div><mark>λ</mark> in prose</div>" in page


def test_the_region_has_a_name(week_store, now):
    """The table can be gone to by the question it answers: two in one notebook have two names, quotes and all."""
    questions = QUERY, 'the "λ" of the ridge model'
    pages = [Tables(explore(week_store, question, now=now)._controls.table.value) for question in questions]

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
        explorer._controls.table.value,
        explorer._controls.formula.value,
        explorer._controls.code.value,
        explorer._plainly()["text/html"],
    ):
        parsed = Tables(page)
        assert not {tag for tag, _ in parsed.tags} & {"script", "b", "i"}
        assert not any(name.startswith("on") for _, attributes in parsed.tags for name in attributes)


def test_colours_are_those_of_the_page(explorer):
    """Text has the page's colour, lines and grounds a half transparent grey; bars may have JupyterLab's colours."""
    explorer.sliders["keyword"].value = 0.0
    style = re.search(r"<style>(.*?)</style>", explorer._controls.table.value, re.DOTALL)[1]
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

    assert "No memories for “λ”." in explorer._controls.table.value
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
    assert frame["memory_id"].tolist() == [hit.memory.id for hit in explorer.answer.hits]
    recency = explorer.answer.hits[0].signals["recency"].contribution
    assert f"{recency:.6f} for how recent it is (recency" in str(frame.memory.explain(1, all=True))
