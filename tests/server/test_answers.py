"""What the routes answer: the store's own values in the shapes that the panel knows."""

import json
from base64 import b64decode
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import nbformat
import pytest
from pictures import plot, plotting, saved

from jupyter_memory import evaluation as golden
from jupyter_memory.storage import Journal, refusal
from jupyter_memory.types import Run, RunError

QUESTION = "how many orders an hour, λ"


async def test_search_answers_what_the_store_finds(ask, fits, week_in):
    """The hits of a search are those of the store, each with its place and how it begins; bars add up to its score."""
    answered = await ask("search", {"query": QUESTION, "limit": 3, "lists": True})
    assert answered.code == 200
    answer = fits("answer", answered.json)
    expected = week_in.hits(QUESTION, limit=3)
    assert [hit["memory_id"] for hit in answer["hits"]] == [hit.memory.id for hit in expected.hits]
    assert answer["hits"][0]["title"] == "Poisson λ"
    assert len(answer["places"]) == len(answer["hits"])
    for hit in answer["hits"]:
        assert abs(sum(one["contribution"] for one in hit["signals"].values()) - hit["score"]) < 1e-9
    for listed in answer["lists"]["fused"]:
        assert listed["begins"] == week_in.get(listed["memory_id"]).text.split("\n")[0][:80]


async def test_a_day_and_a_filter_narrow_every_list(ask, fits, week_in):
    """What is found, browsed without scores, or like a memory, is of the chosen days, tags and profile."""
    answer = fits("answer", (await ask("browse", {"limit": 4})).json)
    assert len(answer["hits"]) == 4 and {hit["score"] for hit in answer["hits"]} == {None}
    answer_without_words = answer

    within = {"filters": {"tag": ["prices"]}, "since": "2026-03-03"}
    expected = {"Zürich and Genève", "東京の売上"}
    poisson = week_in.hits(QUESTION).hits[0].memory.id
    for route, body in (
        ("browse", {}),
        ("search", {"query": "prices", "profile": "trovella"}),
        ("related", {"memory_id": poisson, "profile": "trovella"}),
    ):
        answer = (await ask(route, body | within)).json
        titles = {hit["title"] for hit in answer["hits"]}
        assert titles == expected or (route == "related" and titles <= expected)
        assert "profile" not in body or answer["profile"] == "trovella"
    done = fits("answer", (await ask("search", {"query": "what did I change on 2026-03-03"})).json)
    assert {hit["event_at"][:10] for hit in done["hits"]} == {"2026-03-03"} and done["time_read"]["phrase"]
    then = fits("answer", (await ask("search", {"query": "prices", "as_of": "2020"})).json)
    assert then["hits"] == [] and then["notices"][0].startswith("This is what was stored by 2020-12-31 23:59")
    assert (await ask("browse", {"as_of": "today", "limit": 4})).json["hits"] == answer_without_words["hits"]
    for name in ("since", "as_of"):
        refused = await ask("browse", {name: "no day at all"})
        assert (refused.code, refused.json["message"][:5]) == (400, name)


async def test_tags_beside_the_question(ask, fits, week_in):
    """In `vault` they count, as in the store; what no longer holds says so."""
    body = {"query": QUESTION, "about_tags": ["Prices", "λ"], "profile": "vault"}
    week_in.add("λ of orders was 2", tags=["prices"], valid_until="2020-01-01")
    answer = fits("answer", (await ask("search", body)).json)
    expected = week_in.hits(QUESTION, tags=["Prices", "λ"], profile="vault")
    got = [(hit["memory_id"], hit["signals"]["tags"]["contribution"]) for hit in answer["hits"]]
    assert got == [(hit.memory.id, hit.signals["tags"].contribution) for hit in expected.hits]
    assert {0.15 / 2} <= {points for _, points in got}
    assert "not valid after 2020-01-01" in {hit.get("validity") for hit in answer["hits"]}
    explained = (await ask("explain", body | {"memory_id": got[0][0]})).json["hit"]["signals"]["tags"]
    assert explained == answer["hits"][0]["signals"]["tags"]
    refused = await ask("search", body | {"about_tags": "prices"})
    assert (refused.code, refused.json["message"]) == (400, "about_tags: it must be a list.")


