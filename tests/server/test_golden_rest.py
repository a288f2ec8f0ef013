"""The golden answers: what every route answers about one week, read by these tests and by the panel's.

With JUPYTER_MEMORY_GOLDEN=write they are written anew: run the tests once with it and once without, and read the
difference.
"""

import asyncio
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from jupyter_memory import __version__
from jupyter_memory.types import KINDS, ORIGINS, TIERS

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "rest"
SCHEMAS = ROOT / "jupyter_memory" / "server" / "schemas"
TYPES = ROOT / "labextension" / "src" / "api" / "types.ts"
WRITING = os.environ.get("JUPYTER_MEMORY_GOLDEN") == "write"

# The interfaces of the panel, and the schemas that say the same.
INTERFACES = {
    "IEvidence": "evidence", "IHit": "hit", "IPlace": "place", "ITimeRead": "time-read", "IAnswer": "answer",
    "IListed": "listed", "ILists": "lists", "IFilters": "filters", "ISearch": "search-request",
    "IExplanation": "explanation", "IItem": "item", "IFolder": "folder", "IJob": "job", "IModel": "model",
    "IStatus": "status", "IRun": "run", "IHistory": "history", "IProfile": "profile", "IRecent": "recent",
    "IProblem": "problem", "IVersion": "version", "IVersions": "versions",
}  # fmt: skip
QUESTION = "which λ did the Poisson model have on 3 March 2026"


