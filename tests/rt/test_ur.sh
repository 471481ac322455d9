#!/usr/bin/env bash
# A Universal Robots controller over RTDE: in lock step rt equals run to the wire's resolution, fused rebounds as the ideal body
# does; faults end a run; a controller and a client in python share no code with freefloat.
set -u
. "$FF_SOURCE_DIR/tests/rt/pair.sh"
need python3
S=$FF_SOURCE_DIR/scenarios/ur10e-client.yaml
R=$FF_SOURCE_DIR/tests/rt
# an interpreter beside busy cores is late: before the other tests, where that is allowed
urgent=()
chrt -f 10 true 2> /dev/null && urgent=(chrt -f 10)
cat > compare.py << 'P'
import json, sys
# Joints are doubles on this wire, forces counts of 1e-6 N: each is off by half of one at most, which in a contact of d seconds is 0.5e-6 d / m of
# speed, and adds up from contact to contact. Twice that: a method may feed a force back with a gain of up to two.
a, b = (json.load(open(f"{d}/summary.json"))["satellites"]["client"] for d in sys.argv[1:3])
assert len(a["contacts"]) == len(b["contacts"]) >= 1, (a["contacts"], b["contacts"])
limit = 0.0
for x, y in zip(a["contacts"], b["contacts"]):
    if x["end_s"] is None:
        continue
    limit += 2 * 0.5e-6 * (x["end_s"] - x["start_s"]) / 280
    worst = max(abs(p - q) for p, q in zip(x["velocity_after_mps"], y["velocity_after_mps"]))
    assert worst < limit, (worst, limit)
if len(sys.argv) > 3:
    error = b["error_vs_ideal"]["restitution_error"]
    assert abs(error) < float(sys.argv[3]), error
P
# the script port is of the scenario: from the block of ports that is held anyway
ur() { # NAME "facility's options" rt's options...: as pair
  local name=$1 options=$2
  shift 2
  ports
  local port=(--set "satellites.client.robot.script_port=$((base + 25))")
  # shellcheck disable=SC2086
  behind "$name.facility" timeout 120 "$FREEFLOAT" facility "$S" --once "${P[@]}" "${port[@]}" $options "${facility_options[@]}"; facility_pid=$!
  timeout 120 "$FREEFLOAT" rt "$S" --arm --out "$name" "${P[@]}" "${port[@]}" "$@" < /dev/null > "$name.rt" 2>&1
  got=$?
  kill "$facility_pid" 2> /dev/null; wait "$facility_pid" 2> /dev/null; facility_pid=
}
for method in tdpa damping fused; do
  set=(--method "$method" --set time.duration=7)
  "$FREEFLOAT" run "$S" --out "$method.run" --quiet "${set[@]}" > /dev/null
  facility_options=("${set[@]}")
  ur "$method" --lockstep --silence 20 --log mcap "${set[@]}"
  grep -q "the program ended as asked .* 0 late" "$method.facility" || fail "$method: exit $got: $(tail -3 "$method.rt" "$method.facility")"
  # shellcheck disable=SC2046
  python3 compare.py "$method.run" "$method" $([ $method = fused ] && echo 0.005) || fail "$method differs from run"
  "$FREEFLOAT" replay "$method/log.mcap" --quiet || fail "$method: its log does not replay"
