"""Every call is in the log of recent searches, by the name of its program; writes are limited."""

from __future__ import annotations

import pytest
from locked import while_another_writes

from jupyter_memory.mcp.bound import LIMITS, ToolError, WriteLimit


def test_every_call_is_in_the_log(tools, ask, refused, week_store, week_memories):
    """Searching, reading, relating, storing, forgetting, asking for the status, and what was refused."""
    orders = week_memories["Joining orders"].id
    ask(tools, "search", query="join orders")
    ask(tools, "get", ids=orders, client="claude-code")
    ask(tools, "related", id=orders)
    kept = ask(tools, "remember", text="Orders close at six.", title="Closing")
    ask(tools, "status")
    refused(tools, "get", ids="0" * 16)

    logged = [(one.client, one.tool, one.query, one.hits > 0, one.origin) for one in reversed(week_store.recent())]
    assert logged == [
        ("codex", "memory_search", "join orders", True, "mcp"),
        ("claude-code", "memory_get", "Joining orders", True, "mcp"),
        ("codex", "memory_related", "Joining orders", True, "mcp"),
        ("codex", "memory_remember", "Closing", True, "mcp"),
        ("codex", "memory_status", "", False, "mcp"),
        ("codex", "memory_get", "", False, "mcp"),
    ]
    ask(tools, "forget", ids=kept["id"])
    assert week_store.recent()[0].tool == "memory_forget"
    assert "Closing" not in [one.query for one in week_store.recent()]


def test_a_busy_store_gets_its_log_later(tools, ask, week_store):
    """While another program writes, searching goes on; its calls are noted with the next one."""
    with while_another_writes(week_store):
        assert ask(tools, "search", query="join orders")["hits"]
        assert week_store.recent() == []
    ask(tools, "status")

    assert [one.tool for one in week_store.recent()] == ["memory_status", "memory_search"]


def test_writing_to_a_busy_store_says_so(tools, refused, week_store):
    """A note that another program's lock keeps out is refused with what to do."""
    with while_another_writes(week_store):
        assert "Another program is writing" in refused(tools, "remember", text="Orders close at six.")


def test_without_a_log_nothing_is_written_down(tools_over, ask, week_store, bytes_of):
    """With log_searches off, no call is noted."""
    tools = tools_over(week_store, log_searches=False)
    ask(tools, "search", query="Walrossherde prices")

    assert week_store.recent() == [] and b"Walrossherde" not in bytes_of(week_store.path)


def test_writes_are_limited_and_say_when_to_try_again(tools_over, ask, refused, week_store):
    """After so many notes in a minute the next is refused, with the seconds to wait; then it is stored."""
    now = [0.0]
    tools = tools_over(week_store, limit=WriteLimit(lambda: now[0]))
    most = LIMITS[0][1]
    for number in range(most):
        ask(tools, "remember", text=f"Note {number} of the loop.")
    now[0] = 20.0
    error = refused(tools, "remember", text="One more of the loop.")
    assert f"at most {most} changes in a minute" in error and "Try again in 41 s" in error
    assert "loop" not in error and ask(tools, "search", query="note of the loop")["hits"]

    now[0] = 61.0
    assert ask(tools, "remember", text="One more of the loop.")["id"]


def test_an_hour_is_limited_too():
    """A slow loop ends at the limit of the hour."""
    now = [0.0]
    limit = WriteLimit(lambda: now[0])
    for _ in range(LIMITS[1][1]):
        with limit.one_write():
            now[0] += 10.0
    with pytest.raises(ToolError, match="in an hour"), limit.one_write():
        pass


def test_a_write_that_is_refused_counts_nothing(tools_over, ask, refused, week_store):
    """A note that cannot be stored leaves as many writes as there were."""
    tools = tools_over(week_store, limit=WriteLimit(lambda: 0.0))
    for _ in range(2 * LIMITS[0][1]):
        assert "cannot be stored" in refused(tools, "remember", text=" \n")

    for number in range(LIMITS[0][1]):
        assert ask(tools, "remember", text=f"Fix {number}: pin pandas.")["id"]
    assert "in a minute" in refused(tools, "remember", text="One more.")
