"""One transaction over the tables that both databases have, the words in which they differ, filters, and caches.

Statements are written once, with ``:name`` for a parameter and ``cast(x as type)``. A list as a parameter is a set of
values, or a table if it holds tuples. In PostgreSQL each row has its space, and a statement is about some spaces only.
"""

from __future__ import annotations

import json
import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from itertools import chain
from operator import attrgetter
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

from jupyter_memory.errors import InputError, QueryError
from jupyter_memory.storage.base import to_micros
from jupyter_memory.storage.words import keyed, stems
from jupyter_memory.text.paths import inside, path_forms, plain_path
from jupyter_memory.text.unicode import encodable, storable
from jupyter_memory.types import FACETS, Filters

# The tier that people see: a pinned memory is core, whatever it was.
SHOWN_TIER = "case when memories.pinned then 'core' else memories.tier end"
_JSON = json.JSONEncoder(ensure_ascii=False)
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Overtaken(Exception):
    """What a change was about to alter was removed by another one since it was looked up."""


class UnreadableRow(Exception):
    """A row that is not what was ever written."""


class Session(Protocol):
    """One transaction, about the space that the store was opened with, or all of it if that is empty."""

    @property
    def dialect(self) -> SqliteDialect | PostgresDialect: ...
    @property
    def space(self) -> str: ...
    @property
    def written(self) -> int: ...  # how many rows were changed so far: it says whether something was
    @property
    def state(self) -> str: ...  # differs between any two states of all that is stored
    # All rows of a statement, the first column of all rows, and that of the first row, None without a row.
    def rows(self, sql: str, /, **parameters: Any) -> list[Any]: ...
    def column(self, sql: str, /, **parameters: Any) -> list[Any]: ...
    def value(self, sql: str, /, **parameters: Any) -> Any: ...
    def changed(self, sql: str, /, **parameters: Any) -> int: ...  # how many rows a statement changed
    def insert(self, table: str, rows: Sequence[Mapping[str, Any]], *, known: str = "") -> int:
        """Write rows of the same columns and return how many were written.

        ``known`` says what to do with a row that exists: ``do nothing``, or ``do update set`` and columns. Each row
        has its space, which a table of a file may lack.
        """

    # Write rows of ``memories`` or ``chunks``, to which the database gives their numbers, in order; return these.
    def numbered(self, table: str, number: str, rows: Sequence[Mapping[str, Any]]) -> list[int]: ...
    # Keep others from changing memories until the transaction ends; returns those that are there, in order.
    def lock(self, keys: Sequence[int]) -> list[int]: ...
    # Keep others from writing these files until the transaction ends, whether they are noted already or not.
    def lock_files(self, paths: Sequence[str], space: str) -> None: ...
    def include(self, space: str) -> None: ...  # a space that this transaction writes into
    def note_removal(self) -> None: ...  # of something whose traces must go
    # Forget everybody's searches that showed one of these memories, and the feedback; returns whether any did.
    def forget_asked(self, keys: Sequence[int]) -> bool: ...


