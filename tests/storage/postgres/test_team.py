"""The database decides who reads and writes what: a role sees the rows of its spaces, and changes what it may."""

import random
from contextlib import closing
from itertools import product

import pytest

from jupyter_memory import InputError, JupyterMemory, MemoryStore, StoreError, StoreReadOnly
from jupyter_memory.storage import open_storage, open_team

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

import psycopg
from postgres_server import SPACES, TABLES, fill, leaks, name_of, some_query, spaces_seen, tenants_of

PLAIN = JupyterMemory()
QUERIES = 300  # of the 10,000 of the campaign
# A search that somebody noted, and what they said of its hit.
SEARCH = (
    "insert into searches (space, query_id, query, profile, origin, at, hits)"
    " values (%s, 'q', 'who?', '', '', 0, '[\"id1\", \"id0\"]')"
)
FEEDBACK = (
    "insert into feedback (space, memory, query, query_id, profile, accepted, at)"
    " values (%s, 'id1', 'who?', 'q', '', true, 0)"
)


@pytest.fixture
def team(postgres_server):
    with tenants_of(postgres_server) as tenants:
        yield tenants


def refused(connection, *statements, error=psycopg.errors.InsufficientPrivilege):
    for statement in statements:
        with pytest.raises(error):
            connection.execute(statement)


def test_a_reader_reads_its_space_alone_and_changes_nothing(team):
    """A reader of one space sees its rows in every table, and no statement of theirs changes any."""
    team.grant("ana", "reader", "papers")
    with team.connect("ana") as ana:
        for table in TABLES:
            assert set(spaces_seen(ana, table)) <= {"papers"}, table
        assert spaces_seen(ana) == ["papers"]
        refused(
            ana,
            "insert into totals (space, changes, chunks, words) values ('papers', 1, 1, 1)",
            "update memories set title = 'x'",
            "delete from memories",
            "insert into grants values (current_user, null, 'writer')",
            "select forget_asked(array['papers'], array['id1'])",
        )
    with closing(open_storage(team.of("ana"), busy_seconds=2)) as store:
        assert store.read_only
        with pytest.raises(StoreReadOnly, match="may only read"):
            store.writer.forget(["id1"])


def test_a_writer_writes_into_its_spaces_alone(team):
    """A writer of one space and reader of another changes the rows of the first; those of the second stay."""
    team.grant("ben", "writer", "papers")
    team.grant("ben", "reader", "λ")
    with team.connect("ben") as ben:
        assert spaces_seen(ben) == ["papers", "λ"]
        assert ben.execute("update memories set title = 'new'").rowcount == 1
        assert ben.execute("delete from tags where space = 'λ'").rowcount == 0
        for space in ("λ", "salaries", ""):
            refused(ben, f"insert into done values ('{space}', 'x')", f"update done set space = '{space}'")
        refused(
            ben,
            "update models set active = false",
            "delete from schema_version",
            "delete from grants",
            "drop table memories",
            "alter table memories disable row level security",
            "create table jupyter_memory.mine (a int)",
        )


def test_every_space_and_none_at_all(team):
    """A right without a space holds for every one, those of tomorrow too; without a right nothing is seen."""
    team.grant("ana", "reader")
    with team.connect("ana") as ana, team.connect("keeper") as keeper:
        fill(keeper, 99, "new")
        assert spaces_seen(ana) == sorted([*SPACES, "new"])
    with team.connect("eve") as eve:
        refused(eve, "select * from jupyter_memory.memories")
    with pytest.raises(StoreReadOnly, match="Your role"):
        open_storage(team.of("eve"), busy_seconds=2)
    assert team.rights.revoke(team.people["ana"], None) == 1
    with team.connect("ana") as ana:
        refused(ana, "select * from jupyter_memory.memories")


