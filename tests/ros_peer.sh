# shellcheck shell=bash
# Sourced: another vendor's side of DDS (live/ros_peer.cpp on Fast DDS), built once. False: it cannot be, $why says so.
# shellcheck disable=SC2034 # why: for the caller
ros_peer() {
  peer=$FF_BUILD_DIR/tests/ros_peer
  why="needs g++ and libfastrtps-dev (tools/setup.sh installs them)"
  [ -e /usr/include/fastdds/dds/domain/DomainParticipant.hpp ] && command -v g++ > /dev/null || return 1
  [ ! "$peer" -nt "$FF_SOURCE_DIR/tests/live/ros_peer.cpp" ] || return 0
  g++ -std=c++14 -O0 -o "$peer.$$" "$FF_SOURCE_DIR/tests/live/ros_peer.cpp" -lfastrtps -lfastcdr > peer.log 2>&1 || { why=$(head -n 3 peer.log); return 1; }
  mv "$peer.$$" "$peer"
}
