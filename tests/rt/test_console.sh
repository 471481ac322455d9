#!/usr/bin/env bash
# Arming at the local console, as with real devices: 0.0.0.0 is not loopback, so the robot counts as a real one although a
# virtual controller sends to it. The answers are typed into a pseudo terminal.
set -u
. "$FF_SOURCE_DIR/tests/rt/pair.sh"
need python3
S=$FF_SOURCE_DIR/scenarios/wall.yaml
cat > console.py << 'P'
import os, pty, select, sys, time
# console.py OUT "prompt=answer" ... -- command: types each answer once its prompt is there, without one before the command begins; exit status
# of the command
out, rest = sys.argv[1], sys.argv[2:]
cut = rest.index("--")
talk, command = [a.split("=", 1) for a in rest[:cut]], rest[cut + 1:]
go, begun = os.pipe()
pid, fd = pty.fork()
if pid == 0:
    os.read(go, 1)
    os.execvp(command[0], command)
while talk and not talk[0][0]:
    os.write(fd, (talk.pop(0)[1] + "\n").encode())
os.write(begun, b"!")
seen, begin = "", time.time()
at = 0
while time.time() - begin < 90:
    if select.select([fd], [], [], 0.1)[0]:
        try:
            data = os.read(fd, 4096)
        except OSError:
            break
        if not data:
            break
        seen += data.decode(errors="replace")
    if talk and talk[0][0] in seen[at:]:
        at = len(seen)
        answer = talk.pop(0)[1]
        os.write(fd, b"\x03" if answer == "^C" else (answer.replace("\\n", "\n") + "\n").encode())
