#!/usr/bin/env bash
# Every command that prints a table or counts prints the same as JSON: one value, nothing else on standard output.
# Colour is for terminals alone, and NO_COLOR is honoured there.
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
facility=
trap '[ -z "$facility" ] || kill "$facility" 2> /dev/null; rm -rf "$work"' EXIT
S=$FF_SOURCE_DIR/scenarios
# json EXPRESSION command...: standard output is one JSON value v, and the expression holds
json() {
  local test=$1
  shift
  timeout 300 "$@" > out.json 2> err.txt < /dev/null
  python3 - "$test" out.json <<'P' || fail "$*: $(head -c 200 out.json) $(head -c 200 err.txt)"
import json, sys
v = json.load(open(sys.argv[2]))
assert eval(sys.argv[1]), (sys.argv[1], v)
P
}
short='--set time.duration=2'
# shellcheck disable=SC2086
{
json 'v["scenario"] == "deos-client" and v["verdict"] in ("pass", "fail")' "$FREEFLOAT" run "$S/deos-client.yaml" $short --out r --log csv,mcap --json
json 'len(v) >= 2' "$FREEFLOAT" compare "$S/deos-client.yaml" $short --methods direct,tdpa --out c --json
json 'v["same"] is True and v["cycles"] > 400' "$FREEFLOAT" replay r/log.mcap --json
json '[f["rows"] for f in v] == [501] and v[0]["columns"] > 50' "$FREEFLOAT" export r/log.mcap --to csv --json
json '"stable" in v and "q_critical" in v' "$FREEFLOAT" analyze contact-stability --velocity-gain 20 --position-gain 100 --bandwidth 100 --inertia-ratio 2 --json
json 'v["map"] is not None' "$FREEFLOAT" analyze delay-margin "$S/wall.yaml" --map 0 --methods tdpa --json
json 'len(v) > 0' "$FREEFLOAT" analyze workspace "$S/deos-client.yaml" $short --json
json 'len(v) > 0' "$FREEFLOAT" analyze log r/log.csv --identify delay --json
export XDG_STATE_HOME="$PWD/state"
json '"may_250_hz" in v and v["awake"] in (True, False)' "$FREEFLOAT" rt --selftest --json
grep -q "^fit_250 [01]$" state/freefloat/selftest || fail "selftest: not kept"
expect 0 "idle states  allowed by --idle" "$FREEFLOAT" rt --selftest --idle
grep -q "kept for 30 days in $PWD/state/freefloat/selftest" out.txt || fail "selftest: $(cat out.txt)"
grep -Eq "wake-up +p50 [0-9]+ us, p99 [0-9]+ us, largest [0-9]+ us of [0-9]+ at 1 kHz" out.txt && grep -q "#" out.txt || fail "selftest: $(cat out.txt)"
json 'len(v) > 0' "$FREEFLOAT" papers lange --json
}
json 'v["runs"] > 0 and v["failed"] == 0' "$FREEFLOAT" campaign "$FF_SOURCE_DIR/campaigns/integrators.yaml" --out k --json
# A facility and its loop, in lock step.
port=$((10240 + RANDOM % 20000))
ports="--rsi-port $port --ati-port $((port + 10)) --http-port $((port + 20))"
# shellcheck disable=SC2086
timeout 100 "$FREEFLOAT" facility "$S/deos-client.yaml" $short --once --lockstep --json $ports > facility.json 2> /dev/null &
facility=$!
# shellcheck disable=SC2086
json 'v["cycles"] == 500' "$FREEFLOAT" rt "$S/deos-client.yaml" $short --silence 10 --out rt --json $ports
wait "$facility"
facility=
python3 -c 'import json; v = json.load(open("facility.json")); assert v["sessions"] == 1 and v["cycles"] > 400, v' || fail "facility --json: $(head -c 300 facility.json)"
# A sensor that jumps beyond its limit: the cause in one line, the last seconds in a file, exit status 1; a page is served meanwhile.
# shellcheck disable=SC2086
behind facility.txt timeout 100 "$FREEFLOAT" facility "$S/wall.yaml" --once --lockstep --timeout 100 --answers answers.csv --set 'facility.faults=[{kind: ft-offset, value: 300, from: 0.7}]' $ports
facility=$!
# shellcheck disable=SC2086
expect 1 "FAULT, .*force" timeout 100 "$FREEFLOAT" rt "$S/wall.yaml" --silence 10 --out trip --set satellites.body.safety.force=200 --live 127.0.0.1:0 --control $ports
grep -q "live http://127.0.0.1:[0-9]*/#token=" out.txt || fail "no page: $(cat out.txt)"
grep -q "last 2 s before the fault trip/fault.csv" out.txt || fail "no last seconds: $(cat out.txt)"
[ "$(wc -l < trip/fault.csv)" -gt 100 ] || fail "trip/fault.csv has $(wc -l < trip/fault.csv) lines"
wait "$facility"
[ -s facility.txt ] && [ "$(wc -l < answers.csv)" -gt 100 ] || fail "answers.csv has $(wc -l < answers.csv) lines: $(cat facility.txt)"
facility=
# Colour: none in a pipe, some on a terminal, none with NO_COLOR.
colour() { script -qec "$1" /dev/null < /dev/null | grep -c $'\033\[[0-9;]*m'; }
command="'$FREEFLOAT' run '$S/wall.yaml' --set time.duration=0.1 --out n"
[ "$(eval "$command" | grep -c $'\033')" -eq 0 ] || fail "colour in a pipe"
[ "$(colour "env -u NO_COLOR $command")" -gt 0 ] || fail "no colour on a terminal"
[ "$(colour "NO_COLOR=1 $command")" -eq 0 ] || fail "NO_COLOR is not honoured"
# What takes longer than a second shows how far it is, on a terminal alone.
command="'$FREEFLOAT' run '$S/wall.yaml' --live 127.0.0.1:0 --set time.duration=1.5 --log none --out n"
script -qec "$command" /dev/null < /dev/null | grep -Eq '\[#*\.*\] +[0-9]+ %.* s left' || fail "no bar on a terminal"
[ $failures -eq 0 ] || exit 1
echo "all passed"
