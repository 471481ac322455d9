#!/usr/bin/env bash
# The command line as a user meets it: outputs, messages, exit codes.
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
need python3
S=$FF_SOURCE_DIR/scenarios/deos-client.yaml

expect 2 "usage: freefloat COMMAND" "$FREEFLOAT"
expect 0 "usage: freefloat COMMAND" "$FREEFLOAT" --help
expect 0 "^freefloat [0-9]" "$FREEFLOAT" --version
expect 2 "unknown command 'fly'" "$FREEFLOAT" fly; one_line
expect 2 "which scenario" "$FREEFLOAT" run; one_line
expect 2 "unknown option '--fast'" "$FREEFLOAT" run "$S" --fast; one_line
expect 2 "needs a value" "$FREEFLOAT" run "$S" --out; one_line
expect 2 "unexpected 'b'" "$FREEFLOAT" run a b; one_line
expect 2 "'xml' is not a log format" "$FREEFLOAT" run "$S" --log xml; one_line
expect 2 "missing.yaml" "$FREEFLOAT" run missing.yaml; one_line
expect 2 "is not a paper" "$FREEFLOAT" papers nobody; one_line
expect 2 "given twice" "$FREEFLOAT" compare "$S" --methods tdpa,tdpa; one_line
expect 2 "METHOD:key=value" "$FREEFLOAT" compare "$S" --methods tdpa:law; one_line
expect 2 "allowed" "$FREEFLOAT" compare "$S" --methods tdpa:lawn=clamp; one_line
expect 2 "--set" "$FREEFLOAT" run "$S" --set satellites.client.mass=-1; one_line

# a table fits a terminal of 80 columns, whatever it holds; nothing stands behind its lines
narrow() {
  awk 'length($0) > 80 || / $/ {print "wide: " $0; bad = 1} END {exit bad}' out.txt > wide.txt || fail "$(cat wide.txt)"
}
# each contact reports what it was, in the terminal and in summary.json
for case in he2022/4-1 lange/fig-6; do
  expect 0 "verdict" "$FREEFLOAT" run "$FF_SOURCE_DIR/scenarios/papers/$case.yaml" --set time.duration=1.2 --log none --out c
  for column in duration "force N" "robot +" impulse restitution CoV CoF "point m" stiffness damping frequency "N/m +N s/m +Hz"; do
    grep -Eq "$column" out.txt || fail "$case: no column '$column'"
  done
  narrow
  grep -Eq "[0-9]{5} +[0-9.]+ \+- [0-9.]+ +[0-9.]+$" out.txt || fail "$case: no identified surface: $(cat out.txt)"
  for key in stiffness_Npm damping_Nspm damping_sd_Nspm contact_frequency_Hz cov cof restitution duration_s peak_force_N peak_robot_force_N; do
    grep -Eq "\"$key\": [0-9]" c/summary.json || fail "$case: no number for $key"
  done
  for key in contact_point_m impulse_Ns; do
    grep -Eq "\"$key\": \[-?[0-9]" c/summary.json || fail "$case: no vector for $key"
  done
done

expect 0 "^fused +pass +7 +0.02677" "$FREEFLOAT" compare "$S" --methods ideal,direct,tdpa,damping,impact,fused --out six --log none
narrow
grep -A1 -x "direct fails: velocity error 0.1311 > 0.01 m/s, peak force ratio 6.116 > 1.2," out.txt | grep -qx "  trajectories have diverged at 14.492 s" || fail "no reason: $(cat out.txt)"
[ "$(grep -c pass out.txt)" -eq 4 ] || fail "ideal, damping, impact and fused pass: $(cat out.txt)"
# columns that do not fit stand below, behind the name again; each value of each variant is there once
expect 0 "^tdpa:reading=printed +fail" "$FREEFLOAT" compare "$S" --methods tdpa:reading=printed,tdpa:law=clamp --out six --log none
[ "$(grep -c '^tdpa:reading=printed  ' out.txt)" -eq 2 ] || fail "not two blocks: $(cat out.txt)"
# one line says why; below a millionth of the limit a value is 0
expect 0 "^verdict fail: velocity error 0.02672 > 0.01 m/s,$" "$FREEFLOAT" run "$S" --out six --log none
expect 0 "^verdict pass: all limits kept; nearest: (angular )?velocity error 0 <= 0.[0-9]+ (m|rad)/s$" "$FREEFLOAT" run "$S" --set 'contacts=[]' --out six --log none

