#!/usr/bin/env bash
# freefloat guard as a process between facility and rt, in lock step, so that no figure depends on the machine's speed. A run
# that keeps its limits passes unchanged; when rt is killed or stalled at any moment, or breaks a limit of the guard, the
# robot comes to rest within its limits. Judged by what the controller received (--answers), not by what anyone reports.
set -u
. "$FF_SOURCE_DIR/tests/rt/pair.sh"
need python3 pkill
S=$FF_SOURCE_DIR/scenarios/deos-client.yaml
sets=(--set satellites.client.check.push=skip --set "satellites.client.safety={velocity: 0.2, acceleration: 2, jerk: 200, box: [0.4, 0.4, 0.4]}")
seed=${FF_SEED:-$((RANDOM * 32768 + RANDOM))}
echo "seed $seed (FF_SEED repeats it)"
RANDOM=$((seed % 32768))

cat > judge.py << 'PY'
import csv, math, sys
rows = list(csv.DictReader(open(sys.argv[1])))
velocity, acceleration, cycle, margin = 0.2, 2.0, 0.004, 1.05
at = [[float(r["position.%s [m]" % a]) for a in "xyz"] for r in rows]
v = [[(b - a) / cycle for a, b in zip(p, q)] for p, q in zip(at, at[1:])]
a = [math.dist(p, q) / cycle for p, q in zip(v, v[1:])]
fast, hard = max(math.hypot(*x) for x in v), max(a)
assert sys.argv[2:] == ["0"] or len(rows) > 50 and max(math.dist(p, at[0]) for p in at) > 1e-3, "nothing moved"
assert all(r["answered"] == "1" for r in rows), "a cycle without an answer"
assert fast <= margin * velocity and hard <= margin * acceleration + 1e-3, "%.4f m/s, %.3f m/s2" % (fast, hard)
assert rows[-1]["stop"] == "1" and math.hypot(*v[-1]) < 1e-6, "not at rest: %g m/s, stop %r" % (math.hypot(*v[-1]), rows[-1]["stop"])
print("%d cycles, %.4f m/s, %.3f m/s2" % (len(rows), fast, hard))
PY
# three OUT DURATION "guard's options" rt's options...: facility, guard and rt; rt_pid is left running
three() {
  local out=$1 duration=$2 options=$3
  shift 3
  ports
  local loop=$((base + 5))
  behind "$out.facility" timeout 300 "$FREEFLOAT" facility "$S" --once --lockstep "${P[@]}" "${sets[@]}" --set "time.duration=$duration" --answers "$out.csv"
  facility_pid=$!
  # shellcheck disable=SC2086
  behind "$out.guard" timeout 300 "$FREEFLOAT" guard "$S" --once "${sets[@]}" --set "time.duration=$duration" --listen "127.0.0.1:$base" --loop "127.0.0.1:$loop" $options
  guard_pid=$!
  behind "$out.rt" "$FREEFLOAT" rt "$S" --arm --out "$out" --rsi-port "$loop" --ati-port "$((base + 10))" --http-port "$((base + 20))" --wait 60 --silence 20 "${sets[@]}" --set "time.duration=$duration" --log csv "$@"
  rt_pid=$!
}
# the robot has gone 2 mm, by the last whole line
moved() { awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^position\./) c[++n] = i } NR == 2 { for (i = 1; i <= 3; i++) first[i] = $c[i] }
  { d = before; before = 0; for (i = 1; i <= 3 && NR > 1; i++) before += ($c[i] - first[i]) ^ 2 } END { exit !(d > 4e-6) }' "$1"; }
ended() { wait "$guard_pid"; guard=$?; wait "$facility_pid"; facility_pid=; }

