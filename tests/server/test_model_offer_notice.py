"""A better model is offered in the panel's status, after an index has shown that the bundled one is weak."""

from __future__ import annotations

from calibrated import calibrated


async def test_offered_in_the_status(ask, fits, over, notebook, queued, service):
    """The notice comes with the job that indexed, stays as long as the server runs, and goes with the model."""
    service.settings.embedder = "auto"
    store = service.provider.store(create=True)
    store.add("We scaled the prices to zero mean.")
    calibrated(store, 0.6)
    assert not any("minilm" in notice for notice in (await ask("status")).json["notices"])

    await ask("index", {"path": "prices"})
    queued.set()
    await over()

    for _ in range(2):
        notices = fits("status", (await ask("status")).json)["notices"]
        assert [notice for notice in notices if "`%memory model use minilm` changes to all-MiniLM-L6-v2" in notice]
    assert store.model_offer() == ""
