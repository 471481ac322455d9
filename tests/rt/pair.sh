# shellcheck shell=bash
# Sourced by the tests of rt: a facility and its client on free ports of 127.0.0.1, bounded in time.
work=$(mktemp -d)
facility_pid=
trap '[ -z "$facility_pid" ] || kill "$facility_pid" 2> /dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$FF_SOURCE_DIR/tests/need.sh"
failures=0
facility_options=()
urgent=() # what begins a facility that stands for a controller in wall-clock time: before all other work
fail() { echo "FAIL: $*"; failures=$((failures + 1)); }
ports() { # three free ports below the ephemeral range, in a block that nobody else holds (ports.h)
  local locks=${FF_TEST_PORTS:-${TMPDIR:-/tmp}}/ff-test-ports block
  mkdir -p "$locks"
  while :; do
    block=$((RANDOM % 725))
    base=$((10240 + 30 * block))
    exec 9>> "$locks/$block"
    flock -n 9 || continue
    ss -Huanl 2> /dev/null | grep -q ":$base\b\|:$((base + 10))\b" || break
  done
  P=(--rsi-port "$base" --ati-port "$((base + 10))" --http-port "$((base + 20))")
}
# pair OUT "facility's options" FILE rt's options...: exit status of rt in $got
pair() {
  local out=$1 options=$2 file=$3
  shift 3
  ports
  # shellcheck disable=SC2086
  behind "$out.facility" timeout 120 "${urgent[@]}" "$FREEFLOAT" facility "$file" --once "${P[@]}" $options "${facility_options[@]}"
  facility_pid=$!
  # shellcheck disable=SC2086
  timeout 120 "$FREEFLOAT" rt "$file" --arm --out "$out" "${P[@]}" "$@" < /dev/null > "$out.rt" 2>&1
  # shellcheck disable=SC2034 # for the caller
  got=$?
  kill "$facility_pid" 2> /dev/null
  wait "$facility_pid" 2> /dev/null
  facility_pid=
}
# The two sides apart, of the scenario $S; finish waits for both. The facility ends by itself (--once), on a busy machine a moment later. A robot
# counts as silent after 20 s, unless a case waits for that and says otherwise: a busy machine shall not.
start_facility() { ports; behind facility.txt timeout 100 "${urgent[@]}" "$FREEFLOAT" facility "$S" --once "${P[@]}" "$@"; facility_pid=$!; }
start_rt() { rm -rf out; behind rt.txt timeout 100 "$FREEFLOAT" rt "$S" --arm --out out "${P[@]}" --silence 20 "$@"; rt_pid=$!; }
finish() {
  wait "$rt_pid"
  # shellcheck disable=SC2034 # for the caller
  got=$?
  for _ in $(seq 300); do kill -0 "$facility_pid" 2> /dev/null || break; sleep 0.1; done
  kill "$facility_pid" 2> /dev/null; wait "$facility_pid" 2> /dev/null; facility_pid=
}
# What the facility does to the processes, as a line of the scenario asks: fault KIND "facility's options" rt's options...
fault() {
  local kind=$1 options=$2
  shift 2
  # shellcheck disable=SC2086
  start_facility $options --set "facility.faults=[{kind: $kind}]"; start_rt "$@"; finish
}
