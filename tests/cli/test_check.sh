#!/usr/bin/env bash
# freefloat check: a valid scenario is one line; of one that is not, every mistake with its place; a method library stays closed.
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
need python3
S=$FF_SOURCE_DIR/scenarios
M=$FF_BUILD_DIR/tests/method_bad.so # has the fault that FF_BAD names
DIR=$work
check() { # STATUS PATTERN ARGUMENTS...: in the text of both outputs
    local status=$1 pattern=$2 got
    shift 2
    text=$("$FREEFLOAT" check "$@" 2>&1)
    got=$?
    [ $got -eq "$status" ] || fail "check $* gave exit status $got, not $status: $text"
    printf '%s\n' "$text" | grep -q -- "$pattern" || fail "check $*: '$text' lacks '$pattern'"
}
for file in "$S"/*.yaml; do
    check 0 ': valid: ' "$file"
    [ "$(printf '%s\n' "$text" | wc -l)" -eq 1 ] || fail "$file: not one line: $text"
done
check 0 'valid: method tdpa, 1 satellite, 2 contacts, 7500 cycles of 0.004 s' "$S/deos-client.yaml"
check 0 'method fused' "$S/deos-client.yaml" --method fused
check 0 '^$' "$S/deos-client.yaml" --quiet
check 2 'which scenario' --json
check 2 'cannot be' "$DIR/none.yaml"
check 0 'example: freefloat check' --help

# every mistake is there, with its line, and nothing else
cat > "$DIR/bad.yaml" << 'Y'
name: bad
time: {cycle: 0.004, duration: 3}
method: fussed
satellites:
  client: {mass: -280, inertia: [18, 20, 22], colour: red, robot: {kind: delay, delay: x}}
  other: {inertia: [1, 1, 1]}
contacts:
  - {name: front, kind: wall, body: client, at: [0, 0, 0.03], normal: [0, 0, 0], stiffness: 2000}
  - {name: back, kind: wall, body: nobody, at: [0, 0], stiffness: 2000}
loads:
  - {body: client, kind: pulse, force: [1, 0, 0], from: 5, to: 1}
requirments: {}
Y
check 2 "unknown method 'fussed'" "$DIR/bad.yaml"
lines=$(printf '%s\n' "$text" | sed -n 's/^.*bad.yaml:\([0-9]*\):[0-9]*: .*/\1/p' | sort -n | tr '\n' ' ')
[ "$lines" = "3 5 5 5 6 8 9 9 9 11 12 " ] || fail "mistakes in lines '$lines': $text"
# what it says first is what run says
first=$("$FREEFLOAT" run "$DIR/bad.yaml" --out "$DIR/out" 2>&1)
printf '%s\n' "$text" | grep -qxF -- "$first" || fail "run says something else: $first"
"$FREEFLOAT" check "$DIR/bad.yaml" --json > "$DIR/bad.json"
[ $? -eq 2 ] || fail "--json changes the exit status"
python3 - "$DIR/bad.json" << 'P' || fail "--json of mistakes"
import json, sys
s = json.load(open(sys.argv[1]))
assert s["valid"] is False and len(s["mistakes"]) == 11 and s["warnings"] == [], s
P
"$FREEFLOAT" check "$S/deos-client.yaml" --json | python3 -c '
import json, sys
s = json.load(sys.stdin)
assert s["valid"] and s["method"] == "tdpa" and (s["satellites"], s["contacts"], s["cycles"]) == (1, 2, 7500) and s["mistakes"] == [], s' || fail "--json"

# a library is not loaded unless it is trusted: this one would crash
export FF_BAD=load:abort
check 0 "valid: method library $M, settings unchecked" "$S/deos-client.yaml" --method "$M" --set 'idle={share: 2}'
check 2 "^--method $DIR/none.so: cannot be read: No such file" "$S/deos-client.yaml" --method "$DIR/none.so"
check 2 "^--method $DIR: cannot be read: not a regular file" "$S/deos-client.yaml" --method "$DIR"
check 2 'crashes when it is loaded' "$S/deos-client.yaml" --method "$M" --trust
export FF_BAD=
check 2 'share is 2, allowed: 0 to 1' "$S/deos-client.yaml" --method "$M" --trust --set 'idle={share: 2}'
check 0 'valid: method idle' "$S/deos-client.yaml" --method "$M" --trust --set 'idle={share: 1}'
# but what is no map belongs to nobody
check 2 "unknown key 'idle'" "$S/deos-client.yaml" --method "$M" --set idle=2
# a mistake hides no other: not those of the library's settings, of the time, of what the method cannot do, of an option
cat > "$DIR/more.yaml" << Y
name: more
time: {cycle: 0.004, duration: 0.001}
method: $M
frame: relative
idle: {share: 2, shape: round}
satellites:
  client: {mass: -1, inertia: [1, 1, 1]}