def test_what_a_person_asked_is_theirs_and_goes_with_the_memory(team):
    """Nobody reads the searches of another; they go with a memory that somebody forgets, if it is theirs to forget."""
    for who, space in (("ana", "papers"), ("ben", "papers"), ("eve", "λ")):
        team.grant(who, "writer", space)
    with team.connect("ana") as ana, team.connect("ben") as ben, team.connect("eve") as eve:

        def left():
            return [ana.execute(f"select space from {table}").fetchall() for table in ("searches", "feedback")]

        for space, statement in product(("", "papers"), (SEARCH, FEEDBACK)):
            ana.execute(statement, (space,))
        assert ben.execute("select count(*) from searches").fetchone() == (0,)
        assert ben.execute("delete from searches").rowcount == 0
        refused(ben, SEARCH.replace("space,", "space, who,", 1) % "'', 'postgres'")
        asked = "select forget_asked(array[%s], array['id1'])"
        assert eve.execute(asked, ("papers",)).fetchone() == (False,)
        # Who gives a memory of theirs the id of one elsewhere removes nothing that names that one.
        eve.execute("update memories set id = 'id1'")
        assert eve.execute(asked, ("λ",)).fetchone() == (False,)
        assert [len(rows) for rows in left()] == [2, 2]
        assert ben.execute(asked, ("papers",)).fetchone() == (True,)
        assert left() == [[("",)], [("",)]]


def test_random_queries_of_others_leak_nothing(team):
    """Whatever a client asks, of whichever table and however it is put, no word of another space comes back."""
    # Nor to one who puts an operator of their own before those of the system.
    team.grant("ana", "reader", "papers")
    team.grant("ana", "writer", "λ")
    drawn = random.Random(22)
    with team.connect("keeper") as keeper:
        assert leaks(keeper, ("select * from memories", {}))
    with team.connect("ana") as ana:
        assert [found for _ in range(QUERIES) if (found := leaks(ana, some_query(drawn)))] == []
        ana.execute("create temporary table t (a int)")
        ana.execute("create function pg_temp.yes(name, name) returns boolean language sql return true")
        ana.execute("create operator pg_temp.= (leftarg = name, rightarg = name, function = pg_temp.yes)")
        ana.execute("set search_path = pg_temp, pg_catalog, jupyter_memory")
        assert spaces_seen(ana) == ["papers", "λ"]


def test_owners_give_rights_and_others_do_not(team):
    """An owner sees every space and gives rights, also that of an owner; a writer or reader gives none."""
    team.grant("ana", "owner")
    ana = open_team(team.of("ana"), busy_seconds=2)
    ana.grant(team.people["ben"], "writer", "papers")
    with pytest.raises(InputError, match="leave the space out"):
        ana.grant(team.people["ben"], "owner", "papers")
    with pytest.raises(InputError, match="create role nobody_there login"):
        ana.grant("nobody_there", "reader", None)
    shown = [(one.role.partition("_")[0], one.level, one.space) for one in ana.rights()]
    assert shown == [("keeper", "owner", None), ("ana", "owner", None), ("ben", "writer", "papers")]
    with team.connect("ana") as connection:
        assert spaces_seen(connection) == sorted(SPACES)
    with pytest.raises(StoreError, match="create extension citus"):
        ana.distribute()
    ben = open_team(team.of("ben"), busy_seconds=2)
    assert [one.level for one in ben.rights()] == ["owner", "writer"]
    for change in (lambda: ben.grant(team.people["eve"], "reader", "papers"), lambda: ben.revoke("ana", None)):
        with pytest.raises(StoreReadOnly):
            change()
    with team.connect("ben") as connection:
        functions = ("give_right(current_user, 'owner', null)", "set_privileges(current_user)", "owns()")
        refused(connection, *(f"select {function}" for function in functions))
    assert team.rights.revoke(team.people["ana"], None) == 1
    with pytest.raises(StoreReadOnly):
        open_team(team.of("ana"), busy_seconds=2)
    ana.close()
    ben.close()


def test_two_people_and_a_restart(team, postgres_server):
    """One adds, pins and forgets, the other searches, the server restarts in between; searches are of each alone."""
    team.grant("ana", "writer")
    team.grant("ben", "writer")
    with (
        MemoryStore(team.of("ana"), "static", settings=PLAIN) as ana,
        MemoryStore(team.of("ben"), settings=PLAIN) as ben,
    ):
        kept = ana.add("We scaled the prices to zero mean.", title="Prices")
        lost = ana.add("The prices of the draft.")
        ana.pin(kept.id)
        assert [hit.memory.tier for hit in ben.hits("scaled prices").hits][:1] == ["core"]
        ben.note_search(ben.hits("prices of the draft"), "python")
        assert ana.recent() == []
        postgres_server.restart()
        assert {hit.memory.id for hit in ben.hits("prices").hits} == {kept.id, lost.id}
        assert ana.forget(lost.id) == 1
        assert [hit.memory.id for hit in ben.hits("prices").hits] == [kept.id]
        assert ben.recent() == []


