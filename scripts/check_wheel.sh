#!/usr/bin/env bash
# Builds the wheel, installs it where nothing else is, and lets it remember and find one note.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
.venv/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$work" .
.venv/bin/python -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$work"/jupyter_memory-*.whl
cd "$work"
export JUPYTER_MEMORY_PATH="$work/store/memory.sqlite"
venv/bin/jupyter-memory add --title "Price scaling" "We rescaled the tariffs to zero mean and unit variance."
venv/bin/jupyter-memory search "how were prices normalised" --json | grep -q '"title": "Price scaling"'
venv/bin/jupyter-memory doctor
echo "the wheel works on its own"
