"""The list of stores that are searched together: its names, its places, its order, and where it is kept."""

import gc
import json
import os
import shutil
import socket
from contextlib import closing
from pathlib import Path
from threading import Thread

import apsw
import pytest
import shells
from commands import Terminal, configure, runner
from IPython.core.completer import provisionalcompleter
from IPython.core.error import UsageError
from kernel_runs import run as run_of

from jupyter_memory import (
    InputError,
    JupyterMemory,
    MemoryStore,
    QueryError,
    StoreError,
    StoreLocked,
    StoreReadOnly,
    chosen_stores,
    listed_stores,
    load_config,
    project_store,
    trust,
)
from jupyter_memory.store import Stores, Vaults


@pytest.fixture
def run(home, capsys, monkeypatch):
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(home / "m.sqlite"))
    return runner(capsys)


@pytest.fixture
def shell(home, monkeypatch):
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(home / "m.sqlite"))
    made = shells.made()
    made.run_line_magic("load_ext", "jupyter_memory")
    yield made
    made.run_line_magic("unload_ext", "jupyter_memory")


@pytest.fixture
def papers(tmp_path):
    with MemoryStore(tmp_path / "papers.sqlite") as store:
        store.add("Prices are net of tax.", title="Prices")
    return store.path


def names():
    return [one.name for one in listed_stores(load_config().stores)]


def test_the_list(run, papers, tmp_path):
    """A store is added, moved to the front and taken off again; the settings keep what was there before."""
    file = Path(os.environ["JUPYTER_CONFIG_DIR"], "jupyter_memory_config.json")
    file.parent.mkdir(parents=True)
    file.write_text('{"JupyterMemory": {"limit": 7}}')
    shutil.copy(papers, tmp_path / "other.sqlite")

    assert run("store", "add", "papers", str(papers), "--read-only").out == f"added papers: {papers}\n"
    assert run("store", "add", "other", str(tmp_path / "other.sqlite")).code == 0
    assert names() == ["own", "project", "papers", "other"]
    assert run("store", "list").out.splitlines()[1:] == [
        f"papers  {papers}  read only",
        f"other   {tmp_path}/other.sqlite",
    ]
    assert run("store", "order", "other", "own").code == 0
    assert names() == ["other", "own", "project", "papers"]
    assert json.loads(file.read_text())["JupyterMemory"]["limit"] == 7
    assert run("store", "remove", "papers").code == run("store", "remove", "other").code == 0
    assert names() == ["own", "project"] and papers.exists()


@pytest.mark.parametrize(
    ("name", "place", "said"),
    [
        ("λ", "papers.sqlite", "letters, digits"),
        ("a b", "papers.sqlite", "letters, digits"),
        ("", "papers.sqlite", "letters, digits"),
        ("all", "papers.sqlite", "already has a meaning"),
        ("own", "papers.sqlite", "already has a meaning"),
        ("papers", "nowhere.sqlite", "no store at"),
        ("papers", "empty.sqlite", "is empty, so it is no store"),
        ("papers", "damaged.sqlite", "not a readable store"),
        ("papers", "mysql://host/base", "neither"),
        ("papers", "postgresql://ada:hunter2@host/base", "password"),
        ("papers", "postgresql://host/base?password=hunter2", "password"),
    ],
)
def test_what_cannot_be_added(run, papers, monkeypatch, name, place, said):
    """The reason is said in one line, without what may be a password, and the list stays as it was."""
    monkeypatch.chdir(papers.parent)
    Path("damaged.sqlite").write_text("This is no database, whatever its name says. " * 40)
    Path("empty.sqlite").touch()
    done = run("store", "add", name, place)
    assert done.code == 1 and said in done.err and len(done.err.splitlines()) == 1
    assert "hunter2" not in done.err and names() == ["own", "project"]
    assert not Path("nowhere.sqlite").exists()


def test_your_own_store_is_on_the_list_already(run, papers):
    done = run("--store", str(papers), "store", "add", "me", str(papers))
    assert done.code == 1 and "is your own store, which is on the list as own" in done.err
    assert names() == ["own", "project"]


