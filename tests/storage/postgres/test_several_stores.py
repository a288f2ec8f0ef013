"""A team's server beside stores in files: one answer, rights that hold, and a server that is gone."""

import os
import signal
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from postgres_server import running
from programs import until

from jupyter_memory import JupyterMemory, MemoryStore, StoreReadOnly
from jupyter_memory.store import Stores

QUESTION = "how were the prices scaled"


@pytest.fixture
def named(tmp_path, home):
    """A person's own store and a project's in files, each with a note that answers the same question."""

    def named(address, **row):
        own, papers = tmp_path / "own.sqlite", tmp_path / "papers.sqlite"
        for name, path in (("own", own), ("papers", papers), ("team", address)):
            with MemoryStore(path, "static") as store:
                store.add(f"The prices of {name} are scaled to zero mean.", title=f"Prices of {name}")
        listed = [{"name": "papers", "path": str(papers)}, {"name": "team", "path": str(address), **row}]
        return JupyterMemory(path=str(own), stores=listed, busy_seconds=0.2), MemoryStore(own)

    return named


def test_two_files_and_a_server(named, emptied_postgres):
    """All three answer together; each hit says its store, and its score is the sum of what it shows."""
    settings, own = named(emptied_postgres)
    with own, closing(Stores(settings, lambda: own)) as stores:
        found = stores.vaults(["all"]).hits(QUESTION, profile="auto", deadline=30)
        assert {hit.store for hit in found.hits} == {"own", "papers", "team"} and not found.left_out
        assert all(hit.score == sum(seen.contribution for seen in hit.signals.values()) for hit in found.hits)
        [hit] = [hit for hit in found.hits if hit.store == "team"]
        assert stores.named("team").update(hit.memory.id, tags=["tax"]).tags == ("tax",)


def test_a_server_that_is_read_only_by_choice(named, emptied_postgres):
    settings, own = named(emptied_postgres, read_only=True)
    with own, closing(Stores(settings, lambda: own)) as stores:
        [hit] = stores.vaults(["team"]).hits(QUESTION, profile="auto").hits
        with pytest.raises(StoreReadOnly):
            stores.named("team").pin(hit.memory.id)


@pytest.mark.timeout(300)  # a server of its own is made, and killed
@pytest.mark.parametrize("what", ["killed", "locked", "slow"])
def test_one_of_three_does_not_answer(named, what):
    """The server is killed, a file is locked, or the server hangs: the others answer, and say which one did not."""
    with running() as server:
        settings, own = named(server.new_database())
        with own, closing(Stores(settings, lambda: own)) as stores:
            everyone = stores.vaults(["all"])
            assert len(everyone.hits(QUESTION, profile="auto", deadline=30).hits) == 3
            pid = server.raw.get_pid()
            workers = [row[0] for row in server.execute("select pid from pg_stat_activity where datname like 'test%'")]
            with closing(apsw.Connection(settings.stores[0]["path"])) as holder:
                match what:
                    case "killed":
                        os.kill(pid, signal.SIGQUIT)
                    case "locked":
                        stores.close()
                        for statement in ("pragma journal_mode = delete", "begin exclusive"):
                            holder.execute(statement).fetchall()
                    case "slow":
                        for worker in workers:
                            os.kill(worker, signal.SIGSTOP)
                try:
                    found = stores.vaults(["all"]).hits(QUESTION, profile="auto", deadline=2.0)
                finally:
                    for worker in workers if what == "slow" else ():
                        os.kill(worker, signal.SIGCONT)
            away = "papers" if what == "locked" else "team"
            assert {hit.store for hit in found.hits} == {"own", "papers", "team"} - {away}
            assert [*found.left_out] == [away]
            assert any(notice.startswith(f"The store {away} is left out: ") for notice in found.answer.notices)
            if what == "killed":
                until(lambda: not Path(f"/proc/{pid}").exists())
                server.raw.ensure_postgres_running()
