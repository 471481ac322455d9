#!/usr/bin/env bash
# What happens to the processes themselves, in lock step: signals, a killed facility, a second client, a full disk, real devices.
set -u
. "$FF_SOURCE_DIR/tests/rt/pair.sh"
S=$FF_SOURCE_DIR/scenarios/wall.yaml
for kind in loop-interrupted loop-terminated; do
  fault "$kind, from: 0.6" --lockstep --log mcap
  grep -q "a fault: SIG" facility.txt || fail "$kind was not injected: $(cat facility.txt)"
  grep -q "HOLD$" rt.txt && ! grep -q FAULT rt.txt || fail "$kind did not end in HOLD: $(cat rt.txt)"
  grep -q "RSI ended as asked" facility.txt || fail "$kind: the controller was not commanded to end: $(cat facility.txt)"
  [ $got -eq 1 ] || fail "$kind: exit $got for a run that was cut short"
  [ -s out/summary.json ] || fail "$kind: no summary"
  tr -d ' \n' < out/summary.json | grep -q '"state":"FLOAT"}.*"text":"theoperatoraskedfortheend"}.*"state":"HOLD"}.*"real_time":{"wake_up_p50_us":.*"devices":' || fail "$kind: states, events, timing or devices are not in summary.json: $(tail -60 out/summary.json)"
  grep -q 'the operator asked for the end' out/report.html || fail "$kind: what ended the run is not in report.html"
done

# signals that would end or suspend it; a terminal or a reader of its output that goes away
slow=(--set time.duration=400 --set "satellites.body.velocity=[0.0001, 0, 0]") # a busy machine shall send the signal before the end
for number in QUIT TSTP HUP ALRM PIPE; do
  start_facility --lockstep "${slow[@]}"
  ( rm -rf out; exec "$FREEFLOAT" rt "$S" --arm --out out "${P[@]}" --silence 20 --log mcap "${slow[@]}" < /dev/null 2> errors.txt ) > >(if [ $number = PIPE ]; then head -n 1; else cat; fi > rt.txt) & rt_pid=$!
  for _ in $(seq 1000); do grep -q FLOAT rt.txt errors.txt 2> /dev/null && break; [ $number = PIPE ] && [ -s out/log.mcap ] && break; sleep 0.05; done
  [ $number = PIPE ] || kill -$number "$rt_pid" || fail "$number: no loop to signal"
  finish
  [ $got -eq 1 ] && [ -s out/summary.json ] && grep -q '"state": "HOLD"' out/summary.json || fail "$number: exit $got: $(cat rt.txt errors.txt)"
  grep -q "RSI ended as asked" facility.txt || fail "$number: the controller was not commanded to end: $(cat facility.txt)"
done

# the facility is killed: the robot is silent
fault "facility-killed, from: 0.6" --lockstep --log mcap --silence 5
grep -q "FAULT, SILENT" rt.txt && [ $got -eq 1 ] || fail "killed facility: exit $got: $(cat rt.txt)"
grep -q "RSI" facility.txt && ! grep -q "after .* cycles" facility.txt || fail "the facility lives: $(cat facility.txt)"
[ -s out/fault.csv ] || fail "the last 2 s were not kept"

# no file of the loop can grow: the run ends; the terminal is a pipe, for a file would not grow either
ports; behind facility.txt timeout 60 "$FREEFLOAT" facility "$S" --once --lockstep "${P[@]}" --set "facility.faults=[{kind: disk-full, from: 5}]"; facility_pid=$!
rm -rf out; timeout 60 "$FREEFLOAT" rt "$S" --arm --out out --log mcap "${P[@]}" --silence 20 < /dev/null 2>&1 | cat > rt.txt; got=${PIPESTATUS[0]}
wait "$facility_pid"; facility_pid=
grep -q "BRAKE, RECORDER" rt.txt && grep -q "s  FAULT" rt.txt && [ "$got" -eq 1 ] || fail "files that cannot grow: exit $got: $(cat rt.txt)"
grep -q "log.mcap: cannot be written (File too large)" rt.txt || fail "the reason: $(cat rt.txt)"
! grep -q "^report" rt.txt && [ ! -e out/report.html ] || fail "a report that is not there: $(cat rt.txt)"
"$FREEFLOAT" replay out/log.mcap | grep -q "the same bits" || fail "the log up to there: $("$FREEFLOAT" replay out/log.mcap 2>&1)"

