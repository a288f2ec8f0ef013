"""What is wrong with a request is said by field, and never with what was sent."""

from __future__ import annotations

import json
import logging

import pytest

from jupyter_memory.server.validation import validator
from jupyter_memory.types import LONGEST_QUERY

SECRET = "łäkäräsecret"

BAD = [
    ("search", "{", ""),
    ("search", [], ""),
    ("search", {}, "query"),
    ("search", {"query": 7}, "query"),
    ("search", {"query": SECRET, "limit": 0}, "limit"),
    ("search", {"query": SECRET, "limit": "ten"}, "limit"),
    ("search", {"query": SECRET, "prefix": 1}, "prefix"),
    ("search", {"query": SECRET, SECRET: 1}, ""),
    ("search", {"query": SECRET, "filters": {"kind": [SECRET]}}, "filters.kind"),
    ("search", {"query": SECRET, "filters": {"tier": "core"}}, "filters.tier"),
    ("search", {"query": SECRET, "filters": {SECRET: ["x"]}}, "filters"),
    ("search", {"query": SECRET, "since": SECRET}, "since"),
    ("search", {"query": SECRET, "since": "2026-03-05", "until": "2026-03-01"}, "until"),
    ("search", {"query": SECRET, "profile": SECRET}, "profile"),
    ("search", {"query": SECRET, "profile": f"./{SECRET}.toml"}, "profile"),
    ("search", {"query": SECRET * 3000}, "query"),
    ("explain", {"query": SECRET}, "memory_id"),
    ("item", {"memory_id": [SECRET]}, "memory_id"),
    ("add", {"text": ""}, "text"),
    ("add", {"text": SECRET, "tags": SECRET}, "tags"),
    ("add", {"text": SECRET, "kind": SECRET}, "kind"),
    ("update", {"memory_id": "x"}, ""),
    ("pin", {"memory_id": "x", "pinned": SECRET}, "pinned"),
    ("forget", {}, ""),
    ("forget", {"count": 3}, ""),
    ("forget", {"source": SECRET, "count": SECRET}, "count"),
    ("forget", {"memory_ids": [], "source": SECRET}, ""),
    ("index", {"path": f"no/{SECRET}"}, "path"),
    ("folders", {"path": f"no/{SECRET}"}, "path"),
    ("jobs", {"job_id": "x", "cancel": False}, "cancel"),
    ("access", {"memory_id": "x", "query": SECRET}, ""),
    ("feedback", {"memory_id": "x"}, "accepted"),
    ("feedback", {"memory_id": "x", "accepted": True, "rank": 2**64}, "rank"),
    ("search", {"query": SECRET, "limit": 10**400}, "limit"),
    ("search", b"\xff\xfe", ""),
    ("search", b'{"query": "\xff"}', ""),
    ("search", "[" * 100_000, ""),
    *(
        ("add", f'{{"text": "{SECRET}", "metadata": {{"a": {number}}}}}', "")
        for number in ("NaN", "-Infinity", "1e999")
    ),
]


async def test_a_bad_body_is_refused_by_the_name_of_its_field(ask, fits):
    """400 names the field that is wrong, never its value; a store need not be there."""
    for route, body, field in BAD:
        answered = await ask(route, body)
        assert answered.code == 400, (route, body)
        message = fits("problem", answered.json)["message"]
        assert message.startswith(f"{field}: ") if field else message[0].isupper(), (route, body)
        assert SECRET not in message


