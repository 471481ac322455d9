#!/usr/bin/env bash
# Builds the libFuzzer targets into build-fuzz and runs each for FF_FUZZ_SECONDS (default 5; 600 with FF_TEST_LONG=1),
# FF_FUZZ_JOBS at a time (default 1). Arguments name targets (rsi_rob ...); none means all. New inputs stay in build-fuzz.
set -euo pipefail
source_dir="${FF_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}"
build="${FF_FUZZ_BUILD:-$source_dir/build-fuzz}"
limit="${FF_FUZZ_SECONDS:-$([ "${FF_TEST_LONG:-0}" = 0 ] && echo 5 || echo 600)}"
jobs="${FF_FUZZ_JOBS:-1}"
command -v clang >/dev/null || { echo "skipped: needs clang with libFuzzer"; exit 0; }
generator=(); command -v ninja >/dev/null && generator=(-G Ninja)
cmake -S "$source_dir" -B "$build" "${generator[@]}" -DFF_FUZZ=ON -DFF_WERROR=OFF -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo >/dev/null
cmake --build "$build" --target fuzzers -j2 >"$build/fuzzers.log" 2>&1 || { cat "$build/fuzzers.log"; exit 1; }

one() {
  local name=$1 found="$build/fuzz/$1"
  mkdir -p "$found"
  local seeds=("$found")
  [ ! -d "$source_dir/tests/fuzz/corpus/$name" ] || seeds+=("$source_dir/tests/fuzz/corpus/$name")
  [ "$name" != scenario ] || seeds+=("$source_dir/scenarios")
  if ! (cd "$build/fuzz" && "$build/tests/fuzz/fuzz_$name" -max_total_time="$limit" -timeout=10 -rss_limit_mb=1024 \
        -max_len=$(case $name in mcap | scenario) echo 8192 ;; *) echo 2600 ;; esac) -artifact_prefix="$found-" -print_final_stats=1 \
        "${seeds[@]}" >"$found.log" 2>&1); then
    echo "fuzz_$name FAILED"; tail -40 "$found.log"; return 1
  fi
  echo "fuzz_$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$found.log") inputs in $limit s, no crash"
}

names=("$@")
[ ${#names[@]} -gt 0 ] || for f in "$source_dir"/tests/fuzz/fuzz_*.c; do f=$(basename "$f" .c); names+=("${f#fuzz_}"); done
failed=0
for ((i = 0; i < ${#names[@]}; i += jobs)); do
  pids=()
  for name in "${names[@]:i:jobs}"; do one "$name" & pids+=($!); done
  for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
done
exit $failed
