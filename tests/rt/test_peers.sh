#!/usr/bin/env bash
# Devices and a PC that share no code with freefloat: python, by the vendors' texts alone, over 127.0.0.1.
set -u
. "$FF_SOURCE_DIR/tests/rt/pair.sh"
need python3
R=$FF_SOURCE_DIR/tests/rt
scenario() { # CHANNEL CORRECTIONS CYCLE
  cat << Y
name: peers
time: {cycle: $3, duration: 1}
method: direct
satellites:
  body: {mass: 200, inertia: [20, 20, 20], velocity: [0.01, 0.002, 0], safety: {missed: 500, age: 2}, check: {push: skip},
    robot: {kind: kuka-rsi, address: 127.0.0.1, delay: 0.008, channel: $1, corrections: $2, base: {position: [-1.35, 0, -1.57]}, tool: {attitude: [0, 0, 1, 0]}}}
Y
}

# a PC: late, old, wrong and second answers, Timeout, Stop; stream, bias, count, a second client. Its controller runs by the clock, for what is
# late is the question: in cycles that are longer until an interpreter on a busy machine keeps up
for corrections in absolute relative; do
  for slow in "0.012 10" "0.06 20" "0.3 100"; do
    read -r cycle seconds <<< "$slow"
    scenario axes $corrections "$cycle" > pc.yaml
    ports
    # shellcheck disable=SC2154 # base is what ports found
    behind pc.facility timeout 200 "$FREEFLOAT" facility pc.yaml "${P[@]}"; facility_pid=$!
    timeout 190 python3 "$R/peer_pc.py" "$base" $((base + 10)) $((base + 20)) $corrections "$seconds" > pc.txt 2>&1; got=$?
    kill "$facility_pid"; wait "$facility_pid" 2> /dev/null; facility_pid=
    [ $got -eq 3 ] || break
    echo "$corrections, cycles of $cycle s: $(tail -1 pc.txt)"
  done
  [ "$got" -eq 0 ] || fail "$corrections: $(cat pc.txt pc.facility)"
done

# where the robot stands at the start, as a telegram
scenario cartesian absolute 0.004 > devices.yaml
ports
# shellcheck disable=SC2086
timeout 20 "$FREEFLOAT" facility devices.yaml "${P[@]}" > /dev/null 2>&1 & facility_pid=$!
first=$(timeout 10 python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('127.0.0.1', $base))
print(s.recv(2048).decode())")
kill "$facility_pid"; wait "$facility_pid" 2> /dev/null; facility_pid=
case $first in "<Rob "*) ;; *) fail "no telegram: $first" ;; esac

# a controller and a sensor: numbers that pass 2^32, a page in pounds over a connection that stays open, lost starts,
# an empty first telegram, answers that are late. They wait for the loop's answers, and idle most of the time: three at once
devices() { # WHAT: in a subshell, with ports and a folder of its own
  what=$1
  mkdir "$what" && cd "$what" || exit 1
  ports
  # shellcheck disable=SC2086
  behind devices.txt timeout 50 python3 "$R/peer_devices.py" $base $((base + 10)) $((base + 20)) $what "$first"; facility_pid=$!
  for _ in $(seq 200); do ss -Htnl | grep -q ":$((base + 20))\b" && break; sleep 0.05; done # its page is there
  # shellcheck disable=SC2086
  timeout 40 "$FREEFLOAT" rt ../devices.yaml --arm --out out --log mcap "${P[@]}" --silence 20 < /dev/null > rt.txt 2>&1; got=$?
  wait "$facility_pid"; facility_pid=
  [ $got -eq 0 ] || { echo "$what: exit $got: $(cat rt.txt devices.txt)"; exit 1; }
  python3 -c "
import json, sys
seen = json.load(open('devices.txt'))
late = seen['answers'] // 100 if '$what' == 'late' else 0  # every hundredth
assert seen['stop'] and seen['wrong'] == 0 and late - 1 <= seen['late'] <= late and (late > 2) == ('$what' == 'late'), seen
assert 10 < seen['largest'] < 25, seen  # 1 s at 10 mm/s, and the stop
devices = json.load(open('out/summary.json'))['devices']['satellites']['body']  # as the controller counted
assert devices['robot']['late'] == seen['late'] and devices['robot']['malformed'] == 0, (devices, seen)
assert devices['robot']['answered'] >= seen['answers'] and devices['sensor']['received'] > 500, (devices, seen)
assert devices['robot']['empty'] <= ('$what' == 'empty') and devices['sensor']['restarts'] == 0, devices
" || { echo "$what: $(cat devices.txt rt.txt)"; exit 1; }
  "$FREEFLOAT" replay out/log.mcap --quiet || { echo "$what: replay"; exit 1; }
}
for three in "wrap large pounds" "deaf empty late"; do
  pids=()
  for what in $three; do ( trap '[ -z "$facility_pid" ] || kill "$facility_pid" 2> /dev/null' EXIT; facility_pid=; devices "$what" ) & pids+=($!); done
  for pid in "${pids[@]}"; do wait "$pid" || fail "$three: see above"; done
done
[ $failures -eq 0 ]
