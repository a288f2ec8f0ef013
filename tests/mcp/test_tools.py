"""The tools: what they answer, and what they say to a program that asks for what cannot be."""

from datetime import UTC, datetime

import pytest
from small_notebooks import write

from jupyter_memory import MemoryStore


def test_a_hit_says_where_it_is_from_and_what_its_text_costs(tools, ask):
    """A hit has title, path, date, badges and strength; a short text is whole, so nothing is said of its tokens."""
    found = ask(tools, "search", query="boosted trees and the linear model on the holdout")
    assert found["verdict"] == "strong"
    hit = found["hits"][0]
    assert (hit["title"], hit["path"]) == ("Holdout results", "/projects/week/notes/results.md")
    assert (hit["date"], hit["kind"], hit["tags"]) == ("2026-03-05", "file", ["model"])
    assert hit["badges"] == "KW+SEM" and 0.8 <= hit["strength"] <= 1
    assert "boosted trees" in hit["text"] and "snippet" not in hit and "tokens" not in hit
    whole = ask(tools, "search", query="boosted trees holdout", mode="full")["hits"][0]
    assert "learning rate is 0.05" in whole["text"] and "snippet" not in whole


def test_a_long_text_has_a_snippet_and_its_part_around_words_is_asked_for(tools, ask, week_store):
    """A text of more tokens than a snippet saves is not told whole; of what costs little, all is told."""
    filler = "The shops open at nine and close in the evening. " * 80
    memory = week_store.add(f"{filler}The quagga parameter is 0.37.{filler}", title="Long")
    short = week_store.add("First line.\n\nSecond line about zebras.", title="Short")
    hit = ask(tools, "search", query="quagga parameter")["hits"][0]
    [part] = ask(tools, "get", ids=memory.id, around="quagga parameter")["memories"]
    assert hit["id"] == memory.id and "quagga" in hit["snippet"] and "text" not in hit
    assert "quagga parameter is 0.37" in part["text"] and part["end"] - part["start"] < part["length"]
    assert 1_500 < hit["tokens"] < 2_500
    assert "First line." in ask(tools, "get", ids=short.id, around="zebras")["memories"][0]["text"]


def test_a_cell_is_named_in_a_notebook_and_a_line_elsewhere(filled, tools_over, ask):
    """A hit in a notebook has its cell, counted from 1; one in another file, the line on which its part begins."""
    tools = tools_over(filled)
    found = ask(tools, "search", query="prices", limit=50)["hits"]
    cells = [hit for hit in found if hit["path"].endswith(".ipynb")]
    others = [hit for hit in found if not hit["path"].endswith(".ipynb")]
    assert {hit["cell"] for hit in cells} == {1, 2} and not any("line" in hit for hit in cells)
    assert others and all(hit["line"] >= 1 and "cell" not in hit for hit in others)


def test_nothing_is_answered_without_filler(tools_over, ask, week_store):
    """Where nothing answers, there are no hits, and a note says so; a command is not told."""
    for bound, said in (
        ({}, "Nothing here answers this."),
        ({"space": "empty"}, "nothing yet in the part"),
        ({"path": ("/nowhere",)}, "nothing yet in the part"),
    ):
        found = ask(tools_over(week_store, **bound), "search", query="which embassy issues visas for Madagascar")
        assert found["verdict"] == "none" or bound
        assert found["hits"] == [] and said in found["note"]
        assert not [word for word in ("`", "index", "closest") if word in found["note"]]


def test_filters_hold_and_the_nearest_value_is_named(tools, tools_over, ask, store, week_store):
    """Filters leave out what does not match; for a tag or a path that nothing has, the note names what there is."""
    found = ask(tools, "search", query="prices", filters={"tag": "prices", "since": "2026-03-03"})
    assert {hit["title"] for hit in found["hits"]} <= {"Zürich and Genève", "東京の売上"} and found["hits"]
    none = ask(tools, "search", query="prices", filters={"tag": ["prizes"]})
    assert none["hits"] == [] and "Did you mean 'prices'?" in none["note"]
    then = ask(tools, "search", query="prices", filters={"as_of": "2020-03"})
    assert then["hits"] == [] and "stored by 2020-03-31 23:59, " in then["note"]
    assert "stored by" in ask(tools, "search", query="prices", filters={"as_of": "today"})["note"]
    failed = {"kind": "cell", "title": "Failed", "metadata": {"cell_type": "code"}}
    week_store.add("prices / 0\n\nOut:\nZeroDivisionError: division by zero", **failed)
    errors = ask(tools, "search", query="prices", filters={"outcome": "Error"})["hits"]
    assert [hit["title"] for hit in errors] == ["Failed"]
    new = tools_over(store("new.sqlite"))
    ask(new, "remember", text="Prices are net of tax.")
    assert "Known: mcp://codex." in ask(new, "search", query="prices", filters={"path": "/x"})["note"]


