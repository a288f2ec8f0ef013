"""Headings, tags and dates as other programs write them: HTML, front matter in TOML, Logseq, Org mode."""

import json
import tomllib
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from growing import cpu_exponent

from jupyter_memory.ingest import read_file
from jupyter_memory.text import headings

TEXTS = tomllib.loads(Path(__file__).with_name("texts.toml").read_text("utf-8"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<h1 align='center'>Upper <em>kiln</em></h1>\n\nAsh.", [(1, "Upper kiln")]),
        ('<div class="alert">\n<h3 style="color:red">Firing &amp; cooling</h3></div>', [(3, "Firing & cooling")]),
        ("  <H2>\n  Over\n  lines\n</H2>\n# Next", [(2, "Over lines"), (1, "Next")]),
        ("<a id='x'></a><h2>Anchored</h2>", [(2, "Anchored")]),
        ("```html\n<h1>Code</h1>\n```", []),
        ("<h1>Open\n\n<hr> a <h7>b</h7> <h2></h2>\nif a <h1> b", []),
    ],
)
def test_headings_of_html_are_headings(text, expected):
    """Without their tags; not within code, and not if they do not end."""
    assert [(one.level, one.text) for one in headings(text)] == expected


def test_cells_stand_under_headings_of_html(tmp_path):
    """As under those of Markdown, of lower and higher levels."""
    sources = ["<h1>Kilns</h1>", "a = 1", "## Glazes", "b = 2", "<h2>Firing</h2>", "c = 3"]
    kinds = ["markdown", "code"] * 3
    cells = [{"cell_type": kind, "metadata": {}, "source": one} for kind, one in zip(kinds, sources, strict=True)]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
    above = {draft.text: draft.context.split("\n")[1] for draft in read_file(tmp_path / "a.ipynb", root=tmp_path)}
    assert [above[one] for one in ("a = 1", "b = 2", "c = 3")] == ["Kilns", "Kilns > Glazes", "Kilns > Firing"]


@pytest.mark.parametrize(
    ("text", "tags", "day"),
    [
        (
            '+++\ntitle = "Eels"\ndate = 2021-05-03T08:00:00Z\n[taxonomies]\ntags = ["eels", "river"]\n+++\nMats.\n',
            2,
            3,
        ),
        ('+++\ndate = 2021-05-03\ntags = ["eels", "river"]\n+++\nMats.\n', 2, 3),
        ("tags:: eels, [[river]]\ndate:: 2021-05-03\n\n- Mats.\n", 2, 3),
        ("- tags:: #eels, #river\n- Mats.\n", 2, None),
        ("+++\nnot = [toml\n+++\nMats.\n", 0, None),
        ("a::b\n+++\nMats.\n", 0, None),
    ],
)
def test_front_matter_is_known_in_each_form(drafted, text, tags, day):
    """Its tags and its date count as in YAML; what cannot be read is text."""
    [draft] = drafted("a.md", text)
    assert draft.tags == ("eels", "river")[:tags] and "Mats." in draft.text
    expected = datetime.now(UTC).date() if day is None else date(2021, 5, day)
    assert draft.event_at.astimezone(UTC).date() == expected


def test_properties_of_logseq_for_itself_are_not_read(drafted):
    """Those of a person are; lines keep their numbers."""
    page = (
        "alias:: brown trout\n\n- Fed at dusk.\n  collapsed:: true\n  id:: 75b1b2c3-d4e5\n\t- Worms. std::sort id::x\n"
    )
    [draft] = drafted("a.md", page)
    assert "75b1b2c3" not in draft.text and "collapsed" not in draft.text and "alias:: brown trout" in draft.text
    assert draft.text.split("Worms")[0].count("\n") == 5 and "std::sort id::x" in draft.text


def test_an_org_file_is_read_block_by_block(drafted):
    """Each in its language, at its line, under its headings, which have neither states nor tags."""
    drafts = drafted("a.org", TEXTS["org"])
    code = [draft for draft in drafts if draft.metadata["cell_type"] == "code"]
    assert [(one.lang, one.text, one.context.split("\n")[1], one.metadata["line"]) for one in code] == [
        ("python", "bloom = anneal(hinge)\n# not a heading\n** nor this", "Hinges for the gate > Heat", 12),
        ("emacs-lisp", "(sort orders)", "Orders", 22),
    ]
    text = "\n".join(draft.text for draft in drafts)
    assert "straw yellow" in text and "a comment" in text and "6f1f0a44" not in text
    assert set(drafts[0].tags) == {"iron", "smithy", "church"} and drafts[0].lang == "org"


def test_an_org_file_without_code_is_one_text(drafted):
    """With its own headings, and without drawers."""
    [draft] = drafted("a.org", TEXTS["org"].partition("** Heat")[0])
    assert (draft.lang, draft.kind) == ("org", "file") and "* TODO [#A] Hinges" in draft.text
    assert "6f1f0a44" not in draft.text and set(draft.tags) == {"iron", "smithy", "church"}


PIECES = [
    "#+begin_src a\n", ":PROPERTIES:\n", "* a :b\n", "* " + " " * 999 + "\n", "<b>\n", "<h1>\n", "tags:: a\n", "<b>",
]  # fmt: skip


@pytest.mark.parametrize("suffix", [".org", ".md"])
@pytest.mark.parametrize("piece", PIECES)
def test_the_time_grows_with_the_text(tmp_path, piece, suffix):
    def read(count):
        path = tmp_path / f"{count}{suffix}"
        path.write_text(piece * (count // len(piece)))
        return lambda: headings(read_file(path, root=tmp_path)[0].text)

    assert cpu_exponent(read, 50_000, 200_000) < 1.6
