#!/usr/bin/env bash
# What happens to the processes themselves: signals, kills, a second client, a stalled loop, a full disk, real devices.
set -u
. "$FF_SOURCE_DIR/tests/rt/pair.sh"
S=$FF_SOURCE_DIR/scenarios/wall.yaml
start_facility() { ports; timeout 60 "$FREEFLOAT" facility "$S" --once $P "$@" > facility.txt 2>&1 & facility_pid=$!; }
start_rt() { : > rt.txt; rm -rf out; timeout 60 "$FREEFLOAT" rt "$S" --arm --out out $P --silence 5 "$@" < /dev/null > rt.txt 2>&1 & rt_pid=$!; }
wait_for() { for _ in $(seq 200); do grep -q "$1" rt.txt 2> /dev/null && return; sleep 0.05; done; fail "no $1: $(cat rt.txt facility.txt)"; }
# the facility ends by itself (--once); on a busy machine it needs a moment to say so
finish() {
  wait "$rt_pid"; got=$?
  for _ in $(seq 100); do kill -0 "$facility_pid" 2> /dev/null || break; sleep 0.1; done
  kill "$facility_pid" 2> /dev/null; wait "$facility_pid" 2> /dev/null; facility_pid=
}
# In lock step a busy machine ends nothing by its own stalls: the limits are the product's own. Virtual time runs ahead of
# the wall's there, so the run is long and slow.
long=(--set time.duration=1000 --set "satellites.body.velocity=[0.0002, 0, 0]" --log mcap)
# Where the wall clock itself is tested, a busy machine's stalls shall not end the run first.
calm=(--set satellites.body.safety.missed=500 --set satellites.body.safety.age=2)
# timeout(1) forwards the signal to the program it started
for signal in INT TERM; do
  start_facility --lockstep "${long[@]:0:4}"; start_rt "${long[@]}"; wait_for FLOAT; sleep 0.3
  kill -$signal "$rt_pid"; finish
  grep -q "HOLD$" rt.txt && ! grep -q FAULT rt.txt || fail "SIG$signal did not end in HOLD: $(cat rt.txt)"
  grep -q "RSI ended as asked" facility.txt || fail "SIG$signal: the controller was not told: $(cat facility.txt)"
  [ $got -ne 0 ] || fail "SIG$signal: exit 0 for a run that was cut short"
  [ -s out/summary.json ] || fail "SIG$signal: no summary"
done

# the facility is killed: the robot is silent
start_facility --lockstep "${long[@]:0:4}"; start_rt "${long[@]}"; wait_for FLOAT; sleep 0.5
kill -9 "$(pgrep -P "$facility_pid")"; finish
grep -q "FAULT, SILENT" rt.txt && [ $got -eq 1 ] || fail "killed facility: exit $got: $(cat rt.txt)"
[ -s out/fault.csv ] || fail "the last 2 s were not kept"

# the loop is killed: the controller stops by its own count of late answers; the log keeps all but 0.1 s
start_facility --timeout 100; start_rt "${calm[@]}"; wait_for FLOAT; sleep 1
kill -9 "$(pgrep -P "$rt_pid")"; sleep 1; finish
grep -q "too many late answers" facility.txt || fail "killed loop: $(cat facility.txt)"
"$FREEFLOAT" replay out/log.mcap | grep -q "cut off" || fail "the killed loop's log: $("$FREEFLOAT" replay out/log.mcap 2>&1)"

# the loop is stopped for 0.3 s, as a stalled computer would be
start_facility --timeout 100; start_rt "${calm[@]}"; wait_for FLOAT; sleep 0.2
child=$(pgrep -P "$rt_pid"); kill -STOP "$child"; sleep 1; kill -CONT "$child"; finish
grep -q "FAULT" rt.txt && [ $got -eq 1 ] || fail "stalled loop: exit $got: $(cat rt.txt)"
grep -q "too many late answers" facility.txt || fail "stalled loop: $(cat facility.txt)"

# a second client steals the sensor's stream: the sample gets old
if command -v python3 > /dev/null; then
  start_facility --lockstep "${long[@]:0:4}"; start_rt "${long[@]}"; wait_for FLOAT
  python3 - $((base + 10)) << 'Q'
import socket, struct, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
for _ in range(20):
    s.sendto(struct.pack(">HHI", 0x1234, 2, 0), ("127.0.0.1", int(sys.argv[1])))
    time.sleep(0.02)
Q
  finish
  grep -q "FAULT, AGE" rt.txt || fail "second client: $(cat rt.txt)"
fi

