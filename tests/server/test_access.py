"""Who may ask, and what may be sent: 403 without a right, 400 with the field's name and never with what was sent."""

import json
import logging
import re

import pytest
from jupyter_server.auth import Authorizer

from jupyter_memory.types import LONGEST_QUERY

VERBS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
# What each route and verb needs; a search is a reading, although it is a POST.
READ = {
    *(("GET", name) for name in ("status", "jobs", "folders", "profiles", "models", "doctor", "sizes")),
    *(
        ("POST", name)
        for name in ("search", "explain", "related", "related-to", "item", "versions", "thumbnail", "browse", "recent")
    ),
}
WRITE = {
    *(
        ("POST", name)
        for name in ("add", "update", "pin", "forget", "index", "jobs", "folders", "models", "feedback", "access")
    ),
    ("DELETE", "recent"),
}


# What no request may be larger than, in bytes.
LARGEST = 64 * 1024**2


@pytest.fixture
def permitted(jp_serverapp, monkeypatch):
    """Let the server's authorizer permit only these actions; what it was asked comes into the list."""

    def permit(*actions):
        asked = []

        class Permitted(Authorizer):
            def is_authorized(self, handler, user, action, resource):
                asked.append((action, resource))
                return action in actions

        monkeypatch.setitem(jp_serverapp.web_app.settings, "authorizer", Permitted(parent=jp_serverapp))
        return asked

    return permit


async def test_every_verb_of_every_route(jp_serverapp, jp_base_url, ask):
    """Each is in the table above, since who may use it is a decision; without a token each is shut."""
    path = re.compile(rf"{jp_base_url}jupyter-memory/([\w-]+)\$?$")
    rules = [rule for group in jp_serverapp.web_app.default_router.rules for rule in group.target.rules]
    patterns = [
        (path.match(rule.matcher.regex.pattern), rule.target) for rule in rules if hasattr(rule.matcher, "regex")
    ]
    routes = {found[1]: handler for found, handler in patterns if found}
    written = {(verb, name) for name, handler in routes.items() for verb in VERBS if verb.lower() in vars(handler)}
    assert written == READ | WRITE
    for name in routes:
        for verb in VERBS:
            answered = await ask(name, {} if verb == "POST" else None, method=verb, headers={"Authorization": ""})
            assert answered.code == 403, (verb, name)


@pytest.mark.parametrize(("action", "allowed", "refused"), [("read", READ, WRITE), ("write", WRITE, READ)])
async def test_who_may_only_do_one_of_both(ask, permitted, store_file, action, allowed, refused):
    """An authorizer that permits reading lets searches through and no change; one that permits writing, no search."""
    asked = permitted(action)
    for verb, name in sorted(refused):
        assert (await ask(name, {} if verb == "POST" else None, method=verb)).code == 403, (verb, name)
    assert not store_file.exists()
    for verb, name in sorted(allowed):
        assert (await ask(name, {} if verb == "POST" else None, method=verb)).code != 403, (verb, name)
    assert set(asked) == {("read", "jupyter_memory:store"), ("write", "jupyter_memory:store")}


async def test_a_cookie_alone_changes_nothing(http_server_client, jp_serverapp, jp_base_url, service, store_file):
    """A browser that is logged in, sent here by another site, lacks the XSRF token: 403."""
    token = jp_serverapp.identity_provider.token
    welcome = await http_server_client.fetch(f"{jp_base_url}api/me?token={token}")
    known = [header.split(";", 1)[0] for header in welcome.headers.get_list("Set-Cookie")]

    async def add(cookies, headers):
        body = json.dumps({"text": "prices are net of tax"})
        headers = {"Cookie": "; ".join(cookies), **headers}
        url = f"{jp_base_url}jupyter-memory/add"
        return await http_server_client.fetch(url, method="POST", body=body, headers=headers, raise_error=False)

    assert (await add(known, {})).code == 403
    assert (await add([*known, "_xsrf=c0ffee"], {"X-XSRFToken": "deadbeef"})).code == 403
    assert not store_file.exists()
    assert (await add([*known, "_xsrf=c0ffee"], {"X-XSRFToken": "c0ffee"})).code == 200


@pytest.mark.parametrize("jp_server_config", [{"JupyterMemoryServer": {"only_user": "ada"}}], indirect=True)
async def test_another_user_is_told_so(ask, service, monkeypatch):
    answered = await ask("status")
    assert (answered.code, answered.json["reason"]) == (403, "OnlyUser")
    monkeypatch.setattr(service, "only_user", "")
    assert (await ask("status")).json["api"] == 1


SECRET = "łäkäräsecret"

