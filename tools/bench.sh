#!/usr/bin/env bash
# Runs every benchmark in build-release, then counts instructions per loop step, which no busy machine can disturb:
# of the default step the mean, of damping, impact and the servicer's whole cycle also p99 and worst.
set -eu
cd "$(dirname "$0")/.."
for bench in build-release/bench/bench_*; do
  [ -f "$bench" ] && [ -x "$bench" ] || continue
  echo
  echo "== $(basename "$bench")"
  "$bench"
done

# Instructions of every single loop step of one program: mean, p99 and worst. One dump of callgrind per step.
count_steps() {
  local label=$1 dir step=${STEP:-ff_loop_step}
  shift
  [ -x "$1" ] || return 0
  dir=$(mktemp -d)
  valgrind --tool=callgrind --callgrind-out-file="$dir/out" --toggle-collect="$step" \
    --dump-after="$step" "$@" > "$dir/log" 2>&1 || { cat "$dir/log" >&2; rm -rf "$dir"; return 1; }
  find "$dir" -name 'out.*' -exec awk '/^summary:/ {print $2}' {} + | sort -n | awk -v label="$label" '
    {n[NR] = $1; sum += $1}
    END {printf "%-44s %5d steps  mean %7d  p99 %7d  worst %8d\n", label, NR, sum / NR, n[int(NR * 0.99)], n[NR]}'
  rm -rf "$dir"
}

if command -v valgrind > /dev/null && [ -x build-release/bench/bench_loop_mujoco ]; then
  out=$(mktemp)
  total=$(valgrind --tool=callgrind --callgrind-out-file="$out" --toggle-collect=ff_loop_step \
    build-release/bench/bench_loop_mujoco count 2>&1 | awk '/Collected/ {print $NF}')
  rm -f "$out"
  echo
  echo "instructions per loop step (tdpa, lie-midpoint, 1000 steps): $((total / 1000))"
fi
if command -v valgrind > /dev/null; then
  echo
  echo "instructions of a loop step, two satellites on two robots"
  count_steps "damping, in and out of contact" build-release/bench/bench_damping count
  count_steps "damping, printed" build-release/bench/bench_damping count printed
  count_steps "impact, bar and cone, 12 ms" build-release/bench/bench_impact count cone
  count_steps "impact, bar and cone, 40 ms" build-release/bench/bench_impact count late
  count_steps "impact, limited robots, 0.5 N of noise" build-release/bench/bench_impact count noisy
  count_steps "impact, the same, 1 ms, long in contact" build-release/bench/bench_impact count long
  count_steps "two rigid bodies, absolute" build-release/bench/bench_servicer count absolute
  count_steps "two rigid bodies, relative" build-release/bench/bench_servicer count relative
  echo
  echo "instructions of a whole servicer cycle: (18), (22), (23), client, nominal motion"
  for method in servicer tdpa damping; do
    STEP=ff_bench_servicer_cycle count_steps "base and 7 joints, $method" build-release/bench/bench_servicer count $method
  done
  echo
  echo "instructions of a loop step with fused, one satellite; the worst step is bounded whatever the contact's length"
  count_steps "fused, 4 ms, 20 samples in contact" build-release/bench/bench_fused 0
  count_steps "fused, 4 ms, 295 samples" build-release/bench/bench_fused 2
  count_steps "fused, 4 ms, 295 samples, spinning, noise" build-release/bench/bench_fused 4
  count_steps "fused, 1 ms, 63 samples, spinning" build-release/bench/bench_fused 5
  count_steps "fused, 1 ms, 628 samples, spinning" build-release/bench/bench_fused 6
fi
