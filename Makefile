# What people type. `make report` and `make test` do everything on a machine with Python 3.11 or newer, make and git.
#   STUDY=farm          one study alone             SEEDS=3   the number of seeds of every run    CORES=1
#   PYTHON=python3.12   another interpreter, if there is no .venv yet
.DEFAULT_GOAL := report
.PHONY: report quick check reference sentinels test claim tune lock benchmark clean interpreter
SHELL := /bin/sh

PYTHON ?= python3
CORES ?= all
BIN := .venv/bin
INSTALLED := .venv/installed

# Only typed variables are checked: a variable of the environment may belong to another program.
typed = $(findstring command,$(origin $(1)))
misspelt = $(if $(call typed,$(1)),$(error $(1) is unknown, $(2) is meant))
$(call misspelt,SEED,SEEDS)
$(call misspelt,CORE,CORES)
$(call misspelt,STUDIES,STUDY)
$(if $(and $(call typed,SEEDS),$(filter quick tune,$(MAKECMDGOALS))),$(error \
	SEEDS means nothing here: `make quick` has one seed, and a study file says how many `make tune` has))

SEEDBED := $(BIN)/python -m seedbed $(if $(SEEDS),--config seeds=$(SEEDS))
CHOSEN := $(if $(STUDY),--config 'studies=[$(STUDY)]')

report: $(INSTALLED)
	@$(SEEDBED) $(CHOSEN) build --cores $(CORES)

# One seed of the runs marked `quick`, in quick/: shows that everything works, and is no evidence.
quick: $(INSTALLED)
	@$(SEEDBED) $(CHOSEN) --config scope=quick build --cores $(CORES)

# Do the results agree with the reference? For exit codes use `python -m seedbed check`; make exits with 2 on any failure.
check: $(INSTALLED)
	@$(SEEDBED) $(CHOSEN) check

# Build a study with the seeds of a reference, print what moved, and make it the reference: make reference STUDY=garden
reference: $(INSTALLED)
	@$(SEEDBED) reference $(or $(STUDY),$(error say which: make reference STUDY=garden)) --cores $(CORES)

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
	@$(SEEDBED) $(CHOSEN) claim $(or $(ID),$(error say which: make claim ID=objectives:garden.flm.params))

# Compare what a lecture leaves open by validation loss, on seeds that are never reported: make tune STUDY=garden
tune: $(INSTALLED)
	@$(SEEDBED) tune $(or $(STUDY),$(error say which: make tune STUDY=garden))

lock: $(INSTALLED)
	$(BIN)/python -m seedbed lock

benchmark: $(INSTALLED)
	$(BIN)/pytest tests/benchmarks -m benchmark --capture=no

# Results only; the environment stays.
clean:
	rm -rf results/data results/runs results/observations results/logs results/report \
		results/*.parquet .snakemake quick sentinels

# Seedbed itself is installed without isolation, which would download setuptools each time: the lock has installed it.
$(INSTALLED): requirements.lock pyproject.toml | interpreter
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Seedbed needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)."; \
		echo "Name another one: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12"; exit 1; }
	@echo "Installing into .venv (PyTorch is large, the first time takes a while) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $(INSTALLED)

# A .venv of another Python is not replaced automatically: it may hold a PyTorch that was chosen by hand.
WHICH := -c 'import sys; print("Python", sys.version.split()[0], "in", sys.base_prefix)'
interpreter:
	@$(if $(call typed,PYTHON),[ ! -x $(BIN)/python ] || \
		[ "$$($(BIN)/python $(WHICH))" = "$$($(PYTHON) $(WHICH))" ] || { \
		echo ".venv has $$($(BIN)/python $(WHICH)); PYTHON=$(PYTHON) is another."; \
		echo "Remove .venv to have it made anew: rm -r .venv"; exit 1; },:)
