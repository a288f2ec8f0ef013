"""The baseline: searches the words of the message among the cells that failed, and takes what ran well next."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from weakref import finalize

from judged import Entry, Method, Question, Suggest

from jupyter_memory import MemoryStore
from jupyter_memory.types import Answer

WORDS = 60  # of a message; a longer one is a listing
HITS = 10


def message_words(profile: str, embedder: str | None, with_verdict: bool = False) -> Method:
    """Return a method that searches with this profile; with the verdict, it is silent where the store says no."""

    def read(history: Sequence[Entry], tuning: Sequence[Question]) -> Suggest:
        opened = ExitStack()
        store = opened.enter_context(
            MemoryStore(Path(opened.enter_context(TemporaryDirectory())) / "errors.db", embedder=embedder)
        )
        failed = _filled(store, history)
        following = _next_that_ran(history)

        def suggest(error: Entry, before: Sequence[Entry]) -> list[str]:
            answer = store.hits(_words(error), profile=profile, limit=HITS, time=False)
            if with_verdict and answer.verdict == "none":
                return []
            return list(dict.fromkeys(fix for fix in _fixes(answer, failed, following) if fix))

        # Nobody says when the last error was asked: the store goes with the function.
        finalize(suggest, opened.close)
        return suggest

    return read


def _filled(store: MemoryStore, history: Sequence[Entry]) -> dict[str, str]:
    """Store the errors, and return the cell of each memory."""
    failing = [entry for entry in history if entry.outcome == "error"]
    added = store.add_many(
        (
            {
                "text": f"{entry.source}\n\n{entry.ename}: {entry.evalue}",
                "title": entry.notebook,
                "event_at": entry.started,
            }
            for entry in failing
        ),
        progress=False,
    )
    return {memory.id: entry.id for memory, entry in zip(added, failing, strict=True)}


def _next_that_ran(history: Sequence[Entry]) -> dict[str, str]:
    """Return for each cell the next one of its session that did not fail."""
    after: dict[str, str] = {}
    following: dict[str, str] = {}
    for entry in reversed(history):
        if entry.session in after:
            following[entry.id] = after[entry.session]
        if entry.outcome == "ok":
            after[entry.session] = entry.id
    return following


def _words(error: Entry) -> str:
    return " ".join(re.findall(r"\w+", f"{error.ename} {error.evalue}")[:WORDS])


def _fixes(answer: Answer, failed: dict[str, str], following: dict[str, str]) -> list[str | None]:
    return [following.get(failed[hit.memory.id]) for hit in answer.hits]


BASELINES = {
    "keywords": message_words("covalence", None),
    "auto": message_words("auto", "static"),
    "auto, if its verdict allows": message_words("auto", "static", with_verdict=True),
}
