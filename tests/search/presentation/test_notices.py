"""Filters that nothing in a store fits are told, with what is nearest."""

from __future__ import annotations

import re

import pytest

from jupyter_memory.text.paths import plain_path


def test_typed_filters_that_nothing_fits(week_store):
    """What is typed in the query beside other filters is told as well, and so is leaving out what is not there."""
    beside = week_store.hits("prices tag:prcies", filters={"tag": "decision"})
    without = week_store.hits("prices -tag:decison -kind:cell")

    assert not beside.hits
    assert beside.notices[-1] == "Nothing in this store has the tag 'prcies'. Did you mean 'prices'?"
    assert without.hits
    assert [notice for notice in without.notices if "tag" in notice] == [
        "Nothing in this store has the tag 'decison', so this filter excludes nothing. Did you mean 'decision'?"
    ]


def test_filters_alone(week_store):
    """Filters that are typed without a question are checked as well."""
    answer = week_store.hits("tag:prcies kind:note")

    assert not answer.hits
    assert answer.notices == ("Nothing in this store has the tag 'prcies'. Did you mean 'prices'?",)


def test_filters_that_leave_everything_out(week_store):
    """Where each filter fits something and all of them nothing, it says so; so it does where only the time is off."""
    together = week_store.hits("prices tag:decision -tag:prices -tag:model").notices[-1]
    late = week_store.hits("prices after:2027-01-01", filters={"since": "2026-01-01"}).notices[-1]

    assert together == "No memory matches all of these filters. Remove one of them."
    assert late == "Nothing in this store is from that time: its memories are from 2026-03-02 to 2026-03-06."


def test_a_word_that_nothing_may_hold(week_store):
    """A word with a minus leaves out, in both retrievers, all that holds a form of it; how to search for it is told."""
    everything = week_store.hits("prices", limit=50)
    answer = week_store.hits("prices -Zürich", limit=50)

    titles = {hit.memory.title for hit in everything.hits}
    assert "Zürich and Genève" in titles
    assert {hit.memory.title for hit in answer.hits} == titles - {"Zürich and Genève"}
    assert any("“Zürich”" in notice and "Quote" in notice for notice in answer.notices)
    left_out = next(hit.memory.id for hit in everything.hits if hit.memory.title == "Zürich and Genève")
    assert "it must not contain Zürich" in week_store.explain("prices -Zürich", left_out).reasons[0]
    assert not {hit.memory.title for hit in week_store.hits("-prices").hits} & {"Scaling the prices"}


def test_an_empty_answer_says_that_nothing_matches(week_store):
    """A question without any hit is not silent: neither alone nor among what a filter lets through."""
    alone = week_store.hits("blorp")
    filtered = week_store.hits("blorp", filters={"kind": "note"})

    assert not alone.hits
    assert alone.notices[-1].startswith("No memory contains these words")
    assert not filtered.hits
    assert filtered.notices[-1].startswith("No memory that matches the filters")


def _suggested(notice):
    """Return the paths that a notice asks about."""
    _, _, guess = notice.partition("Did you mean ")
    return re.findall("'([^']*)'", guess)


@pytest.mark.parametrize(
    "typed", [".", "..", "./", "../reports", "~", "notes", "reports/week/prices.md", "/", "prices"]
)
def test_no_guess_is_a_folder_above_what_was_typed(store, tmp_path, monkeypatch, typed):
    """Whatever is typed, from any folder, no path is suggested that holds the typed one and more besides."""
    here = tmp_path / "home" / "prices"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(here))
    opened = store()
    for source in ("home", "prices", "home/report.md", "notes/prices.md", "home/prices.md"):
        opened.add(f"λ of {source}", source=str(tmp_path / source))
    opened.add("λ of a file at the root", source="/prices.md")
    opened.add("λ of a talk", source="talk")

    for filters in ({"path": typed}, {"not_path": typed}):
        for notice in opened.browsed(filters=filters).notices:
            for path in _suggested(notice):
                assert path not in ("/", ".")
                assert not plain_path(typed).is_relative_to(path)


def test_a_dot_is_shown_in_full(store, tmp_path, monkeypatch):
    """What a dot or ~ stands for is told; a path that was typed without them is told as it was typed."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    monkeypatch.setenv("HOME", str(tmp_path / "empty"))
    opened = store()
    opened.add("λ is 3.2", source="/elsewhere/prices.md")

    for typed in (".", "./", "~", "../empty", f"{tmp_path}/./empty"):
        [notice] = opened.browsed(filters={"path": typed}).notices
        assert notice == f"Nothing in this store comes from '{tmp_path / 'empty'}'. Known: /elsewhere."
    [notice] = opened.browsed(filters={"path": "nowhere"}).notices
    assert notice.startswith("Nothing in this store comes from 'nowhere'.")


def test_a_question_of_unknown_words(store):
    """Where the model knows no word of a question, the answer says that, and not that the model is missing."""
    memory = store()
    memory.add("λ is 0.3 in the ridge model")
    unread = "The model knows no word of this question, so the search used words only, not meaning."

    assert unread in memory.hits("ዋጋ").notices
    assert "The search used words only, not meaning." not in memory.hits("ዋጋ").notices
    assert unread not in memory.hits("ridge").notices
