#!/bin/bash
# A trip rehearsed in virtual time: limits that the scenario names act in `run`, the robot comes to rest, the cause stands in
# summary.json and the exit status is 1. A limit that is not reached changes no bit of the log.
set -eu
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
run() { "$FREEFLOAT" run scenarios/deos-client.yaml --method direct --quiet "$@"; }
run --out "$out/free"
run --out "$out/wide" --set 'satellites.client.safety={force: 1000, velocity: 10, box: [9, 9, 9]}'
cut -d, -f1-40 "$out/free/log.csv" | cmp - <(cut -d, -f1-40 "$out/wide/log.csv")
status=0
run --out "$out/trip" --log mcap,csv --set 'satellites.client.safety={force: 20}' 2>"$out/message" || status=$?
test "$status" = 1
grep -q 'FAULT, FORCE: the contact force is too large' "$out/message"
python3 - "$out" <<'P'
import csv, json, sys
out = sys.argv[1]
free, wide, trip = (json.load(open(f"{out}/{n}/summary.json")) for n in ("free", "wide", "trip"))
assert "safety" not in free
assert wide["safety"]["state"] == "END" and wide["safety"]["cause"] == "FINISHED", wide["safety"]
s = trip["safety"]
assert (s["state"], s["cause"], s["satellite"], s["limit"], s["unit"]) == ("FAULT", "FORCE", "client", 20, "N"), s
assert 20 < s["value"] < 21 and s["satellites"]["client"]["velocity_mps"] == [0, 0, 0], s
rows = list(csv.reader(open(f"{out}/trip/log.csv")))
assert abs(float(rows[-1][0]) + trip["cycle_s"] - s["time_s"]) < 1e-9, (rows[-1][0], s["time_s"])  # the log ends before it
whole = list(csv.reader(open(f"{out}/free/log.csv")))
assert len(rows) < len(whole)
same = [i for i, n in enumerate(rows[0]) if "timing" not in n]
assert all(a[i] == b[i] for a, b in zip(rows, whole) for i in same)  # and is the other's beginning
P
"$FREEFLOAT" replay "$out/trip/log.mcap" --quiet
# a box ends where the stop comes to rest, with the acceleration and the jerk that the output stage keeps: 0.027 m/s needs 28.8 mm
status=0
run --out "$out/box" --set 'satellites.client.safety={box: [1, 1, 0.025]}' --set 'satellites.client.limits={acceleration: 0.02, jerk: 0.05}' 2>/dev/null || status=$?
test "$status" = 1
python3 - "$out/box/summary.json" <<'P'
import json, sys
s = json.load(open(sys.argv[1]))["safety"]
z = s["satellites"]["client"]["position_m"][2]
assert s["cause"] == "BOX" and s["time_s"] > 0, s
# at rest inside, with the seventh of the stop's path that is kept as room and less than a millimetre of a cycle's travel
assert 0.025 / 1.15 - 1e-3 < z <= 0.025, z
P
# as many satellites as there may be: one trips, all come to rest
{
  printf 'name: four\ntime: {cycle: 0.004, duration: 1}\nmethod: tdpa\nsatellites:\n'
  for n in 1 2 3 4; do echo "  s$n: {mass: 100, inertia: [10, 10, 10], position: [0, $n, 0], velocity: [0.0$n, 0, 0], robot: {kind: delay, delay: 0.016}, safety: {box: [0.02, 0.02, 0.02]}}"; done
} > "$out/four.yaml"
status=0
"$FREEFLOAT" run "$out/four.yaml" --quiet --log none --out "$out/four" 2> "$out/message" || status=$?
test "$status" = 1
python3 - "$out/four/summary.json" <<'P'
import json, sys
s = json.load(open(sys.argv[1]))["safety"]
assert (s["state"], s["cause"], s["satellite"]) == ("FAULT", "BOX", "s4"), s
assert [b["velocity_mps"] for b in s["satellites"].values()] == 4 * [[0, 0, 0]], s
P