def test_the_same_name_twice_and_one_that_is_unknown(run, papers):
    assert run("store", "add", "papers", str(papers)).code == 0
    assert "already" in run("store", "add", "papers", str(papers)).err
    for command in ("remove", "order"):
        assert "Did you mean 'papers'?" in run("store", command, "paper").err
    assert "always on the list" in run("store", "remove", "own").err


_TWICE = json.dumps([{"name": "team", "path": name} for name in ("a.sqlite", "b.sqlite")])


@pytest.mark.parametrize("stores", ['[{"name": "a b", "path": "b.sqlite"}]', '["papers"]', '"papers"', _TWICE])
def test_a_list_that_cannot_be_read_is_not_replaced(run, papers, stores):
    file = Path(os.environ["JUPYTER_CONFIG_DIR"], "jupyter_memory_config.json")
    file.parent.mkdir(parents=True)
    file.write_text(written := f'{{"JupyterMemory": {{"stores": {stores}}}}}')
    for command in (("add", "papers", str(papers)), ("remove", "papers"), ("order", "own")):
        done = run("store", *command)
        assert done.code == 1 and "it stays as it is" in done.err and file.read_text() == written
        assert stores != _TWICE or "two of them are called team." in done.err


def test_a_list_in_a_program_that_fails_is_not_hidden_by_another(run, papers):
    """Which settings such a file has, nobody knows: the list may be among them."""
    file = Path(os.environ["JUPYTER_CONFIG_DIR"], "jupyter_memory_config.py")
    file.parent.mkdir(parents=True)
    file.write_text("c.JupyterMemory.stores = [{'name': 'team', 'path': 'team.sqlite'}]\nraise OSError")
    assert "it stays as it is" in run("store", "add", "papers", str(papers)).err
    assert not file.with_suffix(".json").exists()


def test_the_doctor_names_the_stores_that_cannot_be_opened(run, papers, tmp_path):
    """Each with what to type and left as it is, while the store of a project need not be here."""
    run("add", "Rates fell.")
    (tmp_path / "empty.sqlite").touch()
    (tmp_path / "folder").mkdir()
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_text("This is no database, whatever its name says. " * 40)
    places = {"papers": papers, "gone": tmp_path / "gone.sqlite", "damaged": damaged}
    places |= {"empty": tmp_path / "empty.sqlite", "folder": tmp_path / "folder"}
    configure(stores=[{"name": "project"}, *({"name": name, "path": str(path)} for name, path in places.items())])
    done = run("doctor")
    assert done.code == 1 and "4 problems" in done.err and not places["empty"].stat().st_size
    whys = {"gone": "There is no store at", "damaged": "not a readable store", "empty": "empty", "folder": "folder"}
    for name, why in whys.items():
        off = f"`jupyter-memory store remove {name}` takes it off the list."
        [line] = [line for line in done.out.splitlines() if f"The store {name} cannot be opened; {off}" in line]
        assert why in line
    everywhere = run("search", "rates", "--in", "all")
    assert everywhere.code == 0 and all(f"The store {name} is left out: " in everywhere.err for name in whys)
    with apsw.Connection(str(papers)) as connection:
        connection.execute("delete from chunks")
    assert "- The store papers: " in run("doctor").out
    assert run("--store", os.environ["JUPYTER_MEMORY_PATH"], "doctor").out.endswith("All is well.\n")


def test_nothing_is_no_query_in_several_stores_either(tmp_path):
    """Only the doors list memories without a question; filters alone are one."""
    with MemoryStore(tmp_path / "own.sqlite") as store:
        store.add("Prices are net of tax.")
        for stores in ((), "all"):
            for query, said in ((None, "A query is a string, not NoneType"), (" ", "There is nothing to search for")):
                with pytest.raises(QueryError, match=said):
                    store.search(query, stores=stores, filters={"kind": "note"})
            assert len(store.search("kind:note", stores=stores)) == 1


def test_a_newer_store(run, papers):
    """A store of a newer version is refused before it is on the list."""
    with apsw.Connection(str(papers)) as connection:
        connection.execute("pragma user_version = 99000")
    assert "newer" in run("store", "add", "papers", str(papers)).err and names() == ["own", "project"]


