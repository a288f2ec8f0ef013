"""Runs the exchange of docs/agents.md: the SDK's client over stdio on notebooks/samples; writes it into the page."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "agents.md"
_BLOCK = re.compile(r"(?<=<!-- exchange -->\n```text\n).*?(?=```\n<!-- end of the exchange -->)", re.DOTALL)
_PERSON = "/home/ada/notebooks"


def exchange() -> str:
    """Return calls of an agent and what it was answered, with the folder of the samples as a person's folder."""
    samples = ROOT / "notebooks" / "samples"
    with tempfile.TemporaryDirectory(prefix="jupyter-memory-exchange-") as work:
        folders = {name: str(Path(work) / name) for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")}
        places = {**os.environ, **folders, "JUPYTER_MEMORY_PATH": str(Path(work) / "memory.sqlite")}
        index = [sys.executable, "-m", "jupyter_memory", "index", str(samples)]
        subprocess.run(index, env=places, check=True, capture_output=True, timeout=600)
        return asyncio.run(_asked(places)).replace(str(samples), _PERSON)


async def _asked(places: dict[str, str]) -> str:
    # Imported here: it is an extra, and the tests ask for it before they come here.
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    command = ["-P", "-m", "jupyter_memory", "mcp", "--read-only"]
    lines: list[str] = []

    async def ask(name: str, **given: Any) -> dict[str, Any]:
        answer = (await client.call_tool(name, given)).structured_content
        assert isinstance(answer, dict)
        lines.append(f"{name}({', '.join(f'{key}={json.dumps(value)}' for key, value in given.items())})")
        lines.append(json.dumps(answer, indent=1, ensure_ascii=False) + "\n")
        return answer

    async with Client(StdioServerParameters(command=sys.executable, args=command, env=places)) as client:
        found = await ask("memory_search", query="how did we normalise the prices", limit=2)
        await ask("memory_get", ids=[next(hit["id"] for hit in found["hits"] if "text" not in hit)])
        await ask("memory_search", query="which Kubernetes version runs the dashboard")
    return "\n".join(lines)


def told() -> str:
    """Return the exchange as the page tells it."""
    found = _BLOCK.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None, "the page has no exchange"
    return found[0]


def main() -> None:
    made = exchange()
    PAGE.write_text(_BLOCK.sub(lambda _: made, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
