#!/usr/bin/env bash
# Campaigns as a user meets them: the same table from any number of threads and ranks, after kills and cuts; bad
# input; a disk that is full or read-only; memory that does not grow.
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
need python3 objcopy
trap 'umount "$work/small" 2>/dev/null; chmod -R u+w "$work"; rm -rf "$work"' EXIT
cp "$FF_SOURCE_DIR/scenarios/wall.yaml" .
long=${FF_TEST_LONG:-0}
samples=20
[ "$long" != 0 ] && samples=2000

# a campaign with every way to vary, noise, a metric outside the fast tables, and samples that fail
cat > c.yaml <<Y
name: all ways
base: wall.yaml
methods: [direct, tdpa, 'tdpa:reading=printed']
samples: $samples
seed: 7
vary:
  satellites.body.robot.delay: {uniform: [0, 0.05]}
  contacts.right.stiffness: {log: [1000, 20000], latin: true}
  satellites.body.mass: {normal: [200, 5]}
  time.duration: {linear: [2, 4]}
  satellites.body.sensor: {list: [{kind: ideal}, {kind: noisy, force_noise: 0.2}]}
metrics:
  first: satellites.body.contacts.0.speed_after_mps
  error: rebound_error
  force: peak_force_ratio
  held: counters.held
keep: {failed: true, worst: 1, by: error}
Y
expect 0 "worst by error" "$FREEFLOAT" campaign c.yaml --threads 1 --out t1
# the table: 80 columns, what does not fit stands below, each line with its metric and its method again
sed '/^$/,$d' out.txt > table
awk 'length > 80 { exit 1 }' table || fail "a line of the table is wider than 80 columns"
[ "$(grep -c 'tdpa:reading=printed  ' table)" -eq $(($(grep -c '^metric  *method' table) * 4)) ] || fail "a line of the table does not say its method: $(cat table)"
rows=$((samples * 2 * 3 + 1))
[ "$(wc -l < t1/results.csv)" -eq $rows ] || fail "results.csv has $(wc -l < t1/results.csv) lines instead of $rows"
head -1 t1/results.csv | grep -q '^index,method,satellites.body.robot.delay,contacts.right.stiffness,satellites.body.mass,time.duration,satellites.body.sensor,first,error,force,held,status$' || fail "head: $(head -1 t1/results.csv)"
for file in summary.json report.html map-1-first.svg distribution-error.svg; do [ -s t1/$file ] || fail "t1/$file is missing"; done
[ "$(find t1/kept -name log.csv | wc -l)" -ge 3 ] || fail "no logs are kept"
# the command beside each makes the same run; the reference may be another (closed form here), and time is the clock's
columns() { awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i !~ /ideal|error|timing/) keep[++n] = i } { for (i = 1; i <= n; i++) printf "%s,", $keep[i]; print "" }' "$1"; }
for kept in t1/kept/*/; do
  (PATH="$(dirname "$FREEFLOAT"):$PATH"; eval "$(cat "$kept/command") --quiet --out again") > /dev/null || fail "$kept: $(cat "$kept/command")"
  cmp <(columns "$kept/log.csv") <(columns again/log.csv) || fail "$kept: another run"
  rm -rf again
done
[ -z "$(find t1 -name '.*.part')" ] || fail "a part file is left"
python3 - $samples <<'P' || fail "summary.json or the rows' order"
import csv, glob, json, sys, xml.dom.minidom
s = json.load(open("t1/summary.json"))
assert s["samples"] == 2 * int(sys.argv[1]) and s["runs"] == 3 * s["samples"] and s["failed"] == 0, s
assert s["methods"]["tdpa"]["error"]["count"] > 0 and s["worst"][0]["command"].startswith("freefloat run wall.yaml --method direct --set ")
rows = list(csv.DictReader(open("t1/results.csv")))
assert [int(r["index"]) for r in rows] == [i // 3 for i in range(len(rows))]
assert [r["method"] for r in rows[:3]] == ["direct", "tdpa", "tdpa:reading=printed"]
assert rows[0]["satellites.body.sensor"] == "{kind: ideal}" and all(r["status"] == "ok" for r in rows)
for svg in glob.glob("t1/*.svg"):
    xml.dom.minidom.parse(svg)
open("again.sh", "w").write(s["worst"][0]["command"] + " --out again --json\n")
open("value", "w").write(repr(s["worst"][0]["value"]))
P
# the command line of a worst case gives the value of the table (the reference by another path: to 1e-8)
sed "s#^freefloat#$FREEFLOAT#" again.sh > again2.sh && bash again2.sh > again.json || fail "the worst case does not run again"
python3 -c 'import json; a = json.load(open("again.json"))["satellites"]["body"]["error_vs_ideal"]["rebound_speed_mps"]; b = float(open("value").read()); assert abs(a - b) < 1e-8, (a, b)' || fail "the worst case gives another value"

# the same bits from threads and ranks
same() { cmp -s t1/results.csv "$1/results.csv" || fail "$1/results.csv differs from one thread's"; }
expect 0 "" "$FREEFLOAT" campaign c.yaml --threads 2 --out t2 --quiet; same t2
[ ! -s out.txt ] || fail "--quiet printed: $(cat out.txt)"
if command -v mpirun > /dev/null && [ -e "$FF_BUILD_DIR/modules/mpi.so" ]; then
  export OMPI_MCA_btl_base_warn_component_unused=0
  # shellcheck disable=SC2317 # called through expect
  mpi() { mpirun --allow-run-as-root --oversubscribe "$@"; }
  for n in 1 2 4; do
    expect 0 "" mpi -np $n "$FREEFLOAT" campaign c.yaml --out r$n --quiet; same r$n
  done
  expect 0 "" mpi -np 2 "$FREEFLOAT" campaign c.yaml --out r22 --threads 2 --quiet; same r22
  # a campaign that is wrong ends all ranks
  sed 's/^seed:.*/sead: 1/' c.yaml > bad.yaml
  expect 2 "bad.yaml:5:1: unknown key 'sead'" mpi -np 2 "$FREEFLOAT" campaign bad.yaml --out rb
  # a killed rank ends the job; resuming repairs it
  sed 's/samples:.*/samples: 200/' c.yaml > k.yaml
  mpirun --allow-run-as-root --oversubscribe -np 2 "$FREEFLOAT" campaign k.yaml --out rk --quiet > /dev/null 2>&1 &
  job=$!
  for _ in $(seq 100); do [ "$(stat -c %s rk/results.journal 2>/dev/null || echo 0)" -gt 5000 ] && break; sleep 0.02; done
  rank=$(pgrep -P $job | tail -1)
  if [ -n "$rank" ]; then kill -9 "$rank"; fi
  wait $job && fail "mpirun does not report that a rank was killed"
  expect 0 "" mpi -np 2 "$FREEFLOAT" campaign k.yaml --out rk --quiet