def test_who_may_only_read_a_space_is_told_so_by_every_change_in_it(team):
    """A writer of one space and reader of another is refused in the second at once, and what is there stays."""
    with MemoryStore(team.of("keeper"), None, settings=PLAIN) as keeper:
        mine = keeper.add("A note on papers.", space="papers")
        theirs = keeper.add("A note on lambda.", space="λ")
    team.grant("ben", "writer", "papers")
    team.grant("ben", "reader", "λ")
    with MemoryStore(team.of("ben"), None, settings=PLAIN) as ben:
        for change in (
            lambda: ben.forget(theirs.id),
            lambda: ben.pin(theirs.id),
            lambda: ben.update(theirs.id, tags=["mine"]),
            lambda: ben.forget(filters={"space": "λ"}),
        ):
            with pytest.raises(StoreReadOnly, match="may only read some of these"):
                change()
        assert ben.get(theirs.id).text == "A note on lambda."
        assert ben.forget(mine.id) == 1


def test_nobody_takes_the_key_of_a_memory_or_chunk_elsewhere(team):
    """A writer of one space cannot give a row of theirs the number of what is in another."""
    team.grant("ben", "writer", "papers")
    taken = SPACES.index("salaries")
    with team.connect("ben") as ben:
        refused(
            ben,
            f"update memories set key = {taken}",
            f"update chunks set id = {taken}",
            "insert into memories (space, key, id, kind, tier, event_at, indexed_at, content_hash)"
            f" values ('papers', {taken}, 'x', 'note', 'note', 0, 0, '')",
            f"insert into chunks (space, id, memory, start, stop) select 'papers', {taken}, key, 0, 1 from memories",
            error=psycopg.errors.UniqueViolation,
        )


def test_an_id_is_that_of_the_memory_that_had_it_first(team):
    """Who reads two spaces gets, of two memories with one id, the one that was stored first."""
    with MemoryStore(team.of("keeper"), None, settings=PLAIN) as keeper:
        older = {space: keeper.add(f"The notes of {space}.", space=space).id for space in ("papers", "salaries")}
        with team.connect("keeper") as connection:
            for space, other in (("papers", "salaries"), ("salaries", "papers")):
                connection.execute(
                    "insert into memories (space, key, id, kind, tier, event_at, indexed_at, content_hash) values"
                    " (%s, nextval('memory_keys'), %s, 'note', 'note', 0, 0, 'h')",
                    (space, older[other]),
                )
        assert {space: keeper.get(id_).text for space, id_ in older.items()} == {
            space: f"The notes of {space}." for space in older
        }


def test_a_role_that_is_made_anew_inherits_no_rights(team, postgres_server):
    """Who gets the name of somebody who left has the rights that are given from then on, and no others."""
    team.grant("ben", "writer")
    name, database = team.people["ben"], name_of(team.address)
    postgres_server.execute(f"drop owned by {name}", database)
    postgres_server.execute(f"drop role {name}")
    postgres_server.execute(f"create role {name} login")
    team.grant("ben", "reader", "papers")
    with team.connect("ben") as ben:
        assert spaces_seen(ben) == ["papers"]
        refused(ben, "delete from memories")
    assert [one.level for one in team.rights.rights()] == ["owner", "reader"]


def test_a_copy_with_a_space_that_is_not_theirs_is_refused_before_it_begins(team, tmp_path):
    """Nothing is stored of a copy that could not end; the space that they may write into can be copied alone."""
    team.grant("ben", "writer", "papers")
    with team.connect("ben") as ben, MemoryStore(tmp_path / "a.sqlite", None, settings=PLAIN) as store:
        store.add("Of papers.", space="papers")
        store.add("Of another space.", space="zz")
        before = ben.execute("select count(*) from memories").fetchone()
        with pytest.raises(StoreReadOnly, match="nothing was copied"):
            store.copy_to(team.of("ben"), progress=False)
        assert ben.execute("select count(*) from memories").fetchone() == before == (1,)
        assert store.copy_to(team.of("keeper"), progress=False).memories.added == 2
    with MemoryStore(tmp_path / "b.sqlite", None, settings=PLAIN, space="papers") as store:
        store.add("More of papers.")
        assert store.copy_to(team.of("ben"), progress=False).memories.added == 1
