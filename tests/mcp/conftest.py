"""The tools over a data scientist's week, and a shared folder beside a private one."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tool_answers import with_shared

from jupyter_memory import JupyterMemory, MemoryStore
from jupyter_memory.mcp import tools_of


@pytest.fixture
def tools_over() -> Iterator[Callable[..., Any]]:
    """Give the tools over a store, or its file, as the command's options allow; what they open is closed again."""
    made: list[Any] = []

    def over(store: MemoryStore | Path, log_searches: bool = True, **options: Any) -> Any:
        path = store.path if isinstance(store, MemoryStore) else store
        settings = JupyterMemory(path=str(path), log_searches=log_searches, busy_seconds=0.2)
        made.append(tools_of(settings, **options))
        return made[-1]

    yield over
    for one in made:
        one.provider.close()


@pytest.fixture
def tools(tools_over, week_store) -> Any:
    return tools_over(week_store)


@pytest.fixture
def ask() -> Callable[..., dict[str, Any]]:

    def call(tools: Any, name: str, client: str = "codex", **arguments: Any) -> dict[str, Any]:
        outcome = tools.call(f"memory_{name}", arguments, client)
        assert not isinstance(outcome, str), outcome
        return with_shared(outcome.values())

    return call


@pytest.fixture
def refused() -> Callable[..., str]:

    def call(tools: Any, name: str, client: str = "codex", **arguments: Any) -> str:
        outcome = tools.call(f"memory_{name}", arguments, client)
        assert isinstance(outcome, str) and outcome
        return outcome

    return call
