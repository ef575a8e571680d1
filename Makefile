# memvault: set up, try, check and measure. `make` alone lists what there is.

PYTHON ?= python3
BIN := .venv/bin
DATA ?= ../shared/data
PYTEST := $(BIN)/python -P -m pytest
# Tests that start daemons, commands, terminals or keychains of their own; the unit tier is all the others.
WHOLE := tests/daemon tests/cli tests/tui tests/setup tests/keys/test_keychain.py tests/keys/test_secret_service.py

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev demo test unit whole model check fmt test-long bench bench-retrieval completion clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1|\2/' | \
		while IFS='|' read -r name text; do printf '  %-16s %s\n' "$$name" "$$text"; done

setup: ## Make .venv with what memvault needs (the first time compiles llama.cpp)
	@$(PYTHON) packaging/bootstrap.py

setup-dev: ## Make .venv with the tools for tests and checks as well
	@$(PYTHON) packaging/bootstrap.py --dev

demo: setup ## Show the main job on a throwaway vault
	$(BIN)/memvault demo

# One after the other, so that the first failure is the last thing on the screen.
test: setup-dev ## Checks, tests of the parts, of the running program, and with the real model
	$(MAKE) --no-print-directory check
	$(MAKE) --no-print-directory unit
	$(MAKE) --no-print-directory whole
	$(MAKE) --no-print-directory model

unit: setup-dev ## Tests of the parts, in under a minute
	$(PYTEST) -m "not model and not long" --numprocesses auto --dist worksteal --durations 5 $(WHOLE:%=--ignore=%)

whole: setup-dev ## Tests of the running program: daemons, commands, terminals, keychains
	$(PYTEST) -m "not model and not long" --numprocesses auto --dist worksteal --durations 10 $(WHOLE)

# One process: every process would load its own copy of the model.
model: setup-dev ## Tests with the real llama.cpp model
	$(PYTEST) -m "model and not long" --durations 10

test-long: setup-dev ## Tests that do not fit into a quarter of an hour
	$(PYTEST) -m long --durations 0

check: setup-dev ## Lint, format, types and import rules, changing nothing
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	$(BIN)/lint-imports --no-logo

fmt: setup-dev ## Format the code and apply the safe fixes
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: setup ## Speed and memory of recall at 10,000 and 100,000 memories
	$(BIN)/python bench/recall.py $(if $(wildcard $(DATA)),--data $(DATA))

bench-retrieval: setup ## Retrieval quality on the public data sets (DATA=folder)
	$(BIN)/python bench/retrieval.py --data $(DATA)

completion: setup ## Write the shell completion files anew
	$(BIN)/python -P packaging/completion/generate.py

clean: ## Remove .venv, caches and reports (built wheels stay in the user's cache)
	rm -rf .venv build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache snapshot_report.html
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
