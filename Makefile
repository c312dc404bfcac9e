# The entry points of the repository. CMake builds (CMakeLists.txt, CMakePresets.json); this file installs what is
# missing, calls CMake with the right preset and runs the result.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help build run python test test-quick bench bench-text bench-images format lint lint-python clean

JOBS         ?= $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PRESET       ?= release
CTEST_ARGS   ?=
BENCH_ARGS   ?=
# The interpreter that Debian's Python packages are for.
PYTHON       ?= /usr/bin/python3
# Looked up by the shell when used, that is after installation. How clang-format breaks a line depends on its version.
CLANG_FORMAT ?= $$(command -v clang-format-19 || echo clang-format)
RUN_CLANG_TIDY ?= $$(command -v run-clang-tidy-19 || echo run-clang-tidy)

install    := scripts/install-dependencies

# Looked up only when a recipe asks.
sources = $(sort $(shell find apps bench examples include python src tests -name '*.hpp' -o -name '*.cpp'))

define HELP
Obolus: online bilevel optimisation.

Start here
  make run          install what is missing, build, and run the demonstration: ten methods
                    side by side, as tables and as a report
  make test         install what is missing, build, and run every test

Build and use
  make build        the optimised program, at build/release/obolus; then try
                      build/release/obolus --help
                      build/release/obolus list optimisers
                      build/release/obolus run CONFIG.toml
                    to install the library and the program:
                      cmake --install build/release --prefix DIR

Work on it
  make python       the Python package: a wheel in build/wheels, installed in the virtual
                    environment build/venv; then try
                      build/venv/bin/python -c "import obolus; print(obolus.F2obo())"
  make test-quick   the tests without those labelled slow or install
  make bench        build and run the benchmarks
  make bench-text   rounds of the text experiment, against PyTorch
  make bench-images gradients and products of the image experiment's network, against PyTorch
  make format       rewrite the sources in the house style (.clang-format)
  make lint         check style, rooms and line widths; compile with warnings as errors
                    with GCC and Clang; run clang-tidy, mypy and pyright; changes nothing
  make clean        remove build/ (your runs/ stay)

Settings, with their current values
  PRESET=$(PRESET)    for test and test-quick: release, dev, asan or tsan
  JOBS=$(JOBS)            how many compilers and tests run at once
  CTEST_ARGS=       further arguments for ctest, as in  make test CTEST_ARGS='-R f2obo'
  BENCH_ARGS=       further arguments for the benchmarks, as in
                      make bench BENCH_ARGS=--benchmark_filter=f2obo
  OBOLUS_NO_INSTALL=1 in the environment: install no package, use what is there
  OBOLUS_NO_BROWSER=1 in the environment: do not test the report's page
  OBOLUS_NO_PYTHON=1 in the environment: do not test the Python package
  OBOLUS_NO_TORCH=1 in the environment: test it without PyTorch, a download of some gigabytes

Each target installs only the Debian packages that it needs: $(install) has the list.
endef

help:
	$(info $(HELP))
	@:

# A fresh tree starts without tests and examples, so that `make run` needs none of their packages and waits for neither.
# A configured tree keeps its settings: switching the tests off would make the next `make test` compile them all again.
build:
	@$(install) build web
	@cmake --preset release $(if $(wildcard build/release/CMakeCache.txt),,-DOBOLUS_BUILD_TESTS=OFF -DOBOLUS_BUILD_EXAMPLES=OFF)
	@cmake --build build/release --parallel $(JOBS)

run: build
	@build/release/obolus demo

# The Python package. Its wheel is made in the release tree, of the program's own objects, for an environment that holds
# nothing else. Other presets have no package.
venv   := build/venv
pip     = $(venv)/bin/python -m pip --disable-pip-version-check --quiet
tests_python := $(if $(filter release,$(PRESET)),$(if $(OBOLUS_NO_PYTHON),,yes))

$(venv)/made: pyproject.toml
	@rm -rf $(venv)
	@$(PYTHON) -m venv $(venv)
	@$(pip) install --upgrade 'pip>=25.1'
	@$(pip) install --group build
	@touch $@

use_venv = -DOBOLUS_BUILD_PYTHON=ON -DPython_EXECUTABLE=$(CURDIR)/$(venv)/bin/python

