"""What jupyter-server-mcp finds by the entry point: nothing until it is switched on, then the tools that read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import pytest

from jupyter_memory import MemoryStore
from jupyter_memory.mcp import in_jupyter
from jupyter_memory.mcp.bound import ToolError

pytest.importorskip("pydantic", reason="the extra mcp is not installed; jupyter-server-mcp brings pydantic along")


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give the file of settings of a person with a note and a run."""
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(tmp_path / "m.sqlite"))
    with MemoryStore(tmp_path / "m.sqlite") as store:
        store.add("We scaled the electricity prices to zero mean.", title="Scaling λ")
        store.add("We scaled the electricity prices by hand.", kind="history")
    (tmp_path / "config").mkdir()
    in_jupyter._tools.cache_clear()
    yield tmp_path / "config" / "jupyter_memory_config.json"
    if in_jupyter._tools.cache_info().currsize:
        in_jupyter._tools().provider.close()
    in_jupyter._tools.cache_clear()


def switch(config: Path, on: bool) -> None:
    """Write the setting."""
    config.write_text(json.dumps({"JupyterMemory": {"jupyter_mcp": on}}))


def test_there_is_nothing_until_it_is_switched_on(config: Path) -> None:
    """Without the setting, and with it off, the list is empty."""
    assert in_jupyter.tools() == []
    switch(config, on=False)
    assert in_jupyter.tools() == []


def test_the_functions_can_be_loaded_by_name(config: Path) -> None:
    """Each name leads to a function with a docstring, and with types that can be read from outside its module."""
    switch(config, on=True)
    found = [name.split(":") for name in in_jupyter.tools()]
    functions = [vars(import_module(module))[name] for module, name in found]

    assert [function.__name__ for function in functions] == [
        "memory_search",
        "memory_get",
        "memory_related",
        "memory_status",
    ]
    assert all(function.__doc__ and "return" in get_type_hints(function) for function in functions)


def test_a_call_reads_what_may_be_seen(config: Path) -> None:
    """A search answers, and what was run is withheld."""
    switch(config, on=True)
    found = asyncio.run(in_jupyter.memory_search("how did we scale the electricity prices"))

    assert [hit["title"] for hit in found["hits"]] == ["Scaling λ"]
    read = asyncio.run(in_jupyter.memory_get([found["hits"][0]["id"]]))
    assert "zero mean" in read["memories"][0]["text"]
    assert asyncio.run(in_jupyter.memory_status())["writing"] == "no"


def test_switched_off_it_refuses_at_once(config: Path) -> None:
    """A server that listed the tools before gets no answer any more."""
    switch(config, on=True)
    asyncio.run(in_jupyter.memory_status())
    switch(config, on=False)

    with pytest.raises(ToolError, match="connect jupyter"):
        asyncio.run(in_jupyter.memory_status())


def test_wrong_arguments_are_told(config: Path) -> None:
    """An argument of another type is named, in a sentence that an agent can act on."""
    switch(config, on=True)

    with pytest.raises(ToolError, match="limit"):
        asyncio.run(in_jupyter.memory_search("prices", limit=0))
