"""Folders of notes as Obsidian keeps them: links, callouts and tags are read as their text, and code as it is."""

from __future__ import annotations

import pytest

from jupyter_memory.ingest import known_readers

NOTE = """---
tags: [rates]
aliases: [Verspätung]
---
# Delays #ops

> [!warning]- Ask [[Zoë Müller|Zoë]]
> See [[Rates 2026#Night shift]] and ![[plot.png|300]] #team/night.

```python
x[[0, 1]]  # [[not a link]] #nottag
```
"""


@pytest.fixture
def read(tmp_path):
    """Return what reads a note: its text and its tags."""

    def read(text):
        path = tmp_path / "note.md"
        path.write_text(text)
        found = known_readers().reader_of(path).read(path)
        return found.parts[0].text, found.tags

    return read


@pytest.mark.parametrize(
    "text",
    [
        "[[1]](https://a.b)",
        "[[1, 2], [3, 4]]",
        "`[[ -f x ]]` and `a[[i]]`",
        "```\n[[x]]\n> [!note] y\n```",
        "[^1] [a](b)",
    ],
)
def test_what_only_looks_like_a_mark_stays(read, text):
    """Ordinary links, matrices and code are left as they are."""
    assert read(text)[0] == text


def test_marks_are_read_as_their_text(read):
    """A link is its alias with its target, an embed its name, a callout its title; lines stay where they are."""
    text, _ = read(NOTE)
    assert "> Ask Zoë (Zoë Müller)\n> See Rates 2026 > Night shift and 300 (plot.png) #team/night." in text
    assert "x[[0, 1]]  # [[not a link]] #nottag" in text
    assert text.count("\n") == NOTE.count("\n")


def test_tags_among_the_words(read):
    """Headings, numbers, anchors and code hold no tags."""
    assert read(NOTE)[1] == ("rates", "ops", "team/night")
    assert read("# Title\n#12 a#b [x](#y) `#z` ## two")[1] == ()


def test_a_vault_is_searched_by_link_and_tag(store, tmp_path):
    """An indexed vault has the tags of its notes, finds them by alias and target, and leaves out hidden folders."""
    for folder in (".obsidian", ".trash"):
        (tmp_path / "vault" / folder).mkdir(parents=True)
        (tmp_path / "vault" / folder / "old.md").write_text("[[Zoë Müller]] was here.")
    (tmp_path / "vault" / "delays.md").write_text(NOTE)
    opened = store()
    assert opened.index(tmp_path / "vault", progress=False).files == 1
    [hit] = opened.hits("Zoë Müller", filters={"tag": "team/night"}).hits
    assert set(hit.memory.tags) == {"rates", "ops", "team/night"}
    assert "[[Zoë" not in hit.memory.text


def test_a_line_of_backticks_takes_no_time_to_speak_of(read):
    """As many backticks close code as opened it; a regular expression took a minute for two thousand of them."""
    line = "a " + "`" * 100_000 + "x [[a]] #tag"
    assert read(line) == (line.replace("[[a]]", "a"), ("tag",))
    assert read("``[[a]] ` [[b]]`` [[c]] ` [[d]]")[0] == "``[[a]] ` [[b]]`` c ` d"
