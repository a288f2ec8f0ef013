"""The stores whose answers are golden, filled once."""

from __future__ import annotations

from collections.abc import Iterator

import golden_beds
import pytest


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[golden_beds.Bed]:
    """The sample archive with a few notes beside it."""
    bed = golden_beds.samples(tmp_path_factory.mktemp("samples"))
    yield bed
    bed.store.close()


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[golden_beds.Bed]:
    """The corpus of the benchmark."""
    bed = golden_beds.corpus(tmp_path_factory.mktemp("corpus"))
    yield bed
    bed.store.close()


@pytest.fixture(scope="session")
def words_alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[golden_beds.Bed]:
    """The corpus of the benchmark in a store without a model."""
    bed = golden_beds.corpus(tmp_path_factory.mktemp("words"), None)
    yield bed
    bed.store.close()


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[golden_beds.Bed]:
    """Some thousands of chunks, all prepared by this process, whatever the machine."""
    bed = golden_beds.many(tmp_path_factory.mktemp("many"), cores=1)
    yield bed
    bed.store.close()