def delegated(
    part: str, method: Callable[Concatenate[Any, Parameters], Result]
) -> Callable[Concatenate[Any, Parameters], Result]:
    """Return a method that calls one of a part, or a function of it, with its signature and docstring."""

    @wraps(method)
    def call(whole: Any, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        return method(getattr(whole, part), *args, **kwargs)

    return call


_FEW = 50  # paths that a condition names one by one in SQLite


def _written_out(column: str, name: str, paths: Sequence[str]) -> tuple[str, dict[str, Any]]:
    clauses, parameters = list[str](), dict[str, Any]()
    for number, place in enumerate(map(below, paths)):
        at, low, high = (f"{name}_{number}_{part}" for part in ("at", "low", "high"))
        parameters |= dict(zip((at, low, high), place, strict=True))
        clauses.append(f"{column} = :{at} or ({column} >= :{low} and {column} < :{high})")
    return f"({' or '.join(clauses or ['false'])})", parameters


class SqliteDialect:
    """The words of SQL in which the databases differ, in SQLite: lists are JSON, and a file has no spaces."""

    json_list = "json_group_array"  # an aggregate that makes a JSON array
    newest_chunk = "select coalesce(max(id), 0) from chunks"  # returns the highest id of a chunk

    def among(self, column: str, name: str) -> str:
        return f"{column} in (select value from json_each(:{name}))"

    def raw(self, text: str) -> str:
        return f"cast({text} as blob)"

    def each(self, name: str, **columns: str) -> str:
        """Return a parameter, a list of tuples, as a table of this name, with the types of its columns."""
        read = ", ".join(f"value ->> {place} as {column}" for place, column in enumerate(columns))
        return f"(select {read} from json_each(:{name})) as {name}"

    def of(self, *tables: str) -> str:
        """Return the condition that rows are of the spaces that the transaction is about."""
        return "true"

    opened = own = of  # likewise of the space that the store was opened with, and there of the person who is connected

    def linked(self, table: str, other: str, on: str) -> str:
        """Return the condition that rows of two tables belong together, in one space."""
        return on

    def join(self, table: str, other: str, on: str) -> str:
        return f"join {table} on {on}"

    def unique(self, table: str) -> str:
        """Return what a row of a table is known by, as ``on conflict`` names it."""
        named = {"files": "path, space", "folders": "path, space", "feedback": "memory, query"}
        named |= {"trust": "model", "done": "what"}
        return named.get(table, "chunk")

    def below(self, column: str, name: str, paths: Sequence[str]) -> tuple[str, dict[str, Any]]:
        """Return the condition that a path is one of these or lies below one, and its parameters."""
        # A few are written out, which is the fastest way; SQLite plans hundreds for seconds, so these are looked up.
        if len(paths) <= _FEW:
            return _written_out(column, name, paths)
        table = column.partition(".")[0]
        found = f"select held.rowid from json_each(:{name}) as place cross join {table} as held on held."
        path = column.rpartition(".")[2]
        at, low, high = (f"value ->> {place}" for place in range(3))
        places = f"{found}{path} = {at} union all {found}{path} >= {low} and held.{path} < {high}"
        return f"{table}.rowid in ({places})", {name: [below(path) for path in paths]}

    def holding(self, name: str, word: str) -> tuple[str, dict[str, Any]]:
        """Return the condition that any chunk of a memory holds a word, and its parameters."""
        held = f"select rowid from keyword where keyword match :{name}"
        quoted = '"' + word.replace('"', '""') + '"'
        return f"memories.key in (select memory from chunks where id in ({held}))", {name: quoted}

    def bound(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters as the driver takes them."""
        given = dict(parameters)
        for name, value in parameters.items():
            if isinstance(value, str):
                given[name] = encodable(value)
            elif isinstance(value, (list, tuple)):
                given[name] = _JSON.encode(value)
        return given


class PostgresDialect:
    """The same in PostgreSQL: lists are arrays, and the space is the first part of each key."""

    json_list = "json_agg"
    # Space by space, each from the end of the index: the highest of several spaces at once is found by reading all.
    newest_chunk = """
        select coalesce(max(of_space.id), 0) from unnest(cast(:spaces as text[])) as wanted (space) cross join lateral (
            select chunks.id from chunks where chunks.space = wanted.space order by chunks.id desc limit 1
        ) as of_space
    """

    def among(self, column: str, name: str) -> str:
        return f"{column} = any(:{name})"

    def raw(self, text: str) -> str:
        return f"convert_to({text}, 'UTF8')"

    def each(self, name: str, **columns: str) -> str:
        read = ", ".join(
            f"cast(cast(value as json) ->> {place} as {type_}) as {column}"
            for place, (column, type_) in enumerate(columns.items())
        )
        return f"(select {read} from unnest(cast(:{name} as text[])) as value) as {name}"

    def of(self, *tables: str) -> str:
        return " and ".join(f"{table}.space = any(:spaces)" for table in tables)

    def opened(self, table: str) -> str:
        return f"{table}.space = :space"

    def own(self, table: str) -> str:
        return f"{table}.space = :space and {table}.who = current_user"

    def linked(self, table: str, other: str, on: str) -> str:
        return f"{table}.space = {other}.space and {on}"

    def join(self, table: str, other: str, on: str) -> str:
        return f"join {table} on {self.linked(table, other, on)}"

    def unique(self, table: str) -> str:
        named = {"files": "md5(path)", "folders": "md5(path)", "feedback": "memory, who, md5(query)"}
        named |= {"trust": "model", "done": "what"}
        return f"space, {named.get(table, 'chunk')}"

    below = staticmethod(_written_out)

    def holding(self, name: str, word: str) -> tuple[str, dict[str, Any]]:
        if not (terms := [keyed(stem) for stem in stems(word)]):
            return "false", {}
        # The places of each word, as far from the first as it should be.
        clause = f"""
            exists (
                select 1 from chunks where chunks.space = memories.space and chunks.memory = memories.key and exists (
                    select 1
                    from unnest(cast(:{name} as text[])) with ordinality as wanted (term, place)
                    join postings on postings.space = chunks.space and postings.term = wanted.term
                        and postings.chunk = chunks.id
                    cross join unnest(postings.places) as held (at)
                    group by held.at - wanted.place having count(*) = {len(terms)}
                )
            )
        """
        return clause, {name: terms}

    def bound(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._value(value) for name, value in parameters.items()}

    def _value(self, value: object) -> object:
        if isinstance(value, str):
            return storable(value)
        if not isinstance(value, (list, tuple)):
            return value
        if value and isinstance(value[0], (list, tuple)):
            return [_JSON.encode(list(map(self._value, row))) for row in value]
        return list(map(self._value, value))


Dialect = SqliteDialect | PostgresDialect
SQLITE, POSTGRES = SqliteDialect(), PostgresDialect()


_BOUNDS = {
    "since": "event_at <> 0 and memories.event_at >=",
    "until": "event_at <> 0 and memories.event_at <",
    "as_of": "stored_at <=",
}
# The facets, each as what is wanted and as what is not.
_FACETS = [(facet, name) for facet in (*FACETS, "source") for name in (facet, f"not_{facet}")]


def condition(dialect: Dialect, filters: Filters) -> tuple[str, dict[str, Any]]:
    """Return a condition on a row of ``memories`` and its parameters; each retriever applies it inside."""
    parameters: dict[str, Any] = {}
    clauses = [dialect.of("memories")]
    for depth, each in enumerate(all_of(filters)):
        for facet, name in _FACETS:
            if values := getattr(each, name):
                parameter = f"{name}_{depth}"
                given: dict[str, Any] = {parameter: list(values)}
                column = SHOWN_TIER if facet == "tier" else f"memories.{facet}"
                if facet == "path":
                    forms = [form for path in values for form in spellings(path)]
                    clause, given = dialect.below("memories.source", parameter, forms)
                elif facet == "tag":
                    among = f"{dialect.of('tags')} and {dialect.among('tags.tag', parameter)}"
                    clause = f"memories.key in (select tags.memory from tags where {among})"
                elif len(values) == 1:
                    # So that SQLite finds the index of one kind.
                    clause, given = f"{column} = :{parameter}", {parameter: values[0]}
                else:
                    clause = dialect.among(column, parameter)
                # A memory without a value does not have an unwanted one: "not in" alone would lose it.
                clauses.append(clause if name == facet else f"not coalesce({clause}, false)")
                parameters |= given
        for place, word in enumerate(each.not_word):
            clause, given = dialect.holding(f"not_word{place}_{depth}", word)
            clauses.append(f"not coalesce({clause}, false)")
            parameters |= given
        for bound, compared in _BOUNDS.items():
            if (moment := getattr(each, bound)) is not None:
                clauses.append(f"memories.{compared} :{bound}_{depth}")
                parameters[f"{bound}_{depth}"] = to_micros(moment)
    keys = _read_keys(filters)
    parameters |= keys
    clauses += map(partial(dialect.among, "memories.key"), keys)
    return " and ".join(clauses), dialect.bound(parameters)


def all_of(filters: Filters | None) -> Iterator[Filters]:
    """Yield filters and those that must match as well."""
    while filters is not None:
        yield filters
        filters = filters.also


def _read_keys(filters: Filters) -> dict[str, list[int]]:
    found = enumerate(all_of(filters))
    keys = {f"only_{depth}": list(one.only) for depth, one in found if one.only is not None}
    if not keys and must_read(filters):
        raise QueryError("in:, outcome: and /expressions/ work in searches only.")
    return keys


_READ = attrgetter("part", "not_part", "outcome", "not_outcome", "regex")


def must_read(filters: Filters) -> bool:
    """Return whether texts must be read to know what matches, so that only a search can tell."""
    return any(chain.from_iterable(map(_READ, all_of(filters))))


def below(path: str) -> tuple[str, str, str]:
    """Return ``(path, low, high)``: a source is at or below a path if it equals it or lies in ``[low, high)``."""
    low = inside(path)
    mark = low[-1]
    bare = low.rstrip(mark)
    # Roots end in a separator: "/", and "C:\\", behind which "C:" alone would be the working folder of the drive.
    return low if not bare or bare.endswith(":") else bare, low, low[:-1] + chr(ord(mark) + 1)


def spellings(path: str) -> Iterable[str]:
    """Return a path as it is written and as a file of this machine, with both forms of its letters; no disk is read."""
    try:
        found = [path, str(plain_path(path))]
    except InputError:  # "~name" of nobody here
        found = [path]
    return dict.fromkeys(form for one in found for form in path_forms(one))


# What searches keep in memory for one version of a store, a lock that is open in a forked child, and interrupts.

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_LOCKS: weakref.WeakSet[threading.Lock] = weakref.WeakSet()


class Cache(Generic[Key, Value]):
    """Values by key that hold for one version of the store; safe to share between threads, and after a fork.

    Beyond ``most``, the least recently used values are dropped; ``size`` says how much each value counts.
    """

    def __init__(self, most: int, size: Callable[[Value], int] = lambda _: 1) -> None:
        self._most = most
        self._size_of = size
        self._version = ""
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._size = 0
        self._lock = forkable_lock()

    def get(self, version: str, key: Key) -> Value | None:
        """Return the value of a key, None where none is cached for this version."""
        with self._lock:
            if version != self._version or key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, version: str, key: Key, value: Value) -> None:
        with self._lock:
            if version != self._version:
                self._values, self._size, self._version = OrderedDict(), 0, version
            replaced = self._values.pop(key, None)
            self._size += self._size_of(value) - (0 if replaced is None else self._size_of(replaced))
            self._values[key] = value
            # A fork between two of these lines leaves its child a size that is too large, until the next version.
            while self._size > self._most and self._values:
                self._size -= self._size_of(self._values.popitem(last=False)[1])

    def of(self, version: str, key: Key, make: Callable[[], Value]) -> Value:
        """Return the value of a key, made and cached if there is none."""
        value = self.get(version, key)
        if value is None:
            value = make()
            self.put(version, key, value)
        return value


def forkable_lock() -> threading.Lock:
    """Return a lock for ``with`` blocks; what it guards must be whole at every step: a fork may come between two."""
    made = threading.Lock()
    _LOCKS.add(made)
    return made


class Stoppable(Protocol):
    def stop(self) -> None: ...  # the current statement; the later ones of the same transaction are refused


Reading = TypeVar("Reading", bound=Stoppable)


class Interrupts:
    """What threads read at this moment; a stop that comes late never reaches what the thread does next."""

    def __init__(self) -> None:
        self._reading: dict[int, Stoppable] = {}
        self._lock = forkable_lock()

    @contextmanager
    def open_to(self, reading: Reading) -> Iterator[Reading]:
        """Let other threads stop what this one reads."""
        thread = threading.get_ident()
        with self._lock:
            self._reading[thread] = reading
        try:
            yield reading
        finally:
            with self._lock:
                self._reading.pop(thread, None)

    def stop(self, thread: int) -> bool:
        """Stop what a thread reads; return whether it was reading anything."""
        with self._lock:
            reading = self._reading.get(thread)
            if reading is not None:
                reading.stop()
        return reading is not None


def _open_all() -> None:
    for one in list(_LOCKS):
        if one.locked():
            one.release()


if hasattr(os, "register_at_fork"):  # where there is no fork, nothing is to be done
    os.register_at_fork(after_in_child=_open_all)
