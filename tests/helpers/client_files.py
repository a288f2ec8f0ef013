"""Configurations of clients as people have them, for tests of what changes in them."""

from __future__ import annotations

ENTRY = {"command": "/opt/py/bin/python", "args": ["-P", "-m", "jupyter_memory", "mcp"]}

PLAIN = """{
  "numStartups": 42,
  "theme": "dark",
  "mcpServers": {
    "github": {
      "type": "http",
      "url": "https://api.githubcopilot.com/mcp/",
      "headers": { "Authorization": "Bearer ghp_9mBq2XkfT7Lw4RzVc1NdYpHs6JuEaGo0Ki3Q" }
    },
    "time": { "command": "uvx", "args": ["mcp-server-time", "--local-timezone=Europe/Zürich"] }
  },
  "projects": { "/home/ada/λ": { "history": [] } }
}
"""
COMMENTS = """// What the team uses
{
\t"inputs": [
\t\t{ "type": "promptString", "id": "key", "password": true }, // "servers": {
\t],
\t/* "servers": { "old": {} } */
\t"servers": {
\t\t"playwright": { // the browser: https://playwright.dev
\t\t\t"command": "npx", "args": ["-y", "@playwright/mcp@latest"], // never "latest"
\t\t}, // keep this one
\t\t// more to come
\t},
}
"""
LAST_COMMENT = """{
    "servers": {
        "a": { "command": "x" } // the only one, with a "quote
    }
}"""
ONE_LINE = '{"theme":"dark","mcpServers":{"time":{"command":"uvx","args":["mcp-server-time"]}}}'
WINDOWS = PLAIN.replace("\n", "\r\n")
NO_SERVERS = '{\n    "selectedAuthType": "oauth-personal"\n}\n'
EMPTY_SERVERS = '{\n  "mcpServers": {}\n}\n'
OPEN_SERVERS = '{\n  "mcpServers": {\n  }\n}\n'
JUPYTER_AI = """{
  "mcp_servers": [
    {
      "name": "docs",
      "command": "uvx",
      "args": ["docs-server"],
      "env": [{ "name": "KEY", "value": "1" }]
    }
  ]
}
"""
CODEX = '''# Codex, as I like it
model = "gpt-5.2-codex"
approval_policy = "on-request"   # ask me

[projects."/home/ada/work"]
trust_level = "trusted"

[mcp_servers.docs]
command = "npx"
args = [
  "-y",
  # [mcp_servers.jupyter-memory]
  "docs-server",
]
note = """
[mcp_servers.jupyter-memory]
is only text here
"""

# The window
[tui]
notifications = true
'''
