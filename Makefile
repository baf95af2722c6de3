# Everything that people and continuous integration run, in one place: `make help` lists it.

# The interpreter (3.11 or newer). Once .venv exists it is the default, so that
# `make run PYTHON=python3.13` on a fresh machine is said once, not at every call.
ifeq ($(origin PYTHON),undefined)
PYTHON := $(or $(shell .venv/bin/python -ISc 'print(".venv/bin/python")' 2>/dev/null),python3)
endif
NB ?=
ONLY ?=
# Notebooks, or checks, at a time; all cores if left out.
JOBS ?=
# A pyenv shim runs only the versions that are chosen: PYTHON=python3.13 chooses that one.
ifneq ($(filter python3.%,$(PYTHON)),)
export PYENV_VERSION ?= $(patsubst python%,%,$(PYTHON))
endif

# One BLAS thread and a fixed hash seed: the stored outputs are those of such a run.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export PYTHONHASHSEED ?= 0

CHECK_PYTHON = { $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || { \
	echo "kernelbook needs Python 3.11 or newer, but PYTHON=$(PYTHON) is: $$($(PYTHON) --version 2>&1 | head -n 1)"; \
	echo "Install one (Debian, Ubuntu: apt install python3 python3-venv) or name one, by its path if need be: make $@ PYTHON=python3.12"; \
	exit 1; } >&2; }
SET_UP = $(CHECK_PYTHON) && exec $(PYTHON) -m tools.set_up
# After the set-up the same process goes on as the environment's Python: a signal arrives there.
IN_ENVIRONMENT = $(SET_UP) --

.DEFAULT_GOAL := help
.PHONY: help setup run record test format lines lengths lock bench bench-full mutants fuzz faults assignment course book pdf slides browser-test lab clean

help: ## show this list
	@echo "make TARGET [PYTHON=python3.12]"
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' Makefile | expand -t 16

setup: ## make or refresh the virtual environment (the other targets do it themselves)
	@$(SET_UP)

run: ## execute what has changed, in order, into build/ (NB=03 or NB="03 05" for some)
	@$(IN_ENVIRONMENT) -m tools.run_notebooks run $(NB) $(if $(JOBS),--jobs $(JOBS))

record: ## execute in place and store clean outputs in notebooks/ (NB=03 for one)
	@$(IN_ENVIRONMENT) -m tools.run_notebooks record $(NB) $(if $(JOBS),--jobs $(JOBS))

test: ## lint, types, import arrows, unit tests and strict nbval (ONLY="ruff mypy" for some)
	@$(IN_ENVIRONMENT) -m tools.check $(ONLY) $(if $(JOBS),--jobs $(JOBS))

format: ## let ruff format the code and correct what it can
	@$(IN_ENVIRONMENT) -m ruff check --fix .
	@$(IN_ENVIRONMENT) -m ruff format .

lines: ## count the lines of code of lib/ without comments, docstrings and blank lines
	@$(IN_ENVIRONMENT) -m tools.count_lines

lengths: ## words, visible code lines and figures of each notebook, and their medians
	@$(IN_ENVIRONMENT) -m tools.tracks

lock: ## resolve requirements.lock again and copy its pins to environment.yml (UPGRADE=1 for newer ones)
	@$(SET_UP) --installer-only -- -m tools.lock $(if $(UPGRADE),--upgrade)

bench: ## time the library beside its peers, in an environment of its own: about ten minutes
	@$(SET_UP) --benchmarks -- -m benchmarks

bench-full: ## the same at all sizes, up to 100,000 points: half an hour
	@$(SET_UP) --benchmarks -- -m benchmarks --full

mutants: ## change the numerical core place by place: do tests notice? (MODULES="qp svm" N=5 for some)
	@$(IN_ENVIRONMENT) -m tools.mutate $(MODULES) --number $(or $(N),20)

fuzz: ## fit hostile problems for MINUTES=20 and compute every gap again in extended precision
	@$(IN_ENVIRONMENT) -m tools.fuzz --minutes $(or $(MINUTES),20)

faults: ## kill, fill, damage and cut off what people use, in a clone: does all end as it should? (ONLY=disk for some)
	@$(IN_ENVIRONMENT) -m tools.faults $(ONLY)

assignment: ## write notebook NB=03 as an assignment for nbgrader, and what students install, without the key
	@$(IN_ENVIRONMENT) -m tools.assignment $(NB)

course: ## write wheels and notebooks for learners without a copy of the repository
	@$(IN_ENVIRONMENT) -m tools.course

book: ## build the HTML book into build/book; it needs no network to be read
	@$(IN_ENVIRONMENT) -m tools.book

pdf: ## print the whole book into build/kernelbook.pdf; needs Chromium and npm
	@$(IN_ENVIRONMENT) -m tools.pdf

slides: ## slides of notebook NB=03 (of all if left out) into build/slides, from its figures and main line
	@$(IN_ENVIRONMENT) -m tools.slides $(NB)

browser-test: ## open every page of the book in Chromium without a network: links, formulas, accessibility
	@$(IN_ENVIRONMENT) -m tools.browser_test $(PAGES)

lab: ## open the notebooks in JupyterLab
	@$(IN_ENVIRONMENT) -m jupyterlab notebooks

clean: ## remove build/ and caches; the virtual environments stay (rm -r .venv removes one)
	rm -rf build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage
	find . -path './.venv*' -prune -o \( -name __pycache__ -o -name .ipynb_checkpoints \) -prune -exec rm -rf {} +
