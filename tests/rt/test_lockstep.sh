#!/usr/bin/env bash
# In lock step rt over sockets equals run to the wire's resolution: the same contacts, rebound speeds within 1e-4.
set -u
. "$FF_SOURCE_DIR/tests/rt/pair.sh"
need python3
S=$FF_SOURCE_DIR/scenarios
cat > compare.py << 'P'
import json, sys
limit = float(sys.argv[3])
a, b = (json.load(open(f"{d}/summary.json")) for d in sys.argv[1:3])
for name, body in a["satellites"].items():
    ours, theirs = body["contacts"], b["satellites"][name]["contacts"]
    assert len(ours) >= 1 and [c["name"] for c in ours] == [c["name"] for c in theirs], (ours, theirs)
    for x, y in zip(ours, theirs):
        assert abs(y["start_s"] - x["start_s"]) < max(0.0081, 0.02 * x["start_s"] * (limit > 1e-3)), (x, y)
        if x["end_s"] is None:
            continue
        worst = abs(y["speed_after_mps"] / x["speed_after_mps"] - 1)
        assert worst < limit, (name, x["name"], worst)
        v, w = x["velocity_after_mps"], y["velocity_after_mps"]
        size = max(abs(q) for q in v)
        assert all(abs(p - q) < 2 * limit * size for p, q in zip(v, w)), (v, w)
P
check() { # NAME FILE options of all three...
  local name=$1 file=$2
  shift 2
  "$FREEFLOAT" run "$file" --out "$name.run" --quiet "$@" || fail "$name: run"
  facility_options=("$@")
  pair "$name" --lockstep "$file" "$@" --silence 20 --trust-method
  [ $got -eq 0 ] || fail "$name: exit $got: $(cat "$name.rt" "$name.facility")"
  python3 compare.py "$name.run" "$name" "${limit:-1e-4}" || fail "$name differs from run"
  grep -q "0 late, 0 too late, 0 clipped, 0 malformed" "$name.facility" || fail "$name: $(cat "$name.facility")"
  "$FREEFLOAT" replay "$name/log.mcap" --quiet --trust || fail "$name: its log does not replay"
}
check tdpa "$S/deos-client.yaml" --set time.duration=12
# what happened has its time before the run-up (the check stands for half a second at least) and after the end, and what the stop came to is reported
python3 - << 'P' || fail "events of tdpa"
import json
events = json.load(open("tdpa/summary.json"))["events"]
at = {e["state"]: e["time_s"] for e in reversed(events) if "state" in e}
times = [e["time_s"] for e in events]
assert times == sorted(times), times
assert at["CHECK"] < at["ZEROED"] - 0.4 and at["ZEROED"] < at["ARMED"] < at["APPROACH"] < at["RUNUP"] < 0, at
assert at["FLOAT"] == 0 and abs(at["BRAKE"] - 12) < 1e-9 and at["BRAKE"] < at["HOLD"] < at["END"], at
assert any("where it stopped" in e.get("text", "") or "retreated" in e.get("text", "") for e in events), events
P
check damping "$S/deos-client.yaml" --set time.duration=12 --method damping
# nothing real is touched: the facility's robot moves on through the wall, the wrench is computed from where it says it is
check virtual "$S/deos-client.yaml" --set time.duration=4 --set contacts.0.source=virtual --set contacts.1.source=virtual
check direct "$S/wall.yaml" --method direct --set time.duration=5
# direct gains energy at each of twelve contacts; the arm must still reach all of it
check gains "$S/deos-client.yaml" --method direct
# a method library, for those who say so, and one that crashes in step 80
M=$FF_BUILD_DIR
check library "$S/deos-client.yaml" --set time.duration=4 --method "$M/examples/libmethod_example.so"
FF_BAD=step:crash@80 pair crash --lockstep "$S/deos-client.yaml" --silence 20 --trust-method --method "$M/tests/method_bad.so"
{ [ $got -eq 1 ] && tail -1 crash.rt | grep -q "method 'idle' .* crashes when it is stepped"; } || fail "crash: exit $got: $(cat crash.rt)"
check tip "$S/deos-client.yaml" --set time.duration=6 --set contacts.front.point=tip --set "contacts.front.at=[0, 0, 0.43]"
check fused "$S/deos-client.yaml" --method fused --set time.duration=8
check fast "$S/wall.yaml" --set time.cycle=0.001 --set time.duration=4
check lag "$S/wall.yaml" --set "satellites.body.robot={kind: lag, delay: 0.008, frequency: 15}" --set time.duration=4
# the keys of real devices: Cartesian corrections, and relative ones
robot="kind: kuka-rsi, delay: 0.016, base: {position: [-1.35, 0, -1.57]}, tool: {attitude: [0, 0, 1, 0]}" # flange down
check cartesian "$S/wall.yaml" --set time.duration=4 --set "satellites.body.robot={$robot, channel: cartesian}" --set "satellites.body.sensor={kind: ati-rdt}"
# counts of 1e-4 N, each off by half of one at most: in a contact of 1 s 5e-5/200 m/s of 0.05, and twice that for a method's gain
limit=1e-5 check relative "$S/wall.yaml" --set time.duration=4 --set "satellites.body.robot={$robot, corrections: relative}" --set "satellites.body.sensor={kind: onrobot-udp}"
# a path longer than the arm: the carriage of the rail, external axis E1, goes along
cat > rail.yaml << 'Y'
name: rail
time: {cycle: 0.004, duration: 14}
method: tdpa
satellites:
  body:
    mass: 100
    inertia: [10, 10, 10]
    velocity: [0, 0.25, 0]
    robot: {kind: kuka-rsi, delay: 0.016, base: {position: [-1.35, 0, -1.57]}, tool: {attitude: [0, 0, 1, 0]}, rail: {axis: [0, 1, 0], length: 6, speed: 1.5}}
    sensor: {kind: ati-rdt}