three whole 3 "--patience 20"
wait "$rt_pid" && ended && [ "$guard" -eq 0 ] || fail "a whole run: guard $guard: $(cat whole.guard whole.rt)"
python3 judge.py whole.csv || fail "whole"
ports
pair alone "--lockstep --answers alone.csv --set time.duration=3 ${sets[*]:0:2}" "$S" --silence 20 "${sets[@]}" --set time.duration=3 --log csv
cmp whole/log.csv alone/log.csv > /dev/null 2>&1 || diff <(cut -d, -f 1-40 whole/log.csv) <(cut -d, -f 1-40 alone/log.csv) > /dev/null || fail "the guard has changed the run"

# at random moments, one in four of them before the robot moves; every third stalled rather than killed
kills=3
[ "${FF_TEST_LONG:-0}" = 0 ] || kills=200
rests=0
again=5
for ((n = 1; n <= kills; n++)); do
  three killed 20 "--patience 0.5"
  moves=$((n % 4))
  from=$((moves ? 320 + RANDOM % 800 : 2 + RANDOM % 100))
  while kill -0 "$facility_pid" 2> /dev/null && ! grep -q "guard: SILENT" killed.guard; do
    [ -f killed.csv ] && [ "$(wc -l < killed.csv)" -gt $from ] && { [ $moves -eq 0 ] || moved killed.csv; } && break
    sleep 0.01
  done
  early=$(grep -c "guard: SILENT" killed.guard)
  kill "$([ $((n % 3)) -eq 2 ] && echo -STOP || echo -KILL)" "$rt_pid"
  ended
  kill -KILL "$rt_pid" 2> /dev/null
  wait "$rt_pid" 2> /dev/null
  if [ "$early" -gt 0 ] && [ $again -gt 0 ]; then # a busy machine kept rt waiting for half a second before: another one
    again=$((again - 1))
    n=$((n - 1))
    rm -rf killed killed.csv
    continue
  fi
  [ "$guard" -eq 1 ] && grep -q "SILENT" killed.guard || fail "killed $n: guard $guard: $(cat killed.guard)"
  python3 judge.py killed.csv $moves > judged.txt && rests=$((rests + 1)) || fail "killed $n: $(tail -2 killed.facility)"
  cat judged.txt
  rm -rf killed killed.csv
done
echo "$kills random moments: at rest within its limits $rests times"

# limits of the guard below those that rt obeys: what rt sends is withheld
ports
loop=$((base + 5))
behind narrow.facility timeout 300 "$FREEFLOAT" facility "$S" --once --lockstep "${P[@]}" "${sets[@]}" --answers narrow.csv
facility_pid=$!
behind narrow.guard timeout 300 "$FREEFLOAT" guard "$S" --once "${sets[@]}" --set satellites.client.safety.velocity=0.02 --listen "127.0.0.1:$base" --loop "127.0.0.1:$loop" --patience 20
guard_pid=$!
timeout 100 "$FREEFLOAT" rt "$S" --arm --out narrow --rsi-port "$loop" --ati-port "$((base + 10))" --http-port "$((base + 20))" --silence 20 "${sets[@]}" --log csv < /dev/null > narrow.rt 2>&1
ended
[ "$guard" -eq 1 ] && grep -q "guard: VELOCITY: .*limit 0.021" narrow.guard || fail "narrow: guard $guard: $(cat narrow.guard)"
python3 judge.py narrow.csv || fail "narrow"

"$FREEFLOAT" guard "$S" --listen 127.0.0.1:x > bad.txt 2>&1
[ $? -eq 2 ] && grep -q "is not ADDRESS:PORT" bad.txt || fail "address: $(cat bad.txt)"
"$FREEFLOAT" guard "$S" --margin 0.5 > bad.txt 2>&1
[ $? -eq 2 ] || fail "margin: $(cat bad.txt)"
"$FREEFLOAT" guard "$S" --satellite nobody > bad.txt 2>&1
[ $? -eq 2 ] && grep -q "no such satellite" bad.txt || fail "satellite: $(cat bad.txt)"
[ $failures -eq 0 ]
