"""`%memeval`: a person's own questions with their right answers, and how well each way of ranking does on them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from jupyter_memory.interface.commands.command import Argument, Call, Command
from jupyter_memory.interface.commands.memories import with_question
from jupyter_memory.interface.options import VERDICTS, Option
from jupyter_memory.magics.parsing import Subcommands
from jupyter_memory.magics.session import Session
from jupyter_memory.text.dates import iso_day
from jupyter_memory.text.display import columns, count_of, fit

if TYPE_CHECKING:
    import pandas as pd

_EMPTY = "The golden set is empty. Search, then keep what was right: %memeval add RANK"
_RUN = (
    Option(
        ("-p", "--profile"), "a profile, a TOML file, keyword, vector or auto-TERM; again for more", "NAME", many=True
    ),
    Option(("--model",), "this model too, on a copy of the store; again for more", "NAME", many=True),
    Option(("--dims",), "these lengths of the vectors too; again for more", "N", many=True, whole=True),
)


def add(session: Session, call: Call) -> None:
    """Keep the last search with the results of these ranks, by default the first, as its right answers.

    A file beside the store, which only you can read, keeps the question and the ids of its answers.

    Examples::

        %memeval add
        %memeval add 2 5
    """
    from jupyter_memory.evaluation import golden

    if session.last is None:
        raise UsageError("There is no search to keep yet: run %memsearch first.")
    if wrong := [word for word in call.words if not word.isdecimal()]:
        raise UsageError(f"Ranks are numbers, as in %memeval add 1 3; {wrong[0]} is not one.")
    with_question(session)
    kept = golden.add(golden.golden_file(session.settings), session.last, list(map(int, call.words)) or [1])
    answers = count_of(len(kept.right), "right answer")
    session.say(f"kept “{fit(kept.text, 60)}” with {answers} ({kept.id}); the golden set has {len(session.questions)}.")


def list_(session: Session, call: Call) -> None:
    """Show the questions of the golden set, with their ids."""
    if not (kept := session.questions):
        session.say(_EMPTY)
        return
    wrong = {one.id: f", {len(one.wrong)} wrong" if one.wrong else "" for one in kept}
    rows = [(one.id, f"{len(one.right)} right{wrong[one.id]}", iso_day(one.now), fit(one.text, 80)) for one in kept]
    session.say(columns(rows))


def forget(session: Session, call: Call) -> None:
    """Remove questions from the golden set: those with these ids, which `%memeval list` shows, or all.

    Examples::

        %memeval forget 3f2a9c
        %memeval forget all
    """
    from jupyter_memory.evaluation import golden

    if not call.words:
        raise UsageError("Name the questions by their ids: %memeval forget 3f2a9c, or all of them: %memeval forget all")
    ids = [one.id for one in session.questions] if call.words == ("all",) else list(call.words)
    gone = golden.forget(golden.golden_file(session.settings), ids)
    session.say(f"took {count_of(gone, 'question')} out of the golden set")


def run(session: Session, call: Call) -> pd.DataFrame:
    """Measure every profile, or those named, on the golden set; return a row each, the best first.

    `difference` compares nDCG@10 with the profile and model in use; `p` is the probability that chance alone gives as
    much. With few questions the intervals are wide: do not trust a difference that lies within them.

    Examples::

        %memeval run
        %memeval run --profile auto --profile ./mine.toml
        %memeval run --profile auto --model nomic --dims 128
    """
    import pandas as pd

    from jupyter_memory.evaluation import golden

    if not (kept := session.questions):
        raise UsageError(_EMPTY)
    kept, lost = golden.answerable(session.store, kept)
    if lost:
        shown = ", ".join(f"“{fit(one.text, 40)}” ({one.id})" for one in lost[:5])
        more = f" and {len(lost) - 5} more" if len(lost) > 5 else ""
        said = f"The right answers of {count_of(len(lost), 'question')} are no longer here: {shown}{more}."
        forgetting = f"%memeval forget {lost[0].id if len(lost) == 1 else 'ID…'}"
        if not kept:
            raise UsageError(f"{said} Nothing is left to measure: search, then %memeval add, or {forgetting}")
        session.note(f"{said} They are left out. To keep other answers: search, then %memeval add; or {forgetting}")
    profiles, used = golden.named_profiles(session.settings.profile, call.values.get("profile"))
    store, settings = session.store, session.settings
    against = golden.baseline(store, kept, used)
    runs = [golden.run(store, kept, profiles, against)]
    named = call.values.get("model")
    dims = call.values.get("dims") or ([None] if named else [])
    for name in named or ["static" if runs[0].model == "words alone" else runs[0].model.split()[0]]:
        for one in dims:
            with golden.other_model(store, name, one, settings) as other:
                runs.append(golden.run(other, kept, profiles, against))
    session.measured = runs
    rows = [
        {
            "profile": row.profile,
            "model": run.model,
            "questions": row.queries,
            **row.metrics,
            "ndcg@10_low": row.ci95["ndcg@10"][0],
            "ndcg@10_high": row.ci95["ndcg@10"][1],
            "p50_ms": row.p50_ms,
            "difference": row.difference,
            "p": row.p,
        }
        for run in runs
        for row in run.rows
    ]
    frame = pd.DataFrame(rows).sort_values("ndcg@10", ascending=False, kind="stable", ignore_index=True)
    return frame.astype({"profile": "str", "model": "str"})


def pool(session: Session, call: Call) -> None:
    """List what the profiles show first for your questions and you have not judged yet; judge it row by row.

    The questions are those of the golden set and of `%memory good` and `bad`. A row is named by its first column.

    Examples::

        %memeval pool --right 3f2a9c --wrong 0c41d2 --first 9e1b55
    """
    from jupyter_memory.evaluation import golden

    profiles = golden.named_profiles(session.settings.profile, call.values.get("profile"))[0]
    session.say(golden.pool(session.store, golden.golden_file(session.settings), profiles, call.values))


def tune(session: Session, call: Call) -> None:
    """Propose changes of weights that lift right answers that rank too low, one by one.

    Each is as small as lifts an answer and lowers no other. With FILE, they are saved as a profile, which ranks in this
    session from then on.

    Examples::

        %memeval tune
        %memeval tune mine.toml
    """
    from jupyter_memory.evaluation import golden

    profile = golden.named_profiles(session.settings.profile)[1]
    tuned, said = golden.tune(session.store, session.questions, profile, call.words)
    session.say(said)
    if not call.words:
        session.say("To save and use it: %memeval tune mine.toml")
        return
    file, before = tuned.save(call.words[0]), session.settings.profile
    session.settings.profile = str(file.absolute())
    session.say(f"{file} ranks in this session now; to go back: %memory profile {shlex.quote(before)}")


def plot(session: Session, call: Call) -> Any:
    """Draw the last run: each metric by profile, and the share of each signal in the scores of the right answers."""
    from jupyter_memory.evaluation.golden import golden_chart

    if not session.measured:
        raise UsageError("There is nothing to draw yet: %memeval run first.")
    return golden_chart(session.measured)


_COMMANDS: tuple[Command[Session], ...] = (
    Command("add", add, notebook_words="[RANK…]"),
    Command("run", run, options=_RUN),
    Command("pool", pool, options=(_RUN[0], *VERDICTS)),
    Command("tune", tune, (Argument("FILE", required=False),), values="path"),
    Command("plot", plot),
    Command("list", list_),
    Command("forget", forget, notebook_words="ID… | all", destroys=True),
)
MEMEVAL: Subcommands[Session] = Subcommands("memeval", {one.name: one for one in _COMMANDS})
MEMEVAL_HELP = f"""Compare ways of ranking on questions of your own.

{MEMEVAL.overview()}
"""