# the standard input, as often as it is needed; suggestions; a campaign is not a scenario, nor the reverse
"$FREEFLOAT" run - --out pipe --log none < "$S" > out.txt 2>&1 || fail "run -: $(cat out.txt)"
grep -q "verdict fail" out.txt || fail "run -: $(cat out.txt)"
"$FREEFLOAT" compare - --methods direct,fused --out pipe --log none < "$S" > out.txt 2>&1 || fail "compare -: $(cat out.txt)"
[ "$(grep -c "^direct  *fail \|^fused  *pass " out.txt)" -eq 2 ] || fail "compare -: $(cat out.txt)"
expect 2 "^-:1:1: " "$FREEFLOAT" check - < /dev/null; one_line
sed 's/mass: 280/mass: -280/' "$S" | "$FREEFLOAT" check - > out.txt 2>&1 && fail "a negative mass is valid"
grep -q "^-:26:11: mass is -280, allowed: > 0 \[kg\]$" out.txt || fail "check -: $(cat out.txt)"
expect 2 "unknown command 'chekc' \(did you mean 'check'\?\)" "$FREEFLOAT" chekc; one_line
expect 2 "unknown command 'xyzzy';" "$FREEFLOAT" xyzzy; one_line
expect 2 "unknown option '--nope'; see" "$FREEFLOAT" run "$S" --nope; one_line
expect 2 "unknown option '--metod' \(did you mean '--method'\?\)" "$FREEFLOAT" run "$S" --metod=tdpa; one_line
expect 2 "deos-client.yaml:24:1: this is a scenario: freefloat run takes it" "$FREEFLOAT" campaign "$S"; one_line
C=$FF_SOURCE_DIR/campaigns/delay-stiffness.yaml
expect 2 "delay-stiffness.yaml:[0-9]+:1: this is a campaign: freefloat campaign takes it" "$FREEFLOAT" run "$C"; one_line
expect 2 "this is a campaign" "$FREEFLOAT" check "$C"; one_line
# every mistake, whatever stands before it: a key twice, a kind that nobody knows, a wrong mass, a name twice in what is wrong itself
cat > bad.yaml << 'Y'
name: bad
time: {cycle: 0.004, duration: 4}
time: {cycle: 0.004}
satellites:
  a:
    mass: -5
    inertia: [1, 1, 5]
    velocity: [x, 0, y]
    points: {tip: [0, 0, q], top: [0, 0, 1]}
  b:
    mass: 5
    mass: 6
    inertia: [1, 1, 1]
    robot: {kind: dely, delay: -1}
contacts:
  - {name: front, kind: wall, body: a, at: [0.5, 0, 0], normal: [-1, 0, 0], stiffness: 1000}
  - {name: front, kind: wll, body: c, point: nose, at: [0.5, 0], normal: [-1, 0, 0], stiffness: -1}
  - {name: front, kind: wall, body: b, point: nose, at: [0.5, 0, 1], normal: [-1, 0, 0], stiffness: -1}
loads:
  - {kind: puls, body: d, force: [1, 2], from: 1, to: 2}
Y
"$FREEFLOAT" check bad.yaml --set foo > out.txt 2>&1 && fail "a file of mistakes is valid"
at=$(sed -n 's/^bad.yaml:\([0-9:]*\): .*/\1/p' out.txt | tr '\n' ' ')
[ "$at" = "3:1 12:5 6:11 8:16 8:22 9:26 7:14 14:19 14:32 17:25 17:36 17:56 17:97 17:12 18:101 18:47 18:12 20:12 20:24 20:34 " ] || fail "mistakes at $at: $(cat out.txt)"
grep -q "^--set foo: no value" out.txt || fail "$(cat out.txt)"
# rt without devices
expect 1 "no virtual device was heard: start it first, in another terminal: freefloat facility .*deos-client.yaml" "$FREEFLOAT" rt "$S" --wait 0.1 --rsi-port $((20000 + $$ % 9000)) --ati-port 9 --http-port 9 --out six < /dev/null
# orders that are piped are not read, and it is said; nothing is said of an input without any
grep -q "not a terminal" out.txt && fail "a warning of orders where there are none: $(cat out.txt)"
echo hold > orders
expect 1 "warning: the standard input is not a terminal: no order is read from it" "$FREEFLOAT" rt "$S" --wait 0.1 --rsi-port $((20000 + $$ % 9000)) --ati-port 9 --http-port 9 --out pipe < orders

