"""Every regular expression of the package against the texts that it takes longest for: none may be quadratic."""

import ast
import dataclasses
import functools
import inspect
import pkgutil
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

from growing import cpu, cpu_exponent

import jupyter_memory
from campaign import Dose, Figures, Loss

_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
# What a pattern may go on to read, or stumble over.
_PLAIN = " \t\n\r\0aAzZ09_-.,:;=#*+/\\|!?'\"`~@$%&()[]{}<>^éλß東の\u0301\ud800"
_CLASSES = {
    op.CATEGORY_DIGIT: "7", op.CATEGORY_NOT_DIGIT: "a -", op.CATEGORY_SPACE: " \n\t",
    op.CATEGORY_NOT_SPACE: "a.", op.CATEGORY_WORD: "a_7é", op.CATEGORY_NOT_WORD: " -.",
}  # fmt: skip
# A repeat of at most so many is no repeat.
_FEW = 30


def worst(pattern: re.Pattern[str]) -> Iterator[tuple[str, str, str]]:
    """Yield beginnings, middles and ends: the middle, often repeated, may take long."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    seen: set[tuple[str, str, str]] = set()
    for one in _attacks(tree):
        if one[1] and one not in seen:
            seen.add(one)
            yield one


def _attacks(tree: Any) -> Iterator[tuple[str, str, str]]:
    ends = ("", "\0", "\n", " ", "a", "!", "\nx")
    whole = _samples(tree)
    repeated = list(_repeated(tree, [""]))
    for before, bodies in repeated:
        for body, end in product(bodies, ends):
            yield before, body, end
            yield "", before + body, end
            yield "", before + body + body, end
    for (before, bodies), (_, others) in product(repeated, repeated):
        yield before, bodies[0] + others[0], "\0"
    for sample in whole:
        for cut in range(1, min(len(sample), 24) + 1):
            yield "", sample[:cut], "\0"
            yield sample[:cut], sample[cut - 1], "\0"
    for character in _PLAIN:
        yield "", character, "\0"
        for sample in whole[:2]:
            yield sample, character, "\0"


def _repeated(nodes: Any, before: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield what is repeated without a limit, with a text that leads to it."""
    for kind, value in nodes:
        if kind in _REPEATS:
            _, most, body = value
            if most is op.MAXREPEAT or most > _FEW:
                for lead in before[:2]:
                    yield lead, _samples(body)
            yield from _repeated(body, before)
        else:
            for inner in _inner(kind, value):
                yield from _repeated(inner, before)
        before = [lead + sample for lead, sample in product(before[:2], _of(kind, value)[:2])][:3]


def _inner(kind: Any, value: Any) -> list[Any]:
    if kind is op.BRANCH:
        return list(value[1])
    if kind is op.SUBPATTERN:
        return [value[-1]]
    if kind is op.ATOMIC_GROUP:
        return [value]
    if kind in (op.ASSERT, op.ASSERT_NOT):
        return [value[1]]
    if kind is op.GROUPREF_EXISTS:
        return [one for one in value[1:] if one is not None]
    return []


def _samples(nodes: Any) -> list[str]:
    """Return some texts that a sequence of nodes matches, or nearly matches."""
    found = [""]
    for kind, value in nodes:
        found = [lead + sample for sample, lead in product(_of(kind, value), found)][:8]
    return found


def _of(kind: Any, value: Any) -> list[str]:
    if kind is op.LITERAL:
        return [chr(value)]
    if kind is op.NOT_LITERAL:
        return [one for one in "a -" if one != chr(value)]
    if kind is op.ANY:
        return ["a", " "]
    if kind is op.IN:
        return _of_set(value)
    if kind is op.CATEGORY:
        return list(_CLASSES[value])
    if kind in _REPEATS:
        least, _, body = value
        return [sample * max(1, min(least, 40)) for sample in _samples(body)] + ([""] if not least else [])
    if kind in (op.ASSERT, op.ASSERT_NOT, op.AT):
        return [""]
    if kind is op.GROUPREF:
        return ["a", ""]
    inner = _inner(kind, value)
    return [sample for one in inner for sample in _samples(one)] or [""]


def _of_set(members: Any) -> list[str]:
    if members[0][0] is op.NEGATE:
        refused = re.compile(f"[{''.join(map(re.escape, (s for m in members[1:] for s in _member(m))))}]")
        return [one for one in "a 7-_\n" if not refused.match(one)][:4] or ["\0"]
    return [sample for member in members for sample in _member(member)][:6]


def _member(member: Any) -> list[str]:
    kind, value = member
    if kind is op.RANGE:
        return [chr(value[0]), chr(value[1])]
    return _of(kind, value)


# What looks at one place only; everything else looks at each place of a text.
_AT_ONE_PLACE = {"match", "fullmatch"}
_METHODS = {*_AT_ONE_PLACE, "search", "findall", "finditer", "sub", "subn", "split"}


@dataclass(frozen=True)
class Found:
    """A pattern, where it stands, and whether it is tried at every place of a text."""

    name: str
    pattern: re.Pattern[str]
    everywhere: bool


def patterns() -> list[Found]:
    found: dict[tuple[str, int], Found] = {}
    for module in _modules():
        for one in (*_held(module), *_written(module)):
            known = found.get(key := (one.pattern.pattern, one.pattern.flags))
            if known is None or (one.everywhere and not known.everywhere):
                found[key] = one
    return list(found.values())


