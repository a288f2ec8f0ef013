"""The pictures of memories over REST: by id alone, for who may read, and never as anything but a picture."""

from __future__ import annotations

import pytest
from pictures import plot, plotting, saved


@pytest.fixture
def fetch(jp_fetch, service):
    """Ask for a picture: the whole response, errors too."""

    async def fetch(**params):
        return await jp_fetch("jupyter-memory", "thumbnail", params=params, raise_error=False)

    return fetch


@pytest.fixture
def shown(service, jp_root_dir):
    """The ids of a cell with two pictures and of one with none, by that number."""
    saved(jp_root_dir / "nb" / "λ.ipynb", plotting("plt.plot(zürich)", plot(1), plot(2)), plotting("zürich.head()"))
    store = service.provider.store(create=True)
    store.index(jp_root_dir / "nb", progress=False)
    return {hit.memory.thumbnails: hit.memory.id for hit in store.browsed(limit=5).hits}


async def test_a_hit_says_how_many_pictures_it_has(ask, fits, shown):
    """So the panel knows for which hits to ask."""
    answer = fits("answer", (await ask("search", {"query": "zürich"})).json)
    assert {hit["memory_id"]: hit["thumbnails"] for hit in answer["hits"]} == {shown[2]: 2, shown[0]: 0}


async def test_a_picture_is_served_by_its_id_and_place(fetch, shown, service):
    """The bytes are those of the store, with headers that leave a browser nothing to guess and no cache to fill."""
    responses = [await fetch(memory_id=shown[2], place=str(place)) for place in range(2)]
    store = service.provider.store()

    assert [one.code for one in responses] == [200, 200]
    assert [one.body for one in responses] == [store.thumbnail(shown[2], place).image for place in range(2)]
    headers = responses[0].headers
    assert headers["Content-Type"] == "image/webp" and headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "private, no-store"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


@pytest.mark.parametrize(
    ("params", "code", "reason"),
    [
        ({}, 400, "InvalidField"),
        ({"memory_id": "x" * 65}, 400, "InvalidField"),
        ({"memory_id": "aa01", "place": "-1"}, 400, "InvalidField"),
        ({"memory_id": "aa01", "place": "8"}, 400, "InvalidField"),
        ({"memory_id": "aa01", "place": "1e0"}, 400, "InvalidField"),
        ({"memory_id": "../../etc/passwd"}, 404, "UnknownMemory"),
    ],
)
async def test_what_is_no_id_is_refused(fetch, shown, params, code, reason):
    """A missing or odd id is a clear error in JSON that does not repeat it."""
    response = await fetch(**params)

    assert response.code == code and f'"reason": "{reason}"' in response.body.decode()
    assert "passwd" not in response.body.decode()


async def test_a_memory_without_a_picture_is_not_found(fetch, shown, ask):
    """404 for a place that has none, for a cell that has none, and for one that was forgotten."""
    for memory_id, place in ((shown[2], "2"), (shown[0], "0")):
        response = await fetch(memory_id=memory_id, place=place)
        assert response.code == 404 and '"NoPicture"' in response.body.decode()
    await ask("forget", {"memory_ids": [shown[2]]})
    assert (await fetch(memory_id=shown[2])).code == 404


async def test_a_store_that_lies_is_not_believed(fetch, shown, service):
    """A media type that no picture of ours has is not sent, whatever the store's file says."""
    with service.provider.store()._storage.database.write() as connection:
        connection.execute("update thumbnails set media_type = 'text/html'")
    response = await fetch(memory_id=shown[2])
    assert response.code == 404 and response.headers["Content-Type"] == "application/json"