# a long command shows how far it is where a terminal shows it, in one line that it takes away; Ctrl-C ends it
cat > bar.py << 'P'
import os, pty, re, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
seen, begin, asked = "", time.time(), False
while time.time() - begin < 120:
    try:
        seen += os.read(fd, 4096).decode(errors="replace")
    except OSError: # it has ended
        break
    if not asked and re.search(r"\r[^\n]*\[[#.]{30}\] +\d+ %", seen):
        os.write(fd, b"\x03")
        asked = True
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
if not asked or "\r\033[K" not in seen:
    sys.exit(f"no bar: exit status {status}: {seen[-500:]!r}")
P
python3 bar.py "$FREEFLOAT" run "$S" --method direct --set time.duration=200000 --log none --out bar || fail "no progress is shown"

# the sensors' noise as it was measured, null where the sensor is ideal
NOISY="satellites.client.sensor={kind: noisy, force_noise: 0.5, torque_noise: 0.02}"
expect 0 "sensor's noise, measured: 0.[45]" "$FREEFLOAT" run "$S" --set "$NOISY" --out n --log none
tr -d ' \n' < n/summary.json | grep -Eq '"noise":\{"force_N":0\.[45][0-9]*,"torque_Nm":0\.0[12]' || fail "no measured noise in summary.json"

# the default run: files, verdict, quiet, json, strict
expect 0 "verdict" "$FREEFLOAT" run "$S" --out r
for file in summary.json log.csv report.html; do [ -s r/$file ] || fail "r/$file is missing"; done
[ -z "$(find r -name '.*.part')" ] || fail "a part file is left"
expect 0 "" "$FREEFLOAT" run "$S" --out q --quiet --set time.duration=1
[ ! -s out.txt ] || fail "--quiet printed: $(cat out.txt)"
expect 0 '"verdict": "fail"' "$FREEFLOAT" run "$S" --out j --json --method direct
expect 1 "fail" "$FREEFLOAT" run "$S" --out s --method direct --strict
expect 0 "pass" "$FREEFLOAT" run "$S" --out s --method ideal --strict
[ "$("$FREEFLOAT" run "$S" --set time.duration=0.1 | tail -1)" = "report out/deos-client/report.html" ] || fail "default folder"
head -1 r/log.csv | grep -q '^t \[s\],client.position.x \[m\],' || fail "log.csv has no named columns with units"
[ "$(wc -l < r/log.csv)" -eq 7502 ] || fail "log.csv has $(wc -l < r/log.csv) lines"

# compare: one folder a variant
expect 0 "tdpa:reading=printed" "$FREEFLOAT" compare "$S" --methods ideal,direct,tdpa,tdpa:reading=printed --out c
for d in ideal direct tdpa tdpa:reading=printed; do [ -s "c/$d/summary.json" ] || fail "c/$d/summary.json is missing"; done

# same bits twice, timing apart
"$FREEFLOAT" run "$S" --out b1 --quiet && "$FREEFLOAT" run "$S" --out b2 --quiet
diff <(sed '/_ns"\|real_time/d' b1/summary.json) <(sed '/_ns"\|real_time/d' b2/summary.json) > /dev/null || fail "two runs differ"

# what cannot be written
mkdir locked && : > file
expect 2 "cannot write into this folder" "$FREEFLOAT" run "$S" --out file/x; one_line
if [ "$(id -u)" != 0 ]; then chmod a-w locked; expect 2 "cannot write" "$FREEFLOAT" run "$S" --out locked/x; fi
# a full disk: a tiny file system where that is allowed, else the size limit of the shell
if mkdir small && mount -t tmpfs -o size=64k none small 2>/dev/null; then
  expect 1 "cannot be written" "$FREEFLOAT" run "$S" --out small/x
  [ ! -e small/x/summary.json ] || fail "a run that looks whole is left on a full disk"
  [ ! -e small/x/log.csv ] || fail "a log that looks whole is left on a full disk"
  [ -s small/x/log.cut.csv ] || fail "the rows of a full disk are lost"
  umount small
