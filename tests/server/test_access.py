"""Who may ask: nobody without a token, nobody whom the authorizer or the settings leave out, no other site."""

from __future__ import annotations

import json

import pytest
from jupyter_server.auth import Authorizer

from jupyter_memory.server.extension import SETTING
from jupyter_memory.server.handlers import ROUTES

VERBS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
# What each route and verb needs; a search is a reading, although it is a POST.
READ = {
    *(("GET", name) for name in ("status", "jobs", "folders", "profiles", "models", "doctor", "sizes", "thumbnail")),
    *(("POST", name) for name in ("search", "explain", "related", "related-to", "item", "browse", "recent")),
}
WRITE = {
    *(("POST", name) for name in ("add", "update", "pin", "forget", "index", "jobs", "folders", "feedback", "access")),
    ("DELETE", "recent"),
}


class Permitted(Authorizer):
    """Lets everybody do the actions of its list, on this memory."""

    actions: tuple[str, ...] = ()
    asked: list[tuple[str, str]] = []  # noqa: RUF012  one a test, emptied there

    def is_authorized(self, handler, user, action, resource):
        self.asked.append((action, resource))
        return action in self.actions


@pytest.fixture
def permitted(jp_serverapp, monkeypatch):
    """Let the server's authorizer permit only these actions."""

    def permit(*actions):
        monkeypatch.setattr(Permitted, "actions", actions)
        monkeypatch.setattr(Permitted, "asked", [])
        monkeypatch.setitem(jp_serverapp.web_app.settings, "authorizer", Permitted(parent=jp_serverapp))
        return Permitted.asked

    return permit


def test_the_table_names_every_verb_of_every_route():
    """A verb that is added needs a line above: who may use it is a decision."""
    written = {(verb, name) for name, handler in ROUTES.items() for verb in VERBS if verb.lower() in vars(handler)}
    assert written == READ | WRITE


async def test_without_a_token_every_route_and_verb_is_shut(ask):
    """No token, no answer: 403 for what is there and for what is not."""
    for name in ROUTES:
        for verb in VERBS:
            answered = await ask(name, {} if verb == "POST" else None, method=verb, headers={"Authorization": ""})
            assert answered.code == 403, (verb, name)


async def test_who_may_only_read_cannot_write(ask, permitted, store_file):
    """An authorizer that permits reading lets searches through, and none of the changes."""
    asked = permitted("read")
    for verb, name in sorted(WRITE):
        assert (await ask(name, {} if verb == "POST" else None, method=verb)).code == 403, (verb, name)
    for verb, name in sorted(READ):
        assert (await ask(name, {} if verb == "POST" else None, method=verb)).code != 403, (verb, name)
    assert set(asked) == {("read", "jupyter_memory:store"), ("write", "jupyter_memory:store")}
    assert not store_file.exists()


async def test_who_may_only_write_cannot_read(ask, permitted):
    """An authorizer that permits writing alone shows nothing."""
    permitted("write")
    for verb, name in sorted(READ):
        assert (await ask(name, {} if verb == "POST" else None, method=verb)).code == 403, (verb, name)


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


async def test_only_one_user_where_the_configuration_says_so(jp_configurable_serverapp, jp_server_config):
    """only_user is read from the server's configuration."""
    app = jp_configurable_serverapp(config={**jp_server_config, "JupyterMemoryServer": {"only_user": "ada"}})
    assert app.web_app.settings[SETTING].only_user == "ada"


async def test_another_user_is_told_so(ask, service, monkeypatch):
    """With only_user, everybody else gets 403 and a reason, and that user the answer."""
    me = (await ask("status")).json
    assert me["api"] == 1
    monkeypatch.setattr(service, "only_user", "ada")
    answered = await ask("status")
    assert (answered.code, answered.json["reason"]) == (403, "OnlyUser")