else
  without "ranks: no mpirun, or freefloat was built without MPI"
fi

# kill -9 in the middle, several times; no run is lost or repeated, the table is that of an unbroken run
sed 's/samples:.*/samples: 200/' c.yaml > k.yaml
killed=0
for _ in 1 2 3; do
  "$FREEFLOAT" campaign k.yaml --threads 2 --out k --quiet & pid=$!
  before=$(stat -c %s k/results.journal 2>/dev/null || echo 0)
  for _ in $(seq 200); do [ "$(stat -c %s k/results.journal 2>/dev/null || echo 0)" -gt $((before + 5000)) ] && break; sleep 0.02; done
  kill -9 $pid 2>/dev/null && killed=$((killed + 1))
  wait $pid 2>/dev/null
done
[ $killed -ge 1 ] || fail "no run was killed in the middle"
[ ! -e k/results.csv ] || fail "a table stands there before all runs are done"
# and a torn last record
truncate -s -7 k/results.journal
"$FREEFLOAT" campaign k.yaml --threads 2 --out k > out.txt 2>&1 || fail "resuming failed: $(tail -3 out.txt)"
grep -q "torn record" out.txt || fail "a torn record is not reported"
grep -q "runs are done already" out.txt || fail "resuming is not reported"
"$FREEFLOAT" campaign k.yaml --threads 2 --out whole --quiet
cmp -s k/results.csv whole/results.csv || fail "the resumed table differs from an unbroken one"
[ -d rk ] && { cmp -s rk/results.csv whole/results.csv || fail "the ranks' resumed table differs"; }
[ "$(stat -c %s k/results.journal)" -eq "$(stat -c %s whole/results.journal)" ] || fail "a run stands in the journal twice"

