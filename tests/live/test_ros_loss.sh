#!/usr/bin/env bash
# run --ros at 1 kHz: a reliable reader of another vendor gets every joint state, whatever another reader does that stands still. The long form: ten minutes, beside
# eight busy programs.
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
. "$FF_SOURCE_DIR/tests/ros_peer.sh"
need python3
unset CYCLONEDDS_URI ROS_DOMAIN_ID
[ -e "$FF_BUILD_DIR/modules/ros.so" ] || { without "all of it: built without Cyclone DDS"; ended; }
ros_peer || { without "another vendor's reader: $why"; ended; }
seconds=1 busy=0
[ -z "${FF_TEST_LONG:-}" ] || seconds=600 busy=8
timeout $((60 + 4 * seconds)) python3 "$FF_SOURCE_DIR/tests/live/ros_loss.py" "$FREEFLOAT" "$FF_SOURCE_DIR/scenarios/envisat-capture.yaml" "$peer" $seconds $busy > loss.txt 2>&1 || fail "$(tail -n 3 loss.txt)"
tail -n 1 loss.txt
ended