done
# the force from inside the arm: a second client of the same controller
set=(--set time.duration=4 --set 'satellites.client.sensor={kind: ur-force}')
"$FREEFLOAT" run "$S" --out force.run --quiet "${set[@]}" > /dev/null
facility_options=("${set[@]}")
ur force --lockstep --silence 20 --log mcap "${set[@]}"
[ $got -eq 0 ] || fail "ur-force: exit $got: $(tail -n 3 force.rt force.facility)"
python3 compare.py force.run force || fail "ur-force differs from run"
"$FREEFLOAT" replay force/log.mcap --quiet || fail "ur-force: its log does not replay"
facility_options=("${set[@]}" --set "facility.faults=[{kind: ft-silent, from: 0.8, to: 1.4}]")
ur mute --lockstep --silence 3 "${set[@]}"
{ [ $got -eq 1 ] && grep -q "FAULT.*AGE" mute.rt; } || fail "ur-force silent: exit $got: $(tail -n 4 mute.rt)"
"$FREEFLOAT" rt "$FF_SOURCE_DIR/scenarios/deos-client.yaml" --arm --out none --set 'satellites.client.sensor={kind: ur-force}' < /dev/null > none.rt 2>&1 && fail "ur-force without a UR: it ran"
grep -q "allowed: with a robot of kind ur-rtde" none.rt || fail "ur-force without a UR: $(cat none.rt)"
# what the controller reports of itself ends a run, with its name; a robot that stands, and one that falls silent
facility_options=(--set time.duration=3)
try() { # KIND expected word
  facility_options=(--set time.duration=3 --set "facility.faults=[{kind: $1, from: 0.8, to: 1.4}]")
  ur fault --lockstep --silence 3 --set time.duration=3
  { [ $got -eq 1 ] && grep -q "FAULT.*$2" fault.rt; } || fail "$1: exit $got, not $2: $(tail -4 fault.rt)"
}
try protective-stop "CONTROLLER.*protective stop"
try krc-estop "CONTROLLER.*emergency stop"
try krc-program "CONTROLLER.*program"
try "krc-override, value: 50" "CONTROLLER.*override"
try robot-stuck STANDS
try answer-lost LATE
# orders that are lost or late on their way: what is executed keeps velocity, acceleration and jerk, by a man in the middle
seed=${FF_SEED:-$((RANDOM * 32768 + RANDOM))}
echo "seed $seed (FF_SEED repeats it)"
runs=2
[ "${FF_TEST_LONG:-0}" = 0 ] || runs=40
facility_options=()
for ((n = 1; n <= runs; n++)); do
  limits=(--set time.duration=2 --set "satellites.client.velocity=[0.04,0.05,0.03]" --set "satellites.client.safety={velocity: 0.12, acceleration: 2, jerk: 400}")
  chance=$([ $((n % 2)) -eq 1 ] && echo 0.01 || echo 0.03)
  ports
  middle=$((base + 15)) ur=$base port=(--set "satellites.client.robot.script_port=$((base + 25))")
  behind middle.facility timeout 120 "$FREEFLOAT" facility "$S" --once --lockstep "${P[@]}" "${port[@]}" "${limits[@]}"; facility_pid=$!
  behind middle.peer timeout 120 python3 "$R/ur_middle.py" "$middle" "$ur" $((seed + n)) 0.002 0.12 2 400 "$chance"; middle_pid=$!
  timeout 120 "$FREEFLOAT" rt "$S" --arm --out middle "${P[@]}" --rsi-port "$middle" "${port[@]}" "${limits[@]}" --silence 20 --wait 20 < /dev/null > middle.rt 2>&1
  wait "$middle_pid"
  kill "$facility_pid" 2> /dev/null; wait "$facility_pid" 2> /dev/null; facility_pid=
  python3 -c "
import json
seen = json.load(open('middle.peer'))
print(seen)
assert seen['moved'] > 0.002 and seen['lost'] and seen['echo'] == 0, seen
assert all(seen[x] <= 1.01 for x in ('velocity', 'acceleration', 'jerk')), seen" || fail "orders on their way, $n of seed $seed: $(tail -n 3 middle.rt)"
  grep -q "HOLD\|FAULT" middle.rt || fail "orders on their way: no named end: $(tail -n 3 middle.rt)"
