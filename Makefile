# What people type. `make report` and `make test` do everything on a machine with Python 3.11 or newer, make and git.
#   PYTHON=python3.12   another interpreter        SEEDS=3   so many seeds for every run        CORES=1
#   STUDY=farm          one study alone
.DEFAULT_GOAL := report
.PHONY: report quick check reference sentinels test claim tune lock benchmark clean
SHELL := /bin/sh

PYTHON ?= python3
CORES ?= all
BIN := .venv/bin
INSTALLED := .venv/installed
$(if $(SEED),$(error SEED is unknown, SEEDS is meant))
$(if $(CORE),$(error CORE is unknown, CORES is meant))
CONFIG := $(if $(SEEDS),--config seeds=$(SEEDS))
SEEDBED := $(BIN)/python -m seedbed $(CONFIG)

report: $(INSTALLED)
	@$(SEEDBED) $(if $(STUDY),--config 'studies=[$(STUDY)]') build --cores $(CORES)

# One seed of the runs marked `quick`: to see that everything works. No evidence of anything.
quick: $(INSTALLED)
	@$(BIN)/python -m seedbed --config scope=quick build --cores $(CORES)

# Do the results agree with the reference? Its exit codes are told by `python -m seedbed check`; make's own is 2.
check: $(INSTALLED)
	@$(SEEDBED) check

# Build a study with the seeds of a reference, say what moved, and make it the reference: make reference STUDY=garden
reference: $(INSTALLED)
	@$(BIN)/python -m seedbed reference $(or $(STUDY),$(error say which: make reference STUDY=garden)) --cores $(CORES)

# Train the short runs that `make test` compares with, and make them the reference.
sentinels: $(INSTALLED)
	@$(BIN)/python -m seedbed sentinels

test: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest --numprocesses 2

# A claim of a lecture, its verdict and the observations behind it: make claim ID=objectives:garden.flm.params
claim: $(INSTALLED)
	@$(SEEDBED) claim $(or $(ID),$(error say which: make claim ID=objectives:garden.flm.params))

# What a lecture leaves open, by validation loss on seeds that are never reported: make tune STUDY=garden
tune: $(INSTALLED)
	@$(SEEDBED) tune $(or $(STUDY),$(error say which: make tune STUDY=garden))

lock: $(INSTALLED)
	$(BIN)/python -m seedbed lock

benchmark: $(INSTALLED)
	$(BIN)/pytest tests/benchmarks -m benchmark --capture=no

# Results only; the environment stays.
clean:
	rm -rf results/data results/runs results/observations results/logs results/report \
		results/*.parquet .snakemake

$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Seedbed needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)."; \
		echo "Name another one: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12"; exit 1; }
	@echo "Installing into .venv (PyTorch is large, the first time takes a while) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $(INSTALLED)