async def test_what_is_told_of_the_store(ask, fits, week_in, store_file, jp_root_dir):
    """The store, its model, the version handshake, Lab's root, the profiles, models and sizes; a new store is well."""
    status = fits("status", (await ask("status")).json)
    assert (status["store"]["path"], status["store"]["memories"]) == (str(store_file), 10)
    assert (status["api"], status["model"], status["root"]) == (1, "static", str(jp_root_dir))
    profiles = fits("profiles", (await ask("profiles")).json)["profiles"]
    assert [one["name"] for one in profiles if one["default"]] == ["auto"]
    models = fits("models", (await ask("models")).json)["models"]
    assert [one["name"] for one in models if one["active"]] == ["static"]
    assert (await ask("doctor")).json == {"problems": []}
    sizes = fits("sizes", (await ask("sizes")).json)
    assert sum(sizes["sizes"].values()) == sizes["bytes"] > sizes["held"] > sizes["sizes"]["texts"] > 0
    assert sizes["budget"] is None


async def test_a_cell_opens_at_its_id(ask, week_in, notebook):
    """A cell of a notebook below Lab's root has a contents path, its id and place, and the line that it begins with."""
    week_in.index(notebook, progress=False)
    answer = (await ask("search", {"query": "price of electricity plot", "filters": {"kind": ["cell"]}})).json
    place = answer["places"][0]
    assert (place["path"], place["cell"], place["index"]) == ("prices/orders.ipynb", "plot", 2)
    assert place["begins"] == "prices.plot(title='price of electricity')"


async def test_a_relative_path_begins_at_the_root_of_lab(ask, service, notebook, jp_root_dir):
    """ "path:prices/" typed in the panel, or chosen among its filters, is the folder that its file browser shows."""
    service.provider.store(create=True).index(jp_root_dir, progress=False)
    asked = [
        {"query": "price path:prices/"},
        {"query": "price -path:prices/"},
        {"query": "price", "filters": {"path": ["prices/orders.ipynb"]}},
        {"query": "price path:elsewhere -path:prices"},
    ]
    found = [bool((await ask("search", body)).json["hits"]) for body in asked]
    assert found == [True, False, True, False]


async def test_a_hit_has_the_headings_that_lead_to_it(ask, fits, week_in, jp_root_dir):
    """A card says under which headings it stands; what its title says already is not said twice."""
    sources = ("# Prices\n## Zürich\n### λ of the outliers", "The watermelon index of Müller is capped.")
    saved(jp_root_dir / "caps.ipynb", *(nbformat.v4.new_markdown_cell(source) for source in sources))
    log = jp_root_dir / "log.md"
    log.write_text("# Log\n\n## 3 July\n\nThe pomegranate meters of Malmö were read twice, λ fell.\n", "utf-8")
    week_in.index(jp_root_dir, progress=False)

    told = []
    for route, body in (
        ("search", {"query": "watermelon"}),
        ("search", {"query": "pomegranate meters"}),
        ("browse", {}),
    ):
        answer = fits("answer", (await ask(route, body)).json)
        hits = zip(answer["hits"], answer["places"], strict=True)
        told.append({(hit["title"], place["context"]) for hit, place in hits})
    named = "caps.ipynb – λ of the outliers"
    assert (named, "Prices > Zürich") in told[0]
    assert ("caps.ipynb – λ of the outliers", "Prices > Zürich") in told[2]
    assert any(title == "log.md" and context.startswith("Log") for title, context in told[1])