class Same:
    """Makes an answer the same on every machine: ids numbered, places named, times and timings rounded away."""

    def __init__(self, places: dict[str, str]) -> None:
        self.places = places
        self.ids: dict[str, str] = {}

    def __call__(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {self.text(name): self(one, "timings" if key == "timings" else name) for name, one in value.items()}
        if isinstance(value, list):
            return [self(one, key) for one in value]
        if isinstance(value, float):
            return 1.5 if key == "timings" else round(value, 3)
        if isinstance(value, int) and not isinstance(value, bool) and key == "bytes" and value < 10_000_000:
            return 1_000_000
        return self.text(value) if isinstance(value, str) else value

    def text(self, text: str) -> str:
        for place, name in self.places.items():
            text = text.replace(place, name)
        text = re.sub(r"\b[0-9a-f]{32}\b|\b[0-9a-f]{16}\b", lambda found: self.numbered(found[0]), text)
        text = re.sub(r"in \d+\.\d s", "in 0.1 s", text)
        now = re.match(r"20(?!26-03)\d\d-\d\d-\d\dT[\d:.]+\+00:00$", text)
        return "2026-03-06T18:00:00+00:00" if now else text.replace(__version__, "0.0.0")

    def numbered(self, found: str) -> str:
        return self.ids.setdefault(found, f"{len(self.ids) + 1:0{len(found)}x}")


def kinds(value: Any) -> Any:
    """Return what an answer is made of, without its values: names, types, of lists the first member."""
    if isinstance(value, dict):
        return {name: kinds(one) for name, one in value.items()}
    if isinstance(value, list):
        return [kinds(one) for one in value[:1]]
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


async def test_the_routes_answer_as_the_golden_files_say(ask, week_in, notebook, jp_root_dir, store_file, queued):
    """Every route's answer has the names and types of its golden file: what the panel's tests read is real."""
    (jp_root_dir / "prices" / "broken.ipynb").write_text("{", encoding="utf-8")
    (jp_root_dir / "prices" / "results.md").write_text("# Results\n\nThe boosted trees beat λ.\n", "utf-8")
    found = {"job.waiting": await ask("index", {"path": "prices", "watch": True})}
    queued.set()
    while any(job["state"] in ("waiting", "running") for job in (await ask("jobs")).json["jobs"]):
        await asyncio.sleep(0.01)
    # What was indexed is compared with the disk: this file is new since.
    (jp_root_dir / "prices" / "new.md").write_text("# New\n\nNobody has indexed λ yet.\n", "utf-8")
    search = await ask("search", {"query": QUESTION, "limit": 3, "lists": True, "log": True})
    first = search.json["hits"][0]["memory_id"]
    cell = (await ask("search", {"query": "price of electricity plot", "limit": 1})).json["hits"][0]["memory_id"]
    found |= {
        "answer.search": search,
        "answer.keyword": await ask("search", {"query": "groupb", "prefix": True, "profile": "covalence"}),
        "answer.nothing": await ask("search", {"query": "gradient", "filters": {"tag": ["no such tag"]}}),
        "answer.browse": await ask("browse", {"limit": 4}),
        "answer.related": await ask("related", {"memory_id": cell, "limit": 3}),
        "explanation.here": await ask("explain", {"query": QUESTION, "memory_id": first}),
        "explanation.away": await ask(
            "explain", {"query": QUESTION, "memory_id": first, "filters": {"kind": ["cell"]}}
        ),
        "item.note": await ask("item", {"memory_id": first}), "item.cell": await ask("item", {"memory_id": cell}),
        "folders": await ask("folders"), "jobs": await ask("jobs"), "status": await ask("status"),
        "profiles": await ask("profiles"), "models": await ask("models"), "problems": await ask("doctor"),
        "searches": await ask("recent", {}), "problem.field": await ask("search", {"query": QUESTION, "limit": 0}),
        "problem.unknown": await ask("item", {"memory_id": "no such id"}),
        "recorded": await ask("feedback", {"memory_id": first, "query": QUESTION, "accepted": True, "rank": 1}),
        "removed": await ask("recent", method="DELETE"), "forgotten": await ask("forget", {"memory_ids": [first]}),
    }  # fmt: skip
    codes = {name: answered.code for name, answered in found.items() if not name.startswith("problem.")}
    assert set(codes.values()) == {200}, codes
    same = Same({str(store_file): "/home/ada/memory.sqlite", str(jp_root_dir): "/home/ada/work"})
    answers = {name: same(answered.json) for name, answered in found.items()}
    if WRITING:
        for old in GOLDEN.glob("*.json"):
            old.unlink()
        for name, answer in answers.items():
            text = json.dumps(answer, indent=2, ensure_ascii=False) + "\n"
            (GOLDEN / f"{name}.json").write_text(text, encoding="utf-8")
    golden = {file.stem: json.loads(file.read_text("utf-8")) for file in GOLDEN.glob("*.json")}
    assert sorted(answers) == sorted(golden)
    for name, answer in answers.items():
        assert kinds(answer).keys() == kinds(golden[name]).keys(), name
        for key in kinds(answer).keys() - {"signals", "facets", "counts", "timings"}:
            assert kinds(answer)[key] == kinds(golden[name])[key], (name, key)


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.json")), ids=lambda file: file.stem)
def test_golden_files_fit_their_schemas(fits, file):
    """The first word of a golden file names its schema; it holds ids, places and times of nobody."""
    text = file.read_text("utf-8")
    fits(file.stem.partition(".")[0], json.loads(text))
    assert "/tmp" not in text


def test_schemas_say_what_the_panel_and_the_store_know():
    """They have every field of the interfaces of types.ts, optional where that is, and hold the words of the store."""
    told, schemas = interfaces(TYPES.read_text("utf-8")), {}
    for file in ("requests.json", "answers.json"):
        schemas |= json.loads((SCHEMAS / file).read_text("utf-8"))["definitions"]
    assert told.keys() == INTERFACES.keys()
    for name, schema_name in INTERFACES.items():
        schema = schemas[schema_name]
        required = set(schema.get("required", ()))
        assert told[name].items() <= {field: field in required for field in schema["properties"]}.items(), name
    for schema, field, known in (("hit", "kind", KINDS), ("hit", "tier", TIERS), ("recent", "origin", ORIGINS)):
        assert sorted(schemas[schema]["properties"][field]["enum"]) == sorted(known)


def interfaces(source: str) -> dict[str, dict[str, bool]]:
    """Return the fields of every exported interface of TypeScript, and whether they are required."""
    found = {}
    for name, body in re.findall(r"export interface (\w+) \{\n(.*?)\n\}", source, re.DOTALL):
        bare = re.sub(r"\{[^{}]*\}", "object", re.sub(r"/\*\*.*?\*/", "", body, flags=re.DOTALL))
        found[name] = {field: not optional for field, optional in re.findall(r"^\s*(\w+)(\??):", bare, re.MULTILINE)}
    return found


def test_every_schema_is_one():
    from jsonschema import Draft7Validator

    for file in SCHEMAS.glob("*.json"):
        text = file.read_text("utf-8")
        whole = json.loads(text)
        assert whole["$id"].endswith(f"/schemas/{file.name}")
        for schema in whole["definitions"].values():
            Draft7Validator.check_schema(schema)
        references = re.findall(r'"\$ref": "#/definitions/([^"]+)"', file.read_text("utf-8"))
        assert set(references) <= whole["definitions"].keys() and file.read_text("utf-8").count("$ref") == len(
            references
        )