# Ctrl-C: a clear line, and it continues
behind out.txt "$FREEFLOAT" campaign k.yaml --threads 1 --out i; pid=$!
for _ in $(seq 200); do [ "$(stat -c %s i/results.journal 2>/dev/null || echo 0)" -gt 5000 ] && break; sleep 0.02; done
kill -INT $pid; wait $pid; status=$?
[ $status -eq 1 ] || fail "exit $status after Ctrl-C"
grep -q "continue with the same command: freefloat campaign k.yaml --out i" out.txt || fail "Ctrl-C: $(cat out.txt)"

# a table that was cut is written again; finished campaigns run nothing
size=$(stat -c %s t2/results.journal)
truncate -s -20 t2/results.csv
expect 0 "results.csv was cut" "$FREEFLOAT" campaign c.yaml --out t2; same t2
[ "$(stat -c %s t2/results.journal)" -eq "$size" ] || fail "a finished campaign ran again"

# another campaign's folder, a table of nobody, two at once
sed 's/seed:.*/seed: 8/' c.yaml > other.yaml
expect 2 "another campaign" "$FREEFLOAT" campaign other.yaml --out t1; one_line
[ "$(wc -l < t1/results.csv)" -eq $rows ] || fail "the other campaign's table was touched"
# a rebuilt program may compute otherwise: its results are not mixed with the old ones
objcopy --dump-section .note.gnu.build-id=note "$FREEFLOAT" rebuilt
printf 'id' | dd of=note bs=1 seek=20 conv=notrunc 2> /dev/null
objcopy --update-section .note.gnu.build-id=note "$FREEFLOAT" rebuilt
expect 2 "another campaign" ./rebuilt campaign c.yaml --out t1; one_line
rm rebuilt
mkdir nobody && echo "index" > nobody/results.csv
expect 2 "nobody: is not empty, and no run of freefloat" "$FREEFLOAT" campaign c.yaml --out nobody; one_line

# bad input: one line each, exit 2, nothing written
bad() { # PATTERN, text of vary/metrics
  printf 'name: b\nbase: wall.yaml\nsamples: 4\n%s\n' "$2" > b.yaml
  rm -rf b
  expect 2 "$1" "$FREEFLOAT" campaign b.yaml --out b; one_line
  [ ! -e b/results.journal ] || fail "something was written for: $2"
}
bad "b.yaml:5:3: unknown key 'weight'" $'vary:\n  satellites.body.weight: {uniform: [1, 2]}'
bad "b.yaml:5:3: no item 'left'" $'vary:\n  contacts.left.damping: {uniform: [1, 2]}'
bad "b.yaml:5:35: the range from 2 to 1 is empty" $'vary:\n  satellites.body.mass: {uniform: [2, 1]}'
bad "b.yaml:5:36: the logarithm of 0" $'vary:\n  contacts.right.stiffness: {log: [0, 1]}'
bad "b.yaml:5:3: mass is .*, allowed: > 0 .*\(sample [0-9]+\)" $'vary:\n  satellites.body.mass: {linear: [2, -1]}'
bad "b.yaml:4:11: --method nothing" 'methods: [nothing]'
bad "no number 'speed'" 'metrics: {a: speed}'
bad "not valid YAML" 'vary: {'
expect 2 "none.yaml:1:1: the file cannot be read" "$FREEFLOAT" campaign none.yaml; one_line
expect 2 "which campaign" "$FREEFLOAT" campaign; one_line
expect 2 "whole number from 1 to 4096" "$FREEFLOAT" campaign c.yaml --threads many; one_line
printf 'name: many\nbase: wall.yaml\nsamples: 2000000000\nmetrics: [contacts]\n' > many.yaml
expect 2 "more than 1e9.*--yes" "$FREEFLOAT" campaign many.yaml --out many; one_line
[ ! -e many ] || fail "something was written for too many samples"
expect 0 "2000000000 samples x 1 methods" "$FREEFLOAT" campaign many.yaml --dry-run --out many
expect 0 '"runs": 2000000000' "$FREEFLOAT" campaign many.yaml --dry-run --json --out many
[ ! -e many ] || fail "a dry run wrote something"

