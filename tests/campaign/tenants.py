"""Several stores on one list: what an agent, a request or a magic is told says nothing of a store that it did not name.

Each question is asked in two worlds that differ only in that store: in one it is full, in the other it is not there. No
text, id, path, count or notice may differ.
"""

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import shells

from campaign import Dose, Figures, Loss
from campaign._servers import asked, own_settings, serving
from campaign.queries import query_of
from jupyter_memory import JupyterMemory, MemoryStore
from jupyter_memory.mcp import tools_of

_WORDS = ("prices", "meter λ", "readings of Zürich", "KeyError", "gradient clipping", "net of tax")
_SECRET = ("zyzzyva", "quixotic", "the zyzzyva prices", "tag:zyzzyva", "path:/zyzzyva", "kind:note zyzzyva")
# What differs from one answer to the next; tokens, since ages have more or fewer digits.
_PASSING = ("timings", "query_id", "next", "cursor", "elapsed_ms", "tokens")


@dataclass
class _World:
    folder: Path
    rows: list[dict[str, str]]

    @property
    def settings(self) -> dict[str, Any]:
        return {"path": str(self.folder / "memory.sqlite"), "stores": self.rows, "stores_seconds": 3600.0}


def run(dose: Dose) -> Figures:
    """Ask agents' tools, the server and magics the same in both worlds."""
    rng = dose.random()
    full, ids = _made(dose.folder / "full")
    bare = _World(dose.folder / "bare", full.rows)
    shutil.copytree(full.folder, bare.folder)
    bare.rows = [{**row, "path": str(bare.folder / f"{row['name']}.sqlite")} for row in full.rows]
    (bare.folder / "secret.sqlite").unlink()
    figures: Counter[str] = Counter()
    for name, door, count in (("calls", _agent, 2_000), ("requests", _request, 400), ("magics", _magic, 400)):
        with ExitStack() as opened:
            doors = [opened.enter_context(door(world, ids)) for world in (full, bare)]
            for _ in range(dose.times(count, 40)):
                seed = rng.randrange(1 << 30)
                # Paths of the world itself are no news of another store.
                told = [
                    json.dumps(_lasting(ask(random.Random(seed))), ensure_ascii=False).replace(str(world.folder), "")
                    for ask, world in zip(doors, (full, bare), strict=True)
                ]
                if told[0] != told[1]:
                    where = next((at for at, two in enumerate(zip(*told, strict=False)) if len({*two}) > 1), 0)
                    parts = " is not ".join(one[max(0, where - 100) : where + 100] for one in told)
                    raise Loss(f"one of the {name} told of another store (seed {seed}): {parts}")
                figures[name] += 1
    return figures


def _made(folder: Path) -> tuple[_World, list[str]]:
    folder.mkdir()
    rng, ids = random.Random(7), list[str]()
    for name in ("memory", "team", "secret"):
        with MemoryStore(folder / f"{name}.sqlite", "static", settings=JupyterMemory()) as store:
            for number in range(30):
                words = " ".join(rng.choices(_WORDS + (_SECRET[:2] if name == "secret" else ()), k=8))
                tag = "zyzzyva" if name == "secret" else name
                added = store.add(
                    f"{words} {number}", title=f"{tag} {number}", tags=[tag], source=f"/{tag}/{number}.md"
                )
                ids += [added.id] if name == "secret" else []
    return _World(folder, [{"name": one, "path": str(folder / f"{one}.sqlite")} for one in ("team", "secret")]), ids


_Door = Callable[[random.Random], Any]


def _words(rng: random.Random) -> str:
    return " ".join(rng.choices(_WORDS + _SECRET, k=rng.randrange(1, 4)))


@contextmanager
def _agent(world: _World, ids: list[str]) -> Iterator[_Door]:
    bounds = [("own",), ("own", "team"), ("team",)]
    tools = [tools_of(JupyterMemory(**world.settings), stores=names) for names in bounds]

    def ask(rng: random.Random) -> Any:
        one = rng.choice(tools)
        id_ = rng.choice(("", "secret:", "team:", "own:", "SECRET:", ":")) + rng.choice(ids)
        query = _words(rng) if rng.random() < 0.7 else query_of(rng)[:5_000]
        name, arguments = rng.choice(
            [
                ("search", {"query": query, "limit": rng.randrange(1, 50)}),
                ("search", {"query": query, "stores": rng.sample(["own", "team", "secret", "all"], 2)}),
                ("get", {"ids": [id_]}),
                ("related", {"id": id_}),
                ("forget", {"ids": [id_]}),
                ("status", {}),
            ]
        )
        found = one.call(f"memory_{name}", arguments, "codex")
        return found if isinstance(found, str) else found.values()

    yield ask
    for one in tools:
        one.close()


@contextmanager
def _request(world: _World, ids: list[str]) -> Iterator[_Door]:
    file = Path(own_settings(world.folder)["JUPYTER_CONFIG_DIR"], "jupyter_memory_config.json")
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"JupyterMemory": world.settings}))
    (root := world.folder / "root").mkdir()
    with serving(root, world.folder) as (url, _):

        def ask(rng: random.Random) -> Any:
            stores = rng.choice([{}, {"stores": ["own"]}, {"stores": ["team"]}, {"stores": ["own", "team"]}])
            query, id_ = _words(rng) if rng.random() < 0.7 else query_of(rng)[:20_000], rng.choice(ids)
            route, body = rng.choice(
                [
                    ("search", {"query": query, **stores}),
                    ("browse", stores),
                    ("explain", {"query": query, "memory_id": id_, **stores}),
                    ("item", {"memory_id": rng.choice(("", "team:")) + id_}),
                    ("related-to", {"text": query}),
                ]
            )
            code, said = asked(url, route, body)
            return [code, json.loads(said)]

        yield ask


@contextmanager
def _magic(world: _World, ids: list[str]) -> Iterator[_Door]:
    shell = shells.made(JupyterMemory=world.settings)
    shell.run_line_magic("load_ext", "jupyter_memory")

    def ask(rng: random.Random) -> Any:
        options = rng.choice(("", "--in own", "--in team", "--in own --in team"))
        line = rng.choice((f"memsearch {_words(rng)} {options}", f"memsearch {options}", f"memory list {options}"))
        with redirect_stderr(StringIO()) as told:
            frame = shell.run_line_magic(*line.split(" ", 1))
        said = {"said": frame.attrs["memsearch"], "told": told.getvalue()}
        return json.loads(frame.to_json(date_format="iso")) | said

    yield ask
    shell.run_line_magic("unload_ext", "jupyter_memory")


def _lasting(told: Any) -> Any:
    if isinstance(told, dict):
        return {name: _lasting(one) for name, one in told.items() if name not in _PASSING}
    if isinstance(told, float):
        return round(told, 4)  # ages grow meanwhile
    return [_lasting(one) for one in told] if isinstance(told, list) else told
