#!/usr/bin/env bash
# Scenarios with an arm and on-board software on the command line: every mistake is one clear line and nothing
# moves; the log alone is enough to replay; the summary shows actuation, monitors and refused packets.
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
need python3
CAPTURE=$FF_SOURCE_DIR/scenarios/envisat-capture.yaml
DIR=$work
S=$DIR/capture.yaml # the figures below are those of robots without delay
sed "s/robot: {kind: delay, delay: 0.04}/robot: {kind: ideal}/" "$CAPTURE" >"$S"
PEERS=()
p=
trap 'for p in "${PEERS[@]:-}"; do [ -n "$p" ] && kill "$p" 2>/dev/null; done; rm -rf "$work"' EXIT
run() { "$FREEFLOAT" run "$@" --set time.duration=0.4 --quiet --out "$DIR/out"; }
refuse() { # STATUS PATTERN ARGUMENTS...
    local status=$1 pattern=$2 got
    shift 2
    rm -rf "$DIR/out"
    text=$(run "$@" 2>&1)
    got=$?
    [ $got -eq "$status" ] || fail "$* gave exit status $got, not $status"
    [ "$(printf '%s\n' "$text" | wc -l)" -eq 1 ] || fail "$*: not one line: $text"
    printf '%s' "$text" | grep -q -- "$pattern" || fail "$*: '$text' lacks '$pattern'"
    [ ! -e "$DIR/out/log.csv" ] || fail "$*: something moved"
}
O=satellites.servicer.obsw

