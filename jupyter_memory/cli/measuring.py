"""The commands that measure rankings, which a terminal alone has: eval, bench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import click

from jupyter_memory.interface.commands.command import Argument, Call, Command, WrongUsage, usage
from jupyter_memory.interface.commands.front import Front
from jupyter_memory.interface.options import Option
from jupyter_memory.text.unicode import json_text


def eval_(front: Front, call: Call) -> None:
    """Measure profiles on judged sets: folders with corpus.jsonl, queries.jsonl and qrels.tsv."""
    out, profiles, by, baseline = (call.values[name] for name in ("json", "profile", "by", "baseline"))
    _check_out(out)
    if call.values["strength"]:
        if profiles or by or baseline:
            raise WrongUsage("--strength measures the profile auto: leave out --profile, --by and --baseline.")
        _eval_strength(front, call)
        return
    if len(call.values["notebooks"]) > 1:
        raise WrongUsage("Without --strength, --notebooks names one folder: measure the sets of another one by one.")
    from jupyter_memory.evaluation.results import evaluate, table
    from jupyter_memory.evaluation.runner import arms

    chosen = arms(profiles)
    if baseline is None:
        baseline = "covalence" if "covalence" in chosen else next(iter(chosen))
    elif baseline not in chosen:
        chosen |= arms([baseline])
    found = []
    for folder in map(Path, call.words):
        rows, notices = evaluate(
            folder,
            chosen,
            call.values["embedder"],
            notebooks=next(iter(call.values["notebooks"]), None),
            files=call.values["files"],
            work=_work(call),
            by_type=by == "type",
            folds=call.values["folds"],
            baseline=baseline,
            progress=True,
        )
        for notice in notices:
            front.note(notice)
        front.say(table(rows) + "\n")
        found += rows
    _write(front, out, [row.to_json() for row in found], "rows")


def bench(front: Front, call: Call) -> None:
    """Run thirty checks on a small corpus that comes with the package; the last lines count them by profile."""
    out, profiles = call.values["json"], call.values["profile"]
    _check_out(out)
    from jupyter_memory.evaluation.bench import bench as run
    from jupyter_memory.evaluation.bench import table
    from jupyter_memory.evaluation.runner import arms
    from jupyter_memory.search.profiles import PROFILES

    with usage():
        chosen = arms(profiles) if profiles else PROFILES
    outcomes = run(chosen, call.values["embedder"])
    front.say(table(outcomes))
    rows = [
        {
            "profile": one.profile,
            "category": one.check.category,
            "query": one.check.query,
            "passed": not one.failed,
            "failed": one.failed,
            "found": list(one.found),
        }
        for one in outcomes
    ]
    _write(front, out, rows, "outcomes")


def _eval_strength(front: Front, call: Call) -> None:
    from jupyter_memory.evaluation.answerability import answerability, table

    rows = answerability(
        [Path(word) for word in call.words],
        call.values["embedder"],
        notebooks=call.values["notebooks"],
        files=call.values["files"],
        work=_work(call),
        progress=True,
    )
    front.say(table(rows))
    _write(front, call.values["json"], [row.to_json() for row in rows], "rows")


def _work(call: Call) -> Path | None:
    return None if call.values["work"] is None else Path(call.values["work"])


def _check_out(out: Path | None) -> None:
    """Refuse a file that could not be written, before anything is measured."""
    if out is not None and not out.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {out.absolute().parent}", param_hint="--json")


def _write(front: Front, out: Path | None, rows: Sequence[Mapping[str, object]], things: str) -> None:
    if out is None:
        return
    out.write_text(json_text(rows, indent=1) + "\n", encoding="utf-8")
    front.note(f"Wrote {len(rows)} {things} to {out}.")


_PROFILES = Option(
    ("-p", "--profile"),
    "a profile, a TOML file, keyword, vector or auto-TERM; several may be given (default: all)",
    "NAME",
    many=True,
)
_EMBEDDER = Option(("--embedder",), "the model", "NAME", default="static")
_EVAL = (
    Option(
        ("--notebooks",),
        "the notebooks whose cells DIR judges; with --strength, one for all or one for each DIR",
        "FOLDER",
        many=True,
        path="folder",
    ),
    Option(("--files",), "the folders whose files DIR judges, a question file each", "FOLDER", path="folder"),
    _PROFILES,
    _EMBEDDER,
    Option(("--by",), "a row for each type of question too", "[type]", choices=("type",)),
    Option(
        ("--folds",),
        "what is drawn for the intervals: whole groups or single questions",
        "[group|query]",
        choices=("group", "query"),
        default="query",
    ),
    Option(
        ("--baseline",),
        "what differences are counted from  [default: covalence if it is measured, else the first]",
        "NAME",
    ),
    Option(("--strength",), "measure instead how far strength and verdict can be believed"),
    Option(("--work",), "keep the stores here for the next time", "FOLDER"),
    Option(("--json",), "write all numbers to a file", "OUT", path="file"),
)
_BENCH = (_PROFILES, _EMBEDDER, Option(("--json",), "write every outcome to a file", "OUT", path="file"))
MEASURING: Mapping[str, Command[Front]] = MappingProxyType(
    {
        "eval": Command("eval", eval_, (Argument("DIR", many=True),), _EVAL),
        "bench": Command("bench", bench, options=_BENCH),
    }
)
