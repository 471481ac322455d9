#!/usr/bin/env bash
# A sensor that the scenario describes: lock step equals run within the sensor's own resolution, the virtual one says what Python's
# struct module reads, bad datagrams are counted and left, bad descriptions refused in one line.
set -u
. "$FF_SOURCE_DIR/tests/rt/pair.sh"
need python3
S=$FF_SOURCE_DIR/scenarios/wall.yaml
cat > compare.py << 'P'
import json, sys
a, b = (json.load(open(f"{d}/summary.json"))["satellites"]["body"]["contacts"] for d in sys.argv[1:3])
assert len(a) == len(b) >= 1, (a, b)
for x, y in zip(a, b):
    worst = max(abs(p - q) for p, q in zip(x["velocity_after_mps"], y["velocity_after_mps"]))
    assert worst < float(sys.argv[3]), (worst, sys.argv[3])
P
ports; listen=$((base + 25))
text="kind: udp, request: 0a0b, farewell: ff, size: 64, mark: a55a, counter: 2, counter_bytes: 2, status: 60"
single="$text, number: float64, order: little, force: [4, 12, 20], torque: [28, 36, 44]"
# One unit of the sensor is 1e-6 N. A contact of t seconds with a mass of m takes at most t/m of half a unit's rounding in velocity, which
# the walls keep; the poses of the telegrams have 1e-6 mm and 1e-6 deg, at a lever of 2 m 3.5e-8 m, which a wall of stiffness k turns
# into k 3.5e-8 N: here k t/m is below 5 1/s.
same() { # NAME keys of the sensor
  "$FREEFLOAT" run "$S" --out "$1.run" --quiet --set time.duration=3 --set "satellites.body.sensor={$2}" || fail "$1: run"
  facility_options=(--set "satellites.body.sensor={$2}")
  pair "$1" --lockstep "$S" --set time.duration=3 --set "satellites.body.sensor={$2}" --silence 20
  [ $got -eq 0 ] || { fail "$1: exit $got: $(cat "$1.rt")"; return; }
  python3 compare.py "$1.run" "$1" 2e-7 || fail "$1 differs from run"
}
same asked "$single"
same told "kind: udp, listen: $listen, size: 40, counter: 0, force: [12, 16, 20], torque: [24, 28, 32], force_scale: 1e-3, force_unit: gf, torque_scale: 1e-4, torque_unit: kgf-cm"
# bad ones are left out: cut, repeated, old; the run goes on with the others
facility_options=(--set "satellites.body.sensor={$single}" --set "facility.faults=[{kind: ft-corrupt, from: 0.1, to: 0.11}, {kind: ft-repeated, from: 0.2, to: 0.22}, {kind: ft-reordered, from: 0.3, to: 0.32}]")
pair bad --lockstep "$S" --set time.duration=0.6 --set "satellites.body.sensor={$single}" --silence 20
python3 - << 'P' || fail "bad datagrams: exit $got: $(cat bad.rt)"
import json
c = json.load(open("bad/summary.json"))["devices"]["satellites"]["body"]["sensor"]
assert c["lost"] >= 2 and c["repeated"] >= 4 and c["reordered"] >= 4, c
P
# a client in Python, written from the keys alone
facility_options=()
timeout 60 "$FREEFLOAT" facility "$S" "${P[@]}" --quiet --set "satellites.body.sensor={$single, bias: [3, -2, 1, 0.1, 0.2, 0.3]}" & facility_pid=$!
python3 - "$((base + 10))" << 'P' || fail "Python's client"
import socket, struct, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(0.2)
to, got = ("127.0.0.1", int(sys.argv[1])), []
for wrong in (b"\x0a", b"\x0a\x0b\x00", b"\xff"):
    s.sendto(wrong, to) # not the request: no answer
end = time.time() + 30
while len(got) < 50 and time.time() < end:
    if not got:
        s.sendto(b"\x0a\x0b", to)
    try:
        got.append(s.recv(2048))
    except OSError:
        pass
assert len(got) == 50
last = None
for d in got:
    assert len(d) == 64 and d[:2] == b"\xa5\x5a" and struct.unpack_from("<I", d, 60)[0] == 0
    count, = struct.unpack_from("<H", d, 2)
    assert last is None or count == (last + 1) % 65536
    last = count
    assert struct.unpack_from("<6d", d, 4) == (3, -2, 1, 0.1, 0.2, 0.3), struct.unpack_from("<6d", d, 4)
s.sendto(b"\xff", to)
end = time.time() + 30
while time.time() < end: # what was under way, then silence
    try:
        s.recv(2048)
    except OSError:
        break
else:
    raise SystemExit("it goes on")
P
kill "$facility_pid"; wait "$facility_pid" 2> /dev/null; facility_pid=
while IFS='|' read -r keys says; do
  "$FREEFLOAT" check "$S" --set "satellites.body.sensor={kind: udp, $keys}" > bad.txt 2>&1 && fail "$keys was taken"
  { [ "$(wc -l < bad.txt)" -eq 1 ] && grep -q "$says.*allowed: " bad.txt; } || fail "$keys: $(cat bad.txt)"
done << 'B'
force_unit: stone|force_unit or torque_unit is not known
torque_unit: N|force_unit or torque_unit is not known
size: 35|lies outside the datagram
force: [12, 14, 20]|overlap
listen: 0|nothing makes it send
request: 0g|mark, request and farewell are bytes
counter: 33|counter lies outside
number: int24|number
force_scale: 0|force_scale
B
exit $((failures > 0))
