"""The commands about memories: add, index, update, search, list, explain, context, pin, unpin."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.interface import messages
from jupyter_memory.interface.commands.command import Call, SeveralErrors, WrongUsage, usage
from jupyter_memory.interface.commands.front import Front
from jupyter_memory.interface.commands.hits import open_picks
from jupyter_memory.interface.commands.picks import Pick, is_rank, no_rank, picked
from jupyter_memory.interface.options import SEARCH, filters_of, memory_of, search_of, switch_among
from jupyter_memory.search.prompt import BUDGET, PromptText, checked_budget
from jupyter_memory.text.unicode import json_text
from jupyter_memory.types import Answer

# Results of a search for a prompt: as many as its budget may have room for.
IN_CONTEXT = 20


def add(front: Front, call: Call) -> None:
    """Remember a text, or with - the text on standard input; secrets in it are redacted."""
    text = sys.stdin.read() if call.words == ("-",) else call.text("The text")
    with usage():
        about = memory_of(call.values, datetime.now(UTC))
    began = datetime.now(UTC)
    memory = front.store_to_fill.add(text, **about)
    if call.values["pin"]:
        memory = front.store_to_fill.pin(memory.id)
    front.say(messages.remembered(memory, began))


def index(front: Front, call: Call) -> None:
    """Index folders or single files; the next time, only what has changed.

    Each cell of a notebook becomes a memory; code is split into functions and classes, and documents into sections.
    Files that no longer exist are forgotten. Files that .gitignore or the setting `ignore` names are left out, and
    secrets are redacted. A file that could not be read is reported once; --retry reads and reports it again.

    Examples::

        %memory index ~/notebooks
        %memory index reports "C:\\My data\\notes.md"
    """
    wrong = []
    for path in call.words:
        try:
            if not _index(front, path, retry=call.values["retry"]):
                return
        except InputError as error:
            wrong.append(str(error))  # the others are indexed all the same: `index *` names whatever is there
    if offer := front.store_to_fill.model_offer():
        front.hint(front.with_commands(offer))
    if wrong:
        raise SeveralErrors(wrong)


def update(front: Front, call: Call) -> None:
    """Index all known folders and files again; only what has changed is read.

    Examples::

        %memory update
    """
    known = front.store.folders()
    if not known:
        raise WrongUsage(f"Nothing was indexed yet. Name a folder: {front.command('index ~/notebooks')}")
    for folder in known:
        if not folder.exists:
            front.note(f"{folder.path} is not there now, so it is left as it is.")
            continue
        front.say(folder.path)
        if not _index(front, folder.path, retry=call.values["retry"]):
            return


def search(front: Front, call: Call) -> None:
    """Search by meaning and by exact words; '"quoted words"' are looked for as a phrase."""
    with usage():
        query, arguments = call.text("The query"), search_of(call.values, datetime.now(UTC))
        _check_profile(call.values["profile"])
        tokens = _context_tokens(call.values)
        rank = call.values["open"]
        if rank is not None and (tokens is not None or call.values["json"]):
            raise WrongUsage("--open opens a result, and --json and --context print them: leave one of them out.")
    if said := switch_among(call.words, SEARCH):
        front.note(said)
    if tokens is not None:
        arguments.setdefault("limit", IN_CONTEXT)
    answer = front.store.hits(query, **arguments)
    front.store.note_search(answer, "command line")
    if tokens is not None:
        front.say(front.store.context(answer, tokens))
    elif call.values["json"]:
        front.say(json_text(answer.to_json(), indent=2))
    else:
        front.show_results(answer, short=call.values["scan"])
    if rank is not None:
        _open(front, answer, rank)


def _open(front: Front, answer: Answer, rank: int) -> None:
    if rank > len(answer.hits):
        raise InputError(no_rank("This search", len(answer.hits), rank))
    open_picks(front, [Pick(answer.hits[rank - 1].memory, rank)])


def list_(front: Front, call: Call) -> object:
    """List memories without a query: pinned ones, notes, files, then what was run; the newest first.

    Examples::

        %memory list --tag decision -n 50
        %memory list --kind cell --path reports --since "last week"
    """
    with usage():
        filters = filters_of(call.values, datetime.now(UTC))
    answer = front.store.browsed(limit=call.values["limit"], filters=filters)
    if call.values.get("json"):
        front.say(json_text(answer.to_json(), indent=2))
        return None
    return front.show_list(answer)


def explain(front: Front, call: Call) -> None:
    """Show why a memory ranks where it does, in the last search or for a query.

    It shows the main reasons in five lines at most; with --all, each reason with the values behind it. After `related`,
    a rank is one of its results.

    Examples::

        %memory explain 3
        %memory explain 3 --all
        %memory explain "how were prices normalised" 3f2a9c1b2d4e5f60
    """
    words = call.words
    if len(words) == 1 and words[0].isdecimal():
        why = front.store.explain_in(*_at_rank(front, int(words[0])))
    elif len(words) >= 2:
        profile = call.values.get("profile")
        with usage():
            _check_profile(profile)
        # Without quotes, the query is all but the last word.
        query = words[0] if len(words) == 2 else " ".join(words[:-1])
        why = front.store.explain(query, _id_of(front, words[-1]), profile=profile or front.settings.profile)
    else:
        raise WrongUsage('Name a rank of the last search, or a query and an id: %memory explain "prices" ID')
    if call.values.get("json"):
        front.say(json_text(why.to_json(), indent=2))
    else:
        front.say(str(why.whole() if call.values["all"] else why))


def context(front: Front, call: Call) -> PromptText:
    """Show the last results as a text for a prompt, within so many tokens: 2000 if none are named.

    Each source has its path, cell, lines and date; duplicates are merged, and neighbouring cells stand together. The
    texts are marked as data, within borders that none of them can forge.

    Examples::

        %memory context 2000
        prompt = %memory context
    """
    tokens = _tokens(call.words[0]) if call.words else BUDGET
    return front.store.context(_last(front), tokens)


def pin(front: Front, call: Call) -> None:
    """Mark memories as important for good: they rank before others that answer as well.

    Examples::

        %memory pin 1
        %memory pin 3f2a9c1b2d4e5f60
    """
    for pick in picked(front, call.words):
        front.say(messages.named(front.store.pin(pick.memory.id), "pinned"))


def unpin(front: Front, call: Call) -> None:
    """Remove the pin from memories.

    Examples::

        %memory unpin 3f2a9c1b2d4e5f60
    """
    for pick in picked(front, call.words):
        front.say(messages.named(front.store.unpin(pick.memory.id), "unpinned"))


def _index(front: Front, path: str, *, retry: bool) -> bool:
    """Index a path and say what was done; return whether nobody interrupted it."""
    try:
        report = front.store_to_fill.index(path, progress=front.progress, retry=retry)
    except KeyboardInterrupt:
        front.interrupted(messages.interrupted(front.store_to_fill.stats()))
        return False
    front.say(messages.indexed(report))
    return True


def _context_tokens(values: Mapping[str, Any]) -> int | None:
    """Return the tokens of a text for a prompt, None where none is wanted.

    Raises:
        WrongUsage: the results are wanted in two forms, or no source has room.
    """
    if values["context"] is None:
        return None
    if other := next((name for name in ("json", "scan") if values[name]), None):
        raise WrongUsage(f"--context prints a text for a prompt, and --{other} a list: leave one of them out.")
    return _tokens(str(values["context"]))


def _tokens(word: str) -> int:
    """Return a number of tokens as it was typed.

    Raises:
        WrongUsage: it is no number, or no source has room.
    """
    try:
        return checked_budget(int(word) if word.lstrip("-").isdecimal() else word)
    except InputError as error:
        raise WrongUsage(str(error)) from None


def _last(front: Front) -> Answer:
    """Return the answer of the last search."""
    if front.last is None:
        raise WrongUsage("There is no search yet: run %memsearch first.")
    return front.last


def _at_rank(front: Front, rank: int) -> tuple[Answer, str]:
    """Return what was ranked last, by a search or by `related`, and the id of the memory with a rank in it."""
    ranked = front.ranked or _last(front)
    if not 1 <= rank <= len(ranked.hits):
        raise WrongUsage(no_rank("The last search", len(ranked.hits), rank))
    return ranked, ranked.hits[rank - 1].memory.id


def _id_of(front: Front, word: str) -> str:
    """Return the id that a word is, or that a rank of the last results stands for."""
    return picked(front, [word])[0].memory.id if word.isdecimal() and is_rank(word) else word


def _check_profile(name: str | None) -> None:
    """Raise UnknownProfile before a store is opened for nothing."""
    from jupyter_memory.search.profiles import profile_named

    if name is not None:
        profile_named(name)