async def test_a_use_is_counted(ask, fits, week_in):
    """What the panel opens, inserts or copies is counted, not what is fetched; a text that runs again keeps that."""
    week_in.history.record([RUN])
    hit, _ = await the_run(ask, fits)
    await ask("item", {"memory_id": hit["memory_id"]})
    for _ in range(2):
        assert fits("recorded", (await ask("access", {"memory_id": hit["memory_id"]})).json) == {"recorded": True}
    assert (await ask("access", {"memory_id": "nobody"})).json == {"recorded": False}
    week_in.history.record([replace(RUN, number=2, started=STARTED + timedelta(hours=1), session="tuesday")])
    again, place = await the_run(ask, fits)
    assert (again["memory_id"], place["run"]["count"]) == (hit["memory_id"], 2)
    memory = week_in.get(hit["memory_id"])
    assert (memory.accessed, memory.session) == (2, "tuesday")


async def test_a_rating_feeds_the_golden_set(ask, fits, service, week_in):
    """A thumb keeps the question with its filters and time, and says which hit should have been the first."""
    path = golden.golden_file(service.settings)
    answer = fits("answer", (await ask("search", {"query": QUESTION, "filters": {"kind": ["note"]}})).json)
    first, second = (hit["memory_id"] for hit in answer["hits"][:2])
    rated = {"query_id": answer["query_id"], "query": QUESTION}
    for memory_id, more in ((first, {"accepted": False}), (second, {"accepted": True, "first": True})):
        assert fits("recorded", (await ask("feedback", {"memory_id": memory_id, **rated, **more})).json) == {
            "recorded": True
        }
    [kept] = golden.load(path)
    assert (list(kept.right), list(kept.wrong), kept.first) == ([second], [first], second)
    assert (kept.text, kept.filters.kind) == (QUESTION, ("note",))
    # A rating of what is not known any more is noted, but without its filters it is no question.
    await ask("feedback", {"memory_id": first, "query_id": "gone", "query": "λ", "accepted": True})
    assert golden.load(path) == [kept] and len(week_in.feedbacks()) == 3
    # A second press takes a rating back, and leaves the other.
    assert (await ask("feedback", {"memory_id": first, **rated, "accepted": None})).json == {"recorded": True}
    [left] = golden.load(path)
    assert (list(left.right), list(left.wrong)) == ([second], []) and len(week_in.feedbacks()) == 2
    gone = {"memory_id": second, "query_id": "gone", "accepted": None}
    assert (await ask("feedback", gone)).json == {"recorded": False}
    await ask("feedback", {"memory_id": second, **rated, "accepted": None})
    assert golden.load(path) == [] and [one.query for one in week_in.feedbacks()] == ["λ"]


async def test_a_rating_after_another_memory_was_forgotten(ask, week_in, service):
    lamp = week_in.add("Quarzlampe")
    answer = (await ask("search", {"query": QUESTION, "filters": {"tag": ["model"]}})).json
    assert (await ask("forget", {"memory_ids": [lamp.id]})).json == {"forgotten": 1}
    rated = {"memory_id": answer["hits"][0]["memory_id"], "query_id": answer["query_id"], "query": QUESTION}
    await ask("feedback", rated | {"accepted": True})
    assert [one.text for one in golden.load(golden.golden_file(service.settings))] == [QUESTION]


async def test_a_described_folder_in_an_answer(ask, fits, week_in, notebook):
    week_in.index(notebook, progress=False)
    week_in.describe_folder(notebook.parent, "drafts of λ")
    answer = fits("answer", (await ask("search", {"query": "plot", "filters": {"kind": ["cell"]}})).json)
    assert {hit["folder_description"] for hit in answer["hits"]} == {"drafts of λ"}


async def test_what_nobody_sees_is_escaped(jp_fetch, week_in):
    """A terminal that prints an answer is not controlled by it, and a client reads the text as it is."""
    lies = "λ \x1b[2J\x9b31m costs \u202e5\u2066 \x7f\u200f"
    memory = week_in.add(f"{lies}.", title=lies, tags=["\u202edraft"])
    body = json.dumps({"memory_id": memory.id})
    written = (await jp_fetch("jupyter-memory", "item", method="POST", body=body)).body.decode()
    assert not set(written) & set("\x1b\x9b\x7f\u202e\u2066\u200f")
    assert (json.loads(written)["title"], json.loads(written)["tags"]) == (memory.title, ["\u202edraft"])


