"""Commands about memories: hits, picks, adding, forgetting."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile

from jupyter_memory.errors import InputError, UnknownMemory
from jupyter_memory.interface import messages
from jupyter_memory.interface.commands.command import Call, Front, Halted, SeveralErrors, WrongUsage, usage
from jupyter_memory.interface.options import SEARCH, filters_of, forget_of, memory_of, search_of, switch_among
from jupyter_memory.search.prompt import BUDGET, PromptText, checked_budget
from jupyter_memory.text.display import WholeText, count_of
from jupyter_memory.text.unicode import json_text
from jupyter_memory.types import Answer, Memory, Selection

# An id may consist of digits; a rank is shorter.
_RANKS = re.compile(r"(?P<first>\d{1,15})(?:[-–](?P<last>\d{1,15}))?")

_ID = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Pick:
    """A memory that was picked, with its rank in the last results; None where it is not among them."""

    memory: Memory
    rank: int | None


def picked(front: Front, words: Sequence[str]) -> list[Pick]:
    """Return the memories that words name, each once, in the order in which they were named.

    A word is a rank (``3``), a range (``1-3``), several of them (``1,3``) or an id.
    """
    ids: dict[str, None] = {}
    for word in (part for given in words for part in given.split(",") if part):
        ranks = _RANKS.fullmatch(word)
        ids |= dict.fromkeys([word] if ranks is None else _at(front, ranks))
    shown, picks = () if front.shown is None else front.shown.ids, []
    for one in ids:
        rank = shown.index(one) + 1 if one in shown else None
        try:
            picks.append(Pick(front.store.get(one), rank))
        except UnknownMemory:
            if rank is not None:
                raise InputError(
                    f"Rank {rank} of the last results ({one}) is gone: it was forgotten, or its file has changed. "
                    "Search again."
                ) from None
            if _ID.fullmatch(one):
                raise
            raise InputError(f"{one!r} is neither a rank, such as 1 or 1-3, nor the id of a memory.") from None
    return picks


def _is_rank(word: str) -> bool:
    """Return whether a word names ranks, rather than a memory by its id.

    >>> _is_rank("3"), _is_rank("1-3"), _is_rank("1,2"), _is_rank("3f2a9c1b2d4e5f60"), _is_rank("1234567890123456")
    (True, True, True, False, False)
    """
    parts = [part for part in word.split(",") if part]
    return bool(parts) and all(map(_RANKS.fullmatch, parts))


def _at(front: Front, ranks: re.Match[str]) -> Iterator[str]:
    shown = front.shown
    if shown is None:
        raise InputError(front.no_results)
    first = int(ranks["first"])
    last = first if ranks["last"] is None else int(ranks["last"])
    if first > last:
        raise WrongUsage(f"{ranks[0]} runs backwards: write {last}-{first}.")
    for rank in (first, last):
        if not 1 <= rank <= len(shown.ids):
            raise InputError(_no_rank(shown.what, len(shown.ids), rank))
    yield from shown.ids[first - 1 : last]


def _no_rank(what: str, results: int, rank: int) -> str:
    """Return the message that so many results have no such rank; ``what`` names them at its beginning.

    >>> _no_rank("The last search", 0, 1), _no_rank("This search", 1, 3)
    ('The last search has no results, so there is no rank 1.', 'This search has 1 result, so there is no rank 3.')
    """
    return f"{what} has {count_of(results, 'result') if results else 'no results'}, so there is no rank {rank}."


def open_(front: Front, call: Call) -> object:
    """Open the files of hits: a notebook at the cell, another file at the line.

    In a notebook this shows a link. In a terminal it opens JupyterLab if a running server has the notebook, else the
    editor that VISUAL or EDITOR names.

    Examples::

        %memory open 3
        %memory open 1 3f2a9c1b2d4e5f60
    """
    return _open_picks(front, picked(front, call.words))


def _open_picks(front: Front, picks: Sequence[Pick]) -> object:
    for pick in picks:
        if not pick.memory.source:
            named, text = messages.named(pick.memory, ""), front.command(f"text {pick.memory.id}")
            raise InputError(f"There is no file to open:{named} is a {pick.memory.kind}. To read it: {text}")
    for pick in picks:
        front.store.note_access(pick.memory.id)
    return front.open([pick.memory for pick in picks])


def text(front: Front, call: Call) -> object:
    """Show the whole texts of hits: scan a list first, then read what is worth reading.

    If you name several, a line with the title is above each text.

    Examples::

        %memory text 3
        %memory text 1 3 5
        %memory text 1-3
        whole = %memory text 1
    """
    picks = picked(front, call.words)
    for pick in picks:
        front.store.note_access(pick.memory.id)
    if len(picks) == 1:
        return front.show_text(_whole(picks[0].memory))
    texts = []
    for pick in picks:
        memory = pick.memory
        place = f" · {memory.source}:{memory.place()}" if memory.source and memory.place() else f" · {memory.source}"
        rank = "" if pick.rank is None else f"{pick.rank}  "
        size = count_of(memory.token_estimate, "token")
        heading = f"── {rank}{memory.title or memory.id}{place if memory.source else ''} · {size}"
        texts.append((heading, _whole(memory)))
    return front.show_text(WholeText.joined(texts))


def tag(front: Front, call: Call) -> None:
    """Give hits a tag, or take it off with --remove; several tags are separated by commas.

    What follows the ranks or ids is the tag. Case does not count in the one to remove.

    Examples::

        %memory tag 3 decision
        %memory tag 1-3 to do
        %memory tag 3 decision --remove
    """
    words, given = _picks_and_tag(call.words)
    tags = tuple(dict.fromkeys(part.strip() for part in given.split(",") if part.strip()))
    if not words or not tags:
        raise WrongUsage(f"Name the hits, and then the tag: {front.command('tag 3 decision')}")
    unwanted = {one.casefold() for one in tags}
    named = f"{'tag' if len(tags) == 1 else 'tags'} {', '.join(tags)}"
    for memory in (pick.memory for pick in picked(front, words)):
        if call.values["remove"]:
            left = [one for one in memory.tags if one.casefold() not in unwanted]
            changed = [one for one in memory.tags if one not in left]
            held = f"; it has {', '.join(memory.tags)}" if memory.tags else "; it has none"
            said = f"no longer tagged {', '.join(changed)}:" if changed else f"lacks the {named}{held}:"
        else:
            changed = [one for one in tags if one not in memory.tags]
            left = [*memory.tags, *changed]
            said = f"tagged {', '.join(changed)}:" if changed else f"has the {named} already:"
        if changed:
            front.store.update(memory.id, tags=left)
        front.say(messages.named(memory, said))


def related(front: Front, call: Call) -> object:
    """Show the memories most like one: of the last results by its rank, or any by its id.

    Examples::

        %memory related 1
        %memory related 1 -n 5
        %memory related 3f2a9c1b2d4e5f60
    """
    picks = picked(front, call.words)
    if len(picks) > 1:
        raise WrongUsage("Name one rank: this shows what is like one memory.")
    limit = call.values["limit"] or front.settings.limit
    answer = front.store.related(picks[0].memory.id, limit=limit)
    found, shown = front.show_results(answer, short=False), front.shown
    if answer.hits and (shown is None or shown.ids != tuple(hit.memory.id for hit in answer.hits)):
        front.hint("Ranks in other commands stay those of the last search: name these by their ids.")
    return found


def good(front: Front, call: Call) -> None:
    """Note that hits were what you looked for; the ranking of the profile `vault` learns from it.

    Examples::

        %memory good 3
    """
    _judge(front, call, accepted=True)


def bad(front: Front, call: Call) -> None:
    """Note that hits were not what you looked for; the ranking of the profile `vault` learns from it.

    Examples::

        %memory bad 1-2
    """
    _judge(front, call, accepted=False)


def _judge(front: Front, call: Call, *, accepted: bool) -> None:
    shown = front.shown
    if shown is None:
        raise InputError(front.no_results)
    if not shown.query:
        raise InputError(f"{shown.what} answers no question, so no hit is right or wrong for it. Search first.")
    picks = picked(front, call.words)
    if strange := next((pick.memory.id for pick in picks if pick.rank is None), None):
        raise InputError(f"{strange} is not among the results of the last search, so it answers no question.")
    for pick in picks:
        noted = front.store.feedback(
            pick.memory.id, accepted, query=shown.query, query_id=shown.query_id, rank=pick.rank, profile=shown.profile
        )
        if not noted:
            raise InputError("Nothing was noted, since the setting log_searches is off.")
        front.say(messages.named(pick.memory, "noted as right:" if accepted else "noted as wrong:"))


def _picks_and_tag(words: Sequence[str]) -> tuple[Sequence[str], str]:
    """Return the words that name hits, and the tag behind them, which may be a year or have several words.

    >>> _picks_and_tag(["1-3", "5", "to", "do"]), _picks_and_tag(["1", "2026"]), _picks_and_tag(["1", "2"])
    ((['1-3', '5'], 'to do'), (['1'], '2026'), (['1', '2'], ''))
    """
    known = list(takewhile(lambda word: _is_rank(word) or _ID.fullmatch(word), words))
    if len(known) == len(words) > 1 and known[-1].isdecimal() and len(known[-1]) == 4:
        known.pop()
    return known, " ".join(words[len(known) :])


def _whole(memory: Memory) -> WholeText:
    return WholeText.of(memory.text, memory.kind, memory.lang)


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
            _index(front, path, retry=call.values["retry"])
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
        _index(front, folder.path, retry=call.values["retry"])


def search(front: Front, call: Call) -> None:
    """Search by meaning and by exact words; '"quoted words"' are looked for as a phrase."""
    with usage():
        query, arguments = call.text("The query"), search_of(call.values, datetime.now(UTC))
        _check_profile(call.values["profile"])
        # Raises: WrongUsage: the results are wanted in two forms, or no source has room.
        if call.values["context"] is None:
            tokens = None
        else:
            if other := next((name for name in ("json", "scan") if call.values[name]), None):
                raise WrongUsage(f"--context prints a text for a prompt, and --{other} a list: leave one of them out.")
            tokens = _tokens(str(call.values["context"]))
        rank = call.values["open"]
        if rank is not None and (tokens is not None or call.values["json"]):
            raise WrongUsage("--open opens a result, and --json and --context print them: leave one of them out.")
    if said := switch_among(call.words, SEARCH):
        front.note(said)
    if tokens is not None:
        # As many as the budget of a prompt may have room for.
        arguments.setdefault("limit", 20)
    answer = front.store.hits(query, **arguments)
    front.store.note_search(answer, "command line")
    if tokens is not None:
        front.say(front.store.context(answer, tokens))
    elif call.values["json"]:
        front.say(json_text(answer.to_json(), indent=2))
    else:
        front.show_results(answer, short=call.values["scan"])
    if rank is not None:
        if rank > len(answer.hits):
            raise InputError(_no_rank("This search", len(answer.hits), rank))
        _open_picks(front, [Pick(answer.hits[rank - 1].memory, rank)])


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
        rank = int(words[0])
        ranked = front.ranked or _last(front)
        if not 1 <= rank <= len(ranked.hits):
            raise WrongUsage(_no_rank("The last search", len(ranked.hits), rank))
        why = front.store.explain_in(ranked, ranked.hits[rank - 1].memory.id)
    elif len(words) >= 2:
        profile = call.values.get("profile")
        with usage():
            _check_profile(profile)
        # Without quotes, the query is all but the last word.
        query = words[0] if len(words) == 2 else " ".join(words[:-1])
        word = words[-1]
        memory_id = picked(front, [word])[0].memory.id if word.isdecimal() and _is_rank(word) else word
        why = front.store.explain(query, memory_id, profile=profile or front.settings.profile)
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


def _index(front: Front, path: str, *, retry: bool) -> None:
    try:
        report = front.store_to_fill.index(path, progress=front.progress, retry=retry)
    except KeyboardInterrupt:
        stats = front.store_to_fill.stats()
        held = f"{messages.count(stats['memories'])} of {messages.count(stats['files'], 'file', 'files')} and notes"
        raise Halted(f"Interrupted: the store holds {held}. Run the same again to go on from here.") from None
    front.say(messages.indexed(report))


def _tokens(word: str) -> int:
    try:
        return checked_budget(int(word) if word.lstrip("-").isdecimal() else word)
    except InputError as error:
        raise WrongUsage(str(error)) from None


def _last(front: Front) -> Answer:
    if front.last is None:
        raise WrongUsage("There is no search yet: run %memsearch first.")
    return front.last


def _check_profile(name: str | None) -> None:
    from jupyter_memory.search.profiles import profile_named

    if name is not None:
        profile_named(name)


def forget(front: Front, call: Call) -> object:
    """Remove memories for good, from every table and index of the store.

    With the setting `undo_minutes` above 0, `undo` brings them back for that time. Until then their texts are still in
    the file; with `--now` they go at once, with all that could be brought back.

    Before several memories go that were not named by their ids, it says what they are and asks; `--yes` answers
    beforehand, and `--dry-run` lists them and removes nothing.

    Files are not changed: the next indexing remembers them again, unless a .gitignore, a .jupytermemoryignore or the
    setting `ignore` names them.

    Examples::

        %memory forget 3f2a9c1b2d4e5f60
        %memory forget --source reports/old.ipynb
        %memory forget --tag draft --until "last year" --dry-run
        %memory forget --searches
        %memory forget --now
        %memory forget --everything --yes
    """
    if call.values["now"] and not call.words and not any(value for name, value in call.values.items() if name != "now"):
        gone = front.store.forgetting.finish()
        nothing = "There was nothing that `undo` could bring back."
        front.say(f"removed for good what `undo` could bring back: {messages.count(gone)}" if gone else nothing)
        return None
    with usage():
        chosen = forget_of(call.words, call.values, datetime.now(UTC))
    if call.values["searches"]:
        dry = call.values["dry_run"]
        # More searches than a store keeps.
        number = len(front.store.recent(1_000_000)) if dry else front.store.forget_recent()
        front.say(f"{'would forget' if dry else 'forgot'} {messages.count(number, 'search', 'searches')}")
        return None
    # The person may be looking at an earlier search.
    if front.shown is not None and (word := next(filter(_is_rank, call.words), None)):
        [first, *_] = picked(front, [word])
        meant = messages.named(first.memory, f"Rank {first.rank} of the last results is")
        command = front.command(f"forget {first.memory.id}")
        raise WrongUsage(f"{word} is a rank, and an id is needed. {meant}: {command}")
    selection = front.store.selection(**chosen)
    if call.values["dry_run"]:
        return _show_selection(front, selection)
    if (len(selection) > 1 and not chosen["ids"]) or chosen["everything"]:
        what = messages.selected(front.store, selection)
        loss, command = f"This would forget {what}", f"forget {call.source}"
        if not front.confirm(f"Forget {what}?", yes=call.values["yes"], command=command, loss=loss):
            return None
    # What was counted, and not what fits by now: the question was about those alone.
    forgotten = front.store.forget(selection, now=call.values["now"])
    front.say(f"forgot {messages.count(forgotten)}")
    if forgotten and not call.values["now"] and (pending := front.store.undoable()):
        front.hint(messages.taking_back(front.command, pending))
    for notice in () if forgotten else messages.unforgotten(front.store, chosen):
        front.note(notice)
    for said in messages.still_there(forgotten, chosen["source"] or ()):
        front.hint(said)
    return None


def _show_selection(front: Front, selection: Selection) -> object:
    # Those named by ids in the words of the other commands.
    front.hint(f"Nothing was forgotten. Without --dry-run these would go: {messages.selected(front.store, selection)}.")
    if not selection.filters and not selection.everything:
        front.say("\n".join(messages.named(front.store.get(one), "would forget") for one in selection.ids))
        return None
    return front.show_list(front.store.browsed(limit=len(selection) or 1, filters=selection.filters))


def undo(front: Front, call: Call) -> None:
    """Bring back what the last `forget` removed, within the minutes of the setting `undo_minutes`.

    The setting is 0 unless you change it: what is forgotten is gone at once. While something can be brought back, its
    texts are still in the store's file.

    Examples::

        %config JupyterMemory.undo_minutes = 10
        %memory undo
    """
    front.say(f"brought back {messages.count(front.store.undo())}")
    if pending := front.store.undoable():
        front.hint(f"To bring back {pending} as well: {front.command('undo')}")