else
  without "a full disk: no right to mount one"
fi

# a run that fails still writes its summary, null for what is not finite
expect 1 "diverged" "$FREEFLOAT" run "$S" --out d --log none --method direct --set contacts.front.stiffness=7e7 --set contacts.back.stiffness=7e7
[ -s d/summary.json ] || fail "no summary after a failed run"
grep -q -i 'nan\|inf' d/summary.json && fail "summary.json holds nan or inf"

# more contacts than are kept: it says so
cat > many.yaml << 'Y'
name: many
time: {cycle: 0.001, duration: 22}
method: tdpa
satellites:
  body: {mass: 1, inertia: [1, 1, 1], velocity: [1, 0, 0], robot: {kind: ideal}}
contacts:
  - {name: a, kind: wall, at: [0.001, 0, 0], normal: [-1, 0, 0], stiffness: 1000000}
  - {name: b, kind: wall, at: [-0.001, 0, 0], normal: [1, 0, 0], stiffness: 1000000}
Y
expect 0 "later contacts are not listed: more than 4096" "$FREEFLOAT" run many.yaml --out many --log none
grep -q '"all_contacts_listed": false' many/summary.json || fail "all_contacts_listed"
grep -q '"all_contacts_listed": true' r/summary.json || fail "all_contacts_listed"

# what is printed must arrive: every command says so when it does not
if [ -w /dev/full ]; then
  for words in "run $S --set time.duration=0.1 --log none --out full" "compare $S --methods direct --set time.duration=0.1 --out full" \
      "analyze contact-stability --velocity-gain 80 --position-gain 20 --bandwidth 100" "--help" "--version" "run --help"; do
    # shellcheck disable=SC2086
    text=$("$FREEFLOAT" $words 2>&1 >/dev/full)
    status=$?
    [ $status -eq 1 ] || fail "$words > /dev/full gave exit status $status"
    echo "$text" | grep -q "standard output cannot be written (No space left on device)" || fail "$words > /dev/full: $text"
  done
fi

# standard streams that the caller closed: no file of the run takes their place, where it would be printed into
"$FREEFLOAT" run "$S" --set time.duration=2000 --log csv,mcap --out closed <&- >&- 2>&- &
one=$!
for _ in $(seq 200); do [ -s closed/log.mcap ] && break; sleep 0.05; done
for n in 0 1 2; do [ "$(readlink /proc/$one/fd/$n)" = /dev/null ] || fail "standard stream $n is $(readlink /proc/$one/fd/$n)"; done
kill -9 $one; wait $one 2> /dev/null
"$FREEFLOAT" --version >&- 2> /dev/null && fail "a closed standard output is no failure"
mkfifo silent.yaml
text=$("$FREEFLOAT" check silent.yaml 2>&1)
[[ $text = *"writer said nothing"* && $text != *"did you mean"* ]] || fail "a pipe that is silent: $text"

# numbers of the contract
python3 - <<'P' || fail "summary keys"
import json
s = json.load(open("r/summary.json"))
assert s["cycles"] == 7500 and s["cycle_s"] == 0.004 and s["method"] == "tdpa" and s["integrator"] == "lie-midpoint"
c = s["satellites"]["client"]
for k in "initial final max_kinetic_energy_J error_vs_ideal contacts passivity robot".split():
    assert k in c, k
k = c["contacts"][0]
assert k["name"] == "front" and abs(k["start_s"] - 1.54) < 0.01, k
assert abs(-k["velocity_after_mps"][2] - 0.0200) < 1e-4, k
assert len(c["robot"]["initial"]["twist"]) == 6 and len(c["passivity"]["observer_min_J"]) == 1
assert [r["name"] for r in s["requirements"]] == ["velocity_error", "angular_velocity_error", "peak_force_ratio", "restitution_error"]
assert c["error_vs_ideal"]["contacts"] == "paired" and c["error_vs_ideal"]["diverged_s"] is None and c["error_vs_ideal"]["restitution_error"] < 0.06
P
[ $failures -ne 0 ] || echo "command line: all as documented"
ended
