#!/usr/bin/env bash
# Ten readers of a 1 kHz run's ROS 2 topics and one that is stopped: the run goes on and the operator is answered. In the long form they are there in every second
# slice of one run: the p99 of the cycle at most 1.1 times that of the slices around (load.py).
set -u
. "$FF_SOURCE_DIR/tests/rt/pair.sh"
. "$FF_SOURCE_DIR/tests/ros_peer.sh"
need python3
unset CYCLONEDDS_URI ROS_DOMAIN_ID
[ -e "$FF_BUILD_DIR/modules/ros.so" ] || { echo "left out: all of it: built without Cyclone DDS"; exit 77; }
ros_peer || { echo "left out: another vendor's readers: $why"; exit 77; }
ports
# shellcheck disable=SC2154 # base is what ports found
figures=(0 0 4 1)
[ "${FF_TEST_LONG:-0}" = 0 ] || figures=(8 12 11 1)
timeout 400 python3 "$FF_SOURCE_DIR/tests/rt/load.py" "$FREEFLOAT" "$FF_SOURCE_DIR/scenarios/wall.yaml" "$base" $((base + 10)) $((base + 20)) "${figures[@]}" "$peer"
