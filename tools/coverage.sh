#!/usr/bin/env bash
# Lines and branches that the tests reach, of lib/, host/ and programs/: tools/coverage.sh [CTest options, e.g. -L lib or -R unit/].
# Builds build-coverage (preset coverage) and starts from zero; build-coverage/uncovered.txt lists what is not reached. What measures
# time or is compiled elsewhere is left out: the real-time guard, fuzzers, the browser, the checks of the tree.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v gcovr > /dev/null || { echo "coverage: needs gcovr (apt-get install gcovr)" >&2; exit 1; }
cmake --preset coverage > /dev/null
cmake --build build-coverage -j "$(nproc)" > build-coverage/build.log || { tail -30 build-coverage/build.log; exit 1; }
find build-coverage -name '*.gcda' -delete
status=0
ctest --test-dir build-coverage -E '^(fuzz|tree|install|docs|web)/|^rt/(guard|wallclock)$' -j "$(nproc)" --timeout 1500 "$@" > build-coverage/tests.log || status=1
tail -25 build-coverage/tests.log | sed -n '/tests passed/,$p'
# Branches of calls that cannot fail (assertions, unreachable ends) are not counted; a branch is one outcome of a condition.
one() { # NAME FILTER
  gcovr -r . --object-directory build-coverage -j "$(nproc)" --exclude-throw-branches --exclude-unreachable-branches --filter "$2" \
    --json build-coverage/"$1".json --txt build-coverage/"$1".txt --print-summary 2> build-coverage/gcovr.log |
    awk -v name="$1" '/^lines:/ { l = $2 " " $3 " " $4 " " $5 } /^branches:/ { b = $2 " " $3 " " $4 " " $5 } END { print name ": lines " l "; branches " b }'
}
one lib '^lib/'
one host '^host/'
one programs '^programs/'
cat build-coverage/{lib,host,programs}.txt > build-coverage/uncovered.txt
exit $status
