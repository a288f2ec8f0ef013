"""Files inside and outside of Lab's folder, and ways to spell their paths; each file holds a word of its own."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

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
    lambda path, _: f"{path}/",
    lambda path, _: f"{path}/.",
    lambda path, _: f"/{path}" if path.startswith("/") else path,
    lambda path, _: f"/proc/self/root{path}" if path.startswith("/") else path,
    lambda path, _: normalize("NFD", path),
    lambda path, _: path.upper(),
    lambda path, _: path + "/x" * 2_000,
    lambda path, _: path + "\ud800",
    _with_nul,
)