async def test_offered_after_a_weak_answer(ask, fits, service):
    """A larger model is offered once, with an answer that is uncertain, and not before."""
    service.settings.embedder = "auto"
    service.provider.store(create=True).add("We scaled the prices to zero mean.")
    assert not any("minilm" in notice for notice in fits("status", (await ask("status")).json)["notices"])
    notices = []
    for query in ("scaled prices", "is there a mean of the taxes", "is there a mean of the taxes"):
        answer = fits("answer", (await ask("search", {"query": query, "log": True})).json)
        notices.append([notice for notice in answer["notices"] if "`%memory model use minilm` changes" in notice])
        assert answer["verdict"] == ("strong" if query == "scaled prices" else "weak")
    assert [len(one) for one in notices] == [0, 1, 0]


@pytest.fixture
def shown(service, jp_root_dir):
    """The ids of a cell with two pictures and of one with none, by that number."""
    saved(jp_root_dir / "nb" / "λ.ipynb", plotting("plt.plot(zürich)", plot(1), plot(2)), plotting("zürich.head()"))
    store = service.provider.store(create=True)
    store.index(jp_root_dir / "nb", progress=False)
    return {hit.memory.thumbnails: hit.memory.id for hit in store.browsed(limit=5).hits}


async def test_a_picture_is_served_by_its_id_and_place(ask, fits, shown, service):
    """A browser gets the store's bytes, asked for without any word in a URL; a missing one is an error without text."""
    answer = fits("answer", (await ask("search", {"query": "zürich"})).json)
    assert {hit["memory_id"]: hit["thumbnails"] for hit in answer["hits"]} == {shown[2]: 2, shown[0]: 0}
    store = service.provider.store()
    for place in range(2):
        asked = fits("thumbnail-request", {"memory_id": shown[2], "place": place})
        kind, _, data = fits("picture", (await ask("thumbnail", asked)).json)["picture"].partition(",")
        assert kind == "data:image/webp;base64" and b64decode(data) == store.thumbnail(shown[2], place).image
    for asked, code, reason in (
        ({"place": 0}, 400, "InvalidField"),
        *(({"memory_id": "aa01", "place": place}, 400, "InvalidField") for place in (-1, 10**400, "0", 1.5)),
        ({"memory_id": "../../etc/passwd", "place": 0}, 404, "UnknownMemory"),
        ({"memory_id": "passwd:aa01", "place": 0}, 404, "UnknownStore"),
        *(({"memory_id": shown[2], "place": place}, 404, "NoPicture") for place in (2, 8, 1_000_000)),
        ({"memory_id": shown[0], "place": 0}, 404, "NoPicture"),
    ):
        refused = await ask("thumbnail", asked)
        assert (refused.code, refused.json["reason"]) == (code, reason), asked
        assert "passwd" not in refused.json["message"]

    # Whatever the store's file says, no media type is sent that no picture of ours has.
    with apsw.Connection(str(service.provider.path)) as connection:
        connection.execute("update thumbnails set media_type = 'text/html'")
    first = {"memory_id": shown[2], "place": 0}
    assert (await ask("thumbnail", first)).json["reason"] == "NoPicture"
    await ask("forget", {"memory_ids": [shown[2]]})
    assert (await ask("thumbnail", first)).code == 404


STARTED = datetime(2026, 3, 6, 9, 0, tzinfo=UTC)
RUN = Run('rates["Genève"]', STARTED, "monday", 1, "ok", cell_id="rate", environment="prices")


async def history(ask, fits):
    return fits("status", (await ask("status")).json)["history"]


async def the_run(ask, fits, **asked):
    """Return the one text of the history: its hit and its place."""
    answer = fits("answer", (await ask("browse", {"filters": {"kind": ["history"]}, **asked})).json)
    [hit], [place] = answer["hits"], answer["places"]
    return hit, place


