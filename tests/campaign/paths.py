"""Spellings of paths: a server must never reach past what Lab shows, and no store may hold a file twice."""

import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any
from unicodedata import normalize

from campaign import Dose, Figures, Loss
from campaign._servers import asked, serving
from jupyter_memory import JupyterMemoryError, MemoryStore
from jupyter_memory.cli import main

# What no request may bring into the store, by the beginning of its word.
FORBIDDEN = ("hiddenword", "outsideword", "homeword")

_SHOWN = (
    *("notes.md", "prices/tariffs.md", "prices/Zürich λ.md", "prices/2026/March.md"),
    *("a\\b.md", "100%2e.md", "~draft.md"),
)
_HIDDEN = (".hidden.md", ".secret/keys.md", "prices/.secret/deep.md", ".ssh/config.md")
_OUTSIDE = ("outside/private.md", "outside/Zürich.md", "lab-old/notes.md", "home/letters.md", "home/.ssh/config.md")


@dataclass(frozen=True)
class World:
    """The folders of one run: ``lab`` is the one that the server shows, ``home`` that of its account."""

    top: Path

    @property
    def lab(self) -> Path:
        return self.top / "lab"

    @property
    def home(self) -> Path:
        return self.top / "home"

    def write(self) -> None:
        """Write the files, and links between them: to a folder, to a link, to a file, out of Lab, into nothing."""
        for kind, names in (("shown", [f"lab/{name}" for name in _SHOWN]), ("hidden", [f"lab/{n}" for n in _HIDDEN])):
            for number, name in enumerate(names):
                self._file(name, f"{kind}word{number}")
        for number, name in enumerate(_OUTSIDE):
            self._file(name, f"{'home' if name.startswith('home') else 'outside'}word{number}")
        # The contents manager shows what a link in its folder leads to.
        self._file("shared/plan.md", "sharedword")
        for name, target in (
            ("link", "prices"), ("second", "link"), ("one.md", "prices/tariffs.md"), ("shared", "../shared"),
            ("loop", "loop"), ("up", "."), ("broken.md", "nothing.md"),
        ):  # fmt: skip
            (self.lab / name).symlink_to(target)
        (self.top / "way in").symlink_to("lab")

    def _file(self, name: str, word: str) -> None:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Text\n\nThe λ of {word}.\n", encoding="utf-8")

    def inside(self, source: random.Random) -> str:
        names = [*_SHOWN, "", "prices", "prices/2026", "link", "link/tariffs.md", "second/2026", "one.md", "shared"]
        return source.choice([*names, "shared/plan.md", "up", "up/prices/tariffs.md"])

    def forbidden(self, source: random.Random) -> str:
        outside = [f"{self.top}/{name}" for name in (*_OUTSIDE, "", "outside", "lab-old", "home")]
        climbing = ["..", "/..", "/.", "//..", "~", "~/.ssh", "~/letters.md", "/etc", "/proc/self/environ"]
        climbing += [f"../{name}" for name in _OUTSIDE] + [f"prices/../../{name}" for name in _OUTSIDE]
        hidden = [*_HIDDEN, ".secret", "link/.secret", f"{self.lab}/.ssh", f"{self.top}/way in/.secret"]
        return source.choice(source.choice([outside, climbing, hidden]))


def spelt(path: str, source: random.Random) -> str:
    """Return a path in some other spelling; most mean the same, a few mean nothing."""
    for change in source.sample(_CHANGES, k=source.randint(0, 3)):
        path = change(path, source)
    return path


def _at_a_slash(inserted: str) -> Callable[[str, random.Random], str]:
    def change(path: str, source: random.Random) -> str:
        slashes = [place for place, letter in enumerate(path) if letter == "/"]
        if not slashes:
            return f".{inserted}{path}" if path and inserted != "//" else path
        place = source.choice(slashes)
        return path[:place] + inserted + path[place + 1 :]

    return change


def _with_nul(path: str, source: random.Random) -> str:
    place = source.randint(0, len(path))
    return f"{path[:place]}\0{path[place:]}"


_CHANGES: tuple[Callable[[str, random.Random], str], ...] = (
    *map(_at_a_slash, ("//", "///", "/./", "/nowhere/../", "/loop/../", "/" + "x" * 300 + "/../", "%2f", "\\")),
    lambda path, _: f"{path}/", lambda path, _: f"{path}/.",
    lambda path, _: f"/{path}" if path.startswith("/") else path,
    lambda path, _: f"/proc/self/root{path}" if path.startswith("/") else path,
    lambda path, _: normalize("NFD", path), lambda path, _: path.upper(), lambda path, _: path + "/x" * 2_000,
    lambda path, _: path + "\ud800", _with_nul,
)  # fmt: skip