# a disk that is really full: the run ends, the log that was flushed is readable; not compressed, for it shall be full soon
if mkdir small && mount -t tmpfs -o size=1500k none small 2> /dev/null; then
  ports; behind facility.txt timeout 60 "$FREEFLOAT" facility "$S" --once --lockstep "${P[@]}"; facility_pid=$!
  behind rt.txt timeout 60 "$FREEFLOAT" rt "$S" --arm --out small/x --log mcap-plain "${P[@]}" --silence 20; rt_pid=$!
  finish
  grep -q "BRAKE, RECORDER" rt.txt && grep -q "s  FAULT" rt.txt && [ $got -eq 1 ] || fail "full disk: exit $got: $(cat rt.txt)"
  umount small
else
  without "a full disk: no right to mount one"
fi

# a sensor that is never heard: said after --wait, nothing moves
start_facility --lockstep # no controller gives up beside a busy core
for _ in $(seq 200); do ss -Htnl | grep -q ":$((base + 20))\b" && break; sleep 0.1; done # its page is there
timeout 60 "$FREEFLOAT" rt "$S" --arm --force --out out --rsi-port "$base" --ati-port "$((base + 15))" --http-port "$((base + 20))" --wait 3 < /dev/null > rt.txt 2>&1; got=$?
kill "$facility_pid" 2> /dev/null; wait "$facility_pid" 2> /dev/null; facility_pid=
[ $got -eq 1 ] && grep -q "FAULT, AGE: .*allowed 3 s" rt.txt && ! grep -q "APPROACH\|FLOAT" rt.txt || fail "a mute sensor: exit $got: $(cat rt.txt)"

# taken ports, missing devices, real devices: one line each, nothing moves
start_facility
for _ in $(seq 300); do ss -Huanl | grep -q ":$((base + 10))\b" && break; sleep 0.1; done
timeout 20 "$FREEFLOAT" facility "$S" --once "${P[@]}" > second.txt 2>&1; got=$?
[ $got -eq 1 ] && grep -q "cannot be bound\|cannot be served" second.txt || fail "taken port: exit $got: $(cat second.txt)"
kill "$facility_pid"; wait "$facility_pid" 2> /dev/null; facility_pid=
ports
timeout 20 "$FREEFLOAT" rt "$S" --arm --force --out out "${P[@]}" --wait 0.5 --quiet < /dev/null > rt.txt 2>&1; got=$?
[ $got -ne 0 ] && grep -q "no answer to HTTP GET" rt.txt || fail "no devices: exit $got: $(cat rt.txt)"
real=(--set "satellites.body.robot={kind: kuka-rsi, address: 192.0.2.1, base: {position: [-1.35, 0, -1.57]}, tool: {attitude: [0, 0, 1, 0]}}")
timeout 20 "$FREEFLOAT" rt "$S" --arm --out out "${real[@]}" < /dev/null > rt.txt 2>&1; got=$?
[ $got -eq 2 ] && grep -q "not virtual" rt.txt || fail "--arm on a real device: exit $got: $(cat rt.txt)"
timeout 20 "$FREEFLOAT" facility "$S" "${real[@]}" > rt.txt 2>&1; got=$?
[ $got -eq 2 ] && grep -q "not virtual" rt.txt || fail "facility for a real device: exit $got: $(cat rt.txt)"
for bad in "rt" "facility" "rt $S --rsi-port 0" "rt $S --wait x" "facility $S --http-port 70000" "rt $S --method ideal"; do
  # shellcheck disable=SC2086
  timeout 20 "$FREEFLOAT" $bad > rt.txt 2>&1 < /dev/null; got=$?
  [ $got -eq 2 ] && [ "$(wc -l < rt.txt)" -eq 1 ] || fail "$bad: exit $got: $(cat rt.txt)"
done

# the computer's own fitness
timeout 30 "$FREEFLOAT" rt --selftest > self.txt || fail "selftest: $(cat self.txt)"
grep -q "^this computer " self.txt && grep -q "^wake-up " self.txt && grep -q "^UDP " self.txt && grep -q "^idle states " self.txt || fail "selftest: $(cat self.txt)"
ended
