"""The database decides who reads and writes what: a role sees the rows of its spaces, and changes what it may."""

from __future__ import annotations

import random

import pytest

from jupyter_memory.errors import InputError, StoreError, StoreReadOnly
from jupyter_memory.text.addresses import database_address

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

import psycopg

from jupyter_memory.storage.postgres.connection.database import Database
from jupyter_memory.storage.postgres.team import PostgresTeam

SPACES = ["", "papers", "salaries", "λ", "o'brien"]
QUERIES = 300
TABLES = [
    "memories", "texts", "tags", "chunks", "chunk_texts", "postings", "frequencies", "totals", "vectors", "trust",
    "chunk_tokens", "definitions", "thumbnails", "files", "folders", "runs", "done", "grants",
]  # fmt: skip


@pytest.fixture
def team(postgres_server, postgres_address):
    """A store with a memory in each space, owned by a role that is no superuser, and the roles of three people."""
    name = postgres_address.url.rpartition("?")[0].rpartition("/")[2]
    people = {one: f"{one}_{name}" for one in ("keeper", "ana", "ben", "eve")}
    for role in people.values():
        postgres_server.execute(f"create role {role} login")
    postgres_server.execute(f"alter database {name} owner to {people['keeper']}")
    postgres_server.execute("create extension vector", name)
    try:
        made = Team(postgres_address, people)
        yield made
        made.close()
    finally:
        postgres_server.execute(f"drop database {name} with (force)")
        for role in people.values():
            postgres_server.execute(f"drop role {role}")


class Team:
    def __init__(self, address, people):
        self.address, self.people = address, people
        self.rights = PostgresTeam(self.of("keeper"), busy_seconds=2)
        with self.connect("keeper") as connection:
            for key, space in enumerate(SPACES):
                fill(connection, key, space)

    def of(self, who):
        return database_address(self.address.url.replace("postgres@", f"{self.people[who]}@"))

    def connect(self, who):
        path = "-c search_path=jupyter_memory,public"
        url = self.of(who).url
        return psycopg.connect(url, autocommit=True, cursor_factory=psycopg.ClientCursor, options=path)

    def grant(self, who, level, space=None):
        self.rights.grant(self.people[who], level, space)

    def close(self):
        self.rights.close()


def fill(connection, key, space):
    values = {"key": key, "id": f"id{key}", "space": space, "text": f"secret of {space}"}
    for statement in (
        "insert into memories (space, key, id, identity, kind, tier, event_at, indexed_at, content_hash, title)"
        " values (%(space)s, %(key)s, %(id)s, %(id)s::bytea, 'note', 'note', 0, 0, %(id)s, %(text)s)",
        "insert into texts values (%(space)s, %(key)s, %(text)s)",
        "insert into tags values (%(space)s, %(key)s, 0, %(text)s)",
        "insert into chunks (space, id, memory, start, stop) values (%(space)s, %(key)s, %(key)s, 0, 5)",
        "insert into postings values (%(space)s, 'secret', %(key)s, 0, 0, 1, 0, 0, 1, '{1}')",
        "insert into frequencies (space, term, columns, chunks) values (%(space)s, 'secret', 4, 1)",
        "insert into totals (space, changes, chunks, words) values (%(space)s, 1, 1, 1)",
        "insert into files values (%(space)s, %(text)s, 0, 0, '', 0)",
        "insert into folders (space, path) values (%(space)s, %(text)s)",
        "insert into done values (%(space)s, %(text)s)",
    ):
        connection.execute(statement, values)


def spaces_seen(connection, table="memories"):
    return sorted(row[0] for row in connection.execute(f"select distinct space from {table}"))


