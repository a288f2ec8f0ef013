#!/usr/bin/env bash
# Makes an environment with jupyter-server-mcp 0.3 (SDK 1) and one with 0.4 (SDK 2), and asks a Jupyter server in each as an agent does.
# Takes about three minutes: most of that is pip. CHECK_FOLDER keeps the environments for the next time.
set -euo pipefail
cd "$(dirname "$0")/.."
work=${CHECK_FOLDER:-$(mktemp -d)}
[ -n "${CHECK_FOLDER:-}" ] || trap 'rm -rf "$work"' EXIT

# The package without its panel, which needs Node and is not asked here.
rm -rf "$work/source"
mkdir -p "$work/source"
cp -r pyproject.toml README.md LICENSE scripts jupyter-config jupyter_memory "$work/source"
rm -rf "$work/source/jupyter_memory/labextension"
mkdir "$work/source/jupyter_memory/labextension"

for version in 0.3 0.4; do
  python="$work/venv-$version/bin/python"
  [ -x "$python" ] || "${PYTHON:-python3}" -m venv "$work/venv-$version"
  "$python" -m pip install --quiet --disable-pip-version-check "jupyter-server-mcp==$version.*" pytest pytest-timeout hypothesis
  HATCH_BUILD_NO_HOOKS=true "$python" -m pip install --quiet --disable-pip-version-check "$work/source"
  "$python" -m pip list 2> /dev/null | grep -iE '^(jupyter.server.mcp|mcp|fastmcp) '
  "$python" -m pytest -q -p no:cacheprovider tests/integration/test_jupyter_server_mcp.py
done
echo "agents in Jupyter reach the memory with jupyter-server-mcp 0.3 and 0.4"
