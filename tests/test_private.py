"""What stays on this machine: nothing is asked of the network, nothing of a user's words is logged or left about."""

from __future__ import annotations

import os
import subprocess
import sys

SECRET = "walrossherde"
SESSION = f"""
import logging, os, socket, sys
from pathlib import Path

class Refused(Exception):
    pass

def refuse(*arguments, **keywords):
    raise Refused(f"the network was asked for: {{arguments}}")

socket.socket.connect = socket.socket.connect_ex = refuse
socket.create_connection = socket.getaddrinfo = refuse
records = []
class Kept(logging.Handler):
    def emit(self, record):
        records.append(record.getMessage())
logging.basicConfig(level=logging.DEBUG, handlers=[Kept()])

from jupyter_memory import MemoryStore
folder = Path(sys.argv[1])
(folder / "notes").mkdir()
(folder / "notes" / "λ.md").write_text("# Müller\\n\\nThe {SECRET} is in the note.", encoding="utf-8")
before = {{path for path in folder.rglob("*")}} | set(Path(os.environ["TMPDIR"]).rglob("*"))
with MemoryStore(folder / "store" / "memory.sqlite") as store:
    memory = store.add("We saw a {SECRET} in Zürich.", title="{SECRET}", tags=["{SECRET}"])
    assert store.index(folder / "notes", progress=False).cells == 1
    df = store.search("where was the {SECRET}")
    assert len(df) == 2
    df.memory.explain(1), df.memory.breakdown(), df.memory.style().to_html()
    store.update(memory.id, text="Another {SECRET}.")
    for wrong in (lambda: store.add(""), lambda: store.search("{SECRET}", limit=0), lambda: store.get("{SECRET}x")):
        try:
            wrong()
        except Exception as error:
            assert type(error).__module__ == "jupyter_memory.errors", error
    store.doctor(), store.stats(), store.browse(), store.forget(everything=True)
after = set(folder.rglob("*")) | set(Path(os.environ["TMPDIR"]).rglob("*"))
outside = sorted(str(path) for path in after - before if folder / "store" not in path.parents)
print([line for line in records if "{SECRET}" in line], [path for path in outside if not path.endswith("/store")])
"""


def test_a_whole_session_without_a_network(tmp_path):
    """With every connection refused, all works; no log line holds what was written; no file lies beside the store."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    work = tmp_path / "work"
    work.mkdir()
    found = subprocess.run(
        [sys.executable, "-c", SESSION, str(work)],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary), "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"},
    )

    assert found.returncode == 0, found.stderr
    assert found.stdout.strip() == "[] []"
