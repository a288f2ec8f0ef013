"""Claims about telling, without a walk, whether a walk would take a file."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.ingest import is_wanted, walk

FILES = (
    "λ.md",
    "notes/prices.ipynb",
    "notes/prices.csv",
    "notes/.hidden.md",
    "notes/.ipynb_checkpoints/prices-checkpoint.ipynb",
    "notes/old/ü.py",
    "notes/old/keep.py",
    "venv/lib/a.py",
    "env/pyvenv.cfg",
    "env/lib/b.py",
    "node_modules/c.md",
    "build/d.md",
)
PATTERNS = ("*.md", "notes/", "old", "!keep.py", "/build/", "**/prices*", "!λ.md", "ü.py", "# nothing")


def grow(root: Path) -> None:
    for name in FILES:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("λ", encoding="utf-8")


@given(
    top=st.lists(st.sampled_from(PATTERNS), max_size=4),
    below=st.lists(st.sampled_from(PATTERNS), max_size=3),
    ignore=st.lists(st.sampled_from(PATTERNS), max_size=2),
    git=st.booleans(),
)
def test_the_same_files_as_a_walk(tmp_path_factory, top, below, ignore, git):
    """Whatever the ignore files say, a file is wanted exactly when the walk of its folder takes it."""
    base = tmp_path_factory.mktemp("tree")
    root = base / "work"
    grow(root)
    if git:
        (base / ".git").mkdir()
        (base / ".gitignore").write_text("\n".join(below), encoding="utf-8")
    (root / ".gitignore").write_text("\n".join(top), encoding="utf-8")
    (root / "notes" / ".jupytermemoryignore").write_text("\n".join(below), encoding="utf-8")

    taken = set(walk(root, ignore=ignore).files)
    for name in FILES:
        assert is_wanted(root / name, root, ignore=ignore) == (root / name in taken), name
