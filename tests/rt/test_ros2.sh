#!/usr/bin/env bash
# A robot behind its ROS 2 driver: in lock step rt equals run to 1e-9 m/s; faults end a run; a driver that shares no code with
# freefloat (ros2_driver.py on Fast DDS) is met, or refused with one line before anything moves. On 127.0.0.1 alone.
set -u
. "$FF_SOURCE_DIR/tests/rt/pair.sh"
need python3
S=$FF_SOURCE_DIR/scenarios/ros2-client.yaml
R=$FF_SOURCE_DIR/tests/rt
unset CYCLONEDDS_URI ROS_DOMAIN_ID
domain=$((1 + RANDOM % 99))
P=(--set "satellites.client.robot.domain=$domain" --set "satellites.client.sensor.domain=$domain" --set "satellites.client.robot.states=/s$$"
  --set "satellites.client.robot.command=/c$$" --set "satellites.client.sensor.topic=/w$$")
ports() { :; } # topics instead
if [ ! -e "$FF_BUILD_DIR/modules/dds.so" ]; then # built without Cyclone DDS: said, and nothing runs
  "$FREEFLOAT" rt "$S" --arm --out none --wait 1 < /dev/null > none.rt 2>&1 && fail "without Cyclone DDS: it ran"
  grep -q "needs Cyclone DDS when freefloat is built" none.rt || fail "without Cyclone DDS: $(cat none.rt)"
  [ $failures -eq 0 ]
  exit
fi
cat > compare.py << 'E2'
import json, sys
a, b = (json.load(open(f"{d}/summary.json"))["satellites"]["client"]["contacts"] for d in sys.argv[1:3])
assert len(a) == len(b) >= 1, (a, b)
worst = max(abs(p - q) for x, y in zip(a, b) if x["end_s"] is not None for p, q in zip(x["velocity_after_mps"], y["velocity_after_mps"]))
assert worst < 1e-9 and [x["start_s"] for x in a] == [x["start_s"] for x in b], worst
print(f"{sys.argv[2]}: speeds after contact differ by {worst:.2g} m/s")
E2
methods=(fused)
[ -z "${FF_TEST_LONG:-}" ] || methods=(fused tdpa damping)
for method in "${methods[@]}"; do
  set=(--method "$method" --set time.duration=3)
  "$FREEFLOAT" run "$S" --out "$method.run" --quiet "${set[@]}" > /dev/null
  facility_options=("${set[@]}")
  pair "$method" --lockstep "$S" --silence 20 --log mcap "${set[@]}"
  grep -q "ended as asked .* 0 late.* 0 malformed" "$method.facility" || fail "$method: exit $got: $(tail -n 3 "$method.rt" "$method.facility")"
  python3 compare.py "$method.run" "$method" || fail "$method differs from run"
  "$FREEFLOAT" replay "$method/log.mcap" --quiet || fail "$method: its log does not replay"
done
# what the driver does wrong ends a run with the name of it, or is passed over; its joints stand in another order, beside a gripper's, throughout
try() { # KIND expected exit and word
  facility_options=(--set time.duration=0.6 --set "facility.faults=[{kind: $1, from: 0.3, to: 0.5}]")
  pair fault --lockstep "$S" --silence "${4:-3}" --set time.duration=0.6 --set 'satellites.client.check={push: skip}'
  { [ $got -eq "$2" ] && grep -q "$3" fault.rt; } || fail "$1: exit $got, not $3: $(tail -n 4 fault.rt)"
}
try robot-stuck 1 "FAULT.*STANDS"
try rob-nan 1 "FAULT.*MISSED"
try rob-repeated 0 "verdict"
try ft-silent 1 "FAULT.*AGE"
if [ -n "${FF_TEST_LONG:-}" ]; then
  for kind in rob-lost rob-cut rob-corrupt rob-incomplete rob-empty; do try $kind 1 "FAULT.*MISSED"; done
  for kind in rob-reordered ft-repeated; do try $kind 0 "verdict"; done
  for kind in ft-corrupt ft-lost; do try $kind 1 "FAULT.*AGE"; done
