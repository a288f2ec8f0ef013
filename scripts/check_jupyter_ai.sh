#!/usr/bin/env bash
# Makes an environment with Jupyter AI 3, connects it to the memory, and lets its own code read the file and start the server.
# Takes about two minutes: nearly all of that is pip. CHECK_FOLDER keeps the environment, PYTHON is one with the extra mcp.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
environment=${CHECK_FOLDER:-$work}/venv-jupyter-ai
[ -x "$environment/bin/python" ] || python3 -m venv "$environment"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check "jupyter-ai>=3,<4"

export HOME="$work" JUPYTER_MEMORY_PATH="$work/memory.sqlite" JUPYTER_CONFIG_DIR="$work/config" JUPYTER_DATA_DIR="$work/data"
"${PYTHON:-.venv/bin/python}" -m jupyter_memory connect jupyter-ai --project "$work" --read-only --yes
(cd "$work" && "$environment/bin/python" "$OLDPWD/scripts/read_by_jupyter_ai.py" "$work")