define install_wheel
	@rm -rf build/wheels
	@$(pip) wheel --no-deps --no-build-isolation -C build-dir=build/release -w build/wheels .
	@$(pip) install --force-reinstall --no-deps build/wheels/*.whl
	@$(pip) install build/wheels/*.whl
endef

python:
	@$(install) build web python
	@$(MAKE) --no-print-directory $(venv)/made
	@cmake --preset release $(if $(wildcard build/release/CMakeCache.txt),,-DOBOLUS_BUILD_TESTS=OFF -DOBOLUS_BUILD_EXAMPLES=OFF) $(use_venv)
	@cmake --build build/release --parallel $(JOBS) --target obolus_program obolus_python obolus_python_classes
	$(install_wheel)

# What the tests of the package need is fetched while the compilers work.
define build_tests
	@$(install) build web test $(if $(tests_python),python)
	@$(if $(tests_python),$(MAKE) --no-print-directory $(venv)/made)
	@cmake --preset $(PRESET) -DOBOLUS_BUILD_TESTS=ON -DOBOLUS_BUILD_EXAMPLES=ON \
	  -DOBOLUS_TEST_PAGE=$(if $(OBOLUS_NO_BROWSER),OFF,ON) $(if $(tests_python),$(use_venv),-DOBOLUS_BUILD_PYTHON=OFF)
	@fetched=; $(if $(tests_python),$(pip) install --group test $(if $(OBOLUS_NO_TORCH),,--group torch) & fetched=$$!;) \
	  cmake --build build/$(PRESET) --parallel $(JOBS) && wait $$fetched
	$(if $(tests_python),$(install_wheel))
endef

ctest = ctest --test-dir build/$(PRESET) --parallel $(JOBS) --output-on-failure --no-tests=error

# The last lines name what failed within the tests that failed: a log is often read from its end.
test:
	$(build_tests)
	@$(ctest) $(CTEST_ARGS) || { \
	  grep -hE '^(FAILED|ERROR|FAIL:|\[  FAILED  \]|not ok|E  ) ?' build/$(PRESET)/Testing/Temporary/LastTest.log | tail -n 20; exit 1; }

test-quick:
	$(build_tests)
	@$(ctest) --label-exclude '^(slow|install)$$' $(CTEST_ARGS)

bench:
	@$(install) build bench
	@cmake --preset bench
	@cmake --build build/bench --parallel $(JOBS)
	@set -e; build/bench/bench/round_cost; build/bench/bench/obolus_bench $(BENCH_ARGS)

bench-text:
	@$(install) build bench peers
	@cmake --preset bench
	@cmake --build build/bench --parallel $(JOBS) --target text_rounds
	@$(PYTHON) bench/text_vs_torch.py --program build/bench/bench/text_rounds $(BENCH_ARGS)

bench-images:
	@$(install) build bench peers
	@cmake --preset bench
	@cmake --build build/bench --parallel $(JOBS) --target images_rounds
	@$(PYTHON) bench/images_vs_torch.py --program build/bench/bench/images_rounds $(BENCH_ARGS)

format:
	@$(install) lint
	@$(CLANG_FORMAT) -i $(sources)

# Quick checks first. Then every target compiles without a warning with GCC and with Clang, and clang-tidy finds nothing.
lint:
	@$(install) build web test lint
	@$(CLANG_FORMAT) --dry-run -Werror $(sources)
	@$(PYTHON) scripts/check-lines
	@$(PYTHON) scripts/check-rooms
	@for preset in dev clang; do cmake --preset $$preset >/dev/null && cmake --build build/$$preset --parallel $(JOBS) || exit 1; done
	@$(RUN_CLANG_TIDY) -p build/clang -j $(JOBS) -quiet -warnings-as-errors='*' '$(CURDIR)/(build/clang/)?(src|apps)/'
	@$(if $(OBOLUS_NO_PYTHON),,$(MAKE) --no-print-directory lint-python)

lint-python: python
	@$(pip) install --group test --group lint $(if $(OBOLUS_NO_TORCH),,--group torch)
	@$(venv)/bin/mypy
	@$(venv)/bin/pyright $(venv)/lib/python3*/site-packages/obolus --pythonpath $(venv)/bin/python

clean:
	rm -rf build