@pytest.mark.parametrize(
    "arguments",
    [
        *(
            {"filters": {"tag": '["prices"]'}},
            {"filters": '{"tag": "prices"}'},
            {"filters": {"tag": "prices"}, "mode": ""},
        ),
        *({"filters": {"tag": ["prices"], "kind": "", "path": "", "since": None}}, {"limit": "50", "cursor": ""}),
        {"filters": "null", "limit": '""', "max_tokens": "null", "mode": "null", "cursor": "null"},
        *({"filters": {"tag": "prices", "kind": "null", "path": "null", "since": "null"}}, {"filters": "{}"}),
        *({"filters": {"kind": ["Note", "FILE"]}, "mode": "Scan"}, {"limit": None, "max_tokens": None, "filters": ""}),
    ],
)
def test_arguments_are_understood_as_meant(tools, ask, arguments):
    """Lists and objects as JSON text, nothing for what may be left out, and names in capitals mean what they say."""
    meant = ask(
        tools, "search", query="prices in Zürich", filters={"tag": "prices"} if "tag" in str(arguments) else None
    )
    found = ask(tools, "search", query="prices in Zürich", **arguments)
    assert found["hits"][0]["id"] == meant["hits"][0]["id"]


def test_paths_of_hits_are_filters(tools, tools_over, ask, week_store):
    """What a hit shows of a path, with or without the folder that all hits share, is a filter; a bound stays whole."""
    for number, path in enumerate(
        ("/projects/drinks/shop/prices.md", "/projects/drinks/cafe/prices.md", "/projects/drinks/cafe/tea/green.md")
    ):
        week_store.add(f"The samovar of house {number} boils.", source=path, kind="file")
    found = ask(tools, "search", query="samovar")
    assert found["shared"]["folder"] == "/projects/drinks/"
    for part, count in (
        ("green.md", 1), ("tea", 1), ("cafe/tea", 1), ("Tea/", 1), ("cafe", 2), ("…fe/tea/green.md", 1),
    ):  # fmt: skip
        answer = ask(tools, "search", query="samovar", filters={"path": part})
        assert len(answer["hits"]) == count and "called" not in answer.get("note", ""), part
    both = ask(tools, "search", query="samovar", filters={"path": "prices.md"})
    assert (
        len(both["hits"]) == 2
        and "are called 'prices.md': /projects/drinks/cafe/prices.md, /projects/drinks/shop/prices.md." in both["note"]
    )
    narrow = tools_over(week_store, path=("/projects/drinks/shop",))
    [hit] = ask(narrow, "search", query="samovar", filters={"path": "prices.md"})["hits"]
    assert hit["path"] == "/projects/drinks/shop/prices.md"
    for path in ("tea", "/tea", "een.md"):
        assert not ask(narrow, "search", query="samovar", filters={"path": path})["hits"]
    assert not ask(tools, "search", query="samovar", filters={"path": "/tea"})["hits"]
    assert {"/projects/drinks/shop", "/projects/drinks/cafe"} <= set(ask(tools, "status")["folders"])
    assert ask(narrow, "status")["folders"] == ["/projects/drinks/shop"]


def test_get_reads_several_in_their_order_and_names_the_missing(tools, ask, week_memories, refused):
    ids = [week_memories[title].id for title in ("Joining orders", "Lost events")]
    read = ask(tools, "get", ids=[*ids, "0" * 16])
    assert [one["id"] for one in read["memories"]] == ids and read["missing"] == ["0" * 16]
    assert "Join on customer_id." in read["memories"][0]["text"]
    one, other = (week_memories[title].id for title in ("Joining orders", "Lost events"))
    assert "the text ends before it" in refused(tools, "get", ids=one, offset=10_000)
    assert "it goes with one id" in refused(tools, "get", ids=[one, other], offset=3)
    assert "without around" in refused(tools, "get", ids=one, offset=3, around="orders")


def test_related_memories_leave_out_the_one_that_is_asked_about(tools, ask, week_memories):
    """What is like a memory comes without a verdict and without it; the cursor alone asks for the next page."""
    base = week_memories["Scaling the prices"].id
    every = ask(tools, "related", id=base, limit=50)
    first = ask(tools, "related", id=base, limit=1)
    second = ask(tools, "related", cursor=first["next"], limit=1)
    ids = [hit["id"] for hit in every["hits"]]
    assert ids and base not in ids and "verdict" not in every
    assert [hit["id"] for hit in first["hits"] + second["hits"]] == ids[:2]


