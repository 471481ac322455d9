#!/usr/bin/env bash
# The log of rt: read by the world's reader after kill -9; replayed to the bit, and one changed bit is found.
set -u
. "$FF_SOURCE_DIR/tests/rt/pair.sh"
need python3
R=$FF_SOURCE_DIR/tests/record
public="$FF_BUILD_DIR/record-public"
packages "$R" "$public"
cp "$R/cut.mjs" "$public"
FF_CUT_LOG="$work/cut.mcap" "$FF_BUILD_DIR/tests/test_rt_kill" > kill.txt 2>&1 || fail "$(cat kill.txt)"
node "$public/cut.mjs" cut.mcap "$(sed -n 's/^rows //p' kill.txt | tail -1)" || fail "@mcap/core on the killed loop's log"
# two robots in lock step, one of them drifting: the log replays to the bit
cat > two.yaml << 'Y'
name: two
time: {cycle: 0.004, duration: 3}
satellites:
  client: {mass: 200, inertia: [20, 20, 20], position: [0.05, 0, 0], robot: {kind: delay, delay: 0.016}}
  servicer: {mass: 300, inertia: [30, 30, 30], position: [-0.5, 0, 0], velocity: [0.05, 0, 0], robot: {kind: delay, delay: 0.02}}
contacts:
  - {name: plate, kind: pair, body: servicer, point: [0.5, 0, 0], against: client, at: [0, 0, 0], normal: [-1, 0, 0], stiffness: 2000, damping: 5}
facility: {faults: [{kind: clock-drift, body: servicer, value: 200}, {kind: rob-lost, probability: 0.01}]}
Y
pair two --lockstep two.yaml --silence 5 --log mcap-plain # its bytes are changed below
[ $got -eq 0 ] || fail "exit $got: $(cat two.rt two.facility)"
grep -q "servicer: controller's clock +2[0-9][0-9]\.\|servicer: controller's clock +199\." two.rt || fail "no clock: $(cat two.rt)"
[ "$("$FREEFLOAT" replay two/log.mcap)" = "751 cycles replayed, the same bits" ] || fail "replay: $("$FREEFLOAT" replay two/log.mcap 2>&1)"
damaged() { # TOPIC COLUMN CYCLE WHAT: one bit there, and replay names cycle and column
  python3 "$R/damage.py" two/log.mcap bad.mcap "$1" "$2" "$3" || { fail "damage $1 $2"; return; }
  "$FREEFLOAT" replay bad.mcap > bad.txt 2>&1; got=$?
  [ $got -eq 1 ] && [ "$(wc -l < bad.txt)" -eq 1 ] && grep -q "^cycle $4" bad.txt || fail "$1 $2 of cycle $3: exit $got: $(cat bad.txt)"
}
damaged /cycle "servicer.command.position.x [m]" 0 "0 (0.000 s): servicer.command.position.x \[m\] differs"
damaged /cycle "client.velocity.x [m/s]" 400 "400 (1.600 s): client.velocity.x \[m/s\] differs"
damaged /cycle "client.velocity.x [m/s]" 750 "750 (3.000 s): client.velocity.x \[m/s\] differs"
# a changed input shows in whatever it moves first, in its own cycle
damaged /input "servicer.sensor.force.x [N]" 420 "420 (1.680 s): [a-z]*\."
[ $failures -eq 0 ]
