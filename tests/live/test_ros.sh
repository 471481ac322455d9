#!/usr/bin/env bash
# run --ros: topics and services on DDS, read and called by Fast DDS; what is refused. On 127.0.0.1 alone, in a network of its own where that may be made.
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
. "$FF_SOURCE_DIR/tests/ros_peer.sh"
need python3
S=$FF_SOURCE_DIR/scenarios/deos-client.yaml
export PYTHONDONTWRITEBYTECODE=1
unset CYCLONEDDS_URI ROS_DOMAIN_ID

if [ ! -e "$FF_BUILD_DIR/modules/ros.so" ]; then # built without Cyclone DDS: said, and nothing runs
  expect 2 "^--ros: ROS 2 needs Cyclone DDS when freefloat is built: the module ros is missing" "$FREEFLOAT" run "$S" --out x --quiet --ros
  one_line
  without "all of it: built without Cyclone DDS"
  ended
fi
if [ -z "$FF_SANITIZED" ]; then # that build finds its modules beside its libraries, not beside the program
  mkdir bare && cp "$FREEFLOAT" bare/ # where its modules are not: as if built without Cyclone DDS
  expect 2 "^--ros: ROS 2 needs Cyclone DDS when freefloat is built: the module ros is missing" bare/freefloat run "$S" --out x --quiet --ros
  one_line
  expect 2 "ROS 2 needs Cyclone DDS when freefloat is built: the module dds is missing" bare/freefloat rt "$FF_SOURCE_DIR/scenarios/ros2-client.yaml" --arm --out y --wait 1
  expect 0 "" bare/freefloat run "$FF_SOURCE_DIR/scenarios/ros2-client.yaml" --out z --quiet --log none --set time.duration=0.1
fi
expect 2 "^--ros: 'nonsense' is not an address; allowed: ADDRESS:DOMAIN" "$FREEFLOAT" run "$S" --out x --quiet --ros=nonsense
one_line
expect 2 "^--ros: domain 233: allowed: 0 to 232" "$FREEFLOAT" run "$S" --out x --quiet --ros=127.0.0.1:233
expect 2 "^--ros-allow: 'arm' cannot be allowed" "$FREEFLOAT" run "$S" --out x --quiet --ros --ros-allow hold,arm
expect 2 "ros-allow needs --ros" "$FREEFLOAT" run "$S" --out x --quiet --ros-allow hold
expect 2 "^--ros: domain 7 cannot be joined on 192.0.2.1" "$FREEFLOAT" run "$S" --out x --quiet --ros=192.0.2.1:7
one_line
expect 2 "ROS_DOMAIN_ID is 'x'" env ROS_DOMAIN_ID=x "$FREEFLOAT" run "$S" --out x --quiet --ros
expect 2 "needs a socket" "$FREEFLOAT" run "$S" --out x --quiet --sandbox --ros
[ ! -e x ] || fail "a folder of a run that was refused"

ros_peer || { without "another vendor's reader: $why"; ended; }
domain=$((100 + RANDOM % 100))
ROS_DOMAIN_ID=$domain timeout 100 "$FREEFLOAT" run "$S" --quiet --out run --log none --ros --ros-allow hold,resume,stop,set --foxglove=127.0.0.1:0 --control 2> said.txt &
pid=$!
for _ in $(seq 600); do
  url=$(sed -n 's/^foxglove //p' said.txt)
  [ -z "$url" ] || ! grep -q '^ros ' said.txt || break
  sleep 0.05
done
grep -q "^ros domain $domain on 127.0.0.1$" said.txt || fail "said: $(cat said.txt)"
timeout 90 python3 "$FF_SOURCE_DIR/tests/live/ros_check.py" "$peer" $domain "$url" > peer.txt 2>&1 || fail "$(tail -5 peer.txt)"
cat peer.txt
kill $pid 2> /dev/null
wait $pid
! grep -q Sanitizer said.txt || fail "$(cat said.txt)"
ended
