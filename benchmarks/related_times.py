"""How long the panel waits for the cells like a text, in Python and through a server; `related.py` calls it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from corpus import Text, read_corpus
from lab_startup import wait_until_ready

from jupyter_memory import MemoryStore
from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.types import Filters

TARGET_MS = 60
_WARM_UP = 20
_TOKEN = "a-token-for-this-run"
_CELLS = 50  # in each notebook


def notebooks_of(texts: Sequence[Text], folder: Path) -> None:
    """Write texts into notebooks, a code cell each."""
    for first in range(0, len(texts), _CELLS):
        cells = [
            {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text.text}
            for text in texts[first : first + _CELLS]
        ]
        notebook = {
            "cells": cells,
            "metadata": {"language_info": {"name": "python"}},
            "nbformat": 4,
            "nbformat_minor": 4,
        }
        Path(folder, f"{first:06}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


def times(chunks: int, questions: int, work: Path) -> None:
    """Print how long a text takes, in Python and through a server."""
    texts = read_corpus(chunks + questions + _WARM_UP, 0, work=work).texts
    asked = [text.text for text in texts[chunks:]]
    with tempfile.TemporaryDirectory() as folder:
        home, root = Path(folder), Path(folder, "root")
        root.mkdir()
        notebooks_of(texts[:chunks], root)
        path = home / "memory.sqlite"
        with MemoryStore(path, embedder=StaticEmbedder()) as store:
            store.index(root, progress=False)
            elsewhere = Filters(kind=("cell",), not_path=(str(root / "000000.ipynb"),))
            print(f"\n{store.stats()['chunks']:,} chunks, {questions} texts, {os.cpu_count()} CPUs; ", end="")
            print(f"target {TARGET_MS} ms at p95")
            spread("MemoryStore.hits", asked, lambda text: store.hits(text.splitlines()[0], filters=elsewhere))
            spread("MemoryStore.related_to", asked, lambda text: store.related_to(text, filters=elsewhere))
        with served(root, path, home) as ask:
            spread("POST related-to", asked, lambda text: ask({"text": text, "path": "000000.ipynb"}))


def spread(name: str, texts: Sequence[str], call: Callable[[str], object]) -> None:
    """Print the quantiles of the time that a call takes."""
    taken = []
    for text in texts:
        begun, used = time.perf_counter(), time.process_time()
        call(text)
        taken.append(((time.perf_counter() - begun) * 1000, (time.process_time() - used) * 1000))
    (p50, cpu50), (p95, cpu95) = np.quantile(taken[_WARM_UP:], (0.5, 0.95), axis=0)
    print(
        f"  {name:24} p50 {p50:5.1f} ms   p95 {p95:5.1f} ms   of this process's time {cpu50:5.1f} and {cpu95:5.1f} ms"
    )


def wait_until_listening(port: int) -> None:
    """Return when a server takes connections; it tells others where it is a moment before."""
    while True:
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)


@contextmanager
def served(root: Path, store: Path, home: Path) -> Iterator[Callable[[dict[str, str]], object]]:
    """Yield what asks the route of a Jupyter server over this store."""
    environment = {**os.environ, "HOME": str(home), "JUPYTER_MEMORY_PATH": str(store)}
    for variable in ("DATA", "CONFIG", "RUNTIME"):
        environment[f"JUPYTER_{variable}_DIR"] = str(home / variable.lower())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = [
        f"--ServerApp.port={port}",
        f"--IdentityProvider.token={_TOKEN}",
        "--ServerApp.open_browser=False",
        "--ServerApp.allow_root=True",
        f"--ServerApp.root_dir={root}",
        "--ServerApp.jpserver_extensions={'jupyter_memory': True}",
    ]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen([sys.executable, "-m", "jupyter_server", *settings], env=environment, **silent)
    try:
        wait_until_ready(home / "runtime", server)
        wait_until_listening(port)

        def ask(body: dict[str, str]) -> object:
            request = urllib.request.Request(
                f"http://localhost:{port}/jupyter-memory/related-to",
                json.dumps(body).encode(),
                {"Authorization": f"token {_TOKEN}"},
            )
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)

        yield ask
    finally:
        server.terminate()
        server.wait()
