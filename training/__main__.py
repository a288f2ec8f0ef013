"""`python -m training`: every step from packages to a table, each done once; `make model` runs it."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from training.pipeline import Pipeline, Places
from training.tables import MEAN, Pooling
from training.train import Recipe

PROJECT = Path(__file__).resolve().parents[1]


def main(arguments: list[str] | None = None) -> None:
    asked = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    places = Places(
        asked.work, asked.data / "judged", asked.data / "notebooks",
        PROJECT / "benchmarks" / "verdicts", PROJECT / "notebooks" / "samples",
    )  # fmt: skip
    recipe = Recipe(
        steps=asked.steps, seed=asked.seed, seeds=asked.seeds,
        distillation=asked.distillation, pooling=Pooling(asked.saturation, asked.lead), characters=asked.characters,
    )  # fmt: skip
    Pipeline(places, PROJECT / "training" / "packages.toml").run(recipe, asked.name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("--work", type=Path, default=PROJECT / ".model", help="where steps leave what they made")
    parser.add_argument(
        "--data", type=Path, required=True,
        help="the folder of `judged` and `notebooks`, which choose the table and may not be trained on",
    )  # fmt: skip
    parser.add_argument("--name", default="final", help="of the table that is made")
    parser.add_argument("--steps", type=int, default=Recipe.steps)
    parser.add_argument("--seed", type=int, default=Recipe.seed)
    parser.add_argument("--seeds", type=int, default=Recipe.seeds, help="tables that are averaged")
    parser.add_argument("--distillation", type=float, default=Recipe.distillation, help="0: without the teacher")
    parser.add_argument(
        "--saturation", type=float, default=MEAN.saturation,
        help="the share of a text at which a token counts half; 0: all count alike",
    )  # fmt: skip
    parser.add_argument(
        "--lead", type=float, default=MEAN.lead,
        help="the first token of a text counts double, and the excess falls to a third in so many; 0: it counts once",
    )  # fmt: skip
    parser.add_argument(
        "--characters", action="store_true",
        help="give the tokens without a use to Chinese and Japanese characters",
    )  # fmt: skip
    return parser


if __name__ == "__main__":
    main()