def test_nothing_is_written_into_a_store_that_is_read_only(papers, tmp_path):
    """Not even when it is opened: a copy that a backup made stays as it is, and a store that is gone is not made."""
    with MemoryStore(papers) as store:
        store.backup(tmp_path / "copy.sqlite")
    before = (tmp_path / "copy.sqlite").read_bytes()
    with MemoryStore(tmp_path / "copy.sqlite", read_only=True) as store:
        assert len(store.hits("prices").hits) == 1
    assert (tmp_path / "copy.sqlite").read_bytes() == before
    with pytest.raises(StoreReadOnly):
        MemoryStore(tmp_path / "nowhere.sqlite", read_only=True)
    assert not (tmp_path / "nowhere.sqlite").exists()
    settings = JupyterMemory(stores=[{"name": "papers", "path": str(papers), "read_only": True}])
    with closing(Stores(settings, lambda: None)) as stores:
        store = stores.named("papers")
        memory = store.hits("prices").hits[0].memory
        assert not store.note_access(memory.id)
        for change in (lambda: store.add("more"), lambda: store.forget([memory.id]), lambda: store.pin(memory.id)):
            with pytest.raises(StoreReadOnly):
                change()


def test_the_space_of_the_settings_holds_in_each_from_then_on(papers):
    with MemoryStore(papers, space="shops") as store:
        store.add("Prices of shops.", title="Shops")
    settings = JupyterMemory(stores=[{"name": "papers", "path": str(papers)}])
    with closing(Stores(settings, lambda: None)) as stores:
        assert len(stores.vaults(["papers"]).hits("prices").hits) == 2
        settings.space = "shops"
        assert [hit.memory.title for hit in stores.vaults(["papers"]).hits("prices").hits] == ["Shops"]


def test_a_server_that_never_answers_keeps_one_thread(home):
    """Whoever asks while it is still being opened is told so, and is not kept waiting as long as that takes."""
    pytest.importorskip("psycopg")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"postgresql://127.0.0.1:{silent.getsockname()[1]}/team"
        settings = JupyterMemory(stores=[{"name": "team", "path": place}], busy_seconds=0.05)
        stores, failed = Stores(settings, lambda: None), []

        def open_first():
            with pytest.raises(StoreError) as error:
                stores.named("team")
            failed.append(error.value)

        first = Thread(target=open_first)
        first.start()
        connection, _ = silent.accept()
        with pytest.raises(StoreLocked, match="still being opened"):
            stores.named("team")
        connection.close()
        first.join()
    assert len(failed) == 1 and not isinstance(failed[0], StoreLocked)


def test_what_the_settings_may_say():
    """A list that cannot be read is reported by its setting, and the one before stays."""
    settings = JupyterMemory()
    for rows in (
        [{"name": "a"}],
        [{"name": "a", "path": "postgresql://ada:hunter2@host/base"}],
        [{"name": "a", "path": "/a"}, {"name": "a", "path": "/b"}],
    ):
        [problem] = settings.take({"stores": rows}, "a file")
        assert problem.startswith("stores: ") and "hunter2" not in problem
    assert settings.stores == []


@pytest.fixture
def both(run, papers):
    """Add a note to the person's own store, and the other store to the list."""
    run("add", "--title", "Rates", "We scaled the prices to zero mean.")
    run("store", "add", "papers", str(papers))
    return run


def found(run, *options):
    return json.loads(run("search", "prices", "--json", *options).out)["hits"]


def test_search_in_several(both):
    """Without the option your own store answers, with it those that are named; each hit says where it is."""
    assert [hit["title"] for hit in found(both)] == ["Rates"] and "store" not in found(both)[0]
    assert {hit["title"]: hit["store"] for hit in found(both, "--in", "all")} == {"Rates": "own", "Prices": "papers"}
    assert [hit["store"] for hit in found(both, "--in", "papers")] == ["papers"]
    both("store", "order", "papers", "own")
    named = both("search", "prices", "--in", "own", "--in", "papers")
    assert named.code == 0 and "papers:" in named.out
    context = both("search", "prices", "--in", "all", "--context", "400").out
    assert "We scaled" in context and "note papers:" in context
    assert " papers:" in both("search", "prices", "--in", "all", "--scan").out
    assert both("search", "prices", "--in", "papers", "--quiet").code == 0
    assert "Did you mean 'papers'?" in both("search", "prices", "--in", "paper").err