def test_a_program_remembers_and_forgets_its_own(tools, tools_over, ask, refused, week_store, week_memories):
    """What a program stores has the tier `mcp` and its name; it forgets that, and nothing else unless it is allowed."""
    kept = ask(tools, "remember", text="The fix is to pin pandas below 3.1.", title="Pin", tags=["fix"])
    memory = week_store.get(kept["id"])
    assert (memory.tier, memory.kind, memory.source) == ("mcp", "note", "mcp://codex")
    assert dict(memory.metadata) == {"client": "codex"} and memory.tags == ("fix",)
    assert "only notes that you stored" in refused(tools, "forget", client="cursor", ids=kept["id"])
    mine = week_memories["Scaling the prices"].id
    assert "only notes that you stored" in refused(tools, "forget", ids=[kept["id"], mine])
    assert week_store.get(kept["id"]) and week_store.get(mine)
    assert ask(tools, "forget", ids=kept["id"])["forgotten"] == 1
    assert "No memory that this client may see" in refused(tools, "forget", ids=kept["id"])
    assert ask(tools_over(week_store, forget_any=True), "forget", ids=mine)["forgotten"] == 1


def test_the_words_of_a_person_stay_a_persons(tools, ask, refused, week_store, week_memories):
    """A program that stores what a person has written does not come to own it; a note that is pinned stays, too."""
    written = week_memories["Scaling the prices"]
    copy = ask(tools, "remember", text=written.text, title=written.title)
    assert copy["id"] != written.id and not week_store.get(written.id).metadata
    week_store.pin(copy["id"])
    assert "no person has pinned" in refused(tools, "forget", ids=copy["id"])


def test_what_a_program_says_of_a_note(tools, tools_over, ask, refused, week_store):
    """Severity, domain, window and space are stored, and said again of the same text; only a bound space is kept to."""
    said = {"severity": "Warning", "domain": "sales", "valid_from": "2025-01-01", "valid_until": "2025-12-31"}
    kept = ask(tools, "remember", text="The discount λ is 5 percent.", space="shop", **said)["id"]
    memory = week_store.get(kept)
    assert (memory.severity, memory.domain, memory.space) == ("warning", "sales", "shop")
    assert (memory.valid_from, memory.valid_until) == tuple(
        datetime(year, 1, 1).astimezone(UTC)
        for year in (2025, 2026)  # the end of a day is included
    )
    [hit] = ask(tools, "search", query="discount percent", filters={"tier": "mcp"})["hits"]
    assert hit["id"] == kept and hit["title"] == "not valid after 2025-12-31"
    assert ask(tools, "get", ids=kept)["memories"][0]["title"] == hit["title"]
    again = {"text": "The discount λ is 5 percent.", "space": "shop", "severity": "critical", "valid_until": "2999"}
    assert ask(tools, "remember", **again)["id"] == kept
    memory = week_store.get(kept)
    assert (memory.severity, memory.domain, memory.outside(datetime.now(UTC))) == ("critical", "sales", "")
    bound = tools_over(week_store, space="shop")
    assert refused(bound, "remember", text="x", space="papers").startswith("space: you may not write to this one")
    assert week_store.get(ask(bound, "remember", text="x", space="shop")["id"]).space == "shop"


def test_tags_may_be_evidence(tools_over, ask, week_store):
    """Tags beside the question decide between equals where the profile reads them; else the answer says so."""
    for number, tag in enumerate(("winter", "summer", "spring")):
        week_store.add(f"The tariff of season {number} holds.", tags=[tag, "tariff"], event_at="2026-03-02")
    plain, tools = tools_over(week_store), tools_over(week_store)
    tools.provider.settings.profile = "vault"
    found = ask(tools, "search", query="tariff of the season", about_tags=["Spring", "tariff"])
    assert found["hits"][0]["tags"] == ["spring", "tariff"] and "gives no points" not in found.get("note", "")
    assert len(found["hits"]) >= 3  # nothing is left out
    found = ask(plain, "search", query="tariff of the season", about_tags="spring")
    assert "The profile auto gives no points for tags; vault does." in found["note"]


