"""Files that took each other's names: each is followed to its new one, however many there are."""

from __future__ import annotations

import random

from jupyter_memory import FileState
from jupyter_memory.ingest.moves import DisplacedFiles
from jupyter_memory.ingest.readers.registry import digest


def test_files_of_one_size_are_looked_through_once(tmp_path, monkeypatch):
    """A row of files that moved on by one: what it takes grows with their number, not with its square."""
    many = 300
    names = [tmp_path / f"woche {n:03}.md" for n in range(many + 1)]
    random.Random(3).shuffle(names)
    known = {}
    for n, path in enumerate(names[:-1]):
        path.write_text(f"λ {n:03}")
        known[str(path)] = FileState(str(path), 0, path.stat().st_size, digest(path))
    for old, new in zip(names[-2::-1], names[:0:-1], strict=True):
        old.rename(new)
    looks = []
    look = DisplacedFiles._digest
    monkeypatch.setattr(DisplacedFiles, "_digest", lambda self, path: looks.append(path) or look(self, path))

    gone = {str(names[0]): known[str(names[0])]}
    moves = DisplacedFiles(sorted(tmp_path.iterdir()), known).moves(gone)

    ways = list(zip(map(str, names[:-1]), map(str, names[1:]), strict=True))
    assert moves == ways[::-1]
    assert len(looks) < 4 * many