def test_store_still_means_this_one_alone(both, papers):
    """With --store, no other store is searched, and none is changed by the id of a hit."""
    assert [
        hit["title"] for hit in json.loads(both("--store", str(papers), "search", "prices", "--json").out)["hits"]
    ] == ["Prices"]
    for command in (("search", "prices", "--in", "all"), ("text", "papers:0123456789abcdef")):
        done = both("--store", str(papers), *command)
        assert done.code == 2 and "--store names one store alone" in done.err


def test_what_is_done_to_a_hit_goes_to_its_store(both, papers, monkeypatch):
    """Ranks and ids of another store are read, tagged, pinned, judged and forgotten there, and yours stays as it is."""
    [rank] = [hit["rank"] for hit in found(both, "--in", "all") if hit["store"] == "papers"]
    assert both("text", str(rank)).out == "Prices are net of tax.\n"
    assert both("tag", str(rank), "tax").out.startswith("tagged tax: papers:")
    assert both("pin", str(rank)).out.startswith("pinned papers:") and "”: papers:" in both("good", str(rank)).out
    assert both("explain", "prices", str(rank)).code in (0, 2)
    with MemoryStore(papers) as store:
        [memory] = [hit.memory for hit in store.browsed().hits]
        assert memory.tags == ("tax",) and memory.pinned and len(store.feedbacks()) == 1
    assert f"forget papers:{memory.id}" in both("forget", str(rank)).err
    assert both("forget", f"papers:{memory.id}", "--dry-run").code == 0
    assert "one store at a time" in both("forget", f"papers:{memory.id}", memory.id).err
    configure(undo_minutes=10, stores=[{"name": "papers", "path": str(papers)}])
    assert "jupyter-memory undo --in papers brings it back" in both("forget", f"papers:{memory.id}").err
    assert both("undo", "--in", "papers").out == "brought back 1 memory\n"
    assert "papers:" in both("list", "--in", "papers").out and "papers:" not in both("list", "--in", "own").out
    assert "name one of them" in both("undo", "--in", "all").err
    assert both("forget", f"papers:{memory.id}", "--now").out == "forgot 1 memory\n"
    with MemoryStore(os.environ["JUPYTER_MEMORY_PATH"]) as own:
        assert own.recent() == []
    assert [hit["title"] for hit in found(both, "--in", "all")] == ["Rates"]


def titles_in(place):
    with MemoryStore(place) as store:
        return {hit.title for hit in store.browsed().hits}


def test_copy_and_move(both, papers, monkeypatch):
    """What leaves is shown and asked about; it goes where it was said, in either direction, by id or by filters."""
    [rates], [prices] = ([hit["memory_id"] for hit in found(both, "--in", name)] for name in ("own", "papers"))
    own = os.environ["JUPYTER_MEMORY_PATH"]
    refused = both("copy", rates, "--to", "papers")
    assert refused.code == 2 and "nobody to ask" in refused.err and titles_in(papers) == {"Prices"}
    monkeypatch.setattr("sys.stdin", Terminal("n\ny\n"))
    assert both("copy", rates, "--to", "papers").code == 1 and titles_in(papers) == {"Prices"}
    done = both("copy", rates, "--to", "papers")
    assert done.out == f"copied 1 memory to {papers}\n" and f"1 memory from {own} to {papers}:\n  Rates\n" in done.err
    assert both("move", rates, "--to", "papers", "--yes").out.endswith(
        "1 known already and kept; removed 1 from the source\n"
    )
    assert titles_in(papers) == {"Rates", "Prices"} and titles_in(own) == set()
    assert "removed 1" in both("move", f"papers:{prices}", "--to", "own", "--yes").out
    back = both("move", "--in", "papers", "--kind", "note", "--to", "own", "--yes")
    assert "removed 1" in back.out and "`undo` cannot take this back" in back.err
    assert titles_in(papers) == set() and titles_in(own) == {"Rates", "Prices"}