def test_a_program_pins_its_own(tools, tools_over, ask, refused, week_store, week_memories):
    """It pins and unpins what it stored itself, unless a person has pinned that, be it before or after it."""
    kept, mine = ask(tools, "remember", text="Orders close at six.")["id"], week_memories["Scaling the prices"].id
    assert ask(tools, "pin", ids=kept)["changed"] == 1 and week_store.get(kept).tier == "core"
    assert week_store.get(kept).metadata["pinned_by"] == "codex"
    assert ask(tools, "pin", ids=kept, pinned=False)["changed"] == 1 and week_store.get(kept).tier == "mcp"
    assert "pinned_by" not in week_store.get(kept).metadata
    for ids, client in ((mine, "codex"), ([kept, mine], "codex"), (kept, "cursor")):
        assert "only notes that you stored yourself" in refused(tools, "pin", client=client, ids=ids)
    assert not week_store.get(kept).pinned and not week_store.get(mine).pinned
    for pin in (week_store.pin, lambda id_: week_store.update(id_, tier="core")):
        ask(tools, "pin", ids=kept)
        pin(kept)
        assert "no person has pinned" in refused(tools, "pin", ids=kept, pinned=False)
        assert "no person has pinned" in refused(tools, "forget", ids=kept)
        week_store.unpin(kept)
    ask(tools, "pin", ids=kept)
    reading = tools_over(week_store, read_only=True)
    assert "read-only" in refused(reading, "pin", ids=kept, pinned=False) and week_store.get(kept).pinned
    assert ask(tools, "forget", ids=kept)["forgotten"] == 1


def test_secrets_are_redacted_before_they_are_stored(tools, ask, week_store, bytes_of):
    kept = ask(tools, "remember", text="the key is AKIAQ7X2M4N8P1R5T9V3", title="Access", tags=["ghp_" + "a1" * 18])
    assert kept["redacted"] == 2 and "AKIA" not in week_store.get(kept["id"]).text
    assert "AKIA" not in ask(tools, "get", ids=kept["id"])["memories"][0]["text"]
    tools.provider.close()
    assert b"AKIAQ7X2" not in bytes_of(week_store.path)


def test_status_counts_what_is_there(tools, ask, tools_over, refused, week_store):
    found = ask(tools, "status")
    assert found["memories"] == 10 and found["kinds"] == {"note": 8, "cell": 1, "file": 1}
    assert "prices 3" in found["tags"] and found["writing"] == "yes; forgets its own notes"
    tools = tools_over(week_store, read_only=True)
    reading = [f"memory_{name}" for name in ("search", "get", "related", "fix", "status")]
    assert [tool.name for tool in tools.offered] == reading
    assert "read-only" in refused(tools, "remember", text="x")
    assert "read-only" in refused(tools, "forget", ids="x")


WRONG = [
    ("search", {}, "query: it is missing"),
    ("search", {"query": " \n"}, "query: it is empty. Give words"),
    ("search", {"query": "a" * 6_000}, "query: it may have up to 5,000 characters"),
    ("search", {"query": 5}, "query: it must be text"),
    ("search", {"query": "a", "limit": 0}, "limit: it must be 1 or more"),
    ("search", {"query": "a", "limit": True}, "limit: it must be a whole number"),
    ("search", {"query": "a", "limit": 51}, "limit: it must be 50 or less"),
    ("search", {"query": "a", "max_tokens": 10}, "max_tokens: it must be 200 or more"),
    ("search", {"query": "a", "mode": "fast"}, "mode: it must be one of 'scan' or 'full'"),
    ("search", {"query": "a", "colour": "mauve"}, "There is an argument that is not known. Known: query, filters"),
    ("search", {"query": "a", "filters": {"colour": "mauve"}}, "not known. Known: kind, tag, path"),
    ("search", {"query": "a", "kind": "cell"}, "not known. kind is one of filters. Known: query, filters"),
    ("search", {"query": "a", "filters": {"kind": "sonnet"}}, "filters.kind: it must be one of 'note', 'file', 'cell'"),
    ("search", {"query": "a", "filters": {"since": "Tuesdayish"}}, "filters.since: it cannot be read as a time"),
    ("search", {"query": "a", "filters": {"as_of": "Tuesdayish"}}, "filters.as_of: it cannot be read as a time"),
    ("search", {"query": "a", "filters": {"since": "2026-03-02", "until": "2026-03-01"}}, "later than since"),
    ("search", {"query": "a", "filters": {"path": " "}}, "filters.path: it is empty"),
    ("search", {"query": "a", "filters": "tag"}, "filters: it must be an object"),
    ("search", {"query": "since:Tuesdayish"}, "since"),
    ("search", {"cursor": "x"}, "cursor: it is unknown, or its answer is too old"),
    ("search", {"cursor": "ffffffff.-1"}, "cursor: it is unknown, or its answer is too old"),
    ("get", {}, "ids: it is missing"), ("get", {"ids": []}, "ids: it is empty"),
    ("get", {"ids": ["a"] * 21}, "ids: it may hold up to 20 values"),
    ("get", {"ids": ["Zürich"]}, "No memory that this client may see has this id"),
    ("get", {"ids": ["a", "b"]}, "has any of these ids"), ("related", {}, "id: it is missing"),
    ("related", {"id": "a"}, "No memory that this client may see has this id"),
    ("remember", {}, "text: it is missing"), ("remember", {"text": ""}, "text: it is empty"),
    ("remember", {"text": " \n"}, "This cannot be stored"),
    ("remember", {"text": "a", "severity": "mauve"}, "severity: it must be one of 'critical', 'warning' or"),
    ("remember", {"text": "a", "valid_until": "Tuesdayish"}, "valid_until: it cannot be read as a time"),
    ("remember", {"text": "a", "valid_from": "2026-03-02", "valid_until": "2026-03-01"}, "later than valid_from"),
    ("search", {"query": "a", "filters": {"tier": "mauve"}}, "filters.tier: it must be one of 'core', 'file'"),
    ("pin", {"ids": "a", "pinned": "mauve"}, "pinned: it cannot be used"),
    ("pin", {"ids": "a"}, "No memory that this client may see has this id"),
    ("remember", {"text": "a", "tags": ["b"] * 11}, "tags: it may hold up to 10 values"),
    ("forget", {"ids": "a"}, "No memory that this client may see has this id"),
    ("status", {"all": True}, "There is an argument that is not known. Known: none"),
    ("drop", {}, "There are: memory_search, memory_get"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "said"), WRONG, ids=lambda value: str(value)[:40])
