"""The database decides who reads and writes what: a role sees the rows of its spaces, and changes what it may."""

import random
from contextlib import closing, suppress
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
            ben, "update models set active = false", "delete from schema_version", "delete from grants",
            "drop table memories", "alter table memories disable row level security",
            "create table jupyter_memory.mine (a int)",
        )  # fmt: skip


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
        # Nobody gives a memory of theirs the id of one elsewhere.
        refused(eve, "update memories set id = 'id1'", error=psycopg.errors.UniqueViolation)
        assert eve.execute(asked, ("λ",)).fetchone() == (False,)
        assert [len(rows) for rows in left()] == [2, 2]
        assert ben.execute(asked, ("papers",)).fetchone() == (True,)
        assert left() == [[], []]


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


def test_the_server_numbers_what_a_writer_adds(team):
    """A writer with SQL can choose neither the number of a row nor the id of a memory that is elsewhere."""
    team.grant("ben", "writer", "papers")
    number = "insert into {} values ('papers', {}, 'x', 'note', 'note', 0, 0, 0, '')"
    columns = "{} (space, {}id, kind, tier, event_at, indexed_at, stored_at, content_hash)"
    with team.connect("ben") as ben:
        refused(
            ben,
            "update memories set key = -1",
            "update chunks set id = -1",
            number.format(columns.format("memories", "key, "), -1),
            "insert into chunks (space, id, memory, start, stop) select 'papers', -1, key, 0, 1 from memories",
            "select nextval('memories_key_seq')",
        )
        other = f"'id{SPACES.index('salaries')}'"
        refused(
            ben,
            number.format(columns.format("memories", ""), other).replace("'x', ", ""),
            f"update memories set id = {other}",
            error=psycopg.errors.UniqueViolation,
        )


MOST = 2**63 - 1
# What a writer may try in a space of theirs, to end the searches of who reads other spaces too.
FORGED = [
    "insert into memories (space, id, kind, tier, event_at, indexed_at, stored_at, content_hash)"
    " values ('papers', 'y', 'note', 'note', 0, 0, 0, 'q')",
    "delete from texts", "delete from chunks", "update texts set text = ''",
    *(f"update memories set {one}" for one in (
        "metadata = '[]'", "metadata = '{'", f"event_at = {MOST}", f"valid_until = -{MOST}", f"accessed = {MOST}",
        "tier = 'x'", "kind = 'x'", "kind = 'cell', location = 'x'", "title = repeat('x > ', 99999)")),
    "update chunks set start = -5, stop = 2147483647", "update chunks set words = -1, line = -1",
    *(f"insert into totals (space, changes, chunks, words) select 'papers', {one}, {one}, {one}"
      " from generate_series(1, 3)" for one in (MOST, -MOST)),
    *(f"insert into frequencies (space, term, columns, chunks) select 'papers', 'price', 4, {one}"
      " from generate_series(1, 3)" for one in (MOST, -MOST)),
    *(f"update postings set {one}" for one in (
        "in_text = 2147483647", "in_text = -1", "size = 0", "places = '{null}'", "chunk = chunk + 999")),
    *(f"update vectors set embedding = {one}" for one in (
        "'[1, 2]'", "array_fill(0::float4, array[vector_dims(embedding)])::vector")),
    f"insert into folders values ('papers', '', true, {MOST})",
    "insert into trust select 'papers', id, 5, 'NaN' from models where active",
    "update chunk_tokens set ids = '\\x01'", "update definitions set defined = '('",
]  # fmt: skip


def test_what_a_writer_forges_in_a_space_ends_no_search_of_others(team):
    """Whatever rows they put in with SQL, who reads other spaces too finds and stores there as before."""
    team.grant("ben", "writer", "papers")
    team.grant("eve", "writer")
    with MemoryStore(team.of("keeper"), "static", settings=PLAIN) as keeper:
        keeper.forget(everything=True)
        for statement in FORGED:
            keeper.forget(filters={"space": "papers"}, everything=True)
            mine = keeper.add("How we normalised the prices of papers.", space="papers")
            theirs = keeper.add("How we normalised the prices of salaries.", space="salaries")
            with team.connect("ben") as ben, suppress(psycopg.Error):
                ben.execute(statement)
            with MemoryStore(team.of("eve"), settings=PLAIN) as eve:
                for profile in ("auto", "memini", "covalence"):
                    assert theirs.id in {hit.memory.id for hit in eve.hits("prices", profile=profile).hits}, statement
                assert eve.get(theirs.id).text == theirs.text and eve.stats()
                assert eve.forget(eve.add("More of salaries.", space="salaries").id) == 1
                assert eve.forget(mine.id) == 1


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


def test_memories_go_only_where_a_role_may_write_and_from_where_it_may_forget(team, tmp_path):
    """Who only reads a space copies out of it, and moves nothing out of it or into it; nothing is half done."""
    team.grant("ben", "writer", "papers")
    team.grant("ben", "reader", "zz")
    with MemoryStore(team.of("keeper"), None, settings=PLAIN) as keeper:
        theirs = keeper.add("Of another space.", space="zz").id
    with MemoryStore(team.of("ben"), None, settings=PLAIN) as ben, MemoryStore(tmp_path / "a", None) as own:
        ids = [own.add("Of papers.", space="papers").id, own.add("Of zz.", space="zz").id]
        for refused in (lambda: own.give(ids, ben, move=True), lambda: ben.give(theirs, own, move=True)):
            with pytest.raises(StoreReadOnly, match="nothing was copied"):
                refused()
        assert own.count() == 2 and ids[0] not in {hit.memory.id for hit in ben.browsed(limit=99).hits}
        assert own.give(ids[0], ben, move=True).removed == ben.give(theirs, own).memories.added == 1
        assert {hit.memory.id for hit in own.browsed().hits} == {ids[1], theirs}


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