def test_ranks_after_a_move(both, papers):
    """The search that showed what was moved is forgotten with it: it is said which one ranks are of, if any."""
    both("add", "--title", "Ridge", "λ is 0.3 in the ridge model")
    both("search", "ridge model", "-n", "1")
    [rates] = [hit["memory_id"] for hit in found(both, "-n", "1")]
    moved = both("move", rates, "--to", "papers", "--yes")
    assert "removed 1" in moved.out and "Ranks are now those of “ridge model”" in moved.err
    assert "noted as right for “ridge model”" in both("good", "1").out
    assert "Ranks are now" not in both("copy", "1", "--to", "papers", "--yes").err


def test_undo_of_a_move_and_what_stays(both, papers):
    """`undo` is offered as after `forget`; what was run stays behind, and more than five titles are counted."""
    own, listed = Path(os.environ["JUPYTER_MEMORY_PATH"]), [{"name": "papers", "path": str(papers)}]
    configure(undo_minutes=10, stores=listed)
    with MemoryStore(own) as store:
        store.history.record([run_of("df.mean()")])
        for number in range(6):
            store.add(f"Number {number}")
    done = both("move", "--until", "today", "--to", "papers", "--yes")
    assert "  and 2 more\n  stays here without --history: 1 text that you ran\n" in done.err
    assert "Until " in done.err and "jupyter-memory undo brings it back" in done.err and "cannot" not in done.err
    assert both("undo").out == f"brought back 7 memories from {papers}\n" and titles_in(papers) == {"Prices"}
    assert (
        "nothing to move; stays here without --history: 1 text"
        in both("move", "--kind", "history", "--to", "papers", "--yes").err
    )
    assert "removed 1" in both("move", "--kind", "history", "--to", "papers", "--yes", "--history").out
    both("forget", "--now")
    assert both("undo").code == 1


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        ("copy", 2, "ID --to team"), ("copy a.sqlite", 2, "two whole stores"), ("copy a b c", 2, "two whole stores"),
        ("copy a b --tag x", 2, "two whole stores"), ("copy a b --space x --space y", 2, "two whole stores"),
        ("move ID", 2, "move ID --to team"), ("move --to papers", 2, "move ID --to team"),
        ("copy ID --to paper", 1, "Did you mean 'papers'?"), ("copy ID --to all", 1, "every store"),
        ("copy ID --to own", 1, "the store itself"), ("copy ID --tag x --to papers", 2, "by ids or by filters"),
        ("move 9 --to papers", 1, "no rank 9"), ("move 0123456789abcdef --to papers", 1, "No memory has"),
        ("move papers:THEIRS ID --to own", 2, "one store at a time"),
        ("copy ID --in papers --to own", 2, "itself: papers:ID"),
        ("copy --tag nowhere --to papers", 1, "nothing to copy"), ("copy ID --to bound", 1, "read-only"),
        ("copy ID --to gone", 1, "no store at"), ("copy ID --to newer", 1, "newer"),
        ("copy --to= --tag x", 2, "and the store that gets them"),
        ("move --since nonsense --to papers", 2, "not a time"), ("copy bound:ID --to papers", 1, "No memory has"),
        ("move --in bound --kind note --to papers", 1, "read-only"), ("move --everything --to papers", 2, "No such"),
    ],
)  # fmt: skip
def test_what_cannot_be_copied_or_moved(both, papers, typed, code, said):
    """The reason is said before anything is asked or written."""
    newer, bound = (shutil.copy(papers, papers.with_name(f"{name}.sqlite")) for name in ("newer", "bound"))
    with apsw.Connection(str(newer)) as connection:
        connection.execute("pragma user_version = 99000")
    places = {"papers": papers, "bound": bound, "newer": newer, "gone": papers.with_name("gone.sqlite")}
    rows = [{"name": name, "path": str(place), "read_only": name == "bound"} for name, place in places.items()]
    configure(stores=rows)
    [theirs], [ours] = ([hit["memory_id"] for hit in found(both, "--in", name)] for name in ("papers", "own"))
    done = both(*typed.replace("ID", ours).replace("THEIRS", theirs).split())
    assert done.code == code and said in done.err and "?" not in done.out
    assert titles_in(papers) == titles_in(bound) == {"Prices"} and [one["title"] for one in found(both)] == ["Rates"]


def test_store_names_the_one_alone_that_gives(both, papers):
    done = both("--store", str(papers), "copy", "--tag", "x", "--to", "own")
    assert done.code == 2 and "leave out --in, --to" in done.err


