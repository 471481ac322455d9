#!/usr/bin/env bash
# Free-running in wall-clock time: rebound speeds within 2 % of run; the same files as run. Then with telegrams that are really late,
# scattered, and a controller that stands still: in lock step (test_faults.c) their stamps say the same, but nothing has to wait. And a loop
# that is killed or stalls. All at once, each in a folder of its own: a loop and its facility sleep for most of their time.
set -u
. "$FF_SOURCE_DIR/tests/rt/pair.sh"
need python3
S=$FF_SOURCE_DIR/scenarios/wall.yaml
O=(--set time.duration=3 --set "satellites.body.velocity=[0.06,0,0]")
# a shared machine may stall for a while: missed cycles are no fault of the loop here, and shall not end a run before what is tried
calm=(--set satellites.body.safety.missed=500 --set satellites.body.safety.age=2)
# a controller is not kept waiting by what else its computer does
chrt -f 10 true 2> /dev/null && urgent=(chrt -f 10)

free_running() {
  pair rt "${O[*]} --timeout 1000" "$S" "${O[@]}" --silence 20 "${calm[@]}"
  [ $got -eq 0 ] || fail "exit $got: $(cat rt.rt rt.facility)"
  for file in summary.json log.csv log.mcap report.html; do [ -s rt/$file ] || fail "rt/$file is missing"; done
  grep -q "^HOLD; wake-up p50" rt.rt || fail "no timing: $(cat rt.rt)"
  "$FREEFLOAT" replay rt/log.mcap --quiet || fail "the log does not replay"
}

late_telegrams() {
  facility_options=(--set "facility.faults=[{kind: rob-late, value: 0.002, from: 0.3, probability: 0.1}, {kind: jitter, value: 0.002}, {kind: clock-step, value: 0.05, from: 0.8, to: 0.804}]")
  pair rt "${O[*]} --timeout 1000" "$S" "${O[@]}" --silence 20 "${calm[@]}"
  [ $got -eq 0 ] || fail "late telegrams: exit $got: $(cat rt.rt rt.facility)"
  grep -q " 0 cycles missed" rt.rt || fail "late telegrams: $(cat rt.rt)"
}

# the controller stops by its own count of late answers; the log keeps all but 0.1 s
killed_loop() {
  fault "loop-killed, from: 0.6" "--timeout 100" "${calm[@]}" --log mcap
  [ $got -eq 137 ] && grep -q "too many late answers" facility.txt || fail "killed loop: exit $got: $(cat facility.txt)"
  [ ! -e out/summary.json ] || fail "a killed loop wrote its summary"
  "$FREEFLOAT" replay out/log.mcap 2>&1 | grep -q "cut off" || fail "the killed loop's log: $("$FREEFLOAT" replay out/log.mcap 2>&1)"
}

# for a second, as a stalled computer would; the controller gives up before
stalled_loop() {
  fault "loop-stalled, from: 0.6, to: 1.6" "--timeout 100" "${calm[@]}" --silence 5
  grep -q "the loop stands still" facility.txt && grep -q "too many late answers" facility.txt || fail "stalled loop: $(cat facility.txt)"
  grep -q "FAULT" rt.txt && [ $got -eq 1 ] || fail "stalled loop: exit $got: $(cat rt.txt)"
}

# a stall that the controller bears ends the run by the controller's own count of late answers
short_stall() {
  fault "loop-stalled, from: 0.6, to: 0.7" "--timeout 100"
  grep -q "the loop continues" facility.txt && grep -q "FAULT, LATE" rt.txt && [ $got -eq 1 ] || fail "short stall: exit $got: $(cat rt.txt facility.txt)"
}

# unless more are allowed: it continues. 25 telegrams wait then, and the first one takes all records: the sample is not old for the others,
# by the product's own limit
borne_stall() {
  fault "loop-stalled, from: 0.6, to: 0.7" "--timeout 100 --set time.duration=2" --set satellites.body.safety.missed=500 --set time.duration=2
  grep -q "the loop continues" facility.txt && [ $got -eq 0 ] || fail "borne stall: exit $got: $(cat rt.txt facility.txt)"
}

"$FREEFLOAT" run "$S" --out run --quiet "${O[@]}" || fail run
# The witness of what the machine does meanwhile: who sleeps 2 ms, again and again, as urgently as the facility, and wakes up later than this
# has shown a machine on which nothing in wall-clock time can be judged: what is red then is tried once more
witness() { exec "${urgent[@]}" python3 -c "
import signal, time
worst, ends = 0.0, []
signal.signal(signal.SIGTERM, lambda *_: ends.append(1))
while not ends:
    begun = time.monotonic()
    time.sleep(0.002)
    worst = max(worst, time.monotonic() - begun - 0.002)
print('%d' % (1e3 * worst))"; }
cases=(free_running late_telegrams killed_loop stalled_loop short_stall borne_stall)
for round in 1 2 3 4 5; do
  witness > witness.txt & witness_pid=$!
  pids=()
  for case in "${cases[@]}"; do
    rm -rf "$case"
    mkdir "$case"
    (cd "$case" && trap '[ -z "$facility_pid" ] || kill "$facility_pid" 2> /dev/null' EXIT && "$case" && [ $failures -eq 0 ]) > "$case.txt" 2>&1 &
    pids+=($!)
  done
  red=()
  for n in "${!cases[@]}"; do wait "${pids[n]}" || red+=("${cases[n]}"); done
  kill "$witness_pid"
  wait "$witness_pid"
  [ ${#red[@]} -gt 0 ] || break
  echo "round $round: ${red[*]}; the machine stood still for up to $(cat witness.txt) ms"
  for case in "${red[@]}"; do cat "$case.txt"; done
  [ "$(cat witness.txt)" -ge 8 ] || break # two cycles
  cases=("${red[@]}")
done
if [ ${#red[@]} -gt 0 ]; then
  [ "$(cat witness.txt)" -lt 8 ] || { echo "skipped: this machine is too busy for anything in wall-clock time"; exit 77; }
  fail "${red[*]}"
fi
python3 - << 'P' || fail "wall clock differs from run"
import json
a, *others = (json.load(open(f"{d}/summary.json"))["satellites"]["body"]["contacts"] for d in ("run", "free_running/rt", "late_telegrams/rt"))
for b in others:
    assert len(a) == len(b) == 1, (a, b)
    ratio = b[0]["speed_after_mps"] / a[0]["speed_after_mps"]
    print("rebound speed over run's:", ratio)
    assert abs(ratio - 1) < 0.02, ratio
P
[ $failures -eq 0 ]
