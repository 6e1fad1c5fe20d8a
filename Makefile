# SPDX-License-Identifier: Apache-2.0
# `make help` lists what there is. PYTHON may name another interpreter: make test PYTHON=python3.13

PYTHON ?= python3
MINUTES ?= 1.5
# Processes that test, those with brokers or Spark of some 3 GB: more than two
# cores, as tests wait for these, and for ports and browsers, for half of their time.
WORKERS ?= 3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
UV := $(shell command -v uv 2>/dev/null || echo .local/tools/bin/uv)
# Empty: what cdk.json names, or holds.
CONFIG ?=
# The registry's "latest" is an old stray build, so the version is named.
CDK_CLI := aws-cdk@2.1148.1
CDK := .local/cdk/node_modules/.bin/cdk
EXAMPLES := $(wildcard examples/*.json examples/*.toml)
CDK_CONFIG = $(if $(CONFIG),-c msk-lag-reporter=$(CONFIG))
# Else each process that a test starts compiles all that it imports, and pytest rewrites all tests
# anew: with warm caches their collection takes 8 CPU seconds, not 21.
unexport PYTHONDONTWRITEBYTECODE
# Its warning about Node 20, which works, would hide everything else.
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION = 20

.DEFAULT_GOAL := help
.PHONY: help prerequisites setup demo test test-rest lint docs cost cdk synth diff deploy destroy template

help: ## list the targets that people use; dev/README.md has the others
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

# Tools that a target uses, where it does not use all.
cost docs: NEEDS = Python
demo: NEEDS = Java Maven
cdk synth diff deploy destroy: NEEDS = Node

# Check Python, Java, Maven and Node, and say how to get what is missing or too old.
prerequisites:
	@need() { "$$2" "$$3" 2>&1 | grep -Eq "$$4" || { echo "$$1" >&2; missing=1; }; }; missing=0; \
	need "Python 3.11 to 3.14 is needed: name another one, for example make setup PYTHON=python3.13." \
	  "$(PYTHON)" --version 'Python 3[.]1[1-4]'; \
	for name in $(or $(NEEDS),Java Maven Node); do case $$name in \
	  Java) need "Java 17 or newer is needed: apt install openjdk-17-jre-headless, or brew install temurin." java -version 'version "(1[7-9]|[2-9][0-9])';; \
	  Maven) need "Maven 3 or newer is needed: apt install maven, or brew install maven." mvn --version 'Maven [3-9]';; \
	  Node) need "Node 20 or newer is needed, best 22: see nodejs.org, or brew install node." node --version '^v[2-9][0-9]';; \
	esac; done; exit $$missing

setup: prerequisites $(INSTALLED) ## install everything the project needs, from the lock file

$(INSTALLED): pyproject.toml uv.lock | prerequisites
	@test -x "$(UV)" || ($(PYTHON) -m venv .local/tools && .local/tools/bin/pip install -q 'uv>=0.9')
	$(UV) sync --quiet --frozen --all-extras --all-groups --python $(PYTHON)
	@touch $@

demo: setup ## groups in trouble on this machine: brokers, statuses, causes, messages, report
	$(BIN)/python -m dev.demo --minutes $(MINUTES) $(if $(KEEP),--keep)

# pytest's own options; loadfile keeps the tests of a file, which share fixtures, in one process.
PYTEST = $(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
test: setup ## the tests of every change, one real broker and one day in Spark included
	$(PYTEST) -m "not thorough"

test-rest: setup ## the tests that make test leaves out
	$(PYTEST) -m thorough

lint: setup ## ruff, misspelt words, hard English in the docs, and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/codespell $$(git ls-files)
	$(BIN)/python -m dev.plain
	$(BIN)/mypy

docs: setup ## write the reference tables in docs/ from code, and build the site into .local/site
	$(BIN)/python -m dev.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

cost: setup ## what a month will cost, before it is deployed (CONFIG=other.json, as below)
	@$(BIN)/kafka-lag cost $(if $(CONFIG),--config $(CONFIG))

$(CDK): Makefile
	@npm install --silent --no-audit --no-fund --no-save --prefix .local/cdk $(CDK_CLI)
	@touch $@

# Install the CDK command line: .local/cdk/node_modules/.bin/cdk.
cdk: setup $(CDK)

diff: cdk ## what a deploy would change; with AGAINST=old.json and BUCKET=NAME or STATE=DIR its pages too
	$(CDK) diff $(CDK_CONFIG) $(ARGS)
	$(if $(AGAINST),@$(BIN)/kafka-lag diff --against $(AGAINST) $(if $(BUCKET),--state s3://$(BUCKET)) $(if $(STATE),--state $(STATE)) $(if $(CONFIG),--config $(CONFIG)))

# Words for the CDK command line: make deploy ARGS="--concurrency 5 --require-approval never"
ARGS ?=
# Stacks as CDK names them, with those that they need: make deploy STACKS="'kafka-lag-*'"
STACKS ?= --all
deploy: cdk ## deploy every stack, asking before rights change (ARGS="--concurrency 5")
	$(CDK) deploy $(STACKS) $(CDK_CONFIG) $(ARGS)

# Into the folder of TEMPLATE.
TEMPLATE ?= .local/template
template: setup ## templates for `aws cloudformation deploy`, without CDK and its bootstrap (CONFIG=other.json)
	$(BIN)/python -m kafka_lag_cdk.template $(or $(CONFIG),deployment.json) $(TEMPLATE)

destroy: cdk ## remove every stack; the bucket stays
	$(CDK) destroy $(STACKS) $(CDK_CONFIG) $(ARGS)

synth: $(patsubst %,synth/%,$(or $(CONFIG),$(EXAMPLES) examples/own_app.py)) ## synthesise every example, or CONFIG: no credentials, cdk-nag, cfn-lint

# W3005: CDK writes dependencies that references imply as well.
LINT_TEMPLATES = $(BIN)/cfn-lint --ignore-checks W3005 --non-zero-exit-code error \
	'.local/synth/$(basename $(notdir $*))/*.template.json'
synth/%: cdk
	$(CDK) synth --quiet -c nag=true -c msk-lag-reporter=$* --output .local/synth/$(basename $(notdir $*))
	$(LINT_TEMPLATES)

synth/%.py: cdk
	$(CDK) synth --quiet --app '$(BIN)/python $*.py' --output .local/synth/$(basename $(notdir $*))
	$(LINT_TEMPLATES)