fi
# nobody there; a domain without ports; a topic that is none; joints that repeat; a real one is not armed from here
"$FREEFLOAT" rt "$S" --arm --out none "${P[@]}" --wait 0.3 < /dev/null > none.rt 2>&1 && fail "nobody there: it ran"
grep -q "nobody publishes /w$$ (geometry_msgs/msg/WrenchStamped) in domain $domain on 127.0.0.1" none.rt || fail "nobody there: $(cat none.rt)"
refused() { # SETTING expected
  "$FREEFLOAT" rt "$S" --arm --out none --wait 0.2 "${P[@]}" --set "$1" < /dev/null > none.rt 2>&1
  { [ $? -eq 2 ] && grep -q "$2" none.rt; } || fail "$1: $(cat none.rt)"
}
refused satellites.client.robot.domain=233 "domain is 233, allowed: 0 to 232"
refused satellites.client.robot.command=joint_states "command 'joint_states' is no topic"
refused 'satellites.client.robot.joints=[a, b, c, d, e, a]' "joints: 'a' stands there twice"
refused 'satellites.client.robot.joints=[a, b, c, d, e]' "joints must be a list of six"
refused satellites.client.robot.driver=robot "a device is not virtual: the operator arms at the local console"
"$FREEFLOAT" rt "$S" --arm --out none --wait 0.2 "${P[@]}" --ros=127.0.0.2:$domain < /dev/null > none.rt 2>&1
{ [ $? -eq 2 ] && grep -q "domain $domain is on 127.0.0.1 by the scenario's driver, and on 127.0.0.2 here" none.rt; } || fail "--ros elsewhere: $(cat none.rt)"
# a driver by the specifications: one that is met, and those that are refused before anything moves
. "$FF_SOURCE_DIR/tests/ros_peer.sh"
ros_peer || { without "another vendor's driver: $why"; [ $failures -eq 0 ]; exit; }
where=$("$FREEFLOAT" analyze workspace "$S" --json | python3 -c "
import json, sys, math
s = json.load(sys.stdin)['satellites']['client']['absolute']
print(' '.join('%.15g' % math.radians(x) for x in s['start_axes_deg']))")
urgent=() # an interpreter beside busy cores is late: before the other tests, where that is allowed
chrt -f 10 true 2> /dev/null && urgent=(chrt -f 10)
driver() { # WHAT expected in rt's lines
  # shellcheck disable=SC2086
  behind "$1.peer" timeout 60 "${urgent[@]}" python3 "$R/ros2_driver.py" "$peer" $domain "/s$$" "/c$$" "/w$$" "$1" $where; facility_pid=$!
  timeout 50 "$FREEFLOAT" rt "$S" --arm --out "$1" "${P[@]}" --silence 10 --wait "${3:-20}" \
    --set time.cycle=0.02 --set time.duration=0.4 --set 'satellites.client.velocity=[0,0,0]' --set 'satellites.client.angular_velocity=[0,0,0]' --set 'contacts=[]' \
    --set 'satellites.client.check={push: skip}' --set 'satellites.client.safety={missed: 500, age: 5}' < /dev/null > "$1.rt" 2>&1
  got=$?
  kill "$facility_pid" 2> /dev/null; wait "$facility_pid" 2> /dev/null; facility_pid=
  grep -q "$2" "$1.rt" || fail "$1: exit $got, not '$2': $(tail -n 4 "$1.rt"; tail -n 3 "$1.peer")"
}
driver met "0 answers late"
[ $got -eq 0 ] || fail "met: exit $got: $(cat met.rt)"
grep -q "orders .* jump 0.00" met.peer || fail "met: $(cat met.peer)"
driver rival "somebody else publishes /c$$ too, allowed: this program alone"
driver type "/s$$ has the type std_msgs::msg::dds_::String_ in this domain, allowed: sensor_msgs/msg/JointState" 3
if [ -n "${FF_TEST_LONG:-}" ]; then # the others' refusals by bytes alone: unit/devices/ros2
  driver later "FAULT.*CONTROLLER.*other publishers of the command's topic"
  driver ahead "its stamps are [23][.].* s ahead of this computer's clock, allowed: 0.5 s"
  driver missing "/s$$ has no joint 'elbow_joint', allowed: all six"
  driver repeated "/s$$ has the joint 'elbow_joint' twice, allowed: once"
  driver behind "its stamps are .* s behind this computer's clock"
  driver nan "a joint's position is not a number" 4
  driver two "/s$$ comes from two publishers, allowed: one\|joint states of a second publisher"
  driver deaf "nobody reads /c$$ .std_msgs/msg/Float64MultiArray.: is the controller active" 4
  driver slow "comes every 40.000 ms and time.cycle is 20.000 ms"
  driver unmarked "is not that of freefloat facility, allowed: .driver: robot."
  driver jumps "FAULT.*CONTROLLER.*stamps ahead of this computer's clock"
  driver second "FAULT.*CONTROLLER.*joint states of a second publisher"
fi
[ $failures -eq 0 ]
