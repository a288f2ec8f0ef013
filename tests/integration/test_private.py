"""What stays on this machine: nothing is asked of the network, nothing of a user's words is logged or left about."""

import os
import shutil
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

socket.socket.connect = socket.socket.connect_ex = socket.socket.sendto = refuse
socket.create_connection = socket.getaddrinfo = refuse
lines = []
class Kept(logging.Handler):
    def emit(self, record):
        lines.append(logging.Formatter("%(name)s %(message)s").format(record))
logging.basicConfig(level=logging.DEBUG, handlers=[Kept(level=logging.DEBUG)])
logging.getLogger("jupyter_memory").setLevel(logging.DEBUG)

def files():
    return {{path for path in Path(sys.argv[1]).rglob("*") if path.is_file()}}

from jupyter_memory import JupyterMemoryError, MemoryStore
folder = Path(sys.argv[1], "work")
before = files()
store = MemoryStore(folder / "store" / "memory.sqlite")
memory = store.add("We saw a {SECRET} in Zürich.", title="{SECRET}", tags=["{SECRET}"], metadata={{"x": "{SECRET}"}})
assert store.index(folder / "notes", progress=False).cells == 1
assert store.index(folder / "notes", progress=False).unchanged == 1
df = store.search("where was the {SECRET}")
assert len(df) == 2 and "SEM" in df["badges"].iloc[0]
df.memory.explain(1), df.memory.breakdown(), df.memory.text(1), df.memory.style().to_html()
store.explain("{SECRET}", memory.id), store.browse(filters={{"tag": "{SECRET}"}})
store.update(memory.id, text="Another {SECRET}.")
for wrong in (
    lambda: store.add(""),
    lambda: store.add("{SECRET}", event_at="{SECRET}"),
    lambda: store.search("{SECRET}", limit=0),
    lambda: store.search("x", filters={{"tags": "{SECRET}"}}),
    lambda: store.get("{SECRET}x"),
    lambda: store.index("{SECRET}", progress=False),
):
    try:
        wrong()
    except Exception as error:
        assert isinstance(error, JupyterMemoryError), error
    else:
        raise AssertionError(wrong)
store.doctor(), store.stats(), store.tags(), store.reembed(progress=False)
assert {{path.parent for path in files() - before}} == {{folder / "store"}}, files() - before
assert store.forget(everything=True) == 2
store.close()
assert files() - before == {{folder / "store" / "memory.sqlite"}}, files() - before
assert not any("{SECRET}" in path.read_bytes().decode("latin-1") for path in files() - before)
assert lines, "the handler heard nothing, not even that a store was made"
print([line for line in lines if "{SECRET}" in line.lower() or "Zürich" in line])
"""


def alone():
    """Return what starts a program without any network at all, where the system and our rights allow it."""
    without = ["unshare", "--net", "--"]
    if shutil.which("unshare") and subprocess.run([*without, "true"], capture_output=True, timeout=100).returncode == 0:
        return without
    return []


def test_a_whole_session_without_a_network(tmp_path, monkeypatch):
    """With the network off all works; no log line holds what was written; no file lies outside the store's folder."""
    for variable, name in {"TMPDIR": "tmp", "HOME": "home", "XDG_CACHE_HOME": "cache", "XDG_DATA_HOME": "data"}.items():
        (tmp_path / name).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / name))
    for variable in ("JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    notes = tmp_path / "work" / "notes"
    notes.mkdir(parents=True)
    (notes / "λ.md").write_text(f"# Müller\n\nThe {SECRET} is in the note.", encoding="utf-8")
    found = subprocess.run(
        [*alone(), sys.executable, "-c", SESSION, str(tmp_path)], capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, timeout=100,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip() == "[]"
    assert SECRET not in found.stderr