# Spellings that one store of the second half sees, so that each may be the first name of a file in some of them.
_A_STORE = 25


def run(dose: Dose) -> Figures:
    """Ask a server for 2,000 spellings, then index 2,000 from Python and the command line; look at what is stored."""
    source = dose.random()
    world = World(dose.folder.resolve() / "world")
    world.write()
    figures: Counter[str] = Counter()
    file = dose.folder / "memory.sqlite"
    with serving(world.lab, dose.folder, "--JupyterMemory.embedder=static", HOME=str(world.home)) as (server, _):
        for number in range(dose.times(2_000, least=30)):
            figures[_ask(server, world, source)] += 1
            if number % 100 == 99:
                wait_for_jobs(server)
        wait_for_jobs(server)
    figures["files that the server stored"] = _check(file, dose, hidden=True)
    for number in range(dose.times(2_000 // _A_STORE, least=2)):
        figures["spellings from Python and the command line"] += _A_STORE
        figures["files that these stored"] += _index_many(world, dose.folder / f"{number}.sqlite", source)
        _check(dose.folder / f"{number}.sqlite", dose)
    return figures


def ask(server: str, route: str, body: Any = None) -> tuple[int, str]:
    """Return status and body of an answer; a Loss where the server itself failed, or told a word of a file."""
    code, text = asked(server, route, body)
    if code >= 500 or any(word in text for word in FORBIDDEN):
        raise Loss(f"{route} answered {body} with {code}: {text}")
    return code, text


def wait_for_jobs(server: str) -> None:
    end = time.monotonic() + 100
    while any(job["state"] in ("waiting", "running") for job in json.loads(ask(server, "jobs")[1])["jobs"]):
        if time.monotonic() > end:
            raise Loss("a job did not end")
        time.sleep(0.02)


def _ask(server: str, world: World, source: random.Random) -> str:
    """Ask for one path by one of the routes that take one; return what was counted."""
    is_forbidden = source.random() < 0.6
    path = spelt(world.forbidden(source) if is_forbidden else world.inside(source), source)
    route, body = source.choice(
        [("index", {}), ("index", {"watch": True}), ("folders", {"watched": True}), ("folders", {"watched": False})]
    )
    code, text = ask(server, route, {"path": path, **body})
    if source.random() < 0.1:
        plain = path.replace("\0", "").replace("\ud800", "")
        note = {"text": f"note {source.random()}", "kind": "file", "source": plain}
        _, told = ask(server, "add", note)
        place = json.loads(told).get("place", {})
        if place.get("path") and ("/." in f"/{place['path']}" or not (world.lab / place["path"]).exists()):
            raise Loss(f"a note of {path!r} opens at {place['path']!r}")
    if code == 200:
        return "answered"
    if "outside" in text or "hidden" in text:
        # Of what is not shown, nobody learns whether it is there.
        other, same = ask(server, route, {"path": f"{path.rstrip('/')}/nothing-there", **body})
        if (other, same) != (code, text):
            raise Loss(f"{route} tells whether {path!r} exists")
        return "refused by the setting"
    return "refused as no such path"


def _index_many(world: World, file: Path, source: random.Random) -> int:
    """Index spellings from Python and, one in ten, by the command line; return how many files are stored."""
    with MemoryStore(file, "static") as store:
        for _ in range(_A_STORE):
            name = world.inside(source)
            top = source.choice([str(world.lab), str(world.lab), f"{world.top}/way in", os.path.relpath(world.lab)])
            path = spelt(f"{top}/{name}" if name else source.choice([top, str(world.top)]), source)
            if source.random() < 0.1 and "\0" not in path and "\ud800" not in path:
                with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                    main(["--store", str(file), "index", path])
                continue
            try:
                store.index(path, progress=False)
            except (JupyterMemoryError, UnicodeEncodeError):
                continue
        return int(store.stats()["files"])


def _check(file: Path, dose: Dose, *, hidden: bool = False) -> int:
    with MemoryStore(file, "static") as store:
        memories = [hit.memory for hit in store.browsed(limit=10_000).hits]
    texts = [one.text for one in memories if "word" in one.text]
    twice = [text for text, count in Counter(texts).items() if count > 1]
    if twice:
        names = [one.source for one in memories if one.text == twice[0]]
        raise Loss(f"a file is stored as {names} (seed {dose.seed})")
    if hidden and (found := [text for text in texts if any(word in text for word in FORBIDDEN)]):
        raise Loss(f"the server stored {len(found)} files that Lab does not show (seed {dose.seed})")
    return len(texts)
