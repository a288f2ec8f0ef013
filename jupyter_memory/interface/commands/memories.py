"""Commands about memories: hits, picks, adding, forgetting; and what opens a file from a terminal."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from jupyter_memory.errors import InputError, StoreError, UnknownMemory, UnknownStore
from jupyter_memory.interface.commands.command import Call, Front, Halted, SeveralErrors, WrongUsage, named, usage
from jupyter_memory.interface.options import SEARCH, filters_of, forget_of, memory_of, search_of, switch_among
from jupyter_memory.search.prompt import BUDGET, PromptText, checked_budget
from jupyter_memory.text.code import PYTHON
from jupyter_memory.text.display import WholeText, columns, count_of, fit, placed
from jupyter_memory.text.unicode import json_text
from jupyter_memory.types import Answer, Filters, Hit, IndexReport, Memory
from jupyter_memory.types.search import OWN, address, parted

if TYPE_CHECKING:
    from jupyter_memory.interface.commands.command import Shown
    from jupyter_memory.store.searching import QueryOptions
    from jupyter_memory.store.store import MemoryStore

# An id may consist of digits; a rank is shorter.
_RANKS = re.compile(r"(?P<first>\d{1,15})(?:[-–](?P<last>\d{1,15}))?")

_ID = re.compile(r"[0-9a-f]{16}")
# Hits of a query, the last of which can be asked about by its rank.
_LOOKED_AT = 100
# Lines of a report of indexing that a person reads.
_LISTED = 20


class Pick(NamedTuple):
    """A memory that was named, its rank in the last results, if any, and its store with its name on the list."""

    memory: Memory
    rank: int | None
    store: MemoryStore
    of: str


def picked(front: Front, words: Sequence[str]) -> list[Pick]:
    """Return the memories that words name, each once and in this order.

    A word is a rank (``3``), a range (``1-3``), several of them (``1,3``), or an id, of another store ``team:ID``.
    """
    shown, ids = front.shown, dict[str, None]()
    parts = [part for given in words for part in given.split(",") if part]
    if words and not parts:
        raise WrongUsage("Name a rank of the last results, or an id.")
    for word in parts:
        found = _RANKS.fullmatch(word)
        if found is None:
            ids[word] = None
            continue
        if shown is None:
            raise InputError(front.no_results)
        first, last = int(found["first"]), int(found["last"] or found["first"])
        if first > last:
            raise WrongUsage(f"{word} runs backwards: write {last}-{first}.")
        if wrong := [rank for rank in (first, last) if not 1 <= rank <= len(shown.ids)]:
            raise InputError(_no_rank(shown.what, len(shown.ids), wrong[0]))
        ids |= dict.fromkeys(shown.ids[first - 1 : last])
    return [_memory(front, one, shown.ids if shown is not None else ()) for one in ids]


def _memory(front: Front, word: str, shown: Sequence[str]) -> Pick:
    rank = shown.index(word) + 1 if word in shown else None
    of, memory_id = parted(word)
    store = _store_of(front, of)
    try:
        return Pick(store.get(memory_id), rank, store, of)
    except UnknownMemory:
        if rank is not None:
            raise InputError(
                f"Rank {rank} of the last results ({word}) is gone: it was forgotten, or its file has changed. "
                "Search again."
            ) from None
        if _ID.fullmatch(memory_id):
            raise
        raise InputError(f"{word!r} is neither a rank, such as 1 or 1-3, nor the id of a memory.") from None


def one_picked(front: Front, call: Call, only: str) -> Pick:
    """Return the memory that the words name; ``only`` says why there may be one alone."""
    pick, *others = picked(front, call.words)
    if others:
        raise WrongUsage(f"Name one rank: {only}.")
    return pick


def _store_of(front: Front, name: str) -> MemoryStore:
    return front.stores.named(name) if name else front.store


def _is_rank(word: str) -> bool:
    parts = [part for part in word.split(",") if part]
    return bool(parts) and all(map(_RANKS.fullmatch, parts))


def _no_rank(what: str, results: int, rank: int) -> str:
    return f"{what} has {count_of(results, 'result') if results else 'no results'}, so there is no rank {rank}."


def open_(front: Front, call: Call) -> object:
    """Open the files of hits: a notebook at the cell, another file at the line.

    In a notebook this shows a link. In a terminal it opens JupyterLab if a running server has the notebook, else the
    editor that VISUAL or EDITOR names.

    Examples::

        %memory open 3
        %memory open 1 3f2a9c1b2d4e5f60
    """
    picks = picked(front, call.words)
    for memory, _, _, of in picks:
        if not memory.source:
            what, text = named(memory, "There is no file to open:", of), front.command(f"text {address(of, memory.id)}")
            raise InputError(f"{what} is a {memory.kind}. To read it: {text}")
    for memory, _, store, _ in picks:
        store.note_access(memory.id)
    return front.open({address(one.of, one.memory.id): one.memory for one in picks})


def text(front: Front, call: Call) -> object:
    """Show the whole texts of hits: scan a list first, then read what is worth reading.

    If you name several, a line with the title is above each text. With --runnable, the text of a cell is below the
    earlier cells that define what it uses, without those that write files, use the network or run commands (--effects).

    Examples::

        %memory text 3
        %memory text 3 --runnable
        %memory text 1-3
        whole = %memory text 1
    """
    picks = picked(front, call.words)
    texts = []
    for memory, rank, store, _ in picks:
        store.note_access(memory.id)
        whole = WholeText.of(memory.text, memory.kind, memory.lang)
        if call.values["runnable"]:
            whole = WholeText.of(_runnable(front, store, memory, call), "history", memory.lang or PYTHON)
        if len(picks) == 1:
            return front.show_text(whole)
        where = f" · {memory.placed(memory.source)}" if memory.source else ""
        title = memory.title or memory.id
        head = f"── {'' if rank is None else f'{rank}  '}{title}{where} · {count_of(memory.token_estimate, 'token')}"
        texts.append((head, whole))
    return front.show_text(WholeText.joined(texts))


def insert(front: Front, call: Call) -> None:
    """Put the code of a hit into the next cell, below the earlier cells that define what it uses.

    What this kernel has already is not added, nor are cells that write files, use the network or run commands, unless
    you add --effects. Nothing is run.

    Examples::

        %memory insert 1 --effects
    """
    memory, _, store, _ = one_picked(front, call, "a single hit is put into the next cell")
    front.insert(_runnable(front, store, memory, call))
    store.note_access(memory.id)


def _runnable(front: Front, store: MemoryStore, memory: Memory, call: Call) -> str:
    found = store.runnable(memory.id, effects=call.values["effects"], held=front.held)
    # Where the text begins with a magic, no comment can be above it.
    for notice in found.notices if found.notices and found.notices[0] not in found.text else ():
        front.note(notice)
    return found.text


def tag(front: Front, call: Call) -> None:
    """Give hits a tag, or take it off with --remove; several tags are separated by commas.

    What follows the ranks or ids is the tag. Case does not count in the one to remove.

    Examples::

        %memory tag 3 decision
        %memory tag 1-3 to do
        %memory tag 3 decision --remove
    """
    # The words that name hits; the tag behind them may be a year or have several words.
    words = list(takewhile(lambda word: _is_rank(word) or _ID.fullmatch(parted(word)[1]), call.words))
    if len(words) == len(call.words) > 1 and words[-1].isdecimal() and len(words[-1]) == 4:
        words.pop()
    given = " ".join(call.words[len(words) :])
    tags = tuple(dict.fromkeys(part.strip() for part in given.split(",") if part.strip()))
    if not words or not tags:
        raise WrongUsage(f"Name the hits, and then the tag: {front.command('tag 3 decision')}")
    unwanted = {one.casefold() for one in tags}
    listed = f"{'tag' if len(tags) == 1 else 'tags'} {', '.join(tags)}"
    for memory, _, store, of in picked(front, words):
        if call.values["remove"]:
            left = [one for one in memory.tags if one.casefold() not in unwanted]
            changed = [one for one in memory.tags if one not in left]
            held = f"; it has {', '.join(memory.tags)}" if memory.tags else "; it has none"
            said = f"no longer tagged {', '.join(changed)}:" if changed else f"lacks the {listed}{held}:"
        else:
            changed = [one for one in tags if one not in memory.tags]
            left = [*memory.tags, *changed]
            said = f"tagged {', '.join(changed)}:" if changed else f"has the {listed} already:"
        if changed:
            store.update(memory.id, tags=left)
        front.say(named(memory, said, of))


def related(front: Front, call: Call) -> object:
    """Show the memories most like one: of the last results by its rank, or any by its id.

    Examples::

        %memory related 1
        %memory related 3f2a9c1b2d4e5f60
    """
    memory, _, store, of = one_picked(front, call, "this shows what is like one memory")
    answer = store.related(memory.id, limit=call.values["limit"] or front.settings.limit).of_store(of)
    found, shown = front.show_results(answer, short=False), front.shown
    if answer.hits and (shown is None or shown.ids != tuple(hit.address for hit in answer.hits)):
        front.hint("Ranks in other commands stay those of the last search: name these by their ids.")
    return found


def good(front: Front, call: Call) -> None:
    """Note that hits were what you looked for; the ranking of the profile `vault` learns from it."""
    _judge(front, call, accepted=True)


def bad(front: Front, call: Call) -> None:
    """Note that hits were not what you looked for; the ranking of the profile `vault` learns from it."""
    _judge(front, call, accepted=False)


def with_question(front: Front) -> Shown:
    """Return what was shown last; raise ``InputError`` if nothing was, or if it answers no question."""
    shown = front.shown
    if shown is None:
        raise InputError(front.no_results)
    if not shown.query:
        raise InputError(f"{shown.what} answers no question, so no hit is right or wrong for it. Search first.")
    return shown


def _judge(front: Front, call: Call, *, accepted: bool) -> None:
    shown = with_question(front)
    picks = picked(front, call.words)
    if strange := next((address(one.of, one.memory.id) for one in picks if one.rank is None), None):
        raise InputError(f"{strange} is not among the results of the last search, so it answers no question.")
    # The question is told: in a terminal, ranks are of an earlier search where the last one was forgotten.
    query, query_id = shown.query, shown.query_id
    verdict = f"{'right' if accepted else 'wrong'} for “{fit(query, 60)}”"
    for memory, rank, store, of in picks:
        if call.values["remove"]:
            # Imported late: most commands need no golden set.
            from jupyter_memory.evaluation import golden

            file = golden.golden_file(front.settings) if of in ("", OWN) else None
            done = golden.take_back(file, store, memory.id, query, query_id, accepted)
            was = "no longer" if done else "was not"
            too = " (nor in the golden set)" if done == "judgement" else ""
            front.say(named(memory, f"{was} noted as {verdict}{too}:", of))
        elif store.feedback(memory.id, accepted, query=query, query_id=query_id, rank=rank, profile=shown.profile):
            front.say(named(memory, f"noted as {verdict}:", of))
        else:
            raise InputError("Nothing was noted, since the setting log_searches is off.")


def add(front: Front, call: Call) -> None:
    """Remember a text, or with - the text on standard input; secrets in it are redacted."""
    text = sys.stdin.read() if call.words == ("-",) else call.text("The text")
    front.say(remember(front, text, call.values)[1])


def remember(front: Front, text: str, values: Mapping[str, Any]) -> tuple[Memory, str]:
    """Add a text with what option values say about it; return the memory, and a line about it."""
    with usage():
        about = memory_of(values, datetime.now(UTC))
    began = datetime.now(UTC)
    memory = front.store_to_fill.add(text, **about)
    if values["pin"]:
        memory = front.store_to_fill.pin(memory.id)
    # What the store had before is not new.
    if memory.indexed_at >= began:
        return memory, named(memory, "remembered")
    tags = f", tagged {', '.join(memory.tags)}" if memory.tags else ""
    return memory, named(memory, "known already, so not stored again:") + tags


def index(front: Front, call: Call) -> None:
    """Index folders or single files; the next time, only what has changed.

    Each cell of a notebook becomes a memory; code is split into functions and classes, and documents into sections.
    Files that no longer exist are forgotten. Files that .gitignore or the setting `ignore` names are left out, and
    secrets are redacted. A file that could not be read is reported once; --retry reads and reports it again.
    --details lists each file that was left out, with the reason.

    Examples::

        %memory index ~/notebooks
        %memory index reports "C:\\My data\\notes.md"
    """
    wrong = []
    for path in call.words:
        try:
            _index(front, path, call)
        except InputError as error:
            wrong.append(str(error))  # the others are indexed all the same: `index *` names whatever is there
    if wrong:
        raise SeveralErrors(wrong)


def indexed(report: IndexReport) -> str:
    """Return what indexing did, with the first reasons why files were left out."""
    lines = str(report).splitlines()
    if len(lines) > _LISTED + 1:
        lines[_LISTED:] = [f"  … and {len(lines) - _LISTED} more"]
    return "\n".join(lines)


def update(front: Front, call: Call) -> None:
    """Index all known folders and files again; only what has changed is read."""
    known = front.store.folders()
    if not known:
        raise WrongUsage(f"Nothing was indexed yet. Name a folder: {front.command('index ~/notebooks')}")
    for folder in known:
        if not folder.exists:
            front.note(f"{folder.path} is not there now, so it is left as it is.")
            continue
        front.say(folder.path)
        _index(front, folder.path, call)


def search(front: Front, call: Call) -> None:
    """Search by meaning and by exact words; '"quoted words"' are looked for as a phrase."""
    with usage():
        query, arguments = call.text("The query"), search_of(call.values, datetime.now(UTC))
        check_profile(call.values["profile"])
    tokens, rank, as_json = call.values["context"], call.values["open"], call.values["json"]
    if call.values["quiet"] and (tokens is not None or as_json or rank is not None):
        raise WrongUsage("--quiet prints nothing: leave out --json, --context and --open.")
    if rank is not None and (tokens is not None or as_json):
        raise WrongUsage("--open opens a result, and --json and --context print them: leave one of them out.")
    if tokens is not None and (other := next((name for name in ("json", "scan") if call.values[name]), None)):
        raise WrongUsage(f"--context prints a text for a prompt, and --{other} a list: leave one of them out.")
    budget = None if tokens is None else _tokens(str(tokens))
    if said := switch_among(call.words, SEARCH):
        front.note(said)
    if budget is not None:
        # As many as the budget of a prompt may have room for.
        arguments.setdefault("limit", 20)
    answer = answered(front, query, call.values["in"], arguments)
    with suppress(StoreError):  # other stores may have answered without it
        front.store.note_search(answer, "command line")
    if budget is not None:
        front.say(_prompt(front, answer, budget))
    elif as_json:
        front.say(json_text(answer.to_json(), indent=2))
    else:
        front.show_results(answer, short=call.values["scan"])
        offer_model(front, answer)
    if rank is not None:
        if rank > len(answer.hits):
            raise InputError(_no_rank("This search", len(answer.hits), rank))
        open_(front, Call((answer.hits[rank - 1].address,), {}))


def answered(front: Front, query: str | None, names: Sequence[str] | None, arguments: Mapping[str, Any]) -> Answer:
    """Return the answer of your own store, or of the named stores together; None, as a query, lists what they hold."""
    from jupyter_memory.search.profiles import profile_named

    if said := profile_named(arguments.get("profile") or front.settings.profile).unread(arguments.get("tags", ())):
        front.note(said)
    if names:
        return front.stores.hits(names, query, **arguments)
    return front.store.browsed(**arguments) if query is None else front.store.hits(query, **arguments)


def _prompt(front: Front, answer: Answer, tokens: int) -> PromptText:
    return front.stores.context(answer, tokens) if answer.stores else front.store.context(answer, tokens)


def offer_model(front: Front, answer: Answer) -> None:
    """After a weak answer, offer a larger model in a quiet line, once."""
    if answer.verdict == "weak" and not answer.stores and (offer := front.store.model_offer()):
        front.hint(front.with_commands(offer))


def list_(front: Front, call: Call) -> object:
    """List memories without a query: pinned ones, notes, files, then what was run; the newest first.

    Examples::

        %memory list --in team
        %memory list --tag decision -n 50
        %memory list --kind cell --path reports --since "last week"
    """
    with usage():
        filters = filters_of(call.values, datetime.now(UTC))
    answer = answered(front, None, call.values["in"], {"limit": call.values["limit"], "filters": filters})
    if call.values.get("json"):
        front.say(json_text(answer.to_json(), indent=2))
        return None
    return front.show_list(answer)


def explain(front: Front, call: Call) -> None:
    """Show why a memory ranks where it does, or why a query does not find it.

    It shows the main reasons in five lines at most; with --all, each reason with the values behind it. After `related`,
    a rank is one of its results.

    Examples::

        %memory explain 3
        %memory explain 3 --all
        %memory explain "how were prices normalised" 2
    """
    *query, word = call.words or ("",)
    rank = int(word) if _RANKS.fullmatch(word) and word.isdecimal() else None
    if rank is None and not query:
        raise WrongUsage(
            f'Name a rank of the last search, or a query and an id: {front.command("explain")} "prices" ID'
        )
    profile = call.values.get("profile")
    with usage():
        check_profile(profile)
    # Without quotes, the query is all but the last word.
    asked = " ".join(query)
    given: QueryOptions = {"profile": profile or front.settings.profile, "time": not call.values.get("ignore_time")}
    # A terminal keeps the query of the last search and what it found.
    kept = None if query or rank is None or front.ranked or front.last else front.shown
    if kept is not None and kept.query:
        [(memory, _, store, _)] = picked(front, [word])
        given["profile"] = profile or kept.profile
        why = store.explain(kept.query, memory.id, **given)
        if why.rank != rank:
            front.note(f"This is of a new search for “{kept.query}”, without the options of the last one.")
    elif rank is None:
        of, memory_id = parted(word)
        why = _store_of(front, of).explain(asked, memory_id, **given)
    else:
        given["limit"] = max(front.settings.limit, min(rank, _LOOKED_AT))
        answer = front.store.hits(asked, **given) if query else front.ranked or front.last
        if answer is None:
            raise InputError(front.no_results)
        if not 1 <= rank <= len(answer.hits):
            raise WrongUsage(_no_rank("This query" if query else "The last search", len(answer.hits), rank))
        hit = answer.hits[rank - 1]
        why = _store_of(front, hit.store).explain_in(answer, hit.memory.id)
    if call.values.get("json"):
        front.say(json_text(why.to_json(), indent=2))
    else:
        front.say(str(why.whole() if call.values["all"] else why))


def context(front: Front, call: Call) -> PromptText:
    """Show the last results as a text for a prompt, within so many tokens: 2000 if none are named.

    Each source has its path, cell, lines and date; duplicates are merged, and neighbouring cells stand together. The
    texts are marked as data, within borders that none of them can forge.

    Examples::

        prompt = %memory context
    """
    if front.last is None:
        raise WrongUsage("There is no search yet: run %memsearch first.")
    return _prompt(front, front.last, _tokens(call.words[0]) if call.words else BUDGET)


def verify(front: Front, call: Call) -> None:
    """Check a receipt of an answer: say what became of each of its memories.

    `df.memory.receipt("answer.json")` writes one. A `changed` memory has another text now; a `replaced` one is gone,
    and its file has newer text. Forgery shows only where the receipt was made, since the key of its seal stays there.

    Examples::

        %memory verify answer.json
    """
    from jupyter_memory.search.receipt import Receipt  # few need it

    file = Path(call.words[0]).expanduser()
    try:
        written = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from None
    if (receipt := Receipt.read(written)) is None:
        raise InputError(f"{file} is not a receipt, or it has been damaged or changed.")
    rows, away = [], dict[str, str]()
    for hit in receipt.hits:
        try:
            state, memory = _store_of(front, hit["store"]).searching.became(hit, receipt)
        except (StoreError, UnknownStore) as error:
            state, memory, away[hit["store"]] = "not checked", None, str(error)
        title = "" if memory is None else memory.headline
        rows.append((str(hit["rank"]), address(hit["store"], hit["memory_id"]), state, title))
    for why in away.values():
        front.note(why)
    front.say(columns(rows))
    counts = Counter(state for _, _, state, _ in rows)
    told = ", ".join(f"{number} {state}" for state, number in counts.items()) or "no memories"
    unknown = "" if receipt.is_sealed else "; it was not sealed with your key here, so it may be forged"
    said = f"Since {receipt.date.astimezone():%Y-%m-%d %H:%M}: {told}{unknown}."
    if unknown or counts.keys() - {"unchanged"}:
        front.exit_with_error(said)  # which ends it in a terminal
    front.say(said)


def pin(front: Front, call: Call) -> None:
    """Mark memories as important for good: they rank before others that answer as well.

    Examples::

        %memory pin 1
        %memory pin 3f2a9c1b2d4e5f60
    """
    for memory, _, store, of in picked(front, call.words):
        front.say(named(store.pin(memory.id), "pinned", of))


def unpin(front: Front, call: Call) -> None:
    """Remove the pin from memories."""
    for memory, _, store, of in picked(front, call.words):
        front.say(named(store.unpin(memory.id), "unpinned" if memory.pinned else "was not pinned:", of))


def _index(front: Front, path: str, call: Call) -> None:
    try:
        asked = {name: call.values[name] for name in ("retry", "anew")}
        report = front.store_to_fill.index(path, progress=front.progress, **asked)
    except KeyboardInterrupt:
        stats = front.store_to_fill.stats()
        held = f"{count_of(stats['memories'], 'memory', 'memories')} of {count_of(stats['files'], 'file')} and notes"
        raise Halted(f"Interrupted: the store holds {held}. Run the same again to go on from here.") from None
    front.say(report.details if call.values["details"] else indexed(report))


def _tokens(word: str) -> int:
    try:
        return checked_budget(int(word) if word.lstrip("-").isdecimal() else word)
    except InputError as error:
        raise WrongUsage(str(error)) from None


def check_profile(name: str | None) -> None:
    """Raise ``UnknownProfile`` or ``InputError`` if there is no such profile."""
    from jupyter_memory.search.profiles import profile_named

    if name is not None:
        profile_named(name)


def forget(front: Front, call: Call) -> object:
    """Remove memories for good: by id, --source, filters or --everything; files stay as they are.

    With the setting `undo_minutes` above 0, `undo` brings them back for that time. Until then their texts are still in
    the file; with `--now` they go at once, with all that could be brought back.

    Before several memories go that were not named by their ids, it says what they are and asks; `--yes` answers
    beforehand, and `--dry-run` lists them and removes nothing.

    The next indexing remembers the files again, unless a .gitignore, a .jupytermemoryignore or the setting `ignore`
    names them.

    Examples::

        %memory forget 3f2a9c1b2d4e5f60
        %memory forget --tag draft --until "last year" --dry-run
        %memory forget --searches
        %memory forget --now
        %memory forget --everything --yes
    """
    if call.values["now"] and not call.words and not any(value for name, value in call.values.items() if name != "now"):
        gone = count_of(number := front.store.forgetting.finish(), "memory", "memories")
        removed = f"removed for good what `undo` could bring back: {gone}"
        front.say(removed if number else "There was nothing that `undo` could bring back.")
        return None
    of, words = of_one_store(map(parted, call.words))
    with usage():
        chosen = forget_of(words, call.values, datetime.now(UTC))
    if call.values["searches"]:
        _forget_searches(front, dry=call.values["dry_run"])
        return None
    # The person may be looking at an earlier search.
    shown = front.shown
    if shown is not None and (word := next(filter(_is_rank, call.words), None)):
        memory, rank, _, of = picked(front, [word])[0]
        meant = named(memory, f"Rank {rank} of the last results is", of)
        command = front.command(f"forget {address(of, memory.id)}")
        raise WrongUsage(f"{word} is a rank, and an id is needed. {meant}: {command}")
    store = _store_of(front, of)
    selection = store.selection(**chosen)
    what, number = str(selection), len(selection)
    if selection.everything:
        where = f"the space {store.space!r} in {store.path}" if store.space else str(store.path)
        what = f"{'the' if number == 1 else 'all'} {count_of(number, 'memory', 'memories')} of {where}"
        what += f" ({selection.parts})" if number else ""
    if call.values["dry_run"]:
        front.hint(f"Nothing was forgotten. Without --dry-run these would go: {what}.")
        if selection.filters or selection.everything:
            return front.show_list(store.browsed(limit=number or 1, filters=selection.filters))
        front.say("\n".join(named(store.get(one), "would forget", of) for one in selection.ids))
        return None
    if (number > 1 and not chosen["ids"]) or chosen["everything"]:
        loss, command = f"This would forget {what}", f"forget {call.source}"
        if not front.confirm(f"Forget {what}?", yes=call.values["yes"], command=command, loss=loss):
            return None
    # What was counted, and not what fits by now: the question was about those alone.
    forgotten = store.forget(selection, now=call.values["now"])
    front.say(f"forgot {count_of(forgotten, 'memory', 'memories')}")
    if of:
        front.stores.forgot(of, words)
    front.drop_answers({address(of, one) for one in selection.ids})
    _say_after_forgetting(front, store, of, chosen, forgotten, shown, call.values["now"])
    return None


def _forget_searches(front: Front, *, dry: bool) -> None:
    if dry:
        number = len(front.store.recent(1_000_000))  # more than a store keeps
    else:
        number = front.store.forget_recent()
        front.drop_answers()
    front.say(f"{'would forget' if dry else 'forgot'} {count_of(number, 'search', 'searches')}")


def of_one_store(named: Iterable[tuple[str, str]]) -> tuple[str, tuple[str, ...]]:
    """Return the store of memories that are named by store and id, and the ids; raise if they are of several."""
    pairs = list(named)
    if len(names := {store for store, _ in pairs}) > 1:
        raise WrongUsage("Name the memories of one store at a time.")
    return next(iter(names), ""), tuple(id_ for _, id_ in pairs)


def _say_after_forgetting(
    front: Front, store: MemoryStore, of: str, chosen: Mapping[str, Any], forgotten: int, shown: Shown | None, now: bool
) -> None:
    sources = chosen["source"] or ()
    if not forgotten:
        # Why nothing matches, such as a tag that no memory has.
        filters = chosen["filters"] or Filters()
        filters = replace(filters, path=tuple(sources)) if sources else filters
        for notice in store.browsed(limit=1, filters=filters).notices:
            front.note(notice)
        return
    if not now:
        hint_undo(front, store, of)
    hint_ranks(front, shown)
    places = [Path(source).expanduser() for source in sources]
    if any(place.is_dir() for place in places):
        front.hint(
            "The files themselves stay: if this folder, or one above it, is indexed again, they are remembered again. "
            "A file .jupytermemoryignore in it with the line * prevents that; so does the setting `ignore`."
        )
    if any(place.is_file() for place in places):
        front.hint(
            "The file itself stays: if its folder is indexed again, it is remembered again. "
            "Its name in a file .jupytermemoryignore beside it prevents that; so does the setting `ignore`."
        )


def hint_ranks(front: Front, before: Shown | None) -> None:
    """Say if ranks are now those of another search than ``before``, which went with a memory that it showed."""
    if (
        before
        and (left := front.shown)
        and left != before
        # Otherwise another terminal has searched meanwhile; a store keeps fewer searches than these.
        and before.query_id not in {one.query_id for one in front.store.recent(1_000_000)}
    ):
        now_of = f"Ranks are now those of “{fit(left.query, 60)}”"
        front.hint(f"{now_of}: the search that they stood for is forgotten with what it showed.")


def hint_undo(front: Front, store: MemoryStore, of: str) -> None:
    """Say until when `undo` brings back what was just forgotten in the store of this name, if it does."""
    if pending := store.undoable():
        there = f"jupyter-memory --store {shlex.quote(str(store.path))}" if of else front.prefix
        end = pending.until.astimezone()
        until = f"{end:%H:%M}" if end.date() == datetime.now(end.tzinfo).date() else f"{end:%Y-%m-%d %H:%M}"
        front.hint(
            f"Until {until}, {_undoing(front, of)} brings it back, and its texts are still in the file. "
            f"{there} forget --now removes them now."
        )


def undo(front: Front, call: Call) -> None:
    """Bring back what the last `forget` or `move` removed, within the minutes of the setting `undo_minutes`.

    The setting is 0 unless you change it: what is forgotten is gone at once. While something can be brought back, its
    texts are still in the store's file.

    Examples::

        %config JupyterMemory.undo_minutes = 10
        %memory undo
        %memory undo --in team
    """
    for name in call.values["in"] or ("",):
        store = _store_of(front, name)
        last = store.undoable()
        where = f" from {last.moved[0]}" if last and last.moved else ""
        front.say(f"brought back {count_of(store.undo(), 'memory', 'memories')}{where}")
        if pending := store.undoable():
            front.hint(f"To bring back {pending} as well: {_undoing(front, name)}")


def _undoing(front: Front, of: str) -> str:
    return front.command(f"undo --in {of}" if of else "undo")


# How editors take a line, by the name of their program.
_PLUS = ("vi", "vim", "nvim", "gvim", "nano", "pico", "emacs", "emacsclient", "kak", "micro", "joe", "gedit")
_AT_LINE = {
    **dict.fromkeys(("subl", "zed", "hx", "helix", "atom", "lapce"), ("{path}:{line}",)),
    **dict.fromkeys(("code", "code-insiders", "codium", "cursor", "windsurf", "positron"), ("--goto", "{path}:{line}")),
    **dict.fromkeys(_PLUS, ("+{line}", "{path}")),
}


def open_file(path: str, place: str) -> str:
    """Open a file, or an address, at a place: the id of a cell or a line; return what to say."""
    if path.startswith(("https://", "http://")):
        return _browsed(path)
    if not Path(path).exists():
        raise InputError(f"{path} no longer exists, so it cannot be opened. Its text is still in the store.")
    if path.lower().endswith(".ipynb"):
        # Only this command asks for servers, and the extra `lab` brings them.
        with suppress(ImportError):
            from jupyter_server.serverapp import list_running_servers

            for server in list_running_servers():
                root = Path(str(server.get("root_dir") or server.get("notebook_dir") or os.sep))
                if Path(path).is_relative_to(root):
                    cell = f"#cell-id={quote(place)}" if place and not place.startswith("#") else ""
                    relative = quote(Path(path).relative_to(root).as_posix())
                    return _browsed(f"{server['url']}lab/tree/{relative}{cell}")
    editor = (os.environ.get("VISUAL") or os.environ.get("EDITOR") or "").strip()
    where = placed(path, place, "cell" if path.lower().endswith(".ipynb") else "")
    if not editor:
        return f"{where}\nTo open it in an editor, name one in the variable EDITOR; JupyterLab opens it while it runs."
    # A backslash is part of a path on Windows, and quotes hold blanks together.
    if os.name == "nt" or "\\" in editor:
        command = [word.strip('"') for word in shlex.split(editor, posix=False)]
    else:
        command = shlex.split(editor)
    name = Path(command[0].replace("\\", "/")).name.lower().removesuffix(".exe").removesuffix(".cmd")
    words = _AT_LINE.get(name, ("{path}",)) if place.isdecimal() else ("{path}",)
    command += [word.format(path=path, line=place) for word in words]
    try:
        subprocess.run(command, check=False)  # noqa: S603  the user's own editor
    except OSError as error:
        raise InputError(f"The editor {command[0]} cannot be started: {error.strerror}. Set EDITOR.") from None
    return f"opened {where}"


def line_of(hit: Hit) -> str:
    """Return where a hit is in its file: the line with the words that matched, if the file still has it."""
    text, start = hit.memory.text, hit.span[0]
    said = text[text.rfind("\n", 0, start) + 1 :].partition("\n")[0].strip()
    if not (hit.location.isdecimal() and said):
        return hit.location
    try:
        lines = Path(hit.memory.source).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return hit.location
    first = int(hit.location)
    return next((str(at) for at, line in enumerate(lines[first - 1 :], first) if line.strip() == said), str(first))


def _browsed(address: str) -> str:
    import webbrowser

    return f"opened {address}" if webbrowser.open(address) else f"{address}\nNo browser was found to open it."