UNANSWERED = [
    ("search", {"query": ""}, 400, "QueryError"),
    ("search", {"query": f"kind:{SECRET} prices"}, 400, "QueryError"),
    ("search", {"query": f"since:{SECRET} prices"}, 400, "QueryError"),
    ("item", {"memory_id": SECRET}, 404, "UnknownMemory"),
    ("explain", {"query": SECRET, "memory_id": SECRET}, 404, "UnknownMemory"),
    ("update", {"memory_id": SECRET, "title": SECRET}, 404, "UnknownMemory"),
    ("pin", {"memory_id": SECRET, "pinned": True}, 404, "UnknownMemory"),
    ("forget", {"memory_ids": [SECRET]}, 404, "UnknownMemory"),
    ("add", {"text": "   "}, 400, "InputError"),
    ("jobs", {"job_id": SECRET, "cancel": True}, 404, "UnknownJob"),
    *(
        ("folders", {"path": f"/{SECRET}/{name}", "watched": True}, 400, "InvalidField")
        for name in ("n" * 300, "\udcff", "\ud800", "\0")
    ),
]


async def test_what_the_store_refuses_has_a_reason_and_no_text(ask, fits, week_in):
    """Errors of the store come with a status, a reason to act on, and a sentence that quotes nothing."""
    for route, body, code, reason in UNANSWERED:
        answered = await ask(route, body)
        problem = fits("problem", answered.json)
        assert (answered.code, problem["reason"]) == (code, reason), (route, body)
        assert problem["message"]
        assert SECRET not in json.dumps(problem, ensure_ascii=False)


TYPED = [
    (f"kind:{SECRET} prices", "There is no such kind. Known: note, file, cell, history."),
    (f"-tier:{SECRET} prices", "There is no such tier. Known: "),
    (f"since:{SECRET} prices", "since: This is not a time that can be read. Write a date (2025-03-31)"),
    (f"{SECRET} before:3/4/2025", "before: This is one day in Europe and another in America."),
    (f"-on:2025-03-31 {SECRET}", "-on: a time cannot be excluded."),
    (f'tag:"" {SECRET}', "tag: has no value"),
    (f'since:" " {SECRET}', "since: The time is empty. Write a date (2025-03-31)"),
    (f"after:2026-05 before:2026-01 {SECRET}", "since is not before until"),
]


async def test_a_filter_typed_among_the_words_is_refused_by_its_name(ask, fits, week_in):
    """Which of the filters cannot be read, and what can be written there: without a word of the question."""
    for query, told in TYPED:
        answered = await ask("search", {"query": query})
        message = fits("problem", answered.json)["message"]
        assert (answered.code, message[: len(told)]) == (400, told), query
        assert SECRET not in message


async def test_logs_hold_no_text_of_the_user(ask, week_in, caplog, jp_serverapp, monkeypatch):
    """Good requests, bad ones and an unexpected failure leave no word of the user in any log, even at debug."""
    caplog.set_level(logging.DEBUG)
    jp_serverapp.log.propagate = True
    for route, body, *_ in (*BAD, *UNANSWERED):
        await ask(route, body)
    await ask("search", {"query": f"what about {SECRET}"})
    await ask("add", {"text": f"remember {SECRET}", "title": SECRET, "tags": [SECRET]})

    def fail(query, **asked):
        raise RuntimeError(f"it broke on {query}")

    monkeypatch.setattr(week_in, "hits", fail)
    answered = await ask("search", {"query": SECRET})
    assert answered.code == 500
    assert SECRET not in json.dumps(answered.json, ensure_ascii=False)

    said = [record.getMessage() + str(record.exc_text or "") + str(record.exc_info or "") for record in caplog.records]
    assert any("RuntimeError" in one and "test_validation.py" in one for one in said), "where it failed is logged"
    assert not [one for one in said if SECRET in one or SECRET in one.encode().decode("unicode_escape", "replace")]


async def test_a_lone_surrogate_does_no_harm(ask, week_in):
    """JSON can hold half a character, which UTF-8 cannot: a search goes on without it."""
    answered = await ask("search", '{"query": "prices \\ud800"}')
    assert answered.code == 200
    assert answered.json["hits"]


@pytest.mark.parametrize("schema", ["search-request", "explain-request", "feedback-request"])
def test_a_request_may_hold_the_longest_query(schema):
    """The server takes a query of the length that Python takes, and no longer one."""
    assert validator(schema).schema["properties"]["query"]["maxLength"] == LONGEST_QUERY
