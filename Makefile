# Two commands do everything: `make demo` and `make test`. Both build .venv from the locked versions.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help demo test slow compiled coverage lint types wheel docs bench bench-full lock audit clean
help:
	@echo "make demo   install, learn from built-in data, write demo/report.html"
	@echo "make test   install, then lint, types and tests"
	@echo "make slow   install, then the tests that take too long for make test"
	@echo "make coverage  the kernels uncompiled, and which of their branches the tests take"
	@echo "make wheel  install, then build a wheel with compiled code into dist/"
	@echo "make docs   install, then build the documentation into docs/_build/html"
	@echo "make bench  beside other packages, some minutes; bench-full, for the committed page, hours"
	@echo "make lock   resolve the locked versions again (needs uv)"
	@echo "make audit  check the locked versions for known vulnerabilities (needs a network)"
	@echo "make clean  remove everything that was built"

demo: .venv/.runtime
	$(BIN)/python -m cyclearn compile --first
	$(BIN)/python -m cyclearn demo

# Tests run on code for any processor of the platform, and one of them packs the same code into a
# wheel, without what only tests call. NATIVE=1 is for this processor, as where nobody made a wheel.
ifndef NATIVE
test slow compiled: export NUMBA_CPU_NAME = generic
test slow compiled: export CYCLEARN_COMPILED = $(CURDIR)/.compiled/wheel
test slow: export NUMBA_CACHE_DIR = $(CURDIR)/.compiled/tests
compiled: export NUMBA_CACHE_DIR = $(CURDIR)/.compiled/wheel
endif

# Packages are installed uncompiled, and Python compiles what it imports. Where it is told not to keep that,
# each of the hundreds of processes that the tests start would do so again: 3.5 of its 8 seconds.
export PYTHONDONTWRITEBYTECODE =

# Matrices are small, and two processes run: threads of theirs would wait for each other.
test slow: export OPENBLAS_NUM_THREADS = 1

# Two things at a time: compiling alone leaves a processor idle now and then, installing always.
test: .venv/.runtime
	@$(MAKE) -j 2 --no-print-directory compiled lint types coverage
	$(BIN)/python -m pytest -n 2 --dist loadgroup --no-loadscope-reorder

# What takes longer than a change should wait for.
slow: .venv/.dev compiled
	$(BIN)/python -m pytest -n 2 --dist loadgroup --no-loadscope-reorder -m slow

compiled: .venv/.runtime
	$(BIN)/python -m cyclearn compile
	$(if $(NATIVE),,mkdir -p .compiled/tests && cp -R .compiled/wheel/. .compiled/tests)

# Compiled code has no lines to count, and hides what Python would complain about.
coverage: .venv/.dev
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run -m pytest -m uncompiled tests/kernels tests/data tests/models tests/posterior tests/search
	$(BIN)/python -m coverage report

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.dev
	$(BIN)/mypy

# For the Python of .venv and any processor of this platform; pip install dist/*.whl compiles nothing.
wheel: .venv/.runtime
	$(BIN)/python -m hatchling build --target wheel

docs: .venv/.dev
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d docs/_build/doctrees docs docs/_build/html
	@echo "open docs/_build/html/index.html"

# What is measured is kept, so that either goes on where it was stopped. FLOP has no wheel for every
# platform, and the tests need none; DAGMA's linear model needs none of what its neural one does.
bench: .venv/.dev
	$(BIN)/pip install --quiet --disable-pip-version-check flopsearch==0.3.0
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps dagma==1.1.1
	$(BIN)/python benchmarks/peers.py run --out .bench.jsonl
	$(BIN)/python benchmarks/peers.py table .bench.jsonl

bench-full: .venv/.dev
	$(BIN)/pip install --quiet --disable-pip-version-check flopsearch==0.3.0
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps dagma==1.1.1
	$(BIN)/python benchmarks/peers.py run --out .bench-full.jsonl --sizes 20:20,50:10,100:10,200:10,500:10,1000:2
	$(BIN)/python benchmarks/peers.py table .bench-full.jsonl > benchmarks/results/peers.md
	$(BIN)/python benchmarks/peers.py picture .bench-full.jsonl --to benchmarks/results/figures/peers.png

# Python compiles what it imports: a small part, while pip would compile all, half of its time. Older
# pips, as Python brings them, take twice as long: they compare each file of an index with every platform.
.venv/.runtime: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "cyclearn needs Python 3.10 or later; set PYTHON=... (found " + sys.version.split()[0] + ")")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile 'pip>=26'
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# The lock names every package, so pip need not look for dependencies. DoWhy 0.14 asks for scipy 1.15.3 or
# older before Python 3.13, and for cvxpy with 200 MB of solvers. Its recipe in docs/howto/dowhy.rst needs
# neither; what it does import is in the lock, for other packages. pip compiles it: compiling warns of its
# escape sequences, and a warning in a test is an error.
.venv/.dev: .venv/.runtime requirements-dev.lock requirements-no-deps.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --no-deps -r requirements-dev.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements-no-deps.lock
	@touch $@

# One lock for every Python and platform; the second holds the first to the same versions.
lock:
	printf 'hatchling\neditables\n' | uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links pyproject.toml - -o requirements.lock
	uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links --group dev --group docs --group crosscheck -c requirements.lock pyproject.toml -o requirements-dev.lock

# In an environment of its own: what checks the versions is no part of them. Strict: a version that
# could not be looked up is a failure, not a pass.
audit:
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/pip install --quiet --disable-pip-version-check pip-audit
	@.venv-audit/bin/pip-audit --strict --require-hashes --disable-pip --progress-spinner off --requirement requirements.lock --requirement requirements-dev.lock --requirement requirements-no-deps.lock \
		|| { echo "make audit: a version above has a known vulnerability, or could not be looked up; without pypi.org nothing is checked" >&2; exit 1; }

clean:
	rm -rf .venv .venv-audit .compiled .bench.jsonl .bench-full.jsonl .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage docs/_build demo dist