@pytest.mark.skipif(bool(refusal(Path())), reason="this system has no file locks")
async def test_kernels_that_record_are_counted(ask, fits, service, store_file):
    """A kernel counts from the moment that it records, also before there is a store, until it stops or dies."""
    assert await history(ask, fits) == {"kernels": 0, "runs": 0, "texts": 0, "since": None}
    one, other = Journal.on_disk(store_file), Journal.on_disk(store_file)
    assert (await history(ask, fits))["kernels"] == 2
    one.remove()
    other.close()
    assert (await history(ask, fits))["kernels"] == 0


async def test_a_run_tells_how_often_and_how_it_ended(ask, fits, week_in, notebook):
    """A text that ran twice is one hit, which opens at its cell and tells of the last run; other hits tell of none."""
    first = replace(RUN, notebook=str(notebook))
    error = RunError("KeyError", "'Genève'")
    week_in.history.record(
        [first, replace(first, number=2, started=STARTED + timedelta(days=1), outcome="error", error=error)]
    )

    hit, place = await the_run(ask, fits)
    assert (hit["kind"], hit["event_at"]) == ("history", "2026-03-07T09:00:00+00:00")
    assert (place["path"], place["cell"], place["changed"]) == ("prices/orders.ipynb", "rate", False)
    begun, last = "2026-03-06T09:00:00+00:00", "2026-03-07T09:00:00+00:00"
    ended = {"outcome": "error", "error": "KeyError", "environment": "prices", "packages": ""}
    assert place["run"] == {"count": 2, "first": begun, "last": last, **ended}
    assert (await history(ask, fits)) == {"kernels": 0, "runs": 2, "texts": 1, "since": begun}
    others = (await ask("browse", {"filters": {"kind": ["note"]}})).json["places"]
    assert others and not any("run" in other for other in others)


async def test_versions_of_a_cell(ask, fits, week_in, notebook):
    """The panel gets every text that ran in a cell with its diff; of what never ran, the reason why there are none."""
    texts = (
        replace(RUN, notebook=str(notebook), seconds=2.5),
        replace(RUN, source="rates", number=2, notebook=str(notebook)),
    )
    week_in.history.record(texts)
    hit, place = await the_run(ask, fits, limit=1)
    assert place["seconds"] == [2.5]
    told = fits("versions", (await ask("versions", {"memory_id": hit["memory_id"]})).json)
    assert [one["durations"] for one in told["versions"]] == [[], [2.5]]
    assert told["versions"][0]["diff"].endswith('-rates["Genève"]\n+rates') and told["notice"] == ""
    [note] = (await ask("browse", {"filters": {"kind": ["note"]}, "limit": 1})).json["hits"]
    told = fits("versions", (await ask("versions", {"memory_id": note["memory_id"]})).json)
    assert told["versions"] == [] and "%memory history on" in told["notice"]


async def test_a_run_whose_kernel_died(ask, fits, week_in):
    """What has no outcome says so; without a notebook there is nothing to open, and the reason is told."""
    week_in.history.record([replace(RUN, outcome="unknown", environment="")])
    _, place = await the_run(ask, fits)
    assert (place["run"]["outcome"], place["run"]["error"], place["run"]["count"]) == ("unknown", "", 1)
    assert place["path"] is None and "did not know its notebook" in place["closed"]


async def test_an_entry_made_by_hand(ask, fits, week_in):
    """History that somebody added with metadata of any kind is shown as run once, with what can be read."""
    metadata = {"runs": "many", "outcome": ["ok"], "error": 7, "first_run": None, "environment": "x", "packages": 3}
    week_in.add("λ = 3.2", kind="history", event_at="2026-03-01T10:00:00+00:00", metadata=metadata)
    _, place = await the_run(ask, fits)
    told = {"outcome": "unknown", "error": "", "environment": "x", "packages": ""}
    assert place["run"] == {"count": 1, "first": None, "last": "2026-03-01T10:00:00+00:00", **told}


