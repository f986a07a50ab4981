# Everything is installed by the targets themselves: a machine with Python 3.11+ and make is enough.
# `make run` and `make test` are the two commands to know.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
WORKERS ?= 2
# The floors whose coverage is measured, by their own tests alone: it makes them several times slower.
GROUND := tests/format tests/session tests/store

.DEFAULT_GOAL := help
.PHONY: help run test check acceptance soak fuzz bench dist mutants prices docs web clean

help: ## what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $@

run: $(STAMP) ## open the web app on your own sessions, or on the demo when there are none
	@$(BIN)/python -m clew.faces.cli.first_run

test: $(STAMP) ## the tests: unit, property and a sample of the long ones
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not acceptance and not soak" --cov --cov-report= $(GROUND)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not acceptance and not soak" $(addprefix --ignore ,$(GROUND)) tests
	$(BIN)/python scripts/check_coverage.py

check: $(STAMP) ## format, lint, types, imports, docs: quick, before every commit
	$(BIN)/ruff format --check src tests bench scripts
	$(BIN)/ruff check src tests bench scripts
	$(BIN)/lint-imports --no-cache
	$(BIN)/pyright
	$(BIN)/python -m pytest -m "not acceptance and not soak" tests/docs

acceptance: $(STAMP) ## against the real client, installed into your cache folder
	$(BIN)/python -m pytest -m acceptance tests/acceptance

fuzz: $(STAMP) ## 2,000,000 mutated lines through every reader
	$(BIN)/python -m tests.fuzz --lines $${LINES_TO_FUZZ:-2000000} --seed $${SEED:-1}
	$(BIN)/python -m tests.fuzz.salvage --lines 400000

soak: $(STAMP) ## the full counts, mutation tests included; takes an hour or two
	$(BIN)/python scripts/soak.py

mutants: $(STAMP) ## change the code in small ways and see whether the tests notice
	$(BIN)/python scripts/mutants.py

bench: $(STAMP) ## speed and memory, beside cat, ripgrep, ccusage, the vendor SDK, aichat and agentsview
	$(BIN)/python -m bench.run

dist: $(STAMP) ## the wheel, installed and tried in a clean environment
	$(BIN)/python scripts/try_wheel.py

prices: $(STAMP) ## make the price table anew
	$(BIN)/python scripts/make_prices.py

docs: $(STAMP) ## make the generated parts of the docs anew
	$(BIN)/python scripts/make_format_docs.py
	$(BIN)/python scripts/make_command_docs.py
	$(BIN)/python scripts/make_table_docs.py

web: $(STAMP) ## make the renderer of the pages anew; needs node
	$(BIN)/python scripts/make_part_types.py
	$(BIN)/python scripts/make_api_types.py
	cd web && npm ci --no-audit --no-fund --ignore-scripts && npm run check && npm test && npm run build

clean: ## remove what the targets made
	rm -rf $(VENV) dist build mutants web/node_modules .pytest_cache .ruff_cache .hypothesis
