#!/usr/bin/env bash
# Lock step bears any load: telegrams are those of the store also where either side is late with every tenth datagram (slow.c).
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
need python3
export FF_SLOW_SEED=${FF_SEED:-$RANDOM}
echo "seed $FF_SLOW_SEED"
expect 0 "^2 cases, 0 differ" env LD_PRELOAD="$FF_BUILD_DIR/tests/slow.so" "$FF_SOURCE_DIR/tools/golden" check telegrams -k two -k answers-3 -j 2 -b "$FREEFLOAT"
ended
