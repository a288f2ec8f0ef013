"""Any change of the files in some folders, and what a store says of them but for the ids that it gave."""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import apsw
from week import notebook

DIARY = [
    "# Wöchentliche Notizen",
    "On Monday we set the λ of the Poisson model to 3.2 orders an hour.",
    "On Tuesday Müller asked for the prices of Zürich, net of tax.",
    "On Thursday the join of both tables lost every shop without sales.",
]
CHANCE = ["5e2c41b0", "aa17f09d", "0d4c6b1e", "77bb2f3a"]
SOURCES = [
    "prices = load('prices.csv')",
    "prices.groupby('shop').mean()",
    "fit(prices, λ=0.3)",
    "plot(prices, title='Zürich')",
]


def kept(memory, path):
    """Return id, tags and pin of each memory of a file, by location."""
    hits = memory.browsed(limit=100, filters={"path": str(path)}).hits
    return {hit.memory.location: (hit.memory.id, hit.memory.tags, hit.memory.pinned) for hit in hits}


# Kind, and three numbers that choose among what is there; numbers, so that a shorter sequence is one, too.
Change = tuple[str, int, int, int]

NAMES = (
    "a.md", "b.md", "c.txt", "d.ipynb", "e.ipynb", "sub/a.md", "sub/f.md", "sub/d.ipynb", "sub/deep/a.md", "z/g.md",
)  # fmt: skip
FOLDERS = ("sub", "sub/deep", "z", "new")
TEXTS = (
    "\n\n".join(DIARY), "\n\n".join([*DIARY[:3], "On Friday it was found."]),
    "# Prices\n\nNet of tax.\n\n## Zürich\n\nThe λ of the shops is 3.2 orders an hour.", "short λ", "",
)  # fmt: skip
BOOKS = (
    notebook(*zip(CHANCE, SOURCES, strict=True)),
    notebook(*zip(CHANCE, [*SOURCES[:3], "plot(λ)"], strict=True)),
    notebook(*zip([None] * 4, SOURCES, strict=True)),
    notebook((None, SOURCES[0]), (None, SOURCES[0]), ("cell-1", "λ = 3")),
)
# The middle of a day: a document's context names the day on which it was changed.
_NOON = 1_772_712_000


class Changes:
    """Changes the files below some folders one after another; each that is written gets a time of its own."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = roots
        self._time = _NOON
        for root in roots:
            root.mkdir(parents=True, exist_ok=True)

    def apply(self, change: Change) -> None:
        kind, *numbers = change
        _KINDS[kind](self, *numbers)

    def _write(self, first: int, second: int, third: int) -> None:
        path = self._place(first, second)
        texts = BOOKS if _is_notebook(path) else TEXTS
        self._stamped(path, texts[third % len(texts)])

    def _edit(self, first: int, second: int, third: int) -> None:
        if (path := self._file(first)) is not None:
            self._stamped(path, _edited(path.read_text(), second))

    def _move(self, first: int, second: int, third: int) -> None:
        if (path := self._file(first)) is not None and (to := self._other_place(path, second, third)) is not None:
            path.replace(to)

    def _swap(self, first: int, second: int, third: int) -> None:
        one, other = self._file(first), self._file(second)
        if one is not None and other is not None and one != other and _is_notebook(one) == _is_notebook(other):
            one.rename(aside := one.with_name("aside"))
            other.rename(one)
            aside.rename(other)

    def _copy(self, first: int, second: int, third: int) -> None:
        if (path := self._file(first)) is not None and (to := self._other_place(path, second, third)) is not None:
            shutil.copy2(path, to)
            if third % 2:
                self._stamp(to)

    def _touch(self, first: int, second: int, third: int) -> None:
        if (path := self._file(first)) is not None:
            self._stamp(path)

    def _delete(self, first: int, second: int, third: int) -> None:
        if (path := self._file(first)) is not None:
            path.unlink()

    def _move_folder(self, first: int, second: int, third: int) -> None:
        if (ways := self._ways(first, second, third)) is not None:
            shutil.move(*ways)

    def _copy_folder(self, first: int, second: int, third: int) -> None:
        if (ways := self._ways(first, second, third)) is not None:
            shutil.copytree(*ways)

    def _delete_folder(self, first: int, second: int, third: int) -> None:
        if (folder := self._folder(first)) is not None:
            shutil.rmtree(folder)

    def _ways(self, first: int, second: int, third: int) -> tuple[Path, Path] | None:
        """Return a folder, and a place where none is and that is not inside it."""
        folder, to = self._folder(first), self._roots[second % len(self._roots)] / FOLDERS[third % len(FOLDERS)]
        if folder is None or to.exists() or to.is_relative_to(folder):
            return None
        to.parent.mkdir(parents=True, exist_ok=True)
        return folder, to

    def _other_place(self, path: Path, first: int, second: int) -> Path | None:
        """Return a place for a file of this kind: a document that is called a notebook could not be read."""
        to = self._place(first, second)
        return to if to != path and _is_notebook(to) == _is_notebook(path) else None

    def _place(self, first: int, second: int) -> Path:
        path = self._roots[first % len(self._roots)] / NAMES[second % len(NAMES)]
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _file(self, number: int) -> Path | None:
        files = sorted(path for root in self._roots for path in root.rglob("*") if path.is_file())
        return files[number % len(files)] if files else None

    def _folder(self, number: int) -> Path | None:
        folders = sorted(path for root in self._roots for path in root.rglob("*") if path.is_dir())
        return folders[number % len(folders)] if folders else None

    def _stamped(self, path: Path, text: str) -> None:
        path.write_text(text)
        self._stamp(path)

    def _stamp(self, path: Path) -> None:
        self._time += 1
        os.utime(path, (self._time, self._time))


_KINDS: dict[str, Callable[[Changes, int, int, int], None]] = {
    "write": Changes._write, "edit": Changes._edit, "move": Changes._move, "swap": Changes._swap,
    "copy": Changes._copy, "touch": Changes._touch, "delete": Changes._delete, "move folder": Changes._move_folder,
    "copy folder": Changes._copy_folder, "delete folder": Changes._delete_folder,
}  # fmt: skip
# How often a random sequence should have each.
KINDS = dict(zip(_KINDS, (4, 3, 8, 2, 5, 5, 1, 2, 1, 1), strict=True))


def said(store: Path) -> list[tuple[object, ...]]:
    """Return all that a store holds of indexed files, but for ids and times, in the order of the files and their cells.

    A file that was only touched keeps the time at which its content was written.
    """
    with closing(apsw.Connection(str(store), apsw.SQLITE_OPEN_READONLY)) as connection:
        return [*connection.execute(_FILES), *connection.execute(_MEMORIES)]


_FILES = "select path, size, content_hash from files order by path"
_MEMORIES = """
    select source, kind, location, tier, lang, title, texts.text, metadata, content_hash,
        (select json_group_array(tag) from tags where tags.memory = memories.key),
        start, stop, line, chunks.text, context, ident
    from memories join texts on texts.memory = memories.key join chunks on chunks.memory = memories.key
    order by source, memories.key, chunks.id
"""


def _is_notebook(path: Path) -> bool:
    return path.suffix == ".ipynb"


def _edited(text: str, number: int) -> str:
    try:
        book = json.loads(text)
    except ValueError:
        return f"{text}\n\nAdded in week {number % 5}."
    cells = book["cells"]
    cells[number % len(cells)]["source"] += f"\nadded({number % 3})"
    return json.dumps(book)
