"""A memory as it is handed to the store: all that takes time is done, what is left is writing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.protocols import Vectors
from jupyter_memory.types import Draft

# The different tokens of a chunk: the static model's vocabulary has 32,000.
Ids = NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A draft ready to be written: chunked, with a vector a chunk, or None where there is no model.

    ``tokens`` are the different tokens of each chunk; without them a search tokenises what it compares. ``idents`` are
    the words of each chunk's column ``ident``, where they are known already.
    """

    draft: Draft
    vectors: Vectors | None
    tokens: Sequence[Ids] = ()
    idents: Sequence[str] = ()
