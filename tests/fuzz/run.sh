#!/usr/bin/env bash
# run.sh build: the libFuzzer targets, into build-fuzz. run.sh NAME (rsi_rob ...): one of them for FF_FUZZ_SECONDS (default 1; 600 with
# FF_TEST_LONG=1) on its corpus and on what earlier runs found, which stays in build-fuzz. run.sh fast SECONDS: every fast_NAME (blind.c) for so
# long, a fresh seed each, and how many inputs that were. run.sh blind NAME TREE: blind_NAME of a build with sanitizers, for 0.3 s on the corpus.
set -euo pipefail
source_dir="${FF_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}"
build="$source_dir/build-fuzz"
limit="${FF_FUZZ_SECONDS:-$([ "${FF_TEST_LONG:-0}" = 0 ] && echo 1 || echo 600)}"
name=${1:?a target, or: build}
lengths() { case $1 in mcap | scenario | campaign | urdf | recording | journal) echo 8192 ;; *) echo 2600 ;; esac; }

if [ "$name" = blind ]; then
  one=$2 seed=${FF_SEED:-$((RANDOM * 32768 + RANDOM + 1))} words=- work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cd "$work"
  [ ! -e "$source_dir/tests/fuzz/dictionaries/$one.dict" ] || words=$source_dir/tests/fuzz/dictionaries/$one.dict
  seeds=("$source_dir/tests/fuzz/corpus/$one"/*)
  [ "$one" != scenario ] || seeds+=("$source_dir"/scenarios/*.yaml)
  said=$("${3:?tree}/tests/fuzz/blind_$one" 0.3 "$(lengths "$one")" "$seed" "$words" "${seeds[@]}" 2>&1) ||
    { echo "blind_$one, seed $seed (FF_SEED repeats it): $said"; cp blind-found "$3/blind-$one-found" && echo "the input: $3/blind-$one-found"; exit 1; }
  echo "blind_$one, seed $seed: $said"
  exit 0
fi

command -v clang > /dev/null || { echo "skipped: needs clang with libFuzzer"; exit 77; }

if [ "$name" = build ]; then
  mkdir -p "$build"
  { cd "$source_dir" && cmake --preset fuzz && cmake --build build-fuzz --target fuzzers; } > "$build/fuzzers.log" 2>&1 ||
    { cat "$build/fuzzers.log"; exit 1; }
  exit 0
fi

if [ "$name" = fast ]; then
  { cd "$source_dir" && cmake --preset fuzz && cmake --build build-fuzz --target fast; } > /dev/null
  mkdir -p "$build/fuzz" && cd "$build/fuzz"
  sum=0
  for one in ccsds rtde ros2 torque ati_record ati_xml onboard rsi_rob rsi_sen; do
    words="$source_dir/tests/fuzz/dictionaries/$one.dict" seed=$((RANDOM * 32768 + RANDOM)) length=300
    case $one in rsi_* | ati_xml) length=1600 ;; esac
    said=$("$build/tests/fuzz/fast_$one" "${2:?seconds}" $length $seed "$words" "$source_dir/tests/fuzz/corpus/$one"/*) || { echo "fast_$one, seed $seed: $PWD/blind-found"; exit 1; }
    echo "fast_$one, seed $seed: $said"
    sum=$((sum + ${said%% *}))
  done
  echo "$sum inputs, commit $(git -C "$source_dir" rev-parse --short HEAD)"
  exit 0
fi

found="$build/fuzz/$name"
mkdir -p "$found"
seeds=("$found")
[ ! -d "$source_dir/tests/fuzz/corpus/$name" ] || seeds+=("$source_dir/tests/fuzz/corpus/$name")
[ "$name" != scenario ] || seeds+=("$source_dir/scenarios")
length=$(lengths "$name")
words=()
[ ! -e "$source_dir/tests/fuzz/dictionaries/$name.dict" ] || words=(-dict="$source_dir/tests/fuzz/dictionaries/$name.dict")
cd "$build/fuzz"
if ! "$build/tests/fuzz/fuzz_$name" -max_total_time="$limit" -timeout=10 -rss_limit_mb=1024 -max_len="$length" \
  -artifact_prefix="$found-" -print_final_stats=1 "${words[@]}" "${seeds[@]}" > "$found.log" 2>&1; then
  echo "fuzz_$name FAILED"
  tail -40 "$found.log"
  exit 1
fi
echo "fuzz_$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$found.log") inputs in $limit s, no crash"