open(out, "w").write(seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
P
arm="delay: 0.016, base: {position: [-1.35, 0, -1.57]}, tool: {attitude: [0, 0, 1, 0]}"
both=(--set satellites.body.safety=cautious --set facility.signals=on --set "satellites.body.sensor={kind: ati-rdt}" --set time.duration=2 --set "facility.gravity=[0,0,-9.81]" --set "satellites.body.mockup={mass: 3}")
# console NAME "check section" answers...: a facility in lock step and a loop at a terminal; exit status in $got
console() {
  local name=$1 check=$2
  shift 2
  ports
  # shellcheck disable=SC2086
  behind "$name.facility" timeout 100 "$FREEFLOAT" facility "$S" --once --lockstep "${P[@]}" "${both[@]}" --set "satellites.body.robot={kind: kuka-rsi, $arm}"
  facility_pid=$!
  # shellcheck disable=SC2086
  timeout 100 python3 console.py "$name.rt" "$@" -- "$FREEFLOAT" rt "$S" --out "$name" "${P[@]}" $quiet --silence 20 "${both[@]}" --set "satellites.body.check={$check}" \
    --set "satellites.body.robot={kind: kuka-rsi, address: 0.0.0.0, $arm}"
  got=$?
  kill "$facility_pid" 2> /dev/null
  wait "$facility_pid" 2> /dev/null
  facility_pid=
}
quiet=
chrt -f 80 true 2> /dev/null || { echo "skipped: no right to real-time priority, without which a real robot is refused"; exit 77; }
moved() { grep -q FLOAT "$1.rt"; }
# without a passed self-test nothing is asked; then one that passed: how fast this computer is beside other tests is not the question here
export XDG_STATE_HOME=$work/state
console unproved "weight: scenario" "arm?=arm"
[ $got -eq 2 ] && grep -q "needs a passed self-test of this computer, and there is none" unproved.rt || fail "no self-test: exit $got: $(cat unproved.rt)"
"$FREEFLOAT" rt --selftest > /dev/null
sed -i 's/^\(fit_[0-9]*\) .*/\1 1/' "$XDG_STATE_HOME/freefloat/selftest"
# the report, then the operator's word: only `arm` moves
console yes "weight: scenario" "arm?=arm"
[ $got -eq 0 ] && moved yes || fail "arm: exit $got: $(cat yes.rt)"
grep -q "check: go" yes.rt && grep -q "push +x" yes.rt || fail "no report before arming: $(cat yes.rt)"
awk '/check: go/ { go = NR } /arm\?/ { ask = NR } /FLOAT/ && !fly { fly = NR } END { exit !(go && go <= ask && ask < fly) }' yes.rt || fail "order: $(cat yes.rt)"
for word in no ARM "arm now" ""; do
  console no "weight: scenario" "arm?=$word"
  [ $got -ne 0 ] && ! moved no || fail "'$word' armed: exit $got: $(cat no.rt)"
  grep -q "ended as asked" no.facility || fail "'$word': the controller was not commanded to end: $(cat no.facility)"
done
# what was typed before the question does not answer it: before all, and behind the answer to another one (below)
console early "weight: scenario" "=arm" "arm?=^C"
[ $got -eq 1 ] && ! moved early && grep -q "arm?" early.rt || fail "armed before the question: exit $got: $(cat early.rt)"
# Ctrl-C at the question ends it, without another key
console interrupted "weight: scenario" "arm?=^C"
[ $got -eq 1 ] && ! moved interrupted || fail "Ctrl-C: exit $got: $(cat interrupted.rt)"
grep -q "HOLD, OPERATOR" interrupted.rt && grep -q "ended as asked" interrupted.facility || fail "Ctrl-C: $(cat interrupted.rt interrupted.facility)"
# whoever is asked has seen the report, however quiet
quiet=--quiet
console silent "weight: scenario" "arm?=no"
grep -q "check: go" silent.rt || fail "no report before the question: $(cat silent.rt)"
quiet=
# motions of the check need the operator's word, too; a `no` that is typed in the same moment is not the answer to `arm?`
console test "weight: poses, delay: chirp" 'test?=test\nno' "arm?=arm"
[ $got -eq 0 ] && moved test && grep -q "mock-up's mass" test.rt && grep -q "delay, by the chirp" test.rt || fail "test: exit $got: $(cat test.rt)"
console untested "weight: poses" "test?=no"
[ $got -ne 0 ] && ! moved untested && ! grep -q "arm?" untested.rt || fail "no test: exit $got: $(cat untested.rt)"
# orders while it runs, without a page: hold stays until stop; what is no order is said, and nothing arms
both+=(--set time.duration=600 --set "contacts.right.at=[9, 0, 0]" --set "satellites.body.velocity=[0.0001, 0, 0]")
console orders "weight: scenario" "arm?=arm" "FLOAT=help" "retreat: =zero" "zeroed=arm" "not an order: arm=hold" "  HOLD=zero" "only while the satellite floats=retreat" "leaves a contact=stop"
[ $got -eq 1 ] && grep -q "comes to rest and holds" orders.rt && grep -q "HOLD, OPERATOR" orders.rt && grep -q "ended as asked" orders.facility || fail "orders: exit $got: $(cat orders.rt)"
# a real robot without limits: one line that names them, before anything is opened
timeout 20 python3 console.py bare.rt -- "$FREEFLOAT" rt "$S" --out bare --set "satellites.body.robot={kind: kuka-rsi, address: 0.0.0.0, $arm}" --set "satellites.body.safety={force: 50, velocity: 0.2}"
[ $? -eq 2 ] && grep -q "wall.yaml: body: a real robot needs limits, and the scenario has none for angular_velocity box energy; set satellites.body.safety" bare.rt && [ "$(wc -l < bare.rt)" -eq 1 ] || fail "no limits: $(cat bare.rt)"
# the table is part of the summary
python3 - << 'P' || fail "the check in summary.json"
import json
c = json.load(open("test/summary.json"))["check"]
b = c["satellites"]["body"]
assert c["go"] is True and c["code"] is None and c["reason"] is None, c
assert abs(b["mockup_mass_kg"]["value"] - 3) < 1e-3 and abs(b["delay_ms"]["value"] - 16) < 0.1, b
for k in ("kinematics_mm", "kinematics_deg", "start_mm", "start_deg", "standstill_mm", "push_x", "twist_z", "bias_N", "w_tau", "peak_force_N"):
    assert b[k]["verdict"] == "go", (k, b[k])
P
[ $failures -eq 0 ]
