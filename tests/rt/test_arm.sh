#!/usr/bin/env bash
# An arm that is commanded by joint torques: an emulation over facility and rt in lock step has the bits of run; what an arm must not do is
# refused with one line; an arm and a client in python, written from the document, share no code with freefloat.
set -u
. "$FF_SOURCE_DIR/tests/rt/pair.sh"
need python3 pkill
S=$FF_SOURCE_DIR/scenarios/planar-arm-emulation.yaml
R=$FF_SOURCE_DIR/tests/rt
sampled=(--set emulation.controller=sampled)
cat > compare.py << 'P'
import json, sys
a, b, f = (json.load(open(p)) for p in (f"{sys.argv[1]}/summary.json", f"{sys.argv[2]}/summary.json", sys.argv[3]))
a, b = a["emulation"], b["emulation"]
assert f["arm"]["contact_s"] == a["contact_s"] and f["arm"]["peak_force_N"] == a["peak_force_N"], (f, a)  # what the facility alone knows
assert a["contact_s"] <= b.pop("contact_s") <= a.pop("contact_s") + float(sys.argv[4])  # seen with the next telegram
assert 0.5 < b.pop("peak_force_N") / a.pop("peak_force_N") <= 1.0
assert a == b, (a, b)
P
same() { # NAME FILE CYCLE options...
  local name=$1 file=$2 cycle=$3
  shift 3
  "$FREEFLOAT" run "$file" --out "$name.run" --quiet --log csv "$@" > /dev/null
  facility_options=("$@" --json)
  pair "$name" --lockstep "$file" --silence 20 --log csv --quiet "$@"
  [ $got -eq 0 ] || fail "$name: exit $got: $(tail -n 3 "$name.rt" "$name.facility")"
  cmp -s "$name.run/log.csv" "$name/log.csv" || fail "$name: the log is not that of run"
  python3 compare.py "$name.run" "$name" "$name.facility" "$cycle" || fail "$name: figures"
}
# pair kills a facility that has not ended yet: --once has, when rt is done, but for its last line
pair() {
  local out=$1 options=$2 file=$3
  shift 3
  ports
  # shellcheck disable=SC2086
  behind "$out.facility" timeout 100 "$FREEFLOAT" facility "$file" --once "${P[@]}" $options "${facility_options[@]}"; facility_pid=$!
  timeout 100 "$FREEFLOAT" rt "$file" --arm --out "$out" "${P[@]}" "$@" < /dev/null > "$out.rt" 2>&1
  got=$?
  wait "$facility_pid"; facility_pid=
}
same plane "$S" 0.005 "${sampled[@]}"
[ "${FF_TEST_LONG:-0}" = 0 ] || same free "$S" 0.005 "${sampled[@]}" --set emulation.scheme=free --set emulation.robot.actuator_delay=0.007 --set emulation.robot.actuator_bandwidth=300
same joint "$FF_SOURCE_DIR/scenarios/papers/aghili/appendix-e.yaml" 0.001 "${sampled[@]}" --set time.cycle=0.001 --set time.duration=0.5
# refused before anything moves
refused() { # "text" options...
  local text=$1
  shift
  "$FREEFLOAT" rt "$S" --arm --out none --quiet "$@" < /dev/null > none.rt 2>&1
  got=$?
  { [ $got -eq 2 ] && [ "$(wc -l < none.rt)" -eq 1 ] && grep -q "$text" none.rt; } || fail "not '$text': exit $got: $(cat none.rt)"
}
refused "emulation.controller is continuous, allowed on devices, which have cycles: sampled"
refused "needs a measured acceleration" "${sampled[@]}" --set emulation.gains.force=0.2
refused "an arm that is not virtual needs torque, velocity, lower and upper" "${sampled[@]}" --set emulation.robot.device.address=192.0.2.1
refused "joint 2 of the target begins at 0.1 rad/s, allowed on devices: at rest" "${sampled[@]}" --set emulation.target.links.1.speed=0.1
# an arm in python
arm() { # CASE expected-exit "text in rt's output" options...
  local name=$1 want=$2 text=$3
  shift 3
  ports
  behind "$name.peer" timeout 60 python3 "$R/arm_peer.py" "$base" "$name"; facility_pid=$!
  timeout 60 "$FREEFLOAT" rt "$S" --arm --out "$name" "${P[@]}" --log none --silence 5 "${sampled[@]}" --set time.duration=0.1 "$@" < /dev/null > "$name.rt" 2>&1
  got=$?
  case $name in met | fast) ;; *) kill "$facility_pid" 2> /dev/null ;; esac # those say what they were sent
  wait "$facility_pid" 2> /dev/null; facility_pid=
  { [ $got -eq "$want" ] && grep -q "$text" "$name.rt"; } || fail "$name: exit $got, not '$text': $(tail -n 3 "$name.rt" "$name.peer")"
}
arm met 0 "0 telegrams lost"
python3 -c "
import json
seen = json.load(open('met.peer'))
# 19.6 and 8.4 N m carry the links at rest; the target's torques add less than 5
assert seen['end'] == 1 and seen['torque'] == 20 and seen['hold'] >= 25 and 10 < seen['largest'] < 60, seen
rt = json.load(open('met/summary.json'))['devices']['arm']
assert rt['malformed'] >= 3 * 45 and rt['repeated'] >= 45 and rt['lost'] == 0, rt
" || fail "met: $(cat met.peer)"
[ "${FF_TEST_LONG:-0}" = 0 ] || arm joints 1 "another number of joints than the scenario's robot (2)"
arm version 1 "another version of the protocol, allowed: 1"
arm elsewhere 1 "joint 1 of the arm is at 0.310000 rad, the scenario begins at 0.300000"
[ "${FF_TEST_LONG:-0}" = 0 ] || arm cycle 1 "the arm's cycle is 0.004 s, time.cycle 0.005 s"
arm fault 1 "the arm stands: the arm's own protection"
[ "${FF_TEST_LONG:-0}" = 0 ] || arm restart 1 "the arm has begun again" --silence 1
arm silent 1 "no telegram of the arm came in time" --silence 0.5
arm fast 1 "a joint is beyond its range or its speed" --set 'emulation.robot.links.1.velocity=2'
grep -q '"end": 1' fast.peer || fail "fast: it was not ended: $(cat fast.peer)"
ports
timeout 20 "$FREEFLOAT" rt "$S" --arm --out none "${P[@]}" "${sampled[@]}" --wait 0.3 < /dev/null > none.rt 2>&1 && fail "nobody there: it ran"
grep -q "no virtual device was heard" none.rt || fail "nobody there: $(cat none.rt)"
# Ctrl-C: the arm is braked and ended in order, whatever rt was doing
start_facility --lockstep
start_rt "${sampled[@]}" --set time.duration=100 --log none
for _ in $(seq 600); do grep -q "a client answers" facility.txt && break; sleep 0.05; done
pkill -INT -P "$rt_pid"
finish
{ [ $got -eq 1 ] && grep -q "stopped at" rt.txt && grep -q "the arm ended after .* 0 commands late" facility.txt; } || fail "Ctrl-C: exit $got: $(cat rt.txt facility.txt)"
# a client in python
ports
behind client.facility timeout 60 "$FREEFLOAT" facility "$S" --once "${P[@]}" --lockstep --set time.cycle=0.001 --set 'emulation.robot.gravity=[0,0,0]' \
  --set 'emulation.robot.links.0.viscous=0' --set 'emulation.robot.links.1.viscous=0' --set 'emulation.robot.links.0.torque=50'; facility_pid=$!
timeout 50 python3 "$R/arm_client.py" "$base" > client.txt 2>&1 || fail "a client: $(tail -n 3 client.txt client.facility)"
wait "$facility_pid"; facility_pid=
grep -q "0 commands late, 0 stale, 2 strange, 1 malformed" client.facility || fail "a client: $(cat client.facility)"
[ $failures -eq 0 ]