# shared objects
refuse 1 "does not load" "$S" --set "$O={kind: shared, library: $DIR/none.so}"
echo "no library" >"$DIR/text.so"
refuse 1 "does not load" "$S" --set "$O={kind: shared, library: $DIR/text.so}"
refuse 1 "does not load: libm.so.6: No such file" "$S" --set "$O={kind: shared, library: libm.so.6}" # from this folder, not from the system's
refuse 1 "lacks the function ff_obsw_version" "$S" --set "$O={kind: shared, library: $FF_BUILD_DIR/examples/libmethod_example.so}"
refuse 1 "is of version 3, allowed: 2" "$S" --set "$O={kind: shared, library: $FF_BUILD_DIR/tests/libobsw_old.so}"
grep -q '"verdict": "fail"' "$DIR/out/summary.json" || fail "a failed run has no summary"
# one that hangs, crashes or ends: in its start and its first step nothing moves
bad() { # FAULT AT
    export OBSW_FAULT=$1 OBSW_AT=$2
}
B() { echo "$O={kind: shared, library: $FF_BUILD_DIR/tests/libobsw_bad.so, timeout: ${1:-30}}"; }
slow() { # NAME AT TIMEOUT OPTIONS...: beside what follows, for it mostly waits
    local name=$1 at=$2 timeout=$3
    shift 3
    OBSW_FAULT=hang OBSW_AT=$at "$FREEFLOAT" run "$S" --set time.duration=0.4 --set "$(B "$timeout")" --out "$DIR/$name" "$@" >"$DIR/$name.txt" 2>&1
    echo $? >"$DIR/$name.status"
}
slow start -1 0.2 --quiet &
waits=($!)
slow step 0 0.5 --quiet &
waits+=($!)
slow late 50 2 --log csv &
waits+=($!)
slow finish -2 1 --quiet &
waits+=($!)
slow_ended() { # NAME STATUS PATTERN
    [ "$(cat "$DIR/$1.status")" = "$2" ] && { [ -z "$3" ] || grep -qF -- "$3" "$DIR/$1.txt"; } || fail "hangs in its $1: $(cat "$DIR/$1.status" "$DIR/$1.txt")"
    [ "$2" = 0 ] || { [ "$(wc -l <"$DIR/$1.txt")" -eq 1 ] && [ ! -e "$DIR/$1/log.csv" ]; } || fail "hangs in its $1: not one line, or something moved: $(cat "$DIR/$1.txt")"
}
bad crash -1 && refuse 1 "crashed in its start: Segmentation fault" "$S" --set "$(B)"
bad exit -1 && refuse 1 "ended in its start" "$S" --set "$(B)"
bad crash 0 && refuse 1 "crashed in its step at 0.000 s: Segmentation fault" "$S" --set "$(B)"
# later the last answer acts for ten cycles, then nothing, and the run ends as it should
later() { # FAULT SENTENCE MISSED HELD ZEROED
    bad "$1" 50
    text=$("$FREEFLOAT" run "$S" --set time.duration=0.4 --set "$(B)" --log csv --out "$DIR/bad") || fail "$1: exit status $?"
    printf '%s\n' "$text" | tr -s ' \n' ' ' | grep -qF "101 cycles, $3 without a good answer; the last one acted in $4, nothing in $5" || fail "$1: $text"
    [ -z "$2" ] || printf '%s\n' "$text" | grep -qF "$2" || fail "$1: the terminal lacks '$2'"
}
later crash "crashed in its step at 0.200 s: Segmentation fault" 51 10 41
grep -q '"died_of_signal": 11' "$DIR/bad/summary.json" || fail "the summary does not say that it crashed"
later exit "ended its process in its step at 0.200 s" 51 10 41
unset OBSW_FAULT OBSW_AT
# keys
refuse 2 "timeout is 100, allowed: at most 60" "$S" --set "$O={kind: shared, library: x.so, timeout: 100}"
refuse 2 "lacks the key 'library'" "$S" --set "$O={kind: shared}"
refuse 2 "port is 70000, allowed: at most 65535" "$S" --set "$O={kind: udp, port: 70000}"
refuse 2 "port is 0, allowed" "$S" --set "$O={kind: udp, port: 0}"
refuse 2 "address is 'localhost', allowed: an IPv4 address" "$S" --set "$O={kind: udp, address: localhost}"
refuse 2 "local_address is '1.2.3.400'" "$S" --set "$O={kind: udp, local_address: 1.2.3.400}"
refuse 2 "unknown mode 'fast', allowed: lockstep, free" "$S" --set "$O={kind: udp, mode: fast}"
refuse 2 "unknown packets 'tcp', allowed: cfs, pus" "$S" --set "$O={kind: udp, packets: tcp}"
refuse 2 "apid is 5000" "$S" --set "$O={kind: udp, apid: 5000}"
refuse 2 "does not belong to on-board software kind 'udp'" "$S" --set "$O={kind: udp, library: x.so}"
refuse 2 "delay is 100, allowed: at most 60" "$S" --set "$O.navigation.delay=100"
refuse 2 "gyro_rate is -1" "$S" --set "$O.navigation.gyro_rate=-1"
refuse 2 "hold is -1" "$S" --set "$O.hold=-1"
# nobody there
refuse 1 "no on-board software answered at 127.0.0.1 port 9" "$S" --set "$O={kind: udp, port: 9, local_port: 0, connect: 0.3}"
# the arm
A=satellites.servicer.arm
refuse 2 "no link 'gripper' stands above 'link3'.*closed loops are not supported" "$S" --set "$A.links.2.parent=gripper"
refuse 2 "lacks the key 'mass'" "$S" --set "$A.links.2={inertia: [1, 1, 1]}"
refuse 2 "mass is -1" "$S" --set "$A.links.2.mass=-1"
refuse 2 "link3.*positive definite" "$S" --set "$A.links.2.inertia=[-1, 1, 1]"
refuse 2 "link3.*triangle" "$S" --set "$A.links.2.inertia=[1, 1, 5]"
# the arm as URDF
sed '/^      links:/,/pose: {position: \[0, -0.081/d; s/^      gripper:/      model: arm.urdf\n      gripper:/' "$S" >"$DIR/urdf.yaml"
urdf() { sed "$1" "$FF_SOURCE_DIR/scenarios/envisat-arm.urdf" >"$DIR/arm.urdf"; }
urdf 's|<link name="foot"/>|<link name="foot"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>|'
refuse 2 "arm.urdf:6: the root link 'foot' has a mass of 3 kg, which would be dropped" "$DIR/urdf.yaml"
urdf 's/type="revolute"/type="planar"/'
refuse 2 "joint 'joint1' is of type 'planar', allowed: revolute, continuous, prismatic, fixed" "$DIR/urdf.yaml"
urdf '0,/<mass value="[0-9.]*"\/>/s//<mass value="-2"\/>/'
refuse 2 "the mass of link 'link1' is -2" "$DIR/urdf.yaml"
urdf '0,/ixx="[0-9.]*"/s//ixx="-0.05"/'
refuse 2 "the inertia of link 'link1'" "$DIR/urdf.yaml"
urdf 's/<parent link="link3"\/>/<parent link="gripper"\/>/'
refuse 2 "stands in or on a loop, allowed: a tree" "$DIR/urdf.yaml"
urdf '0,/<mass [^>]*>/s///'
refuse 2 "link 'link1' lacks <mass>" "$DIR/urdf.yaml"

