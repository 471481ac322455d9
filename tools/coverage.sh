#!/usr/bin/env bash
# Lines and branches that the tests reach: tools/coverage.sh [lib] [CTest options, e.g. -R unit/base].
# lib: only the tests of lib/ (label lib) are built and run, and lib/ is reported; a few minutes. Without it all tests count for lib/,
# host/ and programs/; what measures time or is compiled elsewhere is left out: the real-time guard, fuzzers, the browser, the checks of
# the tree. Builds build-coverage (preset coverage), starts from zero, prints a table of rooms and writes build-coverage/uncovered.txt:
# of every file the lines and the conditions that are not reached.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v gcov > /dev/null || { echo "coverage: needs gcov (apt-get install gcc)" >&2; exit 1; }
target=all rooms=(lib host programs) choice=(-E '^(fuzz|tree|install|docs|web)/|^rt/(guard|wallclock)$')
if [ "${1-}" = lib ]; then
  shift
  target=tests_lib rooms=(lib) choice=(-L '^lib$')
fi
cmake --preset coverage > /dev/null
cmake --build build-coverage -j "$(nproc)" --target "$target" > build-coverage/build.log || { tail -30 build-coverage/build.log; exit 1; }
find build-coverage -name '*.gcda' -delete
status=0
ctest --test-dir build-coverage "${choice[@]}" -j "$(nproc)" --timeout 1500 "$@" > build-coverage/tests.log || status=1
sed -n '/tests passed/,$p' build-coverage/tests.log
tools/uncovered build-coverage "${rooms[@]}"
exit $status
