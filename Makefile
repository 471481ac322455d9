# freefloat: make run, make test. Everything else is CMake (CMakePresets.json).
.DEFAULT_GOAL := build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

.PHONY: deb help setup setup-run setup-bench setup-python python wheel setup-playground playground build build-tests run test test-long coverage bench lint format install lib clean

help:
	@echo "make run        install what is missing, build, compare six methods on one contact, show where the report is"
	@echo "make playground install what is missing, build the page that runs every method in a browser: playground.html"
	@echo "make test       the same up to the tests (about 10 minutes on two cores, 13 where nothing was compiled before)"
	@echo "make test-long  full figures, soaks, fuzzing times and the mutation check"
	@echo "make coverage   lines and branches that the tests reach"
	@echo "make bench      speed beside MuJoCo, cyclictest, fwrite and OLD=BINARY; writes build-release/bench.json"
	@echo "make lint       formatting, clang-tidy, gcc and clang without warnings; lists what is too large"
	@echo "make python     the package for Python in build/python: PYTHONPATH=build/python python3 (docs/python.md)"
	@echo "make wheel      the same as a wheel in build-release/wheel; pip install . installs it"
	@echo "make lib        libfreefloat alone: needs nothing but a C compiler"
	@echo "make install    headers, libraries, freefloat.pc, CMake package (PREFIX=$(PREFIX), DESTDIR=)"
	@echo "make deb        Debian packages in build-deb/"
	@echo "make setup | build | format | clean"

setup:
	@tools/setup.sh

setup-run:
	@tools/setup.sh run

setup-playground:
	@tools/setup.sh playground

setup-bench:
	@tools/setup.sh bench

setup-python:
	@tools/setup.sh python

build: setup-run build/build.ninja
	@cmake --build build -j $(JOBS)

build/build.ninja:
	@cmake --preset dev

# Only what it runs: the tests are not built.
run: setup-run build/build.ninja
	@cmake --build build -j $(JOBS) --target freefloat
	@build/freefloat compare scenarios/deos-client.yaml --methods ideal,direct,tdpa,damping,impact,fused

playground: setup-playground build/build.ninja
	@cmake --build build -j $(JOBS) --target freefloat playground
	@build/freefloat playground --out playground.html

# What runs under ASan is neither built nor run a second time without, except in test-long.
PLAIN = tests_once
test-long: PLAIN = all

# Tested are the ordinary build and those with sanitizers, as one list, so that long tests start first and none waits for a build.
build-tests: setup
	@cmake --preset dev > /dev/null && cmake --build build -j $(JOBS) --target $(PLAIN)
	@for tree in asan tsan; do cmake --preset $$tree > /dev/null & done; wait
	@for tree in asan tsan; do cmake --build build-$$tree -j $(JOBS) || exit 1; done
	@mkdir -p build-test
	@printf 'subdirs("%s")\n' $(CURDIR)/build $(CURDIR)/build-asan $(CURDIR)/build-tsan > build-test/CTestTestfile.cmake

# Three tests more than cores: some sleep, and those in lock step wait for each other. With two more a quarter of the processor time was idle.
test: build-tests
	ctest --test-dir build-test --output-on-failure -LE '^sanitized$$' -j $$(($(JOBS) + 3))

test-long: build-tests
	FF_TEST_LONG=1 ctest --test-dir build-test --output-on-failure -j $(JOBS) --timeout 7200
	tools/fuzz-coverage
	tools/mutate lib --count 300 --least 85
	tools/mutate host/executive host/safety --count 100 --least 85

coverage: setup
	@tools/coverage.sh

bench: setup-bench
	@cmake --preset release > /dev/null && cmake --build build-release -j $(JOBS) --target benches freefloat
	@OLD=$(OLD) tools/bench

lint: setup
	@tools/lint.sh

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

python: setup-python
	@cmake --preset dev > /dev/null && cmake --build build -j $(JOBS) --target python
	@echo "PYTHONPATH=$(CURDIR)/build/python /usr/bin/python3"

wheel: setup-python
	@/usr/bin/python3 python/backend.py build-release/wheel

# Nothing but a C compiler and make: no CMake, no setup.
CC ?= cc
CFLAGS ?= -O2
lib:
	@mkdir -p build-lib
	@for f in lib/*/*.c lib/*/*/*.c; do $(CC) -std=c11 $(CFLAGS) -fPIC -fno-math-errno -Ilib/include -Ilib -c $$f -o build-lib/$$(echo $$f | tr / _ | sed 's/c$$/o/') || exit 1; done
	@ar rcs build-lib/libfreefloat.a build-lib/*.o
	@$(CC) -shared -Wl,--version-script=lib/symbols.map -o build-lib/libfreefloat.so build-lib/*.o -lm
	@echo "build-lib/libfreefloat.a, build-lib/libfreefloat.so; headers in lib/include"

install: build
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) > /dev/null && cmake --build build-release -j $(JOBS)
	@DESTDIR=$(DESTDIR) cmake --install build-release --prefix $(PREFIX)

# From the files that git tracks, in a folder of their own: nothing of this tree's builds gets in.
deb:
	@tools/setup.sh deb
	@rm -rf build-deb && mkdir -p build-deb/freefloat
	@git ls-files -z | tar -c --null -T - | tar -x -C build-deb/freefloat
	@cd build-deb/freefloat && dpkg-buildpackage -us -uc -b > ../build.log 2>&1 || { tail -30 ../build.log; exit 1; }
	@ls build-deb/*.deb

clean:
	@rm -rf build build-* out
