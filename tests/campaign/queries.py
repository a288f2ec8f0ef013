"""Hostile queries through all doors: each is answered, with sums and ranks that are right, or refused with a reason."""

import io
import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import shells
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from campaign import Dose, Figures, Loss
from campaign._servers import asked, serving
from jupyter_memory import JupyterMemoryError, MemoryStore
from jupyter_memory.cli import main
from jupyter_memory.types import Answer

# In many queries: no log may hold it.
MARK = "qx7zanzibar"
WORDS = (
    "prices", "λ", "Zürich", "東京", "売上", "FileSyncService", "df.groupby", "the", "of", "net", "tax", "price_eur",
    "it's", "m²", "ﬁle", "Ｆｕｌｌ", "한국어", "สวัสดี", "مرحبا", "שלום", "👩‍🔬", MARK,
)  # fmt: skip
SYNTAX = (
    '"', "'", "*", "^", ":", "-", "+", "(", ")", "{", "}", "NEAR(a b, 5)", "AND", "OR", "NOT", "title:",
    "{title text}:", "NEAR/2", '""', '"a" * ', "col : x", "%", "_", "\\", "`", "$(ls)", "{1+1}", "${HOME}", "!ls",
    "?", "??", ";", "--", "-h", "--limit", "--json", "--profile=vault", "--tag", "@", "#", "~/", "../../etc/passwd",
    "<script>", "&amp;", "\x1b[31m", "'; drop table memories; --", "1 or 1=1", "union select * from texts",
    "rowid:1", 'x" or "1"="1', "json_each('[]')",
)  # fmt: skip
ODD = (
    "\0", "\ud800", "\udfff", "\u202e", "\u2066", "\u200b", "\ufeff", "\ufffe", "\U0010ffff", "\x85", "\u2028", "\r",
    "\n", "\t", "\x1a", "\x7f", "e" + "\u0301" * 30, "\u0301", "\u1100\u1161\u11a8", "\u00ad", "\ufdd0", "İ", "ß",
    "ǆ",
)  # fmt: skip
FILTERS = (
    "tag:decision", '-tag:"two words"', "kind:cell", "kind:novel", "tier:", "path:~nobody/x", "path:..",
    "lang:python", "space:x", "session:monday", "after:2026-03", "before:yesterday", "on:", "since:last week",
    "until:9999-12-31", "after:31.31.2026", "on:½", "before:10000-01-01", "since:0000", "-after:2026", "-pandas",
    'tag:"', "tag:a,b,,",
)  # fmt: skip
TIMES = (
    "last Tuesday", "between March and May", "20 sessions ago", "in our second session", "early 2025",
    "the end of last month", "three weeks ago", "999999999 years ago", "from May 3-5", "since 99/99/99",
    "on the 31st of February", "H3 2025", "yesterday yesterday", "the last " * 20, "in 0 days",
    "sessions 5 through 2", "1" * 400 + " days ago",
)  # fmt: skip
REPEATED = (
    "_", "a", ".", "'", '"', "(", "東", "a.", "_a", "A", "7", " ", "-", "λ", "tag:a ", "-word ", "\u0301", "”", "`",
)  # fmt: skip


def query_of(random: Random) -> str:
    """Return a query put together from such pieces, or a run of one of them."""
    way = random.random()
    if way < 0.06:
        return (random.choice(REPEATED) * random.choice((50, 1_000, 20_000, 100_000)))[
            : random.choice((20_000, 20_001, 10**6))
        ]
    if way < 0.16:
        bounds = (0x80, 0x500, 0x3000, 0x10000, 0x110000)
        return "".join(chr(random.randrange(random.choice(bounds))) for _ in range(random.randrange(60)))
    kinds = random.choices((WORDS, SYNTAX, ODD, FILTERS, TIMES), (8, 4, 2, 3, 2), k=random.randrange(1, 9))
    return random.choice((" ", " ", "")).join(random.choice(kind) for kind in kinds)


def filters_of(random: Random) -> Mapping[Any, Any]:
    names = (
        "tag", "kind", "tier", "path", "lang", "space", "session", "since", "until", "not_tag", "not_word", "bogus",
        5,
    )  # fmt: skip
    values: tuple[Any, ...] = (
        *WORDS, *ODD, *TIMES, "cell", "note", None, 5, [], ["cell", "file"], [None], b"x", {"a": 1}, "x" * 5_000,
        [query_of(random)],
    )  # fmt: skip
    return {random.choice(names): random.choice(values) for _ in range(random.randrange(1, 4))}


SAMPLES = Path(__file__).parents[2] / "notebooks" / "samples"
_SHARES = {"python": 70, "magic": 12, "command": 3, "server": 15}
_DECLARED = (JupyterMemoryError, UsageError)


