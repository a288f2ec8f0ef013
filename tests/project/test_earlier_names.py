"""Modules that the documentation named before can still be imported, and say where they are now."""

from __future__ import annotations

import subprocess
import sys

import pytest


def imported_with_warning(earlier: str, now: str) -> str:
    """Return what a new process writes that imports a thing under both names and warns at the importing line."""
    code = f"{earlier} as earlier\n{now} as now\nassert earlier is now\n"
    warned = [sys.executable, "-W", "always::DeprecationWarning:__main__", "-c", code]
    return subprocess.run(warned, capture_output=True, text=True, check=True, timeout=100).stderr


@pytest.mark.parametrize(
    ("earlier", "now"),
    [
        ("ranking.profiles import covalence", "search.profiles import covalence"),
        ("ranking.profiles import PROFILES", "search.profiles import PROFILES"),
        ("ranking.profiles import profile_named", "search.profiles import profile_named"),
        ("ranking.signals import Recency", "search.signals import Recency"),
        ("ranking.signals import Soft", "search.signals import MaxSim"),
        ("ranking.terms import Weighted", "search.fusion import Weighted"),
        ("vaults import Vaults", "store.federation import Vaults"),
    ],
)
def test_earlier_names(earlier, now):
    """An import from an earlier module gives the same thing, with a warning that names the new module."""
    warned = imported_with_warning(f"from jupyter_memory.{earlier}", f"from jupyter_memory.{now}")

    assert "DeprecationWarning: jupyter_memory." in warned
    assert f"jupyter_memory.{now.split()[0]}" in warned
