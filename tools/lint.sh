#!/usr/bin/env bash
# Formatting, warnings with gcc and clang, clang-tidy, and the direction of includes in lib/.
set -eu
cd "$(dirname "$0")/.."
status=0
git ls-files '*.c' '*.h' | xargs clang-format --dry-run --Werror || status=1
cmake --preset dev > /dev/null && cmake --build build > /dev/null || status=1
cmake --preset clang > /dev/null && cmake --build build-clang > /dev/null || status=1
git ls-files 'lib/*.c' 'host/*.c' 'programs/*.c' | xargs -P "$(nproc)" -n 4 clang-tidy -p build-clang --quiet 2> /dev/null || status=1
exit $status