# the log alone: the URDF file is gone, the scenario too
urdf ''
run "$DIR/urdf.yaml" --log csv,mcap || fail "the URDF scenario does not run"
mkdir "$DIR/alone"
mv "$DIR/out/log.mcap" "$DIR/alone/"
rm "$DIR/arm.urdf" "$DIR/urdf.yaml"
(cd "$DIR/alone" && "$FREEFLOAT" replay log.mcap) | grep -q "101 cycles replayed, the same bits" || fail "replay of a capture"
(cd "$DIR/alone" && "$FREEFLOAT" export log.mcap --to csv >/dev/null) || fail "export of a capture"
cmp -s "$DIR/alone/log.csv" "$DIR/out/log.csv" || fail "the exported capture differs"
head -1 "$DIR/out/log.csv" | grep -q "servicer.joint.7.torque \[N m\],.*servicer.thrust_force.x \[N\],.*servicer.monitor.W_a,.*servicer.monitor.port_power \[W\],servicer.monitor.bound" ||
    fail "the log lacks actuation or monitors"

# a limit that ends a capture: the stop after it has no rows, and the replay is as long as the log
"$FREEFLOAT" run "$CAPTURE" --set time.duration=2 --set contacts.grip.closes=0.3 --set satellites.client.safety.force=5 --log mcap --quiet \
    --out "$DIR/tripped" 2> "$DIR/tripped.txt" && fail "5 N do not end the capture"
grep -q FORCE "$DIR/tripped.txt" || fail "no FORCE: $(cat "$DIR/tripped.txt")"
"$FREEFLOAT" replay "$DIR/tripped/log.mcap" 2>&1 | grep -q "cycles replayed, the same bits" || fail "replay of a capture that a limit ended"

# over UDP, with thrusters too weak; the replay needs no peer
ports=$(python3 -c 'import socket
s = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
for one in s: one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in s))')
read -r port local <<<"$ports"
OBSW_IDLE=20 "$FF_BUILD_DIR/examples/obsw_hold_udp" "$port" 127.0.0.1 "$local" &
PEERS+=($!)
text=$("$FREEFLOAT" run "$S" --set time.duration=0.4 --set "$O={kind: udp, port: $port, local_port: $local, timeout: 5, thrust: [0.2, 5]}" --log mcap --out "$DIR/udp") ||
    fail "a run over UDP"
for line in "on-board software (udp): 101 cycles, 0 without a good answer" "thrusters: maximum 0.2 N" "monitors: W_c (25)"; do
    printf '%s\n' "$text" | grep -qF "$line" || fail "the terminal lacks '$line'"
done
flat=$(tr -d ' \n' <"$DIR/udp/summary.json")
for part in '"obsw":{"kind":"udp","mode":"lockstep","cycles":101,"missed":0,"held":0,"zeroed":0' '"taken":101,"refused":{"short":0,"long":0,"checksum":0,"foreign":0' \
    '"actuation":{"max_force_N":0.2,' '"thrusters_saturated":[1-9]' '"max_joint_torque_Nm":\[' '"monitors":{"W_c_start_J":122.97' '"bound_violations":0'; do
    printf '%s' "$flat" | grep -q -- "$part" || fail "the summary lacks $part"
done
"$FREEFLOAT" replay "$DIR/udp/log.mcap" | grep -q "101 cycles replayed, the same bits" || fail "replay of a run over UDP"

# those that did not return
wait "${waits[@]}"
slow_ended start 1 "did not return from its start within 2 s"
slow_ended step 1 "did not return from its step at 0.000 s within 0.5 s"
slow_ended finish 0 ""
slow_ended late 0 "did not return from its step at 0.200 s within 2 s"
tr -s ' \n' ' ' < "$DIR/late.txt" | grep -qF "101 cycles, 51 without a good answer; the last one acted in 10, nothing in 41" || fail "late: $(cat "$DIR/late.txt")"
grep -q '"steps_not_returned": 1' "$DIR/late/summary.json" || fail "the summary does not say that it hung"
column=$(head -1 "$DIR/late/log.csv" | tr ',' '\n' | grep -n 'servicer.thrust_force.x' | cut -d: -f1)
[ "$(awk -F, -v c="$column" 'NR == 52 || NR == 61 || NR == 62 {printf "%g ", $c}' "$DIR/late/log.csv")" = "1 1 0 " ] ||
    fail "hang: thrust $(awk -F, -v c="$column" 'NR >= 50 && NR < 64 {printf "%g ", $c}' "$DIR/late/log.csv")"
ended
