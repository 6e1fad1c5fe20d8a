# SPDX-License-Identifier: Apache-2.0
# `make help` lists what there is. PYTHON may name another interpreter: make test PYTHON=python3.13

PYTHON ?= python3
MINUTES ?= 2
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
UV := $(shell command -v uv 2>/dev/null || echo .local/tools/bin/uv)
SOURCES := functions glue_jobs local tests

.DEFAULT_GOAL := help
.PHONY: help setup demo test check format lint types bench bench-time-lag clean prerequisites

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

prerequisites: ## check Python, Java, Maven and Node, and say how to get what is missing
	@$(PYTHON) local/prerequisites.py

setup: prerequisites $(INSTALLED) ## install everything the project needs, from the lock file

$(INSTALLED): pyproject.toml uv.lock | prerequisites
	@test -x "$(UV)" || ($(PYTHON) -m venv .local/tools && .local/tools/bin/pip install -q 'uv>=0.9')
	$(UV) sync --quiet --frozen --python $(PYTHON)
	@touch $@

demo: setup ## the main job on this machine: Kafka, consumers, metrics, snapshots, reports
	$(BIN)/python -m local.demo --minutes $(MINUTES) $(if $(KEEP),--keep)

test: setup ## all tests, real Kafka and Spark included
	$(BIN)/pytest

check: setup ## format, lint, types, tests
	$(BIN)/ruff format $(SOURCES)
	@$(MAKE) --no-print-directory lint types test

format: setup ## format the code
	$(BIN)/ruff format $(SOURCES)

lint: setup ## what ruff finds, formatting included
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

types: setup ## mypy, strict
	$(BIN)/mypy

bench: setup ## how long a run takes for 6,000 and 60,000 group-partitions
	$(BIN)/python -m local.bench_collect

bench-time-lag: setup ## how right time lags are, case by case, beside other methods
	$(BIN)/python -m local.bench_time_lag

clean: ## remove what was installed and built here
	rm -rf $(VENV) .local .mypy_cache .pytest_cache .ruff_cache .hypothesis
