"""The commands that measure rankings: eval, bench."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from jupyter_memory.cli.app import note
from jupyter_memory.cli.arguments import usage

# The options that both commands take.
_PROFILES = click.option(
    "-p",
    "--profile",
    "profiles",
    multiple=True,
    metavar="NAME",
    help="a profile, a TOML file, keyword, vector or auto-TERM; several may be given (default: all)",
)
_EMBEDDER = click.option("--embedder", default="static", show_default=True, metavar="NAME", help="the model")


@click.command("eval")
@click.argument("folders", nargs=-1, required=True, metavar="DIR...", type=click.Path(path_type=Path))
@click.option(
    "--notebooks",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="FOLDER",
    help="the notebooks whose cells DIR judges",
)
@_PROFILES
@_EMBEDDER
@click.option("--by", type=click.Choice(["type"]), help="a row for each type of question too")
@click.option(
    "--folds",
    type=click.Choice(["group", "query"]),
    default="query",
    show_default=True,
    help="what is drawn for the intervals: whole groups or single questions",
)
@click.option(
    "--baseline",
    metavar="NAME",
    help="what differences are counted from  [default: covalence if it is measured, else the first]",
)
@click.option(
    "--strength",
    "strengths",
    is_flag=True,
    help="measure instead how well strength tells what DIR answers from what it cannot answer",
)
@click.option(
    "--work", type=click.Path(path_type=Path), metavar="FOLDER", help="keep the stores here for the next time"
)
@click.option(
    "--json", "out", type=click.Path(path_type=Path, dir_okay=False), metavar="OUT", help="write all numbers to a file"
)
def eval_(
    folders: Sequence[Path],
    notebooks: Path | None,
    profiles: Sequence[str],
    embedder: str,
    by: str | None,
    folds: str,
    baseline: str | None,
    strengths: bool,
    work: Path | None,
    out: Path | None,
) -> None:
    """Measure profiles on judged sets: folders with corpus.jsonl, queries.jsonl and qrels.tsv."""
    _check_out(out)
    if strengths:
        if profiles or by or baseline:
            raise click.UsageError("--strength is that of auto: leave out --profile, --by and --baseline.")
        _eval_strength(folders, notebooks, embedder, work, out)
        return
    from jupyter_memory.evaluation.results import evaluate, table
    from jupyter_memory.evaluation.runner import arms

    chosen = arms(profiles)
    if baseline is None:
        baseline = "covalence" if "covalence" in chosen else next(iter(chosen))
    elif baseline not in chosen:
        chosen |= arms([baseline])
    found = []
    for folder in folders:
        rows, notices = evaluate(
            folder,
            chosen,
            embedder,
            notebooks=notebooks,
            work=work,
            by_type=by == "type",
            folds=folds,
            baseline=baseline,
            progress=True,
        )
        for notice in notices:
            note(notice)
        click.echo(table(rows) + "\n")
        found += rows
    _write(out, [row.to_json() for row in found], "rows")


@click.command()
@_PROFILES
@_EMBEDDER
@click.option(
    "--json",
    "out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="OUT",
    help="write every outcome to a file",
)
def bench(profiles: Sequence[str], embedder: str, out: Path | None) -> None:
    """Ask thirty checked questions of a small corpus that comes with the package; a line a profile at the end."""
    _check_out(out)
    from jupyter_memory.evaluation.bench import bench as run
    from jupyter_memory.evaluation.bench import table
    from jupyter_memory.evaluation.runner import arms
    from jupyter_memory.search.profiles.builtin import PROFILES

    with usage():
        chosen = arms(profiles) if profiles else PROFILES
    outcomes = run(chosen, embedder)
    click.echo(table(outcomes))
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
    _write(out, rows, "outcomes")


def _eval_strength(
    folders: Sequence[Path], notebooks: Path | None, embedder: str, work: Path | None, out: Path | None
) -> None:
    from jupyter_memory.evaluation.answerability import answerable, table

    told = answerable(folders, embedder, notebooks=notebooks, work=work, progress=True)
    click.echo(table(told))
    _write(out, [one.to_json() for one in told], "rows")


def _check_out(out: Path | None) -> None:
    """Refuse a file that could not be written, before anything is measured."""
    if out is not None and not out.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {out.absolute().parent}", param_hint="--json")


def _write(out: Path | None, rows: Sequence[Mapping[str, object]], things: str) -> None:
    if out is None:
        return
    out.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    note(f"Wrote {len(rows)} {things} to {out}.")
