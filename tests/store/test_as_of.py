"""Searches as of a time: what was stored by then, whatever happened when, in both databases."""

from datetime import UTC, date, datetime, timedelta

import pytest
from kernel_runs import run
from small_notebooks import write

from jupyter_memory import MemoryStore, QueryError
from jupyter_memory.text import last_moment

NOW = datetime(2026, 11, 21, 19, 0, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "postgres"])
def kept(request, tmp_path):
    place = tmp_path / "s.sqlite" if request.param == "sqlite" else request.getfixturevalue("emptied_postgres")
    with MemoryStore(place) as store:
        yield store


def then():
    return datetime.now(UTC)


def found(store, as_of, query="prices", **options):
    return sorted(hit.memory.text for hit in store.hits(query, as_of=as_of, limit=50, **options).hits)


def test_what_was_stored_and_not_what_happened(kept):
    """The time of storing decides: a note about the past that came later is missing, one about the future is there."""
    kept.add("prices of tomorrow", event_at="2999-01-01")
    first = then()
    kept.add("prices of old", event_at="2020-01-01")
    assert found(kept, first) == ["prices of tomorrow"]
    assert found(kept, then()) == found(kept, None) == ["prices of old", "prices of tomorrow"]
    assert kept.search("prices", as_of=first)["snippet"].tolist() == ["prices of tomorrow"]
    assert [hit.memory.text for hit in kept.browsed(as_of=first).hits] == ["prices of tomorrow"]
    assert kept.hits("prices", filters={"as_of": first}).hits and not kept.hits("prices", as_of="yesterday").hits
    assert kept.hits("prices", as_of="today").query.filters.as_of.time().microsecond == 999_999


def test_a_changed_text_is_missing_and_its_neighbours_are_not(kept, tmp_path):
    """Where a file changes, its other cells stay as old as they are; a moved file and new tags make nothing newer."""
    notebook = write(tmp_path / "w" / "a.ipynb", "prices = load()", "prices.plot()", "prices.mean()")
    kept.index(tmp_path / "w", progress=False)
    note = kept.add("prices are net")
    first = then()
    write(notebook, "prices = load()", "prices.plot(kind='bar')", "prices.mean()")
    kept.index(tmp_path / "w", progress=False)
    notebook.rename(notebook.with_name("b.ipynb"))
    kept.index(tmp_path / "w", progress=False)
    kept.update(note.id, tags=["decision"], title="Net")
    kept.pin(note.id)
    assert found(kept, first) == ["prices = load()", "prices are net", "prices.mean()"]
    kept.update(note.id, text="prices are gross")
    assert found(kept, first) == ["prices = load()", "prices.mean()"]
    assert found(kept, then()) == ["prices = load()", "prices are gross", "prices.mean()", "prices.plot(kind='bar')"]


def test_texts_that_ran_are_as_they_were(kept):
    """Of a cell that ran with several texts, each is there from its first run on; one that runs again stays as old."""
    there = {"notebook": "/w/λ.ipynb", "cell_id": "c-1"}
    kept.history.record([run("prices.fit(alpha=1)", 1, **there)])
    first = then()
    kept.history.record([run("prices.fit(alpha=2)", 2, **there), run("prices.fit(alpha=1)", 3, **there)])
    assert found(kept, first) == ["prices.fit(alpha=1)"]
    assert found(kept, then()) == ["prices.fit(alpha=1)", "prices.fit(alpha=2)"]


def test_forgetting_takes_earlier_texts_along(kept):
    """What was forgotten is not there as of any time: one text by id, all of a notebook by path."""
    for number, text in enumerate(("prices.fit(1)", "prices.fit(2)", "prices.fit(3)")):
        kept.history.record([run(text, number, notebook="/w/λ.ipynb", cell_id="c-1")])
    last = then()
    [second] = kept.hits('"prices fit 2"', limit=1).hits
    kept.forget(second.memory.id)
    assert second.memory.text not in found(kept, last) and len(found(kept, last)) == 2
    assert kept.forget(source="/w/λ.ipynb") == 2
    assert found(kept, last) == found(kept, None) == []


def test_a_changed_text_of_a_file_is_nowhere(store, tmp_path):
    """Old texts of files are not kept: after an edit the store has no byte of them."""
    (file := tmp_path / "w" / "a.md").parent.mkdir()
    file.write_text("prices in Xanthippe")
    opened = store()
    opened.index(file, progress=False)
    file.write_text("prices in Zürich", encoding="utf-8")
    opened.index(file, progress=False)
    opened.close()
    assert b"Xanthippe" not in b"".join(one.read_bytes() for one in opened.path.parent.iterdir())


def test_the_time_goes_where_a_memory_goes(kept, store, tmp_path):
    """Exported, imported, copied and updated from another store, a memory was stored when it first was."""
    kept.add("prices are net")
    first = then()
    kept.add("prices are gross")
    kept.export(tmp_path / "out")
    imported, copied = store("imported.sqlite"), store("copied.sqlite")
    imported.import_(tmp_path / "out", progress=False)
    kept.copy_to(copied.path, progress=False)
    kept.copy_to(copied.path, progress=False, update=True)
    assert found(imported, first) == found(copied, first) == ["prices are net"]


def test_it_is_asked_as_if_then(kept):
    """Ages and words such as last week count from that time, and the answer says how far it goes."""
    kept.add("prices are net", event_at="2026-02-26")
    answer = kept.hits("prices", as_of="2026-03-01", now=NOW)
    assert answer.query.now == datetime(2026, 3, 1, 23, 59, 59, 999999, UTC)
    assert answer.notices[0].startswith("This is what was stored by 2026-03-01 23:59, ")
    assert answer.notices[1:] == ("Nothing that is here now was stored by then.",)
    asked = kept.hits("prices", as_of="2026-03-01", since="last week", now=NOW).query.filters
    assert asked.since == datetime(2026, 2, 16, tzinfo=UTC)
    later = kept.hits("prices", as_of="2999", now=NOW)
    assert later.query.now == NOW and later.hits
    why = kept.explain("prices", later.hits[0].memory.id, as_of="2026-03-01")
    assert why.reasons[0].startswith("The filters exclude it: it must have been stored by 2026-03-01 23:59:59")
    with pytest.raises(QueryError, match="not a time that can be read"):
        kept.hits("prices", as_of="someday")


@pytest.mark.parametrize(
    ("named", "last"),
    [
        ("2026-03-01", datetime(2026, 3, 2, tzinfo=UTC)),
        (date(2026, 3, 1), datetime(2026, 3, 2, tzinfo=UTC)),
        ("March 2026", datetime(2026, 4, 1, tzinfo=UTC)),
        ("Q1 2026", datetime(2026, 4, 1, tzinfo=UTC)),
        ("2026", datetime(2027, 1, 1, tzinfo=UTC)),
        ("yesterday", datetime(2026, 11, 21, tzinfo=UTC)),
        ("last week", datetime(2026, 11, 16, tzinfo=UTC)),
        ("3 days ago", datetime(2026, 11, 19, tzinfo=UTC)),
    ],
)
def test_a_period_is_meant_to_its_end(named, last):
    assert last_moment(named, NOW) == last - timedelta(microseconds=1)


@pytest.mark.parametrize("named", ["2026-03-01T14:30", datetime(2026, 3, 1, 14, 30, tzinfo=UTC)])
def test_an_exact_time_is_meant_as_it_is(named):
    assert last_moment(named, NOW) == datetime(2026, 3, 1, 14, 30, tzinfo=UTC)
    assert last_moment(None, NOW) is None
