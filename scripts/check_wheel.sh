#!/usr/bin/env bash
# Builds the wheel, installs it with the extra `lab` where nothing else is and no Node, finds a note with it and asks Jupyter for both extensions.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
.venv/bin/python scripts/build_panel.py
.venv/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$work" .
.venv/bin/python -m venv "$work/venv"

# A PATH of the few programs that an installation may use; Node is not among them.
mkdir "$work/bin"
for program in bash cat env grep ldconfig rm uname; do
  found=$(command -v "$program") && ln -s "$found" "$work/bin/$program"
done
export PATH="$work/bin"
! command -v node > "$work/node" || { echo "Node is still on the PATH: $(cat "$work/node")"; exit 1; }

wheel=$(echo "$work"/jupyter_memory-*.whl)
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel[lab]"
cd "$work"
export JUPYTER_MEMORY_PATH="$work/store/memory.sqlite" JUPYTER_CONFIG_DIR="$work/config" JUPYTER_DATA_DIR="$work/data"
venv/bin/jupyter-memory add --title "Price scaling" "We rescaled the tariffs to zero mean and unit variance."
venv/bin/jupyter-memory search "how were prices normalised" --json | grep -q '"title": "Price scaling"'
venv/bin/jupyter-memory doctor

# The lists colour their words; what is asked for is on one line.
says() {
  grep -q "$1" "$2" || { echo "expected '$1' in:"; cat "$2"; exit 1; }
}
venv/bin/jupyter server extension list > server.txt 2>&1
says 'jupyter_memory.*enabled' server.txt
says 'jupyter_memory .*OK' server.txt
venv/bin/jupyter labextension list > lab.txt 2>&1
says 'jupyter-memory.*enabled.*OK' lab.txt
echo "the wheel works on its own, without Node, in JupyterLab too"
