"""Configurations of clients as people have them, for tests of what changes in them: ``client_files.toml``."""

import tomllib
from pathlib import Path

_TEXTS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PLAIN, COMMENTS, LAST_COMMENT = (_TEXTS[name] for name in ("plain", "comments", "last_comment"))
JUPYTER_AI, CODEX = _TEXTS["jupyter_ai"], _TEXTS["codex"]
ENTRY = {"command": "/opt/py/bin/python", "args": ["-P", "-m", "jupyter_memory", "mcp"]}
ONE_LINE = '{"theme":"dark","mcpServers":{"time":{"command":"uvx","args":["mcp-server-time"]}}}'
WINDOWS = PLAIN.replace("\n", "\r\n")
NO_SERVERS = '{\n    "selectedAuthType": "oauth-personal"\n}\n'
EMPTY_SERVERS = '{\n  "mcpServers": {}\n}\n'
OPEN_SERVERS = '{\n  "mcpServers": {\n  }\n}\n'