BAD = [
    ("search", "{", ""), ("search", [], ""), ("search", {}, "query"), ("search", {"query": 7}, "query"),
    ("search", {"query": SECRET, "limit": 0}, "limit"),
    ("search", {"query": SECRET, "limit": "ten"}, "limit"),
    ("search", {"query": SECRET, "prefix": 1}, "prefix"), ("search", {"query": SECRET, SECRET: 1}, ""),
    ("search", {"query": SECRET, "filters": {"kind": [SECRET]}}, "filters.kind"),
    ("search", {"query": SECRET, "filters": {"tier": "core"}}, "filters.tier"),
    ("search", {"query": SECRET, "filters": {SECRET: ["x"]}}, "filters"),
    ("search", {"query": SECRET, "since": SECRET}, "since"),
    ("search", {"query": SECRET, "since": "2026-03-05", "until": "2026-03-01"}, "until"),
    ("search", {"query": SECRET, "profile": SECRET}, "profile"),
    ("search", {"query": SECRET, "profile": f"./{SECRET}.toml"}, "profile"),
    ("search", {"query": SECRET * 3000}, "query"), ("explain", {"query": SECRET}, "memory_id"),
    ("item", {"memory_id": [SECRET]}, "memory_id"), ("add", {"text": ""}, "text"),
    ("add", {"text": SECRET, "tags": SECRET}, "tags"), ("add", {"text": SECRET, "kind": SECRET}, "kind"),
    ("update", {"memory_id": "x"}, ""),
    ("pin", {"memory_id": "x", "pinned": SECRET}, "pinned"), ("forget", {}, ""), ("forget", {"count": 3}, ""),
    ("forget", {"source": SECRET, "count": SECRET}, "count"),
    ("forget", {"memory_ids": [], "source": SECRET}, ""), ("index", {"path": f"no/{SECRET}"}, "path"),
    ("folders", {"path": f"no/{SECRET}"}, "path"), ("jobs", {"job_id": "x", "cancel": False}, "cancel"),
    ("access", {"memory_id": "x", "query": SECRET}, ""), ("feedback", {"memory_id": "x"}, "accepted"),
    ("feedback", {"memory_id": "x", "accepted": True, "rank": 2**64}, "rank"),
    ("search", {"query": SECRET, "limit": 10**400}, "limit"), ("search", b"\xff\xfe", ""),
    ("search", b'{"query": "\xff"}', ""), ("search", "[" * 100_000, ""),
    *(
        ("add", f'{{"text": "{SECRET}", "metadata": {{"a": {number}}}}}', "")
        for number in ("NaN", "-Infinity", "1e999")
    ),
]  # fmt: skip


async def test_a_bad_body_is_refused_by_the_name_of_its_field(ask, fits):
    for route, body, field in BAD:
        answered = await ask(route, body)
        assert answered.code == 400, (route, body)
        message = fits("problem", answered.json)["message"]
        assert message.startswith(f"{field}: ") if field else message[0].isupper(), (route, body)
        assert SECRET not in message


# Which of the filters that are typed among the words cannot be read, and what can be written there.
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
UNANSWERED = [
    ("search", {"query": ""}, 400, "QueryError", "There is nothing to search for"),
    ("search", {"query": SECRET, "filters": {"path": [" "]}}, 400, "QueryError", "The filter 'path' is empty."),
    ("item", {"memory_id": SECRET}, 404, "UnknownMemory", ""),
    ("explain", {"query": SECRET, "memory_id": SECRET}, 404, "UnknownMemory", ""),
    ("update", {"memory_id": SECRET, "title": SECRET}, 404, "UnknownMemory", ""),
    ("pin", {"memory_id": SECRET, "pinned": True}, 404, "UnknownMemory", ""),
    ("forget", {"memory_ids": [SECRET]}, 404, "UnknownMemory", ""),
    ("add", {"text": "   "}, 400, "InputError", ""),
    ("jobs", {"job_id": SECRET, "cancel": True}, 404, "UnknownJob", ""),
    *(
        ("folders", {"path": f"/{SECRET}/{name}", "watched": True}, 400, "InvalidField", "")
        for name in ("n" * 300, "\udcff", "\ud800", "\0")
    ),
    *(("search", {"query": query}, 400, "QueryError", told) for query, told in TYPED),
]


async def test_what_the_store_refuses_has_a_reason_and_no_text(ask, fits, week_in):
    """Errors of the store come with a status, a reason to act on, and a sentence that quotes nothing."""
    for route, body, code, reason, told in UNANSWERED:
        answered = await ask(route, body)
        problem = fits("problem", answered.json)
        assert (answered.code, problem["reason"]) == (code, reason), (route, body)
        assert problem["message"] and problem["message"].startswith(told), (route, body)
        assert SECRET not in json.dumps(problem, ensure_ascii=False)


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
    assert any("RuntimeError" in one and "test_access.py" in one for one in said), "where it failed is logged"
    assert not [one for one in said if SECRET in one or SECRET in one.encode().decode("unicode_escape", "replace")]


async def test_a_lone_surrogate_does_no_harm(ask, week_in):
    answered = await ask("search", '{"query": "prices \\ud800"}')
    assert answered.code == 200
    assert answered.json["hits"]


@pytest.mark.parametrize(
    ("route", "more"),
    [("search", {}), ("explain", {"memory_id": "λ"}), ("feedback", {"memory_id": "λ", "accepted": True})],
)
async def test_a_request_may_hold_the_longest_query(ask, week_in, route, more):
    """The server takes a query of the length that Python takes, and no longer one."""
    for length, problem in ((LONGEST_QUERY, False), (LONGEST_QUERY + 1, True)):
        answered = await ask(route, {"query": "λ" * length, **more})
        assert (answered.code == 400 and answered.json["message"].startswith("query: ")) == problem


@pytest.mark.parametrize(
    ("jp_server_config"), [{"ServerApp": {"max_body_size": 2 * LARGEST, "max_buffer_size": 2 * LARGEST}}], indirect=True
)
async def test_a_body_beyond_all_bounds_is_refused(ask, fits):
    """More than any request can need is not even looked at: 413."""
    refused = await ask("add", b'{"text": "' + b"x" * LARGEST + b'"}')
    assert (refused.code, fits("problem", refused.json)["reason"]) == (413, "TooLarge")