def test_a_reader_reads_its_space_alone_and_changes_nothing(team):
    """A reader of one space sees its rows in every table, and no statement of theirs changes any."""
    team.grant("ana", "reader", "papers")
    with team.connect("ana") as ana:
        for table in TABLES:
            assert set(spaces_seen(ana, table)) <= {"papers"}, table
        assert spaces_seen(ana) == ["papers"]
        for statement in (
            "insert into totals (space, changes, chunks, words) values ('papers', 1, 1, 1)",
            "update memories set title = 'x'",
            "delete from memories",
            "insert into grants values (current_user, null, 'writer')",
            "select forget_asked(array['id1'])",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                ana.execute(statement)
    with Opened(team.of("ana")) as store:
        assert store.read_only
        with pytest.raises(StoreReadOnly, match="may only read"):
            store.change(lambda session: session.execute("delete from memories"))


def test_a_writer_writes_into_its_spaces_alone(team):
    """A writer of one space and reader of another changes the rows of the first; those of the second stay."""
    team.grant("ben", "writer", "papers")
    team.grant("ben", "reader", "λ")
    with team.connect("ben") as ben:
        assert spaces_seen(ben) == ["papers", "λ"]
        assert ben.execute("update memories set title = 'new'").rowcount == 1
        assert ben.execute("delete from tags where space = 'λ'").rowcount == 0
        for space in ("λ", "salaries", ""):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                ben.execute("insert into done values (%s, 'x')", (space,))
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                ben.execute("update done set space = %s", (space,))
        for statement in (
            "update models set active = false",
            "delete from schema_version",
            "delete from grants",
            "drop table memories",
            "alter table memories disable row level security",
            "create table jupyter_memory.mine (a int)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                ben.execute(statement)


def test_every_space_and_none_at_all(team):
    """A right without a space holds for every one, those of tomorrow too; without a right nothing is seen."""
    team.grant("ana", "reader")
    with team.connect("ana") as ana, team.connect("keeper") as keeper:
        fill(keeper, 99, "new")
        assert spaces_seen(ana) == sorted([*SPACES, "new"])
    with team.connect("eve") as eve, pytest.raises(psycopg.errors.InsufficientPrivilege):
        eve.execute("select * from jupyter_memory.memories")
    with pytest.raises(StoreReadOnly, match="Your role"):
        Database(team.of("eve"), busy_seconds=2)
    assert team.rights.revoke(team.people["ana"], None) == 1
    with team.connect("ana") as ana, pytest.raises(psycopg.errors.InsufficientPrivilege):
        ana.execute("select * from jupyter_memory.memories")


def test_what_a_person_asked_is_theirs_and_goes_with_the_memory(team):
    """Nobody reads the searches of another; they go with a memory that somebody forgets, if it is theirs to forget."""
    team.grant("ana", "writer", "papers")
    team.grant("ben", "writer", "papers")
    team.grant("eve", "writer", "λ")
    search = (
        "insert into searches (space, who, query_id, query, profile, origin, at, hits)"
        " values ('', current_user, 'q', 'who?', '', '', 0, %s)"
    )
    with team.connect("ana") as ana, team.connect("ben") as ben, team.connect("eve") as eve:
        ana.execute(search, (["id1", "id0"],))
        ana.execute(
            "insert into feedback (space, memory, query, query_id, profile, accepted, at)"
            " values ('', 'id1', 'who?', 'q', '', true, 0)"
        )
        assert ben.execute("select count(*) from searches").fetchone() == (0,)
        assert ben.execute("delete from searches").rowcount == 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            ben.execute(search.replace("current_user", "'postgres'"), ([],))
        eve.execute("select forget_asked(array['id1'])")
        assert ana.execute("select count(*) from searches").fetchone() == (1,)
        ben.execute("select forget_asked(array['id1'])")
        assert ana.execute("select count(*) from searches").fetchone() == (0,)
        assert ana.execute("select count(*) from feedback").fetchone() == (0,)


def test_a_search_path_of_ones_own_changes_nothing(team):
    """Who puts an operator of their own before those of the system sees no more than before."""
    team.grant("ana", "reader", "papers")
    with team.connect("ana") as ana:
        ana.execute("create temporary table t (a int)")
        ana.execute("create function pg_temp.yes(name, name) returns boolean language sql return true")
        ana.execute("create operator pg_temp.= (leftarg = name, rightarg = name, function = pg_temp.yes)")
        ana.execute("set search_path = pg_temp, pg_catalog, jupyter_memory")
        assert spaces_seen(ana) == ["papers"]


def test_random_queries_of_others_leak_nothing(team):
    """Whatever a client asks, of whichever table and however it is put, no word of another space comes back."""
    team.grant("ana", "reader", "papers")
    team.grant("ana", "writer", "λ")
    drawn = random.Random(22)
    with team.connect("ana") as ana:
        for _ in range(QUERIES):
            statement, values = some_query(drawn)
            try:
                told = ana.execute(statement, values).fetchall()
            except psycopg.Error as error:
                told = [str(error)]
            for space in ("salaries", "o'brien"):
                assert f"secret of {space}" not in str(told), (statement, values)
            assert "id2" not in str(told) and "id4" not in str(told), (statement, values)


def some_query(drawn):
    """Return a query of a hostile client: any table, any condition, in a join, a cast that fails, or a function."""
    table = drawn.choice(TABLES)
    space = drawn.choice(SPACES)
    condition, values = drawn.choice(
        [
            ("true", {}),
            ("space = %(space)s", {"space": space}),
            ("space <> 'papers'", {}),
            ("space in (select space from totals)", {}),
            ("space like %(like)s", {"like": f"%{space[:2]}%"}),
            ("1 / (case when space = %(space)s then 0 else 1 end) = 1", {"space": space}),
            ("space::int > 0", {}),
            ("(select count(*) from memories m where m.title::int > 0) > 0", {}),
            ("exists (select 1 from memories m where m.space = %(space)s)", {"space": space}),
            ("space = any(%(spaces)s)", {"spaces": SPACES}),
        ]
    )
    what = drawn.choice(["*", "space", "count(*), min(space), max(space)", f"{table}", f"to_jsonb({table})"])
    query = f"select {what} from {table} where {condition}"
    shape = drawn.choice(
        [
            "{query}",
            "with found as materialized ({query}) select * from found",
            "select * from ({query}) as found, memories limit 50",
            "(table memories) union all (select m.* from memories m, ({query}) as found) limit 50",
            "explain (analyze, costs off) {query}",
            "select query_to_xml($$select * from memories$$, true, true, ''), ({query} limit 0) is null",
        ]
    )
    return shape.format(query=query), values


def test_owners_give_rights_and_others_do_not(team):
    """An owner sees every space and gives rights, also that of an owner; a writer or reader gives none."""
    team.grant("ana", "owner")
    ana = PostgresTeam(team.of("ana"), busy_seconds=2)
    ana.grant(team.people["ben"], "writer", "papers")
    with pytest.raises(InputError, match="leave the space out"):
        ana.grant(team.people["ben"], "owner", "papers")
    with pytest.raises(InputError, match="create role nobody_there login"):
        ana.grant("nobody_there", "reader", None)
    shown = [(one.role.partition("_")[0], one.level, one.space) for one in ana.rights()]
    assert shown == [("keeper", "owner", None), ("ana", "owner", None), ("ben", "writer", "papers")]
    with team.connect("ana") as connection:
        assert spaces_seen(connection) == sorted(SPACES)
    ben = PostgresTeam(team.of("ben"), busy_seconds=2)
    assert [one.level for one in ben.rights()] == ["owner", "writer"]
    for refused in (lambda: ben.grant(team.people["eve"], "reader", "papers"), lambda: ben.revoke("ana", None)):
        with pytest.raises(StoreReadOnly):
            refused()
    with team.connect("ben") as connection:
        for function in ("give_right(current_user, 'owner', null)", "set_privileges(current_user)", "owns()"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"select {function}")
    assert team.rights.revoke(team.people["ana"], None) == 1
    with pytest.raises(StoreReadOnly):
        PostgresTeam(team.of("ana"), busy_seconds=2)
    ana.close()
    ben.close()


def test_without_citus_nothing_is_spread(postgres_address):
    """The error says what is missing."""
    rights = PostgresTeam(postgres_address, busy_seconds=2)
    with pytest.raises(StoreError, match="create extension citus"):
        rights.distribute()
    rights.close()


class Opened:
    """A database that is closed at the end of a block."""

    def __init__(self, address):
        self._database = Database(address, busy_seconds=2)

    def __enter__(self):
        return self._database

    def __exit__(self, *_):
        self._database.close()
