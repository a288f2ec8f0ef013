"""The earlier name of `jupyter_memory.search`, kept for one more release: its profiles, signals and terms."""

from __future__ import annotations

import sys
from warnings import warn

from jupyter_memory.search import fusion, profiles, signals

# Registered under their earlier names, so that `from jupyter_memory.ranking.profiles import covalence` finds them.
for _name, _module in {"profiles": profiles, "signals": signals, "terms": fusion}.items():
    sys.modules[f"{__name__}.{_name}"] = _module

warn(
    "jupyter_memory.ranking goes with the next release: profiles are in jupyter_memory.search.profiles, "
    "signals in jupyter_memory.search.signals, terms in jupyter_memory.search.fusion.",
    DeprecationWarning,
    2,
)