done
# an arm from a file: with and without its links named; refused with one line before anything moves
sed -n "s/^#urdf //p" "$R/test_ur.sh" > six.urdf
arm() { "$FREEFLOAT" check "$S" --set "satellites.client.robot.arm=$1" 2>&1; }
arm "{model: $work/six.urdf}" | grep -q "valid" || fail "arm from a file: $(arm "{model: $work/six.urdf}")"
arm "{model: $work/six.urdf, base: base_link, tip: tool0, ready: [0, -1, 1, 0, 1, 0]}" | grep -q "valid" || fail "arm from a file, named"
arm fr3 | grep -q "has 7 axes, allowed with ur-rtde: six" || fail "seven axes: $(arm fr3)"
arm "{model: $work/six.urdf, tip: e}" | grep -q "5 joints move between 'base_link' and 'e', allowed: 6 or 7" || fail "five axes"
arm "{model: $work/six.urdf, ready: [0, 1]}" | grep -q "ready must be a list of 6" || fail "ready"
arm "{model: $work/six.urdf, ready: [0, -1, 1, 0, 1, 9]}" | grep -q "joint 6 is at 9, allowed: -6 to 6" || fail "ready outside"
# a client by the vendor's texts
ports
behind client.facility timeout 60 "$FREEFLOAT" facility "$S" "${P[@]}" --lockstep --set "satellites.client.robot.script_port=$((base + 25))"; facility_pid=$!
timeout 50 python3 "$R/ur_client.py" "$base" $((base + 25)) > client.txt 2>&1 || fail "a client: $(tail -3 client.txt client.facility)"
kill "$facility_pid"; wait "$facility_pid" 2> /dev/null; facility_pid=
# a controller by the vendor's texts: one that is met, and those that are refused before anything moves
where=$("$FREEFLOAT" analyze workspace "$S" --json | python3 -c "
import json, sys, math
s = json.load(sys.stdin)['satellites']['client']['absolute']
print(' '.join('%.15g' % math.radians(x) for x in s['start_axes_deg']))")
controller() { # WHAT expected in rt's last lines
  ports
  # TCP: at the start pose, in the base, as the tool says (identity there)
  # shellcheck disable=SC2086
  behind "$1.peer" timeout 50 "${urgent[@]}" python3 "$R/ur_controller.py" "$base" $((base + 25)) $((base + 10)) $((base + 20)) "$1" $where -0.75 -0.05 0.25 0 0 0; facility_pid=$!
  timeout 40 "${urgent[@]}" "$FREEFLOAT" rt "$S" --arm --out "$1" "${P[@]}" --set "satellites.client.robot.script_port=$((base + 25))" --silence 10 --wait 3 \
    --set time.cycle=0.004 --set time.duration=0.5 --set 'satellites.client.velocity=[0,0,0]' --set 'satellites.client.angular_velocity=[0,0,0]' --set 'contacts=[]' \
    --set 'satellites.client.check={push: skip}' --set 'satellites.client.safety={missed: 500, age: 2}' < /dev/null > "$1.rt" 2>&1
  got=$?
  for _ in $(seq 20); do kill -0 "$facility_pid" 2> /dev/null || break; sleep 0.1; done
  kill "$facility_pid" 2> /dev/null; wait "$facility_pid" 2> /dev/null; facility_pid=
  grep -q "$2" "$1.rt" || fail "$1: exit $got, not '$2': $(tail -n 4 "$1.rt"; cat "$1.peer")"
}
controller met "0 cycles missed"
[ $got -eq 0 ] || fail "met: exit $got"
python3 -c "
import json
seen = json.load(open('met.peer'))
assert seen['ended'] and seen['answers'] > 100 and seen['jump'] < 1e-3 and seen['program'].startswith('def freefloat'), seen
" || fail "met: $(cat met.peer met.rt)"
controller old "RTDE protocol version 2 is refused"
controller used "input_int_register_24 is not there, of another type, or another client writes it"
controller local "does not run the program that was sent: is it in local control"
controller stop "protective stop"
ports
timeout 20 "$FREEFLOAT" rt "$S" --arm --out none "${P[@]}" --wait 0.3 < /dev/null > none.rt 2>&1 && fail "nobody there: it ran"
grep -q "no virtual device was heard" none.rt || fail "nobody there: $(cat none.rt)"
[ $failures -eq 0 ]
exit
#urdf <robot name="six"><link name="base_link"/><link name="a"/><link name="b"/><link name="c"/><link name="d"/><link name="e"/><link name="f"/><link name="tool0"/>
#urdf <joint name="j1" type="revolute"><parent link="base_link"/><child link="a"/><origin xyz="0 0 0.675"/><axis xyz="0 0 -1"/><limit lower="-3" upper="3" effort="0" velocity="2.4"/></joint>
#urdf <joint name="j2" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.35 0 0"/><axis xyz="0 1 0"/><limit lower="-2.4" upper="-0.09" effort="0" velocity="2.2"/></joint>
#urdf <joint name="j3" type="revolute"><parent link="b"/><child link="c"/><origin xyz="1.15 0 0"/><axis xyz="0 1 0"/><limit lower="-2" upper="2.7" effort="0" velocity="2.1"/></joint>
#urdf <joint name="j4" type="revolute"><parent link="c"/><child link="d"/><origin xyz="1 0 -0.041"/><axis xyz="-1 0 0"/><limit lower="-6" upper="6" effort="0" velocity="5"/></joint>
#urdf <joint name="j5" type="revolute"><parent link="d"/><child link="e"/><axis xyz="0 1 0"/><limit lower="-2.1" upper="2.1" effort="0" velocity="4.5"/></joint>
#urdf <joint name="j6" type="revolute"><parent link="e"/><child link="f"/><axis xyz="-1 0 0"/><limit lower="-6" upper="6" effort="0" velocity="4.9"/></joint>
#urdf <joint name="jt" type="fixed"><parent link="f"/><child link="tool0"/><origin xyz="0.215 0 0" rpy="0 1.5707963267948966 0"/></joint></robot>