def test_copy_and_move_in_a_notebook(both, papers, shell, capsys):
    """The magics ask, complete the names of stores, and say how to do it where there is nobody to ask."""
    [hit] = found(both)
    with provisionalcompleter():
        offers = shell.Completer.completions(typed := "%memory move --to ", len(typed))
        assert {"own", "papers"} <= (listed := {offer.text for offer in offers}) and "all" not in listed
    capsys.readouterr()
    shell.run_line_magic("memory", f"move {hit['memory_id']} --to papers")
    shown = capsys.readouterr().out
    assert "  Rates" in shown and f"To do it: %memory move {hit['memory_id']} --to papers --yes" in shown
    assert titles_in(papers) == {"Prices"}
    shell.run_line_magic("memory", f"move {hit['memory_id']} --to papers --yes")
    assert "removed 1 from the source" in capsys.readouterr().out and titles_in(papers) == {"Prices", "Rates"}
    with pytest.raises(UsageError, match="Name memories and a store"):
        shell.run_line_magic("memory", "copy")


def test_several_in_a_notebook(shell, papers):
    """The DataFrame has the store of each row, and ranks lead there; sliders and lists are of one store."""
    shell.run_line_magic("memadd", "We scaled the prices to zero mean.")
    with pytest.raises(UsageError, match="Name the store"):
        shell.run_line_magic("memory", "store add papers")
    shell.run_line_magic("memory", f"store add papers {papers}")
    assert names() == ["own", "project", "papers"]
    frame = shell.run_line_magic("memsearch", "prices --in all")
    assert sorted(frame["store"]) == ["own", "papers"]
    rank = int(frame.index[frame["store"] == "papers"][0])
    assert f"papers:{frame.loc[rank, 'memory_id']}" in repr(frame) and "own:" not in repr(frame)
    assert frame.memory.text(rank) == "Prices are net of tax."
    short = shell.run_line_magic("memsearch", "prices --in all --scan")
    assert short.memory.text(rank) == "Prices are net of tax." and "papers:" in repr(short)
    assert "score" in str(frame.memory.explain(rank))
    with pytest.raises(InputError, match="several stores"):
        frame.memory.context()
    with pytest.raises(UsageError, match="of another store"):
        shell.run_line_magic("memeval", f"add {rank}")
    shell.run_line_magic("memory", f"tag {rank} tax")
    assert "Prices are net of tax." in shell.run_line_magic("memory", "context 400")
    shell.run_line_magic("memory", f"explain {rank}")
    shell.run_line_magic("memory", f"related {rank}")
    assert sorted(shell.run_line_magic("memsearch", "--in all")["store"]) == ["own", "papers"]
    assert shell.run_line_magic("memory", "list --in papers")["store"].tolist() == ["papers"]
    with pytest.raises(UsageError, match="Sliders are of one store"):
        shell.run_line_magic("memsearch", "prices --in all --widget")
    with MemoryStore(papers) as store:
        [memory] = [hit.memory for hit in store.browsed().hits]
        assert memory.tags == ("tax",)
    with pytest.raises(UsageError, match=f"papers:{memory.id} is not among the results"):
        shell.run_line_magic("memsearch", "zero mean --in own")
        shell.run_line_magic("memory", f"good papers:{memory.id}")
    configure(stores=[{"name": "more", "path": str(papers)}])  # by a terminal
    assert shell.run_line_magic("memsearch", "prices --in more")["store"].tolist() == ["more"]


def test_several_in_python(tmp_path, papers):
    """Stores of the list are searched with this one by its profile; they are closed with it, and others refused."""
    settings = JupyterMemory(stores=[{"name": "papers", "path": str(papers)}])
    with MemoryStore(tmp_path / "mine.sqlite", profile="covalence", settings=settings) as store:
        store.add("We scaled the prices to zero mean.", title="Rates")
        frame = store.search("prices", stores=["own", "papers"])
        assert dict(zip(frame["title"], frame["store"], strict=True)) == {"Rates": "own", "Prices": "papers"}
        assert store.search("prices", stores="papers", mode="scan")["title"].tolist() == ["Prices"]
        answer = store.hits("price", stores="all", prefix=True, limit=1)
        assert (len(answer.hits), answer.profile) == (1, "covalence")
        with pytest.raises(InputError, match="Did you mean 'papers'"):
            store.hits("prices", stores=["paper"])


