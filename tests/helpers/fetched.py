"""What tests of fetching a model share: the small model, a program that fetches it, and how it is refused."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_memory import FetchError
from jupyter_memory.embedders import fetch

SMALL = Path(__file__).parents[1] / "embedders" / "nomic_small"
WEIGHTS = "model.safetensors"
PROGRAM = """
import sys
from pathlib import Path
from jupyter_memory.embedders import NOMIC, CachedModel, fetch
fetch(CachedModel(Path(sys.argv[1]), NOMIC), progress=False)
"""


def nothing_left(cached):
    """Return whether neither a model nor a half-made one is there; what was fetched may wait to be gone on with."""
    return not cached.is_here and not [path for path in cached.models.glob(".nomic.new-*")]


def refused(cached, **options):
    with pytest.raises(FetchError) as caught:
        fetch(cached, progress=False, **options)
    assert nothing_left(cached)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def last_line(program, models, most=resource.RLIM_INFINITY, **variables):
    done = subprocess.run(
        [sys.executable, "-c", program, str(models)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
        env={**os.environ, "NO_PROXY": "", **variables},
        capture_output=True,
        text=True,
        timeout=100,
    )
    return done.stderr.splitlines()[-1]
