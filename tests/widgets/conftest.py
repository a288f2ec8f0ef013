"""A result with sliders."""

from __future__ import annotations

import pytest

from jupyter_memory.widgets import explore


@pytest.fixture
def explorer(week_store, now):
    """The week, asked for prices."""
    return explore(week_store, "how did we scale the electricity prices in Zürich", now=now)