def test_opening_your_own_store_leaves_the_others_open(shell, home, papers, capsys):
    """The first command of a kernel may name a memory of another store, and then one of yours."""
    with MemoryStore(home / "m.sqlite") as own, MemoryStore(papers) as store:
        ids = [f"papers:{store.browsed().hits[0].memory.id}", own.add("We scaled the prices.").id]
    shell.run_line_magic("memory", f"store add papers {papers}")
    shell.run_line_magic("memory", f"tag {ids[0]} {ids[1]} tax")
    assert capsys.readouterr().out.count("tagged tax") == 2


def test_the_panel_opens_what_your_own_store_holds(tmp_path):
    """A title leads to the panel by an id that it knows; what another store holds is a link as any other."""
    (tmp_path / "rates.md").write_text("# Rates\n\nPrices are net of tax.")
    with MemoryStore(tmp_path / "own.sqlite") as own, MemoryStore(tmp_path / "team.sqlite") as team:
        for store in (own, team):
            store.index(tmp_path / "rates.md", progress=False)
        shown = {
            name: Vaults(**{name: (store, 1.0)}).search("prices")._repr_html_()
            for name, store in {"own": own, "team": team}.items()
        }
        id_ = own.browsed().hits[0].memory.id
    assert f'data-memory="{id_}"' in shown["own"] and "data-memory" not in shown["team"]
    assert shown["team"].count("rates.md") == shown["own"].count("rates.md")


@pytest.fixture
def project(papers, monkeypatch):
    """A project with a store of its own, and a folder deep in it as the working folder."""
    file = papers.parent / "project" / ".jupyter-memory" / "memory.sqlite"
    file.parent.mkdir(parents=True)
    papers.rename(file)
    (deep := file.parents[1] / "notebooks" / "2026").mkdir(parents=True)
    monkeypatch.chdir(deep)
    return file


def test_the_store_of_a_project_is_opened_once_it_is_trusted(run, project, home):
    """It is found from any folder below; until it is trusted it is named, and not opened."""
    run("add", "--title", "Rates", "We scaled the prices to zero mean.")
    before = sorted(project.parent.iterdir())
    assert "project" in run("store", "list").out and "not trusted" in run("store", "list").out
    done = run("search", "prices", "--in", "all")
    assert done.code == 0 and "The store project is left out" in done.err and "store trust" in done.err
    assert run("search", "prices", "--in", "project").code == 1
    assert sorted(project.parent.iterdir()) == before

    assert run("store", "trust").out == f"trusted: {project}\n"
    assert {hit["store"] for hit in found(run, "--in", "all")} == {"own", "project"}
    assert [hit["title"] for hit in found(run, "--in", "project")] == ["Prices"]
    # Nothing of the trust is in the project.
    trusted = home / "data" / "memory" / "trusted.json"
    assert str(project) in trusted.read_text() and (trusted.stat().st_mode & 0o777 == 0o600 or os.name == "nt")
    assert [file.name for file in trusted.parent.glob("*trusted*")] == ["trusted.json"]
    assert run("store", "remove", "project").out == f"no longer trusted: {project}\n"
    assert run("search", "prices", "--in", "project").code == 1


def test_a_result_of_stores_that_were_closed(both, papers, project):
    """Its rows open them as the list has them: for reading alone, and no file that took the place of a trusted one."""
    trust(project)
    shutil.copy(project, papers)
    both("store", "remove", "papers")
    both("store", "add", "papers", str(papers), "--read-only")
    before = papers.read_bytes()
    with closing(Stores(load_config(), lambda: None)) as stores:
        frames = [stores.vaults([name]).search("prices") for name in ("papers", "project")]
    assert frames[0].memory.text(1) == frames[1].memory.text(1) == "Prices are net of tax."
    gc.collect()
    assert papers.read_bytes() == before
    shutil.copy(project, project.with_name("copy"))
    project.with_name("copy").replace(project)
    with pytest.raises(StoreError, match="store trust"):
        frames[1].memory.text(1)


