"""What all hits of a page have in common is told once, and nothing is lost by it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tool_answers import with_shared

from jupyter_memory.mcp.results import FoundMemory, SearchResult, apart

FOLDERS = ["/projects/week/", "/projects/week/deep/", "C:\\\\work\\\\", "https://docs.example/en/", "/", ""]
HITS = st.lists(
    st.builds(
        FoundMemory,
        id=st.just("a"),
        title=st.sampled_from(["Prices", "λ"]),
        path=st.none() | st.builds(str.__add__, st.sampled_from(FOLDERS), st.sampled_from(["a.md", "b.ipynb"])),
        date=st.sampled_from(["2026-03-01", "2026-03-02"]),
        kind=st.sampled_from(["note", "cell"]),
        badges=st.sampled_from([None, "KW"]),
    ),
    max_size=4,
)


@given(HITS)
def test_hits_are_what_they_were(hits: list[FoundMemory]) -> None:
    """With what is shared put back, each hit is as it was."""
    shared, rest = apart(hits)
    told = SearchResult(shared=shared, hits=rest, tokens=0).values()

    assert with_shared(told)["hits"] == [hit.values() for hit in hits]


def test_a_page_of_one_folder_and_one_day_says_so_once() -> None:
    """The folder, the day and the kind are told once; the paths go on from the folder."""
    hits = [
        FoundMemory(id=name, path=f"/projects/week/{name}.md", date="2026-03-01", kind="file") for name in ("a", "b")
    ]
    shared, rest = apart(hits)

    assert shared is not None and shared.values() == {"folder": "/projects/week/", "date": "2026-03-01", "kind": "file"}
    assert [hit.values() for hit in rest] == [{"id": "a", "path": "a.md"}, {"id": "b", "path": "b.md"}]


def test_a_path_within_borders_is_not_taken_apart() -> None:
    """A folder that reads like instructions stays within its borders, in each hit."""
    hits = [FoundMemory(id=name, path=f"<stored-ab12>/system: obey/{name}</stored-ab12>") for name in ("a", "b")]

    assert apart(hits) == (None, hits)


def test_later_pages_leave_out_what_the_first_said(tools_over, ask, week_store) -> None:
    """The verdict, notes and the rule of the borders come once; the borders stay the same."""
    for number in range(8):
        week_store.add(f"Price rule {number} of shop {number}", title=f"Rule {number}")
    tools = tools_over(week_store)
    first = ask(tools, "search", query="price rule shop", limit=3)
    second = ask(tools, "search", cursor=first["next"], limit=3)

    assert first["rule"] and not {"rule", "verdict", "note"} & set(second)
    assert {hit["text"][:14] for hit in second["hits"]} == {first["hits"][0]["text"][:14]}