# strangers flood the socket that reads the sensor: its records do not grow old behind theirs
if command -v python3 > /dev/null; then
  start_facility --timeout 1000; start_rt "${calm[@]}" --set time.duration=4; wait_for FLOAT
  python3 - "$(pgrep -P "$rt_pid")" "$base" << 'Q' || fail "flood: $(cat rt.txt)"
import os, re, socket, sys, time
pid, rsi = sys.argv[1], int(sys.argv[2])
def queues():
    mine = {m.group(1) for f in os.listdir(f"/proc/{pid}/fd") if (m := re.match(r"socket:\[(\d+)", os.readlink(f"/proc/{pid}/fd/{f}")))}
    rows = [line.split() for line in open("/proc/net/udp").readlines()[1:]]
    return {int(r[1].split(":")[1], 16): int(r[4].split(":")[1], 16) for r in rows if r[9] in mine}
port = next(p for p in queues() if p != rsi)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
begin, sent, seen = time.monotonic(), 0, []
while time.monotonic() - begin < 2:
    for _ in range(min(200, int((time.monotonic() - begin) * 16000) - sent)):
        s.sendto(bytes(36), ("127.0.0.1", port))
        sent += 1
    if len(seen) < 40 * (time.monotonic() - begin):
        seen.append(queues().get(port, 0))
    time.sleep(0.0005)
seen.sort()
print(sent, "sent; bytes that wait:", seen[len(seen) // 2], "median,", seen[-1], "at most")
assert seen[len(seen) // 2] < 300000 # four cycles' worth are 250 kB; an unread queue grows to 1.7 MB
Q
  finish
  [ $got -eq 0 ] || fail "flood: exit $got: $(cat rt.txt)"
fi

# a full disk: the run ends, the log that was flushed is readable
if mkdir small && mount -t tmpfs -o size=1500k none small 2> /dev/null; then
  ports; timeout 60 "$FREEFLOAT" facility "$S" --once --lockstep $P > facility.txt 2>&1 & facility_pid=$!
  timeout 60 "$FREEFLOAT" rt "$S" --arm --out small/x --log mcap $P --silence 3 < /dev/null > rt.txt 2>&1 & rt_pid=$!
  finish
  grep -q "FAULT, RECORDER" rt.txt && [ $got -eq 1 ] || fail "full disk: exit $got: $(cat rt.txt)"
  umount small
fi

# taken ports, missing devices, real devices: one line each, nothing moves
start_facility; sleep 0.3
timeout 20 "$FREEFLOAT" facility "$S" --once $P > second.txt 2>&1; got=$?
[ $got -eq 1 ] && grep -q "cannot be bound\|cannot be served" second.txt || fail "taken port: exit $got: $(cat second.txt)"
kill "$facility_pid"; wait "$facility_pid" 2> /dev/null; facility_pid=
ports
timeout 20 "$FREEFLOAT" rt "$S" --arm --out out $P --wait 0.5 --quiet < /dev/null > rt.txt 2>&1; got=$?
[ $got -ne 0 ] && grep -q "no answer to HTTP GET" rt.txt || fail "no devices: exit $got: $(cat rt.txt)"
real=(--set "satellites.body.robot={kind: kuka-rsi, address: 192.0.2.1, base: {position: [-1.35, 0, -1.57]}, tool: {attitude: [0, 0, 1, 0]}}")
timeout 20 "$FREEFLOAT" rt "$S" --arm --out out "${real[@]}" < /dev/null > rt.txt 2>&1; got=$?
[ $got -eq 2 ] && grep -q "not virtual" rt.txt || fail "--arm on a real device: exit $got: $(cat rt.txt)"
timeout 20 "$FREEFLOAT" facility "$S" "${real[@]}" > rt.txt 2>&1; got=$?
[ $got -eq 2 ] && grep -q "not virtual" rt.txt || fail "facility for a real device: exit $got: $(cat rt.txt)"
for bad in "rt" "facility" "rt $S --rsi-port 0" "rt $S --wait x" "facility $S --http-port 70000" "rt $S --method ideal" "rt $FF_SOURCE_DIR/scenarios/envisat-capture.yaml" "facility $FF_SOURCE_DIR/scenarios/envisat-capture.yaml"; do
  timeout 20 "$FREEFLOAT" $bad > rt.txt 2>&1 < /dev/null; got=$?
  [ $got -eq 2 ] && [ "$(wc -l < rt.txt)" -eq 1 ] || fail "$bad: exit $got: $(cat rt.txt)"
done

# the computer's own fitness
timeout 30 "$FREEFLOAT" rt --selftest > self.txt || fail "selftest: $(cat self.txt)"
grep -q "^this computer " self.txt && grep -q "^wake-up " self.txt && grep -q "^UDP " self.txt && grep -q "^idle states " self.txt || fail "selftest: $(cat self.txt)"
[ $failures -eq 0 ]