def run(dose: Dose) -> Figures:
    """Ask through each door; raise for an error that is not declared, a wrong sum, and words of a query in a log."""
    random, said = dose.random(), Counter[str]()
    store_file, log = dose.folder / "memory.sqlite", dose.folder / "server.log"
    with MemoryStore(store_file) as store:
        store.index(SAMPLES, progress=False)
        store.add("λ prices in Zürich are net of tax. 東京の売上", tags=["decision"], session="monday")
        with (
            _logged() as logged, _shell(store_file) as shell, log.open("wb") as out,
            serving(SAMPLES, dose.folder, log=out) as (server, _),
        ):  # fmt: skip
            doors = _Doors(store, shell, server, store_file)
            for _ in range(dose.times(10_000, least=60)):
                name = random.choices(list(_SHARES), list(_SHARES.values()))[0]
                query = query_of(random)
                try:
                    said[f"{getattr(doors, name)(query, random)} by {name}"] += 1
                except Loss as loss:
                    raise Loss(f"{name}: {loss}: {query[:200]!r} (seed {dose.seed})") from None
                except Exception as error:
                    raise Loss(f"{name}: {type(error).__name__} for {query[:200]!r} (seed {dose.seed})") from error
        if problems := store.doctor():
            raise Loss(f"the store is unsound: {problems} (seed {dose.seed})")
    written = logged.getvalue() + log.read_text("utf-8", "replace")
    if MARK in written or "Traceback" in written:
        raise Loss(f"a log has words of a query, or a traceback (seed {dose.seed})")
    return dict(sorted(said.items()))


@dataclass(frozen=True)
class _Doors:
    store: MemoryStore
    shell: InteractiveShell
    url: str
    file: Path

    def python(self, query: str, random: Random) -> str:
        options: dict[str, Any] = {"filters": filters_of(random)} if random.random() < 0.3 else {}
        ask = random.choice(("hits", "hits", "search", "trace"))
        more = {"prefix": random.random() < 0.2, "time": random.random() < 0.8, **options}
        try:
            if ask == "search":
                self.store.search(query, **options)
            answer = self.store.trace(query, **more).answer if ask == "trace" else self.store.hits(query, **more)
        except JupyterMemoryError:
            return "refused"
        _check(answer)
        return "answered"

    def magic(self, query: str, random: Random) -> str:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            try:
                self.shell.run_line_magic("memsearch", " ".join(query.splitlines()))
            except _DECLARED:
                return "refused"
        return "answered"

    def command(self, query: str, random: Random) -> str:
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace") for _ in range(2))
        options = random.choice(([], ["--json"], ["--"]))
        with redirect_stdout(out), redirect_stderr(err):
            code = main(["--store", str(self.file), "search", *options, query])
        if code not in (0, 1, 2):
            raise Loss(f"the command ended with {code}")
        return "refused" if code else "answered"

    def server(self, query: str, random: Random) -> str:
        body = {"query": query, "log": random.random() < 0.2, "lists": random.random() < 0.1}
        code, text = asked(self.url, "search", body)
        if 400 <= code < 500:
            if MARK in text:
                raise Loss("an error repeats words of the query")
            return "refused"
        if code != 200:
            raise Loss(f"the server answered {code}")
        for rank, hit in enumerate(json.loads(text)["hits"], 1):
            _check_sum(rank, hit["rank"], hit["score"], [one["contribution"] for one in hit["signals"].values()])
        return "answered"


def _check(answer: Answer) -> None:
    for rank, hit in enumerate(answer.hits, 1):
        score = hit.score if hit.signals else None
        _check_sum(rank, hit.rank, score, [one.contribution for one in hit.signals.values()])
        if any(not 0 <= start < end <= len(hit.snippet) for start, end in hit.highlights):
            raise Loss("a highlight lies outside its snippet")
    scores = [hit.score for hit in answer.hits if hit.signals]
    if scores != sorted(scores, reverse=True):
        raise Loss("the scores are not in order")


def _check_sum(rank: int, told: int, score: float | None, contributions: list[float]) -> None:
    if rank != told:
        raise Loss(f"rank {told} stands at {rank}")
    if score is not None and abs(score - sum(contributions)) > 1e-9:
        raise Loss("the contributions are not the score")


@contextmanager
def _logged() -> Iterator[io.StringIO]:
    written = io.StringIO()
    handler, logger = logging.StreamHandler(written), logging.getLogger("jupyter_memory")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield written
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


@contextmanager
def _shell(store_file: Path) -> Iterator[InteractiveShell]:
    shell = shells.made(JupyterMemory={"path": str(store_file)})
    with redirect_stdout(io.StringIO()):
        shell.run_line_magic("load_ext", "jupyter_memory")
    try:
        yield shell
    finally:
        shell.run_line_magic("unload_ext", "jupyter_memory")
