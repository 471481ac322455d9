#!/usr/bin/env bash
# The steps that users wait for need no more instructions than the store says, up to 2 %: a busy machine does not matter.
set -eu
. "$FF_SOURCE_DIR/tests/need.sh"
need valgrind python3
[ -x "$FF_BUILD_DIR/tests/counted_steps" ] || { echo "skipped: the counts are those of the preset dev"; exit 77; }
"$FF_SOURCE_DIR/tools/instructions" check -b "$FF_BUILD_DIR/tests/counted_steps"
