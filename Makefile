# SPDX-License-Identifier: Apache-2.0
# Every target works on a fresh clone with Python >= 3.11 and make. `make help` lists them.

PYTHON ?= python3
K8S ?=
CLUSTER ?= lab
BIN := .venv/bin
INSTALLED := .venv/.installed

.DEFAULT_GOAL := help
.PHONY: help install run demo test lint types contracts lab test-lab bench gen lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(INSTALLED) ## a .venv with everything in it, .venv/bin/trellis too

$(INSTALLED): requirements-dev.txt pyproject.toml Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
		|| { echo "Trellis needs Python >= 3.11 with venv; $(PYTHON) is not that: make install PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "installing into .venv"
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

run: install ## a cluster with simulated GPU nodes on this machine, until Ctrl-C
	@$(BIN)/trellis up

demo: install ## the same, with a tour that ends by itself
	@$(BIN)/trellis demo

test: lint types contracts ## lint, types, import contracts and every suite that needs no Go
	$(BIN)/pytest -n 2 tests/unit tests/sim
	$(BIN)/pytest tests/conformance/test_embedded.py tests/conformance/clients tests/e2e --cluster=embedded

lint: install ## ruff: style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install ## mypy --strict
	$(BIN)/mypy

contracts: install ## import-linter: which room may import which
	$(BIN)/lint-imports

lab: install ## build the real Kubernetes control plane, once (needs Go; K8S=1.32.13 for another version)
	@$(BIN)/trellis lab build $(if $(K8S),--kubernetes $(K8S))

test-lab: install ## every suite that needs a real cluster (needs `make lab`; CLUSTER=KUBECONFIG for yours)
	@[ "$(CLUSTER)" != lab ] || $(BIN)/trellis lab path $(if $(K8S),--kubernetes $(K8S)) >/dev/null
	$(BIN)/pytest tests/conformance $(ON_CLUSTER)
	$(BIN)/pytest tests/e2e --ignore=tests/e2e/embedded $(ON_CLUSTER)
	$(BIN)/pytest tests/e2e/embedded $(ON_CLUSTER)

# Each on a lab of its own: probes leave nodes behind that schedulers would count.
ON_CLUSTER = --cluster=$(CLUSTER) $(if $(K8S),--kubernetes=$(K8S))

bench: install ## measurements, as ratios within one run (needs `make lab`)
	$(BIN)/python -m bench

gen: install ## refresh everything generated; the schemas come from the lab's API server (needs `make lab`)
	$(BIN)/python -m trellis.lab.schemas
	$(BIN)/python -m trellis.lab.resources
	$(BIN)/python -m trellis.lab.openapi
	$(BIN)/python -m trellis.lab.roles
	$(BIN)/python -m trellis.lab.structs
	$(BIN)/python -m trellis.lab.goforms
	$(BIN)/python -m trellis.api.schema.generate
	$(BIN)/python -m trellis.app.manifests

lock: ## pin requirements*.txt anew (needs uv)
	@command -v uv >/dev/null || { echo "make lock needs uv: pip install uv" >&2; exit 1; }
	uv pip compile $(LOCK) pyproject.toml --output-file requirements.txt
	uv pip compile $(LOCK) pyproject.toml --group dev --constraint requirements.txt --output-file requirements-dev.txt

LOCK := --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate

clean: ## remove .venv and caches of tools
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
