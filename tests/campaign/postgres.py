"""A store on a real server: writers that are killed, a server that stops and crashes, and clients who pry.

What a writer was told is stored is there at the end, and what it was told is forgotten is not; nobody sees a deadlock,
and the store is sound. No query of a client tells anything of a space that is not theirs.
"""

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from postgres_server import PostgresServer, leaks, running, some_query, tenants_of

from campaign import Dose, Figures, Loss
from campaign._servers import own_settings
from jupyter_memory import JupyterMemory, MemoryStore

_QUERIES, _SECONDS, _WRITERS = 10_000, 300, 16


@dataclass
class _Told:
    kept: set[str] = field(default_factory=set)
    going: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    away: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)


def run(dose: Dose) -> Figures:
    pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    with running() as server:
        asked = _pry(server, dose)
        figures = _crowd(server, dose)
    return {"queries of others": asked, **figures}


def _pry(server: PostgresServer, dose: Dose) -> int:
    rng, count = dose.random(), dose.times(_QUERIES, 100)
    with tenants_of(server) as tenants:
        tenants.grant("ana", "reader", "papers")
        tenants.grant("ana", "writer", "λ")
        with tenants.connect("ana") as ana:
            for _ in range(count):
                if found := leaks(ana, some_query(rng)):
                    raise Loss(f"a query told of another space: {found} (seed {dose.seed})")
    return count


def _crowd(server: PostgresServer, dose: Dose) -> Figures:
    address, rng = server.new_database(), dose.random()
    seconds, count = max(6.0, _SECONDS * dose.scale), dose.times(_WRITERS, 3)
    with MemoryStore(address, "static", settings=JupyterMemory()) as store:
        store.add("The prices of λ in the beginning.")
    done: Counter[str] = Counter()
    logs = [dose.folder / f"writer{number}.log" for number in range(count)]
    writers = [_writer(address.url, log, rng.randrange(2**32)) for log in logs]
    try:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(rng.uniform(0.2, 1.0))
            if rng.random() < 0.7:
                place = rng.randrange(count)
                _kill(writers[place])
                writers[place] = _writer(address.url, logs[place], rng.randrange(2**32))
                done["kills of clients"] += 1
            elif rng.random() < 0.4:
                crash = rng.random() < 0.5
                server.restart(signal.SIGQUIT if crash else signal.SIGINT)
                done["crashes of the server" if crash else "restarts of the server"] += 1
    finally:
        for writer in writers:
            _kill(writer)
    return {**done, **_checked(address, _read(logs), dose.seed)}


def _writer(url: str, log: Path, seed: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "campaign._victim", "share", url, str(seed)]
    with log.open("ab") as told:
        return subprocess.Popen(command, env=own_settings(log.parent), stdout=told, stderr=subprocess.DEVNULL)


def _kill(writer: subprocess.Popen[bytes]) -> None:
    writer.kill()
    writer.wait(30)


def _read(logs: list[Path]) -> _Told:
    told = _Told()
    for log in logs:
        for line in log.read_text().splitlines() if log.exists() else []:
            try:
                what, value = json.loads(line)
            except ValueError:
                continue  # torn by the kill
            if what == "error":
                told.errors.append(value)
            elif what == "lost server":
                told.away[value] += 1
            else:
                {"kept": told.kept, "going": told.going, "gone": told.gone}[what].add(value)
    return told


def _checked(address, told: _Told, seed: int) -> Figures:
    if told.errors:
        raise Loss(f"{len(told.errors)} errors reached a writer (seed {seed}), the first: {told.errors[0]}")
    with MemoryStore(address, settings=JupyterMemory()) as store:
        there = {memory.id for memory in store.among([*told.kept, *told.gone])}
        if lost := told.kept - told.going - there:
            raise Loss(f"{len(lost)} of {len(told.kept)} memories were lost (seed {seed})")
        if back := told.gone & there:
            raise Loss(f"{len(back)} forgotten memories are still there (seed {seed})")
        if problems := store.doctor():
            raise Loss(f"the store is not sound (seed {seed}): {problems}")
    return {
        "memories kept": len(told.kept),
        "forgotten": len(told.gone),
        "times a writer lost the server": told.away.total(),
    }