@pytest.mark.parametrize(
    "change", ["another file", "another of its number", "another path", "a link to another file", "a broken list"]
)
def test_trust_ends(run, project, home, change, monkeypatch):
    """Trust is in one file at one path: another there, or the same elsewhere, has to be trusted anew."""
    run("store", "trust")
    assert run("search", "prices", "--in", "project").code == 0
    if change == "another file":
        shutil.copy(project, project.with_name("copy"))
        project.with_name("copy").replace(project)
    elif change == "another of its number":
        # As it mostly is where git replaces a file.
        held, number = project.read_bytes(), project.stat().st_ino
        project.unlink()
        for place in range(300):
            if (new := project.with_name(f"new-{place}")).write_bytes(held) and new.stat().st_ino == number:
                break
        new.replace(project)
    elif change == "another path":
        moved = project.parents[1].rename(project.parents[2] / "moved")
        monkeypatch.chdir(moved / "notebooks")
    elif change == "a link to another file":
        shutil.copy(project, project.with_name("copy"))
        project.unlink()
        project.symlink_to(project.with_name("copy"))
    else:
        (home / "data" / "memory" / "trusted.json").write_text("[")
    done = run("search", "prices", "--in", "project")
    assert done.code == 1 and "store trust" in done.err


def test_a_project_where_there_is_none(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("add", "prices")
    assert run("search", "prices", "--in", "all").err.count("left out") == 0
    for command in (("search", "prices", "--in", "project"), ("store", "trust"), ("store", "remove", "project")):
        assert run(*command).err.startswith("Error: No folder here or above")


def test_the_project_of_a_notebook(project, tmp_path, monkeypatch):
    """A kernel may work elsewhere: the folder of its notebook counts first."""
    notebook = Path.cwd() / "prices.ipynb"
    monkeypatch.chdir(tmp_path)
    assert project_store() is None
    monkeypatch.setenv("JPY_SESSION_NAME", str(notebook))
    assert project_store() == project


def test_no_project_for_agents(project):
    """Even trusted, it is no store of an agent's, by whatever name it is asked for."""
    trust(project)
    settings = JupyterMemory()
    assert [one.name for one in chosen_stores(settings.stores, ["all"])] == ["own", "project"]
    assert [one.name for one in chosen_stores(settings.stores, ["all"], projects=False)] == ["own"]
    with pytest.raises(InputError, match="No store on the list"):
        Stores(settings, lambda: None, projects=False).named("project")


def test_what_a_client_is_connected_to(both):
    """The entry names the stores, those of the list at this moment, so that none is added to it later."""
    for names, written in ((["papers"], ["papers"]), (["all"], ["own", "papers"])):
        shown = both("connect", "codex", "--dry-run", *(word for name in names for word in ("--in", name))).out
        assert all(f'"--in", "{name}"' in shown for name in written)
    assert "No store on the list" in both("connect", "codex", "--dry-run", "--in", "project").err


def test_a_receipt_of_several_stores(run, papers, tmp_path):
    """Each memory of a receipt is looked up in the store that it came from; one that is off the list is named."""
    assert run("store", "add", "papers", str(papers)).code == run("add", "our prices are gross").code == 0
    with MemoryStore(papers) as team, MemoryStore(os.environ["JUPYTER_MEMORY_PATH"]) as own:
        found = Vaults(own=(own, 1.0), papers=(team, 1.0)).search("prices")
        receipt = found.memory.receipt(tmp_path / "r.json")
        assert found.memory.receipt()["embedder"] == own.hits("prices").embedder
    assert sorted(hit["store"] for hit in receipt["hits"]) == ["", "papers"]
    done = run("verify", str(tmp_path / "r.json"))
    assert done.code == 0 and " papers:" in done.out and done.out.endswith(": 2 unchanged.\n")
    assert run("search", "--in", "all", "--as-of", "yesterday", "prices").out == ""
    both = run("search", "--in", "all", "--as-of", "today", "prices").out
    assert "net of tax" in both and "gross" in both
    assert run("store", "remove", "papers").code == 0
    done = run("verify", str(tmp_path / "r.json"))
    assert done.code == 1 and "No store on the list is called 'papers'" in done.err
    assert "unchanged" in done.out and " not checked" in done.out and "1 not checked" in done.err
