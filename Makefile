# freefloat: make run, make test. Everything else is CMake (CMakePresets.json).
.DEFAULT_GOAL := build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

.PHONY: help setup setup-run build run test test-long bench lint format install lib clean

help:
	@echo "make run        install what is missing, build, run the default scenario, show where the report is"
	@echo "make test       the same up to the tests (10 minutes at most on two cores)"
	@echo "make test-long  full figures, soaks and fuzzing times"
	@echo "make bench      speed beside MuJoCo, instructions per step"
	@echo "make lint       formatting, clang-tidy, gcc and clang without warnings"
	@echo "make lib        libfreefloat alone: needs nothing but a C compiler"
	@echo "make install    headers, libraries, freefloat.pc, CMake package (PREFIX=$(PREFIX), DESTDIR=)"
	@echo "make setup | build | format | clean"

setup:
	@tools/setup.sh

setup-run:
	@tools/setup.sh run

build: setup-run build/build.ninja
	@cmake --build build -j $(JOBS)

build/build.ninja:
	@cmake --preset dev

run: build
	@build/freefloat compare scenarios/deos-client.yaml --methods ideal,direct,tdpa

test: setup build
	@cmake --preset asan-lib > /dev/null && cmake --build build-asan-lib -j $(JOBS)
	ctest --test-dir build-asan-lib --output-on-failure -j $(JOBS)
	ctest --test-dir build --output-on-failure -j $(JOBS)

test-long: setup build
	FF_TEST_LONG=1 ctest --test-dir build --output-on-failure -j $(JOBS) --timeout 7200

bench: build
	@cmake --preset release > /dev/null && cmake --build build-release -j $(JOBS) --target benches freefloat
	@tools/bench.sh

lint: setup
	@tools/lint.sh

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

# Nothing but a C compiler and make: no CMake, no setup.
CC ?= cc
lib:
	@mkdir -p build-lib
	@for f in lib/*/*.c lib/*/*/*.c; do $(CC) -std=c11 -O2 -fPIC -fno-math-errno -Ilib/include -Ilib -c $$f -o build-lib/$$(echo $$f | tr / _ | sed 's/c$$/o/') || exit 1; done
	@ar rcs build-lib/libfreefloat.a build-lib/*.o
	@$(CC) -shared -o build-lib/libfreefloat.so build-lib/*.o -lm
	@echo "build-lib/libfreefloat.a, build-lib/libfreefloat.so; headers in lib/include"

install: build
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) > /dev/null && cmake --build build-release -j $(JOBS)
	@DESTDIR=$(DESTDIR) cmake --install build-release --prefix $(PREFIX)

clean:
	@rm -rf build build-* out
