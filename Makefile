# What people type. `make report` and `make test` do everything on a machine with Python 3.11 or newer, make and git.
.DEFAULT_GOAL := report
.PHONY: report quick check reference sentinels test claim tune lock benchmark clean help interpreter
SHELL := /bin/sh

PYTHON ?= python3
CORES ?= all
BIN := .venv/bin
INSTALLED := .venv/installed

# What may be typed after the target. A variable of the environment may belong to another program, so only typed ones
# are looked at: an unknown one would be ignored, and everything be built for an hour.
VARIABLES := STUDY SEEDS CORES ID PYTHON
meant_SEED := SEEDS
meant_JOBS := CORES
meant_THREADS := CORES
meant_CLAIM := ID
typed = $(findstring command,$(origin $(1)))
TYPED := $(sort $(foreach name,$(.VARIABLES),$(if $(call typed,$(name)),$(if $(filter-out MAKE% MFLAGS -%,$(name)),$(name)))))
upper = $(shell printf %s '$(1)' | tr '[:lower:]' '[:upper:]')
# The variable with the same first three letters, whatever their case.
meant = $(firstword $(filter $(shell printf %.3s '$(call upper,$(1))')%,$(VARIABLES)))
$(foreach name,$(filter-out $(VARIABLES),$(TYPED)),$(error $(name) is unknown, $(or \
	$(meant_$(call upper,$(name))),$(call meant,$(name)),one of $(VARIABLES)) is meant; see `make help`))
$(foreach name,$(TYPED),$(if $(strip $($(name))),,$(error $(name) is empty: give it a value or leave it out)))
$(if $(and $(call typed,SEEDS),$(filter quick tune,$(MAKECMDGOALS))),$(error \
	SEEDS means nothing here: `make quick` has one seed, and a study file says how many `make tune` has))

SEEDBED := $(BIN)/python -m seedbed $(if $(SEEDS),--config seeds=$(SEEDS))
CHOSEN := $(if $(STUDY),--config 'studies=[$(STUDY)]')
# Everything: installs, builds what is missing or changed, and says where the first page is.
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

# Check everything: style, types, tests, the build of a tiny study.
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

# Write requirements.lock and environment.yml from pyproject.toml.
lock: $(INSTALLED)
	$(BIN)/python -m seedbed lock

# Compare the time of a training step with that of other implementations.
benchmark: $(INSTALLED)
	$(BIN)/pytest tests/benchmarks -m benchmark --capture=no

# Results only; the environment stays.
clean:
	rm -rf results/data results/runs results/observations results/logs results/report \
		results/*.parquet .snakemake quick sentinels

# This list.
help:
	@echo "make TARGET [STUDY=farm] [SEEDS=3] [CORES=1] [ID=...] [PYTHON=python3.12]"
	@echo "  STUDY: one study, or several as farm,recall   SEEDS: of every run   CORES: how many, or all"
	@awk '/^# /{said = said (said ? " " : "") substr($$0, 3); next} \
		/^[a-z]+:/{if (said) printf "\n%s\n    %s\n", substr($$1, 1, length($$1) - 1), said} {said = ""}' Makefile

# Seedbed itself is installed without isolation, which would download setuptools each time: the lock has installed it.
$(INSTALLED): requirements.lock pyproject.toml | interpreter
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Seedbed needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)."; \
		echo "Name another one: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12"; exit 1; }
	@echo "Installing into .venv (PyTorch is large, the first time takes a while) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock || { \
		echo "pip could not install requirements.lock. This is $$($(BIN)/python $(MACHINE))."; \
		echo "If it found no matching distribution: PyTorch has packages for Linux with glibc 2.28 or newer (x86-64, ARM64)"; \
		echo "and for macOS on Apple silicon, and for Python 3.11 to 3.14. Otherwise look at the network, and try again."; \
		exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@pwd > $(INSTALLED)

# A .venv of another Python or folder is not replaced automatically: it may hold a PyTorch that was chosen by hand.
WHICH := -c 'import sys; print("Python", sys.version.split()[0], "in", sys.base_prefix)'
MACHINE := -c 'import platform as p; print("Python", p.python_version(), "on", p.system(), p.machine(), *p.libc_ver())'
REMOVE := echo "Remove .venv to have it made anew: rm -r .venv"; exit 1
interpreter:
	@[ ! -s $(INSTALLED) ] || [ "$$(cat $(INSTALLED))" = "$$(pwd)" ] || { \
		echo ".venv was made in $$(cat $(INSTALLED)), and would run the code there."; $(REMOVE); }
	@$(if $(call typed,PYTHON),[ ! -x $(BIN)/python ] || \
		[ "$$($(BIN)/python $(WHICH))" = "$$($(PYTHON) $(WHICH))" ] || { \
		echo ".venv has $$($(BIN)/python $(WHICH)); PYTHON=$(PYTHON) is another."; $(REMOVE); },:)
