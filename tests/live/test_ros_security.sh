#!/usr/bin/env bash
# run --ros with DDS Security: who has files of the same authority reads, who has none or another's does not, and files that are not there are one line.
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
. "$FF_SOURCE_DIR/tests/ros_peer.sh"
. "$FF_SOURCE_DIR/tests/live/ros_security.sh"
S=$FF_SOURCE_DIR/scenarios/deos-client.yaml
unset CYCLONEDDS_URI ROS_DOMAIN_ID
[ -e "$FF_BUILD_DIR/modules/ros.so" ] || { without "all of it: built without Cyclone DDS"; ended; }
ros_peer || { without "another vendor's reader: $why"; ended; }
security "$work/ours" || { without "all of it: $why"; ended; }
files=$secured
security "$work/others"
domain=$((100 + RANDOM % 100))
CYCLONEDDS_URI=${files//ca.pem/none.pem} expect 2 "^--ros: domain $domain cannot be joined on 127.0.0.1: .*" "$FREEFLOAT" run "$S" --out x --quiet --ros=127.0.0.1:$domain
one_line
[ ! -e x ] || fail "a folder of a run that was refused"
reader() { # NAME [FOLDER]: it reads until it is killed
  mkfifo "$1.in" && exec 7<> "$1.in"
  echo "read rt/client/pose geometry_msgs::msg::dds_::PoseStamped_ r" >&7
  behind_from=$1.in behind "$1.txt" timeout 100 "$peer" $domain ${2:+"$2"}
  readers+=($!)
}
readers=()
reader without
reader stranger "$work/others"
reader member "$work/ours"
CYCLONEDDS_URI=$files timeout 100 "$FREEFLOAT" run "$S" --quiet --out run --log none --set time.duration=200 --ros=127.0.0.1:$domain 2> said.txt &
pid=$!
for _ in $(seq 900); do
  [ "$(grep -c "^rt/client/pose" member.txt)" -lt 200 ] && kill -0 $pid 2> /dev/null || break
  sleep 0.1
done
[ "$(grep -c "^rt/client/pose" member.txt)" -ge 200 ] || fail "the member got $(wc -l < member.txt) lines: $(tail -c 300 member.txt said.txt)"
# the others were there at least as long
for who in without stranger; do ! grep -q "rt/client/pose" $who.txt || fail "$who: $(head -c 300 $who.txt)"; done
kill $pid "${readers[@]}" 2> /dev/null
wait $pid "${readers[@]}" 2> /dev/null
echo "with files of DDS Security: a member got $(grep -c "^rt/client/pose" member.txt) poses, who has none 0, who has another authority's 0"
ended
