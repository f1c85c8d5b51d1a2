# Everything a contributor does. Needs Python 3.11 and make; `test-real` needs Node 20 and npm as well.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .cache/bench
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
SPREAD = --numprocesses $(JOBS) --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help demo test test-long test-slow test-shell check format test-real test-versions test-agents test-usage-peers test-browser golden fuzz bench bench-check clean

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | column -t -s '	'

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed (PYTHON=...)" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $@

demo: $(VENV)/.ready  ## The main job, with no key and no agent installed
	@$(BIN)/dragoman demo

test: $(VENV)/.ready  ## All tests that need no agent, on all cores (JOBS=)
	$(BIN)/python -m pytest $(SPREAD)

test-slow: $(VENV)/.ready  ## Floods of a hundred megabytes in every dialect, 200 kills, 1,000 terminals
	$(BIN)/python -m pytest -m slow --timeout 3600

test-shell: $(VENV)/.ready  ## A hundred thousand command lines, read by us and run by bash in a jail (LINES=, SEED=)
	$(BIN)/python -m tests.policy.shell_check $(or $(LINES),100000) $(or $(SEED),1)

test-long: test-slow test-shell test-versions test-agents test-usage-peers  ## What takes too long for every change: full counts, every pinned version, further agents, other tools that count

check: $(VENV)/.ready  ## Format, lint, types, layers; and that every public name has its type
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	PATH="$(abspath $(BIN)):$$PATH" pyright --verifytypes dragoman --ignoreexternal

format: $(VENV)/.ready  ## Make the format right
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test-real: export DRAGOMAN_VERSIONS = $(VERSIONS)
test-real: $(VENV)/.ready  ## Drive the real agent CLIs against the scripted model (VERSIONS="claude=2.1.300 codex=0.150.0")
	$(BIN)/python -m tests.real.install
	$(BIN)/python -m pytest tests/real $(SPREAD) --override-ini 'addopts=-q --strict-markers --strict-config'

test-versions: $(VENV)/.ready  ## The same on every pinned version, one after another (VERSIONS= for some of them)
	$(BIN)/python -m tests.real.versions $(VERSIONS)

test-agents: $(VENV)/.ready  ## Drive further ACP agents against the scripted model (installs them in .cache)
	$(BIN)/python -m tests.acp_agents.install
	$(BIN)/python -m pytest tests/acp_agents --override-ini 'addopts=-q --strict-markers --strict-config'

test-usage-peers: $(VENV)/.ready  ## Usage beside that of ccusage and agentsview, on what real agents write (installs them in .cache)
	$(BIN)/python -m tests.real.install
	$(BIN)/python -m tests.usage_peers.install
	$(BIN)/python -m pytest tests/usage_peers --override-ini 'addopts=-q --strict-markers --strict-config' $(SPREAD) --dist load

test-browser: $(VENV)/.ready  ## What is made for browsers, in a real one (Debian's chromium)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group browser
	$(BIN)/python -m tests.browser.install
	$(BIN)/python -m pytest tests/browser --override-ini 'addopts=-q --strict-markers --strict-config'

golden: $(VENV)/.ready  ## Write the golden files of all captures anew (then read the diff)
	$(BIN)/python -m tests.golden

fuzz: $(VENV)/.ready  ## Every property with examples drawn anew: more than a million lines over all dialects
	DRAGOMAN_FUZZ=3000 $(BIN)/python -m pytest -m hypothesis $(SPREAD) --dist load --timeout 7200

$(BENCH)/.ready: bench/peers.txt pyproject.toml
	$(PYTHON) -m venv $(BENCH)
	$(PYTHON) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"], sep="\n")' > $(BENCH)/ours.txt
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --requirement bench/peers.txt --requirement $(BENCH)/ours.txt
	@touch $@

bench: export PYTHONPATH = $(abspath src):$(abspath .)
bench: $(BENCH)/.ready  ## Speed, side by side with the peers in one run (ROWS="pure" or rows by name; all of them write bench/RESULTS.md)
	$(BENCH)/bin/python -m bench $(ROWS)

bench-check: export PYTHONPATH = $(abspath .)
bench-check: $(VENV)/.ready  ## That nothing has become slower: on counts, and on ratios within one run
	$(BIN)/python -m bench.check

clean:  ## Remove what make made
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
