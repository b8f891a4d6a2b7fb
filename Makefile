# The verbs of this project; CI calls them as they stand here.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: install demo check lint types test bench docs clean

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/pip install --quiet --constraint constraints.txt torch
	$(BIN)/pip install --quiet --constraint constraints.txt --group dev --editable .
	touch $@

install: $(VENV)/.installed

demo: install
	$(BIN)/python scripts/demo.py

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# mypy must see the repository root under the package's name; a link gives it that view.
types: install
	mkdir -p .typecheck && ln -sfn .. .typecheck/mem0_dream
	MYPYPATH=.typecheck $(BIN)/mypy -p mem0_dream

check: lint types

test: check
	$(BIN)/python -m pytest -q

bench: install
	$(BIN)/python scripts/benchmark.py

docs: install
	$(BIN)/python scripts/cli_reference.py > docs/cli.md

clean:
	rm -rf build dist *.egg-info .demo .typecheck .pytest_cache .mypy_cache .ruff_cache
