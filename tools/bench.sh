#!/usr/bin/env bash
# Runs every benchmark in build-release, then counts instructions per loop step, which no busy machine can disturb.
set -eu
cd "$(dirname "$0")/.."
for bench in build-release/bench/bench_*; do
  [ -f "$bench" ] && [ -x "$bench" ] || continue
  echo
  echo "== $(basename "$bench")"
  "$bench"
done
if command -v valgrind > /dev/null && [ -x build-release/bench/bench_loop_mujoco ]; then
  out=$(mktemp)
  total=$(valgrind --tool=callgrind --callgrind-out-file="$out" --toggle-collect=ff_loop_step \
    build-release/bench/bench_loop_mujoco count 2>&1 | awk '/Collected/ {print $NF}')
  rm -f "$out"
  echo
  echo "instructions per loop step (tdpa, lie-midpoint, 1000 steps): $((total / 1000))"
fi
