#!/usr/bin/env bash
# The servicer's arm on devices, in lock step: reach, grasp, hold and release over two robots, two sensors and an arm that is commanded by joint
# torques have the figures of run; an arm that is not where the run begins, and one that stops, end it with one line.
set -u
. "$FF_SOURCE_DIR/tests/rt/pair.sh"
need python3
S=$FF_SOURCE_DIR/scenarios/envisat-capture.yaml
# the mission in an eighth of its time: the gripper closes where it is
short=(--set time.duration=6 --set satellites.servicer.obsw.approach=1 --set satellites.servicer.obsw.arrive=4.4 --set contacts.grip.closes=4.8
  --set contacts.grip.opens=5.6)
[ "${FF_TEST_LONG:-0}" = 0 ] || short=()
cat > compare.py << 'P'
import json, sys
# Poses have nine decimals of a degree and of a millimetre, torques and joints are doubles. What differs is that velocities are taken from three
# poses, an error of a third of jerk times cycle squared, where run knows them: thrusters that are switched on are steps, seen one cycle long.
# As in rt/lockstep: velocities to 1e-4 of the largest; places to that times the second for which such a difference acts.
a, b = (json.load(open(f"{d}/summary.json")) for d in sys.argv[1:3])
for name, x in a["satellites"].items():
    y = b["satellites"][name]
    for key in ("velocity_mps", "angular_velocity_radps", "position_m", "attitude_wxyz"):
        p, q = x["final"][key], y["final"][key]
        size = max(abs(v) for body in a["satellites"].values() for v in body["final"][key])
        worst = max(abs(v - w) for v, w in zip(p, q))
        assert worst < 1e-4 * size, (name, key, p, q)
    c, d = x["contacts"], y["contacts"]
    assert len(c) == len(d) == 1 and c[0]["start_s"] == d[0]["start_s"] and c[0]["end_s"] == d[0]["end_s"], (c, d)
    for key in ("peak_force_N",):
        assert abs(d[0][key] / c[0][key] - 1) < 1e-3, (name, key, c[0][key], d[0][key])
for key, limit in (("max_joint_torque_Nm", 1e-3),):
    p, q = a["actuation"][key], b["actuation"][key]
    assert max(abs(v - w) for v, w in zip(p, q)) < limit * max(p), (key, p, q)
assert a["obsw"]["cycles"] == b["obsw"]["cycles"] and b["devices"]["arm"]["lost"] == 0, (a["obsw"], b["devices"])
P
"$FREEFLOAT" run "$S" --out run --quiet "${short[@]}" > run.txt 2>&1 || fail "run: $(cat run.txt)"
facility_options=("${short[@]}")
pair same --lockstep "$S" --silence 20 --log none "${short[@]}"
[ $got -eq 0 ] || fail "lock step: exit $got: $(tail -n 5 same.rt same.facility)"
python3 compare.py run same || fail "lock step differs from run"
# another start of the arm in the facility than in the scenario
facility_options=("${short[@]}" --set "satellites.servicer.arm.joints=[0, 1.01, 0, 2, 0, 1, 0]")
pair elsewhere --lockstep "$S" --silence 20 "${short[@]}" --log none
{ [ $got -eq 1 ] && grep -q "START: A2: the robot does not stand where the run begins (0.57.*, satellite servicer" elsewhere.rt; } || fail "elsewhere: exit $got: $(tail -n 5 elsewhere.rt)"
# another cycle
facility_options=("${short[@]}" --set satellites.servicer.arm.cycle=0.002)
pair cycle --lockstep "$S" --silence 20 "${short[@]}" --log none
{ [ $got -eq 1 ] && grep -q "CONTROLLER: the arm's cycle is not arm.cycle: .*(0.002, allowed 0.001)" cycle.rt; } || fail "cycle: exit $got: $(tail -n 5 cycle.rt)"
# software that would have to be waited for
"$FREEFLOAT" rt "$S" --arm --out none --quiet --set 'satellites.servicer.obsw={kind: udp}' < /dev/null > none.rt 2>&1
got=$?
{ [ $got -eq 2 ] && grep -q "obsw: on devices the on-board software runs in the loop's thread and must not be waited for, allowed: kind: builtin" none.rt; } || fail "udp: exit $got: $(cat none.rt)"
[ $failures -eq 0 ]
