#!/usr/bin/env bash
# A crowd on the live page of a 1 kHz run: the operator gets in and is answered. In the long form 200 viewers, 50 of them hostile, in every
# second slice of one run: the p99 of the cycle at most 1.1 times that of the slices around, orders confirmed within 100 ms (load.py).
set -u
. "$FF_SOURCE_DIR/tests/rt/pair.sh"
need python3
ports
# shellcheck disable=SC2154 # base is what ports found
figures=(0 0 24 8)
[ "${FF_TEST_LONG:-0}" = 0 ] || figures=(4 12 200 50)
timeout 400 python3 "$FF_SOURCE_DIR/tests/rt/load.py" "$FREEFLOAT" "$FF_SOURCE_DIR/scenarios/wall.yaml" "$base" $((base + 10)) $((base + 20)) "${figures[@]}"