def _modules() -> Iterator[ModuleType]:
    for one in pkgutil.walk_packages(jupyter_memory.__path__, "jupyter_memory."):
        if one.name.endswith("__main__"):
            continue
        try:
            yield pkgutil.resolve_name(one.name)
        except (ImportError, AttributeError):  # an extra that is not installed
            continue


def _held(module: ModuleType) -> Iterator[Found]:
    """Yield the patterns that a module keeps in its names, in containers too, and those that it compiles late."""
    uses = _uses(module)
    for name, value in vars(module).items():
        if name.startswith("__") or isinstance(value, ModuleType):
            continue
        if isinstance(value, functools._lru_cache_wrapper) and value.__module__ == module.__name__:
            parameters = inspect.signature(value).parameters
            returned = str(inspect.signature(value).return_annotation)
            value = value() if not parameters and "Pattern" in returned else ()
        # Of a table, the patterns by the name that is looked up.
        rows = {f"{name}[{key}]": one for key, one in value.items()} if isinstance(value, Mapping) else {name: value}
        for row, held in rows.items():
            for pattern in _within(held):
                yield Found(f"{module.__name__}.{row}", pattern, not uses.get(row, {"search"}) <= _AT_ONE_PLACE)


def _within(value: Any, depth: int = 4) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif depth and isinstance(value, Mapping):
        yield from _of_all(value.values(), depth)
    elif depth and isinstance(value, (tuple, list, set, frozenset)):
        yield from _of_all(value, depth)
    elif depth and dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from _of_all((getattr(value, field.name) for field in dataclasses.fields(value)), depth)
        # What is compiled on first use.
        yield from _within(getattr(value, "pattern", None), depth - 1)


def _of_all(values: Iterable[Any], depth: int) -> Iterator[re.Pattern[str]]:
    for value in values:
        yield from _within(value, depth - 1)


def _uses(module: ModuleType) -> Mapping[str, set[str]]:
    """Return the methods that a module calls of its names: ``_WORD.findall(…)``, ``_KINDS["word"].match(…)``."""
    used: dict[str, set[str]] = {}
    for node in ast.walk(_tree(module)):
        if not (isinstance(node, ast.Attribute) and node.attr in _METHODS):
            continue
        match node.value:
            case ast.Name(id=name):
                used.setdefault(name, set()).add(node.attr)
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key)):
                used.setdefault(f"{name}[{key}]", set()).add(node.attr)
    return used


def _written(module: ModuleType) -> Iterator[Found]:
    """Yield the patterns that are written where they are used: ``re.sub(r"…", …)``."""
    for node in ast.walk(_tree(module)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        of, first, method = node.func.value, node.args[0], node.func.attr
        if not (isinstance(of, ast.Name) and of.id == "re" and method in _METHODS):
            continue
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield Found(f"{module.__name__}:{node.lineno}", re.compile(first.value), method not in _AT_ONE_PLACE)


@functools.cache
def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


# Characters of a text: what is quadratic takes tenths of a second for so many, and what is linear a millisecond.
_LENGTH = 8_000
_SLOW = 0.02
# Quadratic is 2.
_MOST = 1.5
# No more characters than these reach a pattern, by what its name holds: its room, its topic, its own name.
BOUNDED: dict[str, int] = {
    r"\.search\..*\._(COPY|VERSION)$": 255, r"\.search\..*(temporal|sessions)": 500, r"\.text\..*date": 500,
    r"\.text\..*\._FRAMES$": 4_000, r"\.ingest\.readers\..*(data|tables)": 255, r"\.ingest\.discovery\.": 255,
}  # fmt: skip


def run(dose: Dose) -> Figures:
    """Try texts generated from each pattern; raise for the first that grows with the square of the length."""
    random, tried = dose.random(), 0
    found = patterns()
    for one in found:
        texts, most = list(islice(worst(one.pattern), 20_000)), dose.times(2_000, least=20)
        for before, body, end in texts if len(texts) <= most else random.sample(texts, most):
            tried += 1
            if power := slow(one, before, body, end):
                raise Loss(f"{one.name} grows with the power {power:.1f}: {before!r} + {body!r} * n + {end!r}")
    return {"patterns": len(found), "texts": tried}


def slow(found: Found, before: str, body: str, end: str) -> float:
    """Return the power by which the time for a text grows with its length, 0 where it is no more than linear."""
    longest = min((most for name, most in BOUNDED.items() if re.search(name, found.name)), default=16 * _LENGTH)

    def work(size: int) -> Callable[[], object]:
        text = before + body * (size // len(body)) + end
        if found.everywhere:
            return lambda: deque(found.pattern.finditer(text), maxlen=0)
        return lambda: (found.pattern.match(text), found.pattern.fullmatch(text))

    if cpu(work(min(_LENGTH, longest)), 1) < _SLOW:
        return 0.0
    # What other processes of the machine disturbed is measured again, and counts if it never was faster.
    power = cpu_exponent(work, min(_LENGTH, longest) // 4, longest)
    if power > _MOST:
        power = min(power, cpu_exponent(work, min(_LENGTH, longest) // 4, longest, tries=6))
    return power if power > _MOST else 0.0