# samples that diverge are rows with their reason, and the campaign continues
{ cat "$FF_SOURCE_DIR/scenarios/deos-client.yaml"; echo "allow_penetration: true"; } > deos.yaml
cat > d.yaml <<Y
name: d
base: deos.yaml
methods: [direct]
vary:
  satellites.client.mass: {list: [280, 0.001]}
  satellites.client.inertia: {list: [[1e-6, 1e-6, 1e-6]]}
  contacts.front.stiffness: {list: [1e12]}
  contacts.front.point: {list: [[0.3, 0.2, 0.1]]}
metrics: [contacts]
keep: {failed: true}
Y
expect 0 "of 2 runs failed" "$FREEFLOAT" campaign d.yaml --out d
sed -n 3p d/results.csv | grep -q "failed: " || fail "no reason in: $(sed -n 3p d/results.csv)"
[ -n "$(find d/kept -name log.csv)" ] || fail "the failed run's log is not kept"

# what cannot be written
: > file
expect 2 "cannot write into this folder" "$FREEFLOAT" campaign c.yaml --out file/x; one_line
if [ "$(id -u)" != 0 ]; then mkdir locked && chmod a-w locked; expect 2 "cannot write" "$FREEFLOAT" campaign c.yaml --out locked/x; fi
if mkdir small && mount -t tmpfs -o size=12k none small 2>/dev/null; then
  expect 1 "No space left" "$FREEFLOAT" campaign c.yaml --out small/x
  [ ! -e small/x/results.csv ] || fail "a table that looks whole is left on a full disk"
  mount -o remount,size=40m small
  expect 0 "" "$FREEFLOAT" campaign c.yaml --out small/x --quiet
  same small/x
  umount small
else
  without "a full disk: no right to mount one"
fi

# memory: reduced samples, resident memory below 200 MB and flat
count=1500
[ "$long" != 0 ] && count=100000
printf 'name: m\nbase: wall.yaml\nmethods: [tdpa]\nsamples: %s\nvary:\n  satellites.body.robot.delay: {uniform: [0, 0.05]}\n  contacts.right.stiffness: {log: [1000, 20000]}\n  time.duration: {list: [0.2]}\nmetrics: [rebound_error, peak_force_ratio]\n' $count > m.yaml
peak() { awk '/VmHWM/ {print $2}' "/proc/$1/status" 2>/dev/null; }
"$FREEFLOAT" campaign m.yaml --threads 2 --out m --quiet & pid=$!
sleep 0.3; early=0; most=0
while kill -0 $pid 2>/dev/null; do
  now=$(peak $pid); now=${now:-0}
  [ "$early" -eq 0 ] && [ "$(stat -c %s m/results.journal 2>/dev/null || echo 0)" -gt 50000 ] && early=$now
  [ "$now" -gt "$most" ] && most=$now
  sleep 0.05
done
wait $pid || fail "the long campaign failed"
[ "$(wc -l < m/results.csv)" -eq $((count + 1)) ] || fail "the long campaign's table has $(wc -l < m/results.csv) lines"
[ "$most" -lt 204800 ] || fail "resident memory $most kB"
echo "resident memory: $early kB early, $most kB at most ($count samples)"

[ $failures -ne 0 ] || echo "campaigns: all as documented"
ended
