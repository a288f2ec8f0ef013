# Every task of the project. `make` alone lists them; each sets up what it needs in .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
REFERENCE := .venv-reference
MODEL  := .venv-model
JLPM   := PATH="$(CURDIR)/$(BIN):$$PATH" jlpm
DOCS   ?=

.DEFAULT_GOAL := help
.PHONY: help setup demo test campaign ui reference model lint fix lab bench docs clean

help:  ## list the tasks
	@awk -F':.*## ' '/^[a-z]+:.*##/ { printf "%-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# One stamp an extra set: made again when the project's metadata changes.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "jupyter-memory needs Python 3.11 or newer; say which with: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# Builds the panel for JupyterLab where it is older than its sources, and links it into .venv.
PANEL := $(BIN)/python scripts/build_panel.py

$(VENV)/.test: $(VENV)/.made pyproject.toml
	@$(PANEL) --check
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

$(VENV)/.dev: $(VENV)/.test pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

$(REFERENCE)/.made: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "jupyter-memory needs Python 3.11 or newer; say which with: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(REFERENCE)
	$(REFERENCE)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test,reference,models]'
	@touch $@

$(MODEL)/.made: pyproject.toml training/requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "jupyter-memory needs Python 3.11 or newer; say which with: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(MODEL)
	$(MODEL)/bin/python -m pip install --quiet --disable-pip-version-check -e . -r training/requirements.txt
	@touch $@

setup: $(VENV)/.dev  ## install in .venv what the tests and linters need (two to four minutes), and build the panel
	@$(PANEL)

demo: $(VENV)/.test  ## index the sample corpus (and DOCS=folder), run the first notebook, print what it finds
	$(BIN)/python scripts/demo.py $(if $(DOCS),'$(DOCS)')

test: $(VENV)/.test  ## run the tests, or some: ONLY='tests/search -k tag' is for pytest
	@$(PANEL)
	$(BIN)/python -m pytest $(if $(ONLY),-q $(ONLY),-n 2 --dist loadfile)
	$(if $(ONLY),,$(JLPM) jest)

campaign: $(VENV)/.test  ## kill, damage and crowd real stores (about an hour); PARTS='kills moves' SEED=1 SCALE=0.1 bound it
	PYTHONPATH=tests:tests/helpers $(BIN)/python -m campaign $(PARTS) $(if $(SEED),--seed $(SEED)) $(if $(SCALE),--scale $(SCALE))

ui: $(VENV)/.test  ## run the browser tests: the panel in a real JupyterLab
	@$(PANEL)
	ui-tests/run.sh $(if $(ONLY),'$(ONLY)')

reference: $(REFERENCE)/.made  ## compare the models with transformers on torch (installs 2 GB beside .venv)
	$(REFERENCE)/bin/python -m pytest tests/embedders -m reference

model: $(MODEL)/.made  ## train a table like the bundled one in .model (20 minutes); DATA=folder holds the judged sets
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false \
	  $(MODEL)/bin/python -m training --data '$(if $(DATA),$(DATA),$(error say where the judged sets are: make model DATA=folder))' $(if $(SEED),--seed $(SEED))

lint: $(VENV)/.dev  ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@$(PANEL)
	$(JLPM) tsc
	$(JLPM) lint

fix: $(VENV)/.dev  ## mend what can be mended by machine
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	@$(PANEL)
	$(JLPM) fix

lab: $(VENV)/.test  ## open the notebooks in JupyterLab
	@$(PANEL)
	cd notebooks && ../$(BIN)/jupyter lab

bench: $(VENV)/.dev  ## measure speed and memory against peers (several minutes)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r benchmarks/requirements.txt
	$(BIN)/python benchmarks/import_time.py
	$(BIN)/python benchmarks/indexing.py
	$(BIN)/python benchmarks/search.py

docs: $(VENV)/.dev  ## build the documentation into site/
	$(BIN)/mkdocs build --quiet --strict
	@echo "Open site/index.html"

clean:  ## remove what the tasks made, but not the environments and .model
	rm -rf .demo site dist lib jupyter_memory/labextension ui-tests/test-results ui-tests/playwright-report .pytest_cache .mypy_cache .ruff_cache .hypothesis