ASKED = "prices = load_prices('zürich.csv')\nprices['net'] = prices['gross'] / (1 + VAT)\nprices.plot()"
OTHERS = [
    "orders = read_orders('orders.csv')\norders.groupby('hour').size().plot()",
    "model = PoissonRegressor()\nmodel.fit(X, y)",
    "weather = fetch_weather(station='Genève')\nweather.resample('D').mean()",
    "events = FileSyncService().drain()\nlen(events)",
    "from pathlib import Path\nfolder = Path.home() / 'work'",
    "shops = shops.merge(regions, on='region_id', how='left')",
    "fig, axes = plt.subplots(2, 2, figsize=(8, 4))",
    "assert not frame.isna().any().any()",
]


@pytest.fixture
def notebooks(jp_root_dir, service):
    """Two notebooks with a cell like the one that is asked about, among others, and the store that holds them."""
    store, folder = service.provider.store(create=True), jp_root_dir / "work"
    for name, cells in (("open", [ASKED, *OTHERS[:4]]), ("old", [ASKED.replace("zürich", "genève"), *OTHERS[4:]])):
        saved(folder / f"{name}.ipynb", *map(nbformat.v4.new_code_cell, cells))
    store.index(folder, progress=False)
    return store


async def test_cells_of_other_notebooks_are_told(ask, fits, notebooks, jp_root_dir, store_file):
    """Like cells of other notebooks are told with their places, and nothing else; nothing of the text is kept."""
    (jp_root_dir / "link").symlink_to(jp_root_dir / "work")
    for path, expected in (
        ("work/open.ipynb", ["work/old.ipynb"]),
        ("link/open.ipynb", ["work/old.ipynb"]),
        ("work/new.ipynb", ["work/old.ipynb", "work/open.ipynb"]),
    ):
        answered = await ask("related-to", {"text": ASKED, "path": path})
        assert answered.code == 200
        answer = fits("answer", answered.json)
        assert (sorted(place["path"] for place in answer["places"]), answer["notices"]) == (expected, [])
        assert any("genève" in hit["snippet"] for hit in answer["hits"])
    notebooks.add(ASKED, title="a note")
    answer = (await ask("related-to", {"text": ASKED, "path": "work/open.ipynb"})).json
    assert {hit["kind"] for hit in answer["hits"]} == {"cell"}
    committee = "The committee met on Tuesday and adopted the report without a vote."
    for body in ({"text": ASKED, "filters": {"kind": ["note"]}}, {"text": committee}):
        assert (await ask("related-to", body)).json["hits"] == []
    secret = "xylophonquartett"
    before = {hit.memory.id: hit.memory.accessed for hit in notebooks.browsed(limit=50).hits}
    assert (await ask("related-to", {"text": f"{ASKED}\n{secret}"})).code == 200
    assert notebooks.recent() == []
    assert {hit.memory.id: hit.memory.accessed for hit in notebooks.browsed(limit=50).hits} == before
    files = [file for file in store_file.parent.iterdir() if file.is_file()]
    assert files and not any(secret.encode() in file.read_bytes() for file in files)


@pytest.mark.parametrize(
    ("code", "bodies"),
    [
        # Too long, missing or no text, and a path out of Lab's folder: the field is named.
        (400, [{}, {"text": 7}, {"text": "x" * 20_001}, {"text": ASKED, "path": "../out"}, {"text": "x", "log": True}]),
        # What would be read as something else in a query is a text like any other.
        (200, [{"text": one} for one in ("", " \n", '"', "tag:x -kind:cell", "東京の売上", "\ud800", "x" * 20_000)]),
    ],
)
async def test_any_text_has_an_answer(ask, notebooks, code, bodies):
    for body in bodies:
        answered = await ask("related-to", json.dumps(body))
        assert answered.code == code and (code == 200 or answered.json["reason"] == "InvalidField"), body
