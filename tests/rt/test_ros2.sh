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
P=(--set satellites.client.robot.domain=$domain --set satellites.client.sensor.domain=$domain --set "satellites.client.robot.states=/s$$"
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
[ $failures -eq 0 ]