Y
check 2 'share is 2, allowed: 0 to 1' "$DIR/more.yaml" --trust --set nothing.at.all=1
lines=$(printf '%s\n' "$text" | sed -n 's/^.*more.yaml:\([0-9]*\):[0-9]*: .*/\1/p' | sort -n | tr '\n' ' ')
[ "$lines" = "2 3 5 5 7 " ] && printf '%s\n' "$text" | grep -q '^--set nothing' || fail "mistakes in lines '$lines': $text"
printf '%s\n' "$text" | grep -q "more.yaml:3:9: method 'idle' does not take frame: relative" || fail "where the method is: $text"
sed -i "s|^method:.*|method: ./none.so|; s|, shape: round||" "$DIR/more.yaml"
check 2 "more.yaml:3:9: method library ./none.so: cannot be read: No such file" "$DIR/more.yaml"
[ "$(printf '%s\n' "$text" | wc -l)" -eq 3 ] || fail "not three mistakes: $text"
# what only the loop knows, at the method's place
check 2 "method 'impact'" "$S/envisat-capture.yaml" --method impact

# whatever run refuses before its first cycle check refuses with the same line, and nothing else
refusals=0
both() { # FILE ARGUMENTS...
    local checked ran check_status run_status
    checked=$("$FREEFLOAT" check --quiet "$@" --set time.duration=0.02 2>&1)
    check_status=$?
    ran=$("$FREEFLOAT" run "$@" --set time.duration=0.02 --out "$DIR/both" --force --log none --quiet 2>&1)
    run_status=$?
    ran=$(printf '%s\n' "$ran" | grep -v 'warning: ' | head -1)
    if [ $run_status -eq 2 ]; then
        refusals=$((refusals + 1))
        [ $check_status -eq 2 ] || fail "run refuses $*: '$ran', check gives $check_status"
        printf '%s\n' "$checked" | grep -qxF -- "$ran" || fail "of $* run says '$ran', check '$checked'"
    elif [ $check_status -ne 0 ]; then
        fail "check refuses $*: '$checked', run gives $run_status: $ran"
    fi
}
W=$S/wall.yaml
for set in satellites.body.robot.delay=1e9 'satellites.body.robot={kind: mujoco}' \
    'satellites.body.robot={kind: joints, base: {position: [9, 0, 0]}}' 'satellites.body.robot={kind: joints, rail: {axis: [0, 1, 0], length: 2, speed: 1}}' \
    'satellites.body.robot={kind: delay, delay: 0.01, jitter: 1e8}' 'satellites.body.sensor={kind: noisy, delay: 1e9}' 'contacts.right.at=[-0.01, 0, 0]' \
    'satellites.body.mass=-1' 'time.cycle=0' 'method=impact' 'contacts.right.stiffness=0' 'contacts.right.half_angle=1' 'allow_penetration=maybe' \
    'fused={delay: 1e9}' 'impact={look_back: 1e9}' 'integrator=passive' 'contact_wrench=held' 'frame=relative'; do
    both "$W" --set "$set"
    both "$W" --method fused --set "$set"
done
[ $refusals -gt 15 ] || fail "only $refusals refusals"
both "$S/envisat-capture.yaml" --set satellites.servicer.obsw.navigation.delay=1e9
both "$S/planar-arm-emulation.yaml"
both "$S/planar-arm-emulation.yaml" --set 'emulation.gains.velocity=-1'
for file in "$FF_SOURCE_DIR"/tests/fuzz/corpus/scenario/*; do both "$file"; done
echo "$refusals refusals of both"
[ $failures -eq 0 ] || exit 1
echo "check: valid or every mistake"
