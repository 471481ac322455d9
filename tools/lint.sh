#!/usr/bin/env bash
# Formatting and scripts, the direction of the includes, warnings with gcc and clang, clang-tidy; then a list of what is too large.
set -eu
cd "$(dirname "$0")/.."
status=0
FF_SOURCE_DIR=$PWD bash tests/tree/test_format.sh || status=1
tools/house || status=1
cmake --preset release > /dev/null && cmake --build build-release > /dev/null || status=1 # each file by itself: the tree of make run compiles rooms
cmake --preset clang > /dev/null && cmake --build build-clang > /dev/null || status=1
git ls-files 'lib/*.c' 'host/*.c' 'programs/*.c' | xargs -P "$(nproc)" -n 4 clang-tidy -p build-clang --quiet 2> /dev/null || status=1
tools/sizes
exit $status