contacts: [{name: end, kind: wall, at: [0, 2.5, 0], normal: [0, -1, 0], stiffness: 2000, damping: 5}]
Y
check rail rail.yaml
facility_options=(--set "satellites.body.robot={$robot}")
pair short --lockstep rail.yaml --set "satellites.body.robot={$robot}" --silence 20
[ $got -eq 1 ] && grep -q "check: no-go, REACH" short.rt || fail "the arm alone reached as far: $(cat short.rt)"
# a slow carriage: the arm reaches ahead of it
check slow rail.yaml --set satellites.body.robot.rail.speed=0.2
facility_options=()
# the force is older than the scenario says: the chirp identifies it, the loop uses it, the log holds it, and the replay is the same
mockup=(--set "facility.gravity=[0,0,-9.81]" --set "satellites.body.mockup={mass: 5, com: [0, 0, 0.1]}" --set time.duration=2 --method fused)
facility_options=("${mockup[@]}" --set "satellites.body.sensor={kind: noisy, delay: 0.0053}")
pair skew --lockstep "$S/wall.yaml" "${mockup[@]}" --set "satellites.body.sensor={kind: noisy}" --set "satellites.body.check={delay: chirp}" --silence 20
[ $got -eq 0 ] && grep -q "force older than pose" skew.rt || fail "skew: exit $got: $(cat skew.rt)"
python3 - << 'P' || fail "skew in summary.json"
import json
b = json.load(open("skew/summary.json"))["check"]["satellites"]["body"]
assert abs(b["skew_ms"]["value"] - 5.3) < 0.05 and abs(b["mockup_mass_kg"]["value"] - 5) < 1e-3, b
P
grep -qa "fused.skew=0.0053" skew/log.mcap || fail "the log does not hold the skew"
"$FREEFLOAT" replay skew/log.mcap --quiet || fail "the skew's log does not replay"
facility_options=()
# two satellites, two robots, two sensors
cat > two.yaml << 'Y'
name: two
time: {cycle: 0.004, duration: 4}
method: tdpa
satellites:
  client: {mass: 200, inertia: [20, 20, 20], position: [0.05, 0, 0], robot: {kind: delay, delay: 0.016}}
  servicer: {mass: 300, inertia: [30, 30, 30], position: [-0.5, 0, 0], velocity: [0.05, 0, 0], robot: {kind: delay, delay: 0.02}}
contacts:
  - {name: plate, kind: pair, body: servicer, point: [0.5, 0, 0], against: client, at: [0, 0, 0], normal: [-1, 0, 0], stiffness: 2000, damping: 5}
Y
check two two.yaml
# the same while both drift and turn: the robots make the motion relative to the client's free one, which they do not
sed -e 's/^method:/frame: relative\nmethod:/' \
  -e 's/position: \[0.05, 0, 0\],/position: [0.05, 0, 0], velocity: [0.02, -0.03, 0.01], angular_velocity: [0, 0, 0.02],/' \
  -e 's/velocity: \[0.05, 0, 0\]/velocity: [0.07, -0.03, 0.01], angular_velocity: [0, 0, 0.02]/' two.yaml > drifting.yaml
check drifting drifting.yaml
check drifting-damping drifting.yaml --method damping
check drifting-satellite drifting.yaml --set "nominal={kind: satellite, of: servicer}"
sed -e 's/kind: pair, body: servicer, point: .*normal/kind: wall, body: servicer, at: [-0.4, 0, 0], normal/' drifting.yaml > wall.yaml
timeout 20 "$FREEFLOAT" rt wall.yaml --out wall > wall.txt 2>&1 < /dev/null
[ $? -eq 2 ] && [ "$(wc -l < wall.txt)" -eq 1 ] && grep -q "nothing fixed in space" wall.txt || fail "relative with a wall: $(cat wall.txt)"
[ $failures -eq 0 ]
