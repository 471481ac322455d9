#!/usr/bin/env bash
# A contact harder than 32 bits of a millionth of a newton: the virtual sensor says that it is saturated, as a device
# would, or has the range that the scenario asks for.
set -u
. "$FF_SOURCE_DIR/tests/rt/pair.sh"
S=$FF_SOURCE_DIR/scenarios/wall.yaml
sets=(--set time.duration=2 --set satellites.body.mass=20000 --set "satellites.body.inertia=[2000, 2000, 2000]" --set contacts.right.stiffness=1e6 --method direct)
facility_options=("${sets[@]}")
pair without --lockstep "$S" --silence 20 "${sets[@]}" --log csv
[ $got -eq 1 ] && grep -q "FAULT, RANGE" without.rt || fail "beyond the counts: exit $got: $(cat without.rt)"
sets+=(--set "satellites.body.sensor={kind: noisy, range: [20000, 20000]}")
facility_options=("${sets[@]}")
pair with --lockstep "$S" --silence 20 "${sets[@]}" --log csv
[ $got -eq 0 ] || fail "with a range: exit $got: $(cat with.rt)"
"$FREEFLOAT" run "$S" "${sets[@]}" --out run --quiet
speed() { tail -1 "$1/log.csv" | cut -d, -f "$(head -1 "$1/log.csv" | tr , '\n' | grep -nx 'body.velocity.x \[m/s\]' | cut -d: -f 1)"; }
awk -v a="$(speed with)" -v b="$(speed run)" 'BEGIN { exit !(a < -0.05 && (a - b) * (a - b) < 1e-6 * b * b) }' || fail "speed after: $(speed with) on devices, $(speed run) in run"
[ $failures -eq 0 ]
