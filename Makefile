# Everything runs in .venv, which the first target that needs it makes; a stamp keeps a second call from installing again.
PYTHON ?= python3
JOBS ?= 2

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev
INSTALLED_UI := $(VENV)/.installed-ui
LOWEST := .venv-lowest
FAST_TESTS := $(addprefix tests/,hardcases judging ledger sealing statistics studies tables) \
  $(addprefix tests/dagster_side/,test_definitions.py test_evidence_io.py test_gate_type.py)
# Byte code is compiled where it is imported, and not for the four fifths of files that nothing here imports; it is kept,
# whatever the surroundings say: without it every command spends seconds on its imports.
unexport PYTHONDONTWRITEBYTECODE
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile
EXAMPLES := $(shell find examples -type f -not -path '*/__pycache__/*' -not -path '*/.calib/*' 2>/dev/null)
# Exit code 3 says that a ladder stopped: a result, not a fault.
STOPPED_IS_FINE := || test $$? -eq 3

.DEFAULT_GOAL := help
.PHONY: help demo ui test test-slow test-lowest lint types validate wheel bench constraints clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

demo: $(INSTALLED) .demo/calib.yaml .demo-judge/calib.yaml ## climb the examples in .demo/ and .demo-judge/
	@$(BIN)/calib run --project .demo $(STOPPED_IS_FINE)
	@echo
	@echo 'And a judge that is run on the way, on made-up tickets, with a stand-in for the model:'
	@cd .demo-judge && ../$(BIN)/python stand_in_model.py ../$(BIN)/calib run $(STOPPED_IS_FINE)
	@echo
	@echo 'The project is .demo: try `$(BIN)/calib show vader.positive film-reviews-2014 --project .demo`, or `make ui`.'

ui: $(INSTALLED_UI) .demo/calib.yaml ## Dagster's own pages on .demo/
	$(BIN)/calib dev --project .demo

test: $(INSTALLED_DEV) ## the test suite, but for what takes long
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m 'not slow'

test-slow: $(INSTALLED_DEV) ## the long tests: sweeps, a real daemon, killed processes, the ledger on a server
	$(BIN)/python -m pytest -m slow

test-lowest: $(LOWEST)/.installed ## the fast tests, at the lower bounds that pyproject.toml declares
	$(LOWEST)/bin/python -m pytest -n $(JOBS) --dist worksteal -p no:cacheprovider $(FAST_TESTS)

lint: $(INSTALLED_DEV) ## ruff: rules and format
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(INSTALLED_DEV) ## mypy --strict
	$(BIN)/mypy --strict -p calib_pipeline

validate: $(INSTALLED) ## Dagster loads the code location that workspace.yaml names
	$(BIN)/dagster definitions validate -w workspace.yaml

wheel: $(INSTALLED_DEV) ## the source distribution, and the wheel made from it, in dist/
	rm -rf dist build
	$(BIN)/python -m build --outdir dist

bench: $(INSTALLED_DEV) ## speed against other packages, and simulated worlds
	$(BIN)/python bench/agreement_speed.py
	$(BIN)/python bench/promotion.py

constraints: ## resolve constraints.txt anew with $(PYTHON)
	rm -rf .venv-constraints
	$(PYTHON) -m venv .venv-constraints
	.venv-constraints/bin/python $(PIP_INSTALL) -e '.[ui,dev]'
	@sed '/^[^#]/d' constraints.txt > .venv-constraints/new.txt
	.venv-constraints/bin/python -m pip freeze --exclude-editable | tr 'A-Z_' 'a-z-' >> .venv-constraints/new.txt
	mv .venv-constraints/new.txt constraints.txt
	rm -rf .venv-constraints

clean: ## remove what these targets make; a project's .calib is not touched
	rm -rf .venv .venv-lowest .venv-constraints .demo .demo.part .demo-judge .demo-judge.part build dist *.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'Python 3.11 or newer is needed; name one with `make PYTHON=python3.12 …`' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP_INSTALL) -c constraints.txt -e '.[judge]'
	@touch $@

$(INSTALLED_DEV): $(INSTALLED)
	$(BIN)/python $(PIP_INSTALL) -c constraints.txt -e '.[dev]'
	@touch $@

$(INSTALLED_UI): $(INSTALLED)
	$(BIN)/python $(PIP_INSTALL) -c constraints.txt -e '.[ui]'
	@touch $@

$(LOWEST)/.installed: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python $(PIP_INSTALL) -c constraints-lowest.txt -e '.[test]'
	@touch $@

.demo/calib.yaml: DEMO := sentiment
.demo-judge/calib.yaml: DEMO := judge
.demo/calib.yaml .demo-judge/calib.yaml: $(EXAMPLES) | $(INSTALLED)
	@rm -rf $(@D) $(@D).part
	@$(BIN)/calib init $(@D).part --example $(DEMO) > /dev/null
	@touch $(@D).part/calib.yaml && mv $(@D).part $(@D)