def test_wrong_input_is_explained(tools, refused, name, arguments, said):
    """Wrong input gets a sentence that names the argument and what it must be, not what it was."""
    error = refused(tools, name, **arguments)
    assert said in error and "Traceback" not in error
    assert not any(word in error for word in ("sonnet", "Tuesdayish", "Zürich", "mauve"))


def test_a_store_that_is_not_there_yet(tools_over, tmp_path, ask, refused):
    tools = tools_over(tmp_path / "new" / "memory.sqlite")
    for name, arguments in (("search", {"query": "a"}), ("get", {"ids": "a"}), ("status", {})):
        assert "There is no memory yet" in refused(tools, name, **arguments)
    assert ask(tools, "remember", text="Prices are net of tax.")["id"]
    assert ask(tools, "status")["memories"] == 1


def test_a_damaged_store_and_a_newer_one(tools_over, tmp_path, refused):
    """A file that is no store, and one of a newer version, are told apart, without their paths."""
    import apsw

    broken, newer = tmp_path / "broken.sqlite", tmp_path / "newer.sqlite"
    broken.write_bytes(b"no store at all" * 1_000)
    connection = apsw.Connection(str(newer))
    connection.execute("create table memories (x); pragma user_version = 9000; pragma application_id = 1246381396")
    connection.close()
    for path, said in ((broken, "is damaged"), (newer, "")):
        error = refused(tools_over(path), "search", query="a")
        assert said in error and str(tmp_path) not in error and "person" in error


def test_an_error_that_nobody_expected_is_no_traceback(tools, refused, monkeypatch, caplog):
    """What should not happen is one sentence for the program, and a place without texts for the log."""
    week_text = "".join(("Zür", "ich"))  # a traceback shows the source

    def fail(*_, **__):
        raise RuntimeError(week_text)

    monkeypatch.setattr(MemoryStore, "among", fail)
    error = refused(tools, "get", ids="a")
    assert error.startswith("Something went wrong in the memory")
    assert "RuntimeError" in caplog.text and "Zürich" not in caplog.text + error


def test_code_is_read_with_the_cells_that_it_needs(tools, ask, week_store, tmp_path):
    """With `runnable`, the text of a cell has what defines its names; prose and notes stay as they are."""
    week_store.index(write(tmp_path / "shop.ipynb", "# About quaggas.", "λ = 2", "quagga = λ * 2"), progress=False)
    ids = [hit.memory.id for hit in week_store.browsed(filters={"path": str(tmp_path)}).hits]
    read = ask(tools, "get", ids=ids, runnable=True)["memories"]
    [code] = [one["text"] for one in read if "quagga =" in one["text"]]
    assert "# Cell 2 of shop.ipynb defines λ.\nλ = 2" in code
    [prose] = [one["text"] for one in read if "About" in one["text"]]
    assert "# About quaggas.<" in prose and "Cell" not in prose
