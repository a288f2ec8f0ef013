"""The stores whose answers are golden, filled once."""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import golden_beds
import pytest


def filled_once(fill: Callable[..., golden_beds.Bed], *args: Any, **options: Any) -> Any:
    @pytest.fixture(scope="session")
    def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[golden_beds.Bed]:
        made = fill(tmp_path_factory.mktemp("golden"), *args, **options)
        with closing(made.store):
            yield made

    return bed


# The sample archive with a few notes beside it; the corpus of the benchmark, also in a store without a model; and some
# thousands of chunks, all prepared by this process, whatever the machine.
samples = filled_once(golden_beds.samples)
corpus = filled_once(golden_beds.corpus)
words_alone = filled_once(golden_beds.corpus, None)
many = filled_once(golden_beds.many, cores=1)
