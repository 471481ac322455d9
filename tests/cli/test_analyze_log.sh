#!/usr/bin/env bash
# freefloat analyze log: simulated logs give back the delay within 0.2 ms, the stiffness within 1 %, the damping
# within 10 %, mass and centre of mass within 0.5 %; the standard deviations are honest.
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
value() { # key, json: the first value of a key
    grep -oE "\"$1\": \[?[^,}]*" <<<"$2" | head -1 | sed 's/.*: \[\?//'
}
near() { # what, value, expected, tolerance
    awk -v v="$2" -v e="$3" -v t="$4" 'BEGIN { d = v - e; if (d < 0) d = -d; exit !(v == v + 0 && d <= t) }' ||
        fail "$1: $2, expected $3 within $4"
}
cat >wall.yaml <<'YAML'
name: wall
time: {cycle: 0.002, duration: 12}
method: tdpa
satellites:
  client:
    mass: 120
    inertia: [8, 9, 10]
    velocity: [0.04, 0.01, 0]
    angular_velocity: [0, 0.01, 0.02]
    robot: {kind: delay, delay: 0.0173}
    sensor: {kind: noisy, force_noise: 0.2, torque_noise: 0.02}
contacts:
  - {name: right, kind: wall, body: client, point: [0.3, 0.2, 0], at: [0.34, 0, 0], normal: [-1, 0, 0], stiffness: 3000, damping: 60}
  - {name: left, kind: wall, body: client, point: [-0.3, 0, 0], at: [-0.34, 0, 0], normal: [1, 0, 0], stiffness: 3000, damping: 60}
YAML
run() { # scenario, options
    "$FREEFLOAT" run "$1" --quiet --out run "${@:2}" || fail "run failed: $*"
}
identify() { "$FREEFLOAT" analyze log run/log.csv --identify "$@" --json; }

run wall.yaml
json=$(identify delay)
near 'pure delay' "$(value delay_s "$json")" 0.0173 0.0002
grep -q '"lag": "none"' <<<"$json" || fail "pure delay: a lag was seen: $json"
json=$(identify contact)
near stiffness "$(value stiffness_Npm "$json")" 3000 30
near damping "$(value damping_Nspm "$json")" 60 6
near 'stiffness in its deviation' "$(value stiffness_Npm "$json")" 3000 "$(awk -v s="$(value stiffness_sd_Npm "$json")" 'BEGIN { print 4 * s }')"

# the lag is distinguished from the delay
for lag in '0.012 8 1' '0.03 3 0.7' '0 15 0.9'; do
    read -r delay frequency damping <<<"$lag"
    run wall.yaml --method direct --set "satellites.client.robot={kind: lag, delay: $delay, frequency: $frequency, damping: $damping}"
    json=$(identify delay)
    near "delay beside a lag of $frequency Hz" "$(value delay_s "$json")" "$delay" 0.0002
    near "frequency of the lag" "$(value lag_frequency_Hz "$json")" "$frequency" 0.05
    near "damping of the lag" "$(value lag_damping "$json")" "$damping" 0.02
done

# two satellites: the relative motion of the two robots
cat >pair.yaml <<'YAML'
name: pair
time: {cycle: 0.001, duration: 6}
method: tdpa
satellites:
  a: {mass: 300, inertia: [30, 30, 30], velocity: [0.03, 0, 0], robot: {kind: delay, delay: 0.011}, sensor: {kind: noisy, force_noise: 0.1}}
  b: {mass: 500, inertia: [50, 50, 50], position: [1, 0, 0], robot: {kind: delay, delay: 0.011}, sensor: {kind: noisy, force_noise: 0.1}}
contacts:
  - {name: plate, kind: pair, body: a, point: [0.45, 0, 0], against: b, at: [-0.45, 0, 0], normal: [-1, 0, 0], stiffness: 9000, damping: 200}
YAML
run pair.yaml
json=$(identify contact --body a)
near 'pair stiffness' "$(value stiffness_Npm "$json")" 9000 90
near 'pair damping' "$(value damping_Nspm "$json")" 200 20
grep -q '"against": "b"' <<<"$json" || fail "the other satellite was not seen"

cat >payload.yaml <<'YAML'
name: payload
time: {cycle: 0.004, duration: 20}
method: direct
facility: {gravity: [0, 0, -9.81]}
satellites:
  client:
    mass: 280
    inertia: [18, 20, 22]
    velocity: [0.01, 0, 0]
    angular_velocity: [0.05, 0.1, 0.03]
    robot: {kind: delay, delay: 0.02, tool: {position: [0, 0, 0.2], attitude: [0.92387953251, 0, 0.38268343236, 0]}}
    sensor: {kind: noisy, force_noise: 0.5, torque_noise: 0.05, bias: [1, -2, 3, 0.1, 0.2, -0.3], pose: {position: [0, 0, 0.05]}}
    mockup: {mass: 20, com: [0.05, -0.02, 0.1], inertia: [0.4, 0.5, 0.6]}
YAML
run payload.yaml --log mcap,csv
json=$(identify payload --scenario payload.yaml)
near mass "$(value mass_kg "$json")" 20 0.1
com=$(tr -d '\n' <<<"$json" | grep -oE '"com_m": \[[^]]*' | sed 's/.*\[//')
IFS=', ' read -r x y z <<<"$com"
near 'com x' "$x" 0.05 0.00057 # 0.5 % of its distance
near 'com y' "$y" -0.02 0.00057
near 'com z' "$z" 0.1 0.00057

# the same from log.mcap, which knows its own gravity and sensor
same=$("$FREEFLOAT" analyze log run/log.mcap --identify payload --json) || fail "exit status $?"
[ "$(value mass_kg "$same")" = "$(value mass_kg "$json")" ] || fail "log.mcap and log.csv differ: $same"

refuse() { # status, pattern, arguments
    local text status want=$1 pattern=$2
    text=$("$FREEFLOAT" analyze log "${@:3}" 2>&1)
    status=$?
    [ $status -eq "$want" ] || fail "$*: exit status $status, expected $want"
    [ "$(wc -l <<<"$text")" -eq 1 ] || fail "$*: more than one line: $text"
    grep -qE -- "$pattern" <<<"$text" || fail "$*: expected /$pattern/ in: $text"
}
refuse 2 'allowed: delay, contact, payload' run/log.csv --identify mass
refuse 2 'cannot be read' none.csv --identify delay
refuse 2 'no header of a log' run/summary.json --identify delay
refuse 2 "no satellite 'x'" run/log.csv --identify delay --body x
refuse 1 'no contact' run/log.csv --identify contact
head -200 run/log.csv | tee cut.csv >/dev/null
sed -i '100s/,.*/,1,2/' cut.csv
refuse 2 'cut.csv:100: not' cut.csv --identify delay
run wall.yaml --set time.duration=0.05
refuse 1 'short|moved' run/log.csv --identify delay --delay-max 0.1
ended
