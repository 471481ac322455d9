#!/usr/bin/env bash
# Commands that are killed, or whose disk or memory fails, at any call: what is seen is whole. A few random ones of some ten thousand; under
# make test-long as many as fit FF_CRASH_SECONDS (900). FF_SEED repeats a draw; FF_CRASH_ONLY=', cut:' chooses by name.
export FF_PORTS=${TMPDIR:-/tmp}
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm # what is killed is a process, not the computer: nothing is gained by a disk that waits
. "$FF_SOURCE_DIR/tests/expect.sh"
need python3
seed=${FF_SEED:-$(($(date +%s%N) % 1000000000))}
echo "seed $seed (FF_SEED repeats it)"
count=24
[ -z "${FF_TEST_LONG:-}" ] || [ "$FF_TEST_LONG" = 0 ] || count=0
python3 "$FF_SOURCE_DIR/tests/runs/crash.py" "$FREEFLOAT" "$FF_BUILD_DIR/tests/crash.so" "$FF_SOURCE_DIR/scenarios/wall.yaml" \
  "${FF_CRASHES:-$count}" "${FF_CRASH_SECONDS:-900}" "$seed" "${FF_CRASH_ONLY:-}"
