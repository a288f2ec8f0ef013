"""The commands about single hits: open, text, tag, related, good, bad."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from jupyter_memory.errors import InputError
from jupyter_memory.interface import messages
from jupyter_memory.interface.commands.command import Call, WrongUsage
from jupyter_memory.interface.commands.front import Front
from jupyter_memory.interface.commands.picks import Pick, names_hits, picked
from jupyter_memory.text.display import WholeText, count_of
from jupyter_memory.types import Memory

# A tag may be a number of so many digits; any other is a rank.
_A_YEAR = 4


def open_(front: Front, call: Call) -> object:
    """Open the files of hits: a notebook at the cell, another file at the line.

    In a notebook this shows a link. In a terminal it opens JupyterLab if a running server has the notebook, else the
    editor that VISUAL or EDITOR names.

    Examples::

        %memory open 3
        %memory open 1 3f2a9c1b2d4e5f60
    """
    return open_picks(front, picked(front, call.words))


def open_picks(front: Front, picks: Sequence[Pick]) -> object:
    """Open the files of memories that were picked, unless one of them is in no file."""
    for pick in picks:
        _refuse_without_source(front, pick)
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
    return front.show_text(WholeText.joined([(_heading(pick), _whole(pick.memory)) for pick in picks]))


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
    for pick in picked(front, words):
        front.say(_untagged(front, pick.memory, tags) if call.values["remove"] else _tagged(front, pick.memory, tags))


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
    known = list(takewhile(names_hits, words))
    if len(known) == len(words) > 1 and known[-1].isdecimal() and len(known[-1]) == _A_YEAR:
        known.pop()
    return known, " ".join(words[len(known) :])


def _tagged(front: Front, memory: Memory, tags: Sequence[str]) -> str:
    fresh = [one for one in tags if one not in memory.tags]
    if not fresh:
        return messages.named(memory, f"has the {_tags(tags)} already:")
    front.store.update(memory.id, tags=[*memory.tags, *fresh])
    return messages.named(memory, f"tagged {', '.join(fresh)}:")


def _untagged(front: Front, memory: Memory, tags: Sequence[str]) -> str:
    unwanted = {one.casefold() for one in tags}
    left = [one for one in memory.tags if one.casefold() not in unwanted]
    gone = [one for one in memory.tags if one not in left]
    if not gone:
        held = f"; it has {', '.join(memory.tags)}" if memory.tags else "; it has none"
        return messages.named(memory, f"lacks the {_tags(tags)}{held}:")
    front.store.update(memory.id, tags=left)
    return messages.named(memory, f"no longer tagged {', '.join(gone)}:")


def _whole(memory: Memory) -> WholeText:
    return WholeText.of(memory.text, memory.kind, memory.lang)


def _tags(tags: Sequence[str]) -> str:
    return f"{'tag' if len(tags) == 1 else 'tags'} {', '.join(tags)}"


def _refuse_without_source(front: Front, pick: Pick) -> None:
    if not pick.memory.source:
        named, text = messages.named(pick.memory, ""), front.command(f"text {pick.memory.id}")
        raise InputError(f"There is no file to open:{named} is a {pick.memory.kind}. To read it: {text}")


def _heading(pick: Pick) -> str:
    memory = pick.memory
    place = f" · {memory.source}:{memory.place()}" if memory.source and memory.place() else f" · {memory.source}"
    rank = "" if pick.rank is None else f"{pick.rank}  "
    size = count_of(memory.token_estimate, "token")
    return f"── {rank}{memory.title or memory.id}{place if memory.source else ''} · {size}"
