#!/usr/bin/env bash
# The real-time thread of a run whose devices are on ROS 2's topics, and which is shown there (--ros) to readers of another vendor, one of them stopped: it allocates and
# frees nothing, takes no lock and makes no call of DDS (watch.c). The long form: its instructions are as many with the readers as without, to 2 % (callgrind).
set -u
. "$FF_SOURCE_DIR/tests/rt/pair.sh"
. "$FF_SOURCE_DIR/tests/ros_peer.sh"
unset CYCLONEDDS_URI ROS_DOMAIN_ID
[ -e "$FF_BUILD_DIR/tests/watch.so" ] || { echo "left out: all of it: built without Cyclone DDS"; exit 77; }
S=$FF_SOURCE_DIR/scenarios/ros2-client.yaml
ros_peer || peer=
readers=()
crowd() { # DOMAIN NUMBER: the last one is stopped; each waits for what the run publishes
  local n
  for n in $(seq "$2"); do
    [ -n "$peer" ] || break
    mkfifo "in.$n" 2> /dev/null
    exec 7<> "in.$n"
    echo "take rt/client/pose geometry_msgs::msg::dds_::PoseStamped_ r" >&7
    behind_from=in.$n behind "reader.$n" "$peer" "$1"
    readers+=($!)
  done
}
gone() {
  [ ${#readers[@]} -eq 0 ] || { kill -CONT "${readers[@]}"; kill "${readers[@]}"; wait "${readers[@]}"; } 2> /dev/null
  readers=()
}
trap 'gone; [ -z "$facility_pid" ] || kill "$facility_pid" 2> /dev/null; rm -rf "$work"' EXIT
# watched OUT READERS command before rt...: lock step with both kinds of devices on topics, and --ros
watched() {
  local out=$1 number=$2 domain=$((1 + RANDOM % 99)) own=()
  shift 2
  own=(--set "satellites.client.robot.domain=$domain" --set "satellites.client.sensor.domain=$domain" --set time.duration=2)
  crowd $domain "$number"
  behind "$out.facility" timeout 300 "$FREEFLOAT" facility "$S" --once --lockstep "${own[@]}"
  facility_pid=$!
  behind "$out.rt" "$@" "$FREEFLOAT" rt "$S" --arm --out "$out" --wait 60 --silence 60 --quiet --ros=127.0.0.1:$domain "${own[@]}"
  rt_pid=$!
  for _ in $(seq 100); do
    [ "$number" -gt 0 ] && ! grep -q matched "reader.$number" 2> /dev/null || break
    sleep 0.1
  done
  [ ${#readers[@]} -eq 0 ] || kill -STOP "${readers[-1]}" 2> /dev/null
  wait $rt_pid || fail "$out: exit $?: $(tail -n 3 "$out.rt")"
  kill "$facility_pid" 2> /dev/null; wait "$facility_pid" 2> /dev/null; facility_pid=
  gone
}
watched ours 3 env LD_PRELOAD="$FF_BUILD_DIR/tests/watch.so"
grep "^watched: 0 of memory, 0 locks, 0 of DDS" ours.rt || fail "$(grep watched ours.rt || cat ours.rt)"
watched tried 0 env LD_PRELOAD="$FF_BUILD_DIR/tests/watch.so" FF_WATCH_TRY=1
grep -q "^watched: [1-9][0-9]* of memory, [1-9][0-9]* locks, [1-9][0-9]* of DDS" tried.rt || fail "what it does is not found: $(grep watched tried.rt)"
if [ -n "${FF_TEST_LONG:-}" ] && command -v valgrind > /dev/null; then
  for n in 0 10; do
    watched "count$n" $n env LD_BIND_NOW=1 valgrind --tool=callgrind --separate-threads=yes --collect-atstart=no '--toggle-collect=ff_loop_step' \
      '--toggle-collect=ff__operator_show' '--toggle-collect=write_targets' --callgrind-out-file="calls$n"
    # the real-time thread is the one that counts most
    for f in "calls$n-"*; do sed -n 's/^\(totals\|summary\): //p' "$f" | tail -n 1; done | sort -n | tail -n 1 > "count$n.txt"
  done
  python3 -c "
a, b = (int(open(f'count{n}.txt').read()) for n in (0, 10))
print(f'instructions of the real-time thread: {a} without readers, {b} with ten, one of them stopped: {b / a:.4f}')
assert abs(b / a - 1) < 0.02" || fail "instructions differ"
fi
[ $failures -eq 0 ]
