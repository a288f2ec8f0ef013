"""The steps in their order. What a step has made is not made again: remove it from the working folder to repeat it."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from training.characters import READ, counted, extended, with_characters
from training.decontaminate import Decontaminated, HeldOut
from training.evaluate import encoded, figures, mean
from training.extract import folder_pairs, wheel_pairs
from training.judged import docstring_sentences, held_out, judged_sets
from training.packages import Package, fetched, listed
from training.pairs import Pair, distinct, read_pairs, write_pairs
from training.prepared import load_prepared, prepare, save_prepared
from training.start import start_table
from training.tables import DIMENSIONS, Floats, blended, load_table, save_table
from training.taught import taught_texts
from training.tokens import Tokenizer
from training.train import Recipe, Taught, train

if TYPE_CHECKING:
    from training.teacher import Teacher

_log = logging.getLogger(__name__)

# Texts whose vectors are written at once: a run that is stopped loses no more.
_TAUGHT_BLOCK = 2_000


@dataclass(frozen=True)
class Places:
    """Where the pipeline works, and where the judged sets are."""

    work: Path
    judged: Path
    notebooks: Path
    verdicts: Path
    samples: Path

    @property
    def held_out(self) -> tuple[Path, Path, Path, Path]:
        return self.judged, self.notebooks, self.verdicts, self.samples


class Pipeline:
    """Makes a table from the packages of a list."""

    def __init__(self, places: Places, packages: Path) -> None:
        if not places.judged.is_dir():
            raise SystemExit(
                f"The judged sets are not at {places.judged}. No pair may be taken from them, so training needs them: "
                "say where they are with --data FOLDER."
            )
        self._places = places
        self._packages = listed(packages)

    def run(self, recipe: Recipe, name: str) -> None:
        """Make ``name.safetensors`` with its vocabulary, sha256 and figures in the working folder."""
        for package in self._packages:
            self._clean(package)
        self._make("pairs.npz", self._prepare)
        self._make("start.safetensors", self._start)
        if recipe.distillation:
            self._make("taught.jsonl", self._choose_taught)
            self._teach()
        for seed in range(recipe.seeds):
            self._make(f"{name}-{seed}.safetensors", partial(self._train, replace(recipe, seed=recipe.seed + seed)))
        vocabulary = self._words(recipe)
        self._at("vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
        names = [f"{name}-{seed}" for seed in range(recipe.seeds)]
        self._make(f"{name}.safetensors", partial(self._blend, names, vocabulary))
        self._report(recipe, name)

    def _at(self, name: str) -> Path:
        return self._places.work / name

    def _make(self, name: str, step: Callable[[Path], None]) -> Path:
        """Return the file of a step, made by it where it is not there; it is there only when it is whole."""
        path = self._at(name)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            began = time.monotonic()
            unfinished = path.with_name(f"unfinished-{path.name}")
            step(unfinished)
            unfinished.rename(path)
            _log.info("%s: %.0f s", name, time.monotonic() - began)
        return path

    @cached_property
    def _vocabulary(self) -> Path:
        # Imported late: torch is needed by these steps only, and takes seconds to load.
        from training.teacher import folder

        return folder() / "vocab.txt"

    @cached_property
    def _held_out(self) -> HeldOut:
        sets = {one.name: one for one in judged_sets(*self._places.held_out)}
        return HeldOut(held_out(*self._places.held_out), docstring_sentences(sets))

    def _clean(self, package: Package) -> None:
        path = self._at(f"pairs/{package.name}.jsonl")
        if path.exists():
            return
        source = fetched(package, self._at("packages"))
        found = wheel_pairs(source) if package.registry == "pypi" else folder_pairs(source)
        kept = Decontaminated(found, self._held_out)
        self._make(f"pairs/{package.name}.jsonl", lambda unfinished: write_pairs(kept, unfinished))
        reasons: Counter[str] = Counter()
        for (reason, _), count in kept.dropped.items():
            reasons[reason] += count
        self._at(f"pairs/{package.name}.dropped.json").write_text(json.dumps(reasons), encoding="utf-8")

    def _pairs(self) -> Iterator[Pair]:
        yield from distinct(
            pair for package in self._packages for pair in read_pairs(self._at(f"pairs/{package.name}.jsonl"))
        )

    def _prepare(self, path: Path) -> None:
        with path.open("wb") as file:
            save_prepared(prepare(list(self._pairs()), self._vocabulary), file)

    def _start(self, path: Path) -> None:
        from training.teacher import Teacher

        save_table(start_table(Teacher().tokens()), path)

    def _choose_taught(self, path: Path) -> None:
        path.write_text("".join(json.dumps(text) + "\n" for text in taught_texts(self._pairs())), encoding="utf-8")

    def _taught_texts(self) -> list[str]:
        return [json.loads(line) for line in self._at("taught.jsonl").read_text(encoding="utf-8").splitlines()]

    def _teach(self) -> None:
        texts = self._taught_texts()
        for first in range(0, len(texts), _TAUGHT_BLOCK):
            if not self._at(f"taught/{first:06}.npy").exists():
                vectors = self._teacher.texts(texts[first : first + _TAUGHT_BLOCK]).astype(np.float16)
                self._make(f"taught/{first:06}.npy", lambda path, made=vectors: _save_array(path, made))

    @cached_property
    def _teacher(self) -> Teacher:
        from training.teacher import Teacher

        return Teacher(short=True)

    def _train(self, recipe: Recipe, path: Path) -> None:
        start = load_table(self._at("start.safetensors"))
        save_table(train(start, load_prepared(self._at("pairs.npz")), self._taught(recipe), recipe), path)

    def _words(self, recipe: Recipe) -> list[str]:
        """Return the vocabulary of the table, one word for each row."""
        words = self._vocabulary.read_text(encoding="utf-8").splitlines()
        if not recipe.characters:
            return words
        read = [fetched(package, self._at("packages")) for package in self._packages if package.name in READ]
        return extended(words, counted(read))

    def _blend(self, names: list[str], vocabulary: list[str], path: Path) -> None:
        table = blended([(load_table(self._at(f"{name}.safetensors")), 1) for name in names])
        before = self._vocabulary.read_text(encoding="utf-8").splitlines()
        save_table(with_characters(table, before, vocabulary), path)

    def _taught(self, recipe: Recipe) -> Taught | None:
        if not recipe.distillation:
            return None
        tokens = Tokenizer(self._vocabulary, Taught.LONGEST)(self._taught_texts())
        return Taught(tokens, np.concatenate([np.load(path) for path in sorted(self._at("taught").glob("*.npy"))]))

    def _report(self, recipe: Recipe, name: str) -> None:
        """Write what the table is made of and how it ranks the judged sets."""
        path = self._at(f"{name}.safetensors")
        sets = encoded(judged_sets(*self._places.held_out), Tokenizer(self._at("vocab.txt")))
        found = figures(load_table(path), sets, recipe.pooling)
        means = {measure: mean(found, measure) for measure in (*map(str, DIMENSIONS), "max_sim")}
        report = {
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "recipe": asdict(recipe),
            "packages": len(self._packages),
            "dropped": self._dropped(),
            "means": means,
            "figures": found,
        }
        self._at(f"{name}.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        for one, measured in found.items():
            _log.info("%-10s nDCG@10 %.3f, of max_sim %.3f", one, measured[str(DIMENSIONS[0])], measured["max_sim"])

    def _dropped(self) -> Counter[str]:
        total: Counter[str] = Counter()
        for package in self._packages:
            total.update(json.loads(self._at(f"pairs/{package.name}.dropped.json").read_text(encoding="utf-8")))
        return total


def _save_array(path: Path, array: Floats) -> None:
    with path.open("wb") as file:
        np.save(file, array)
