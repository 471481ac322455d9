#!/usr/bin/env bash
# run --log mcap, replay, export: as a user meets them.
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
need python3
S=$FF_SOURCE_DIR/scenarios

"$FREEFLOAT" run "$S/deos-client.yaml" --log mcap,csv --out a --quiet || fail "run"
[ "$("$FREEFLOAT" replay a/log.mcap)" = "7501 cycles replayed, the same bits" ] || fail "replay: $("$FREEFLOAT" replay a/log.mcap 2>&1)"
"$FREEFLOAT" export a/log.mcap --to csv,mat --out e > out.txt 2>&1 || { grep -q "no MATLAB writer" out.txt || fail "export: $(cat out.txt)"; }
cmp -s e/log.csv a/log.csv || fail "the exported csv is not the run's own"
if [ -e e/log.mat ]; then head -c 6 e/log.mat | grep -q MATLAB || fail "log.mat is not a MATLAB file"; fi
# numbers and names of the MATLAB file: long names, names that differ in a sign only, and others that MATLAB would not take
cat > names.yaml << 'Y'
name: names
time: {cycle: 0.004, duration: 0.2}
method: direct
satellites:
  "a satellite whose name is so long that no variable of MATLAB could hold it! and more": {mass: 200, inertia: [20, 20, 20], velocity: [0.05, 0, 0], robot: {kind: delay, delay: 0.016}}
  "a satellite whose name is so long that no variable of MATLAB could hold it; and more": {mass: 200, inertia: [20, 20, 20], position: [2, 0, 0], robot: {kind: delay, delay: 0.016}}
  "s [1] é": {mass: 200, inertia: [20, 20, 20], position: [4, 0, 0], robot: {kind: delay, delay: 0.016}}
  "2_x": {mass: 200, inertia: [20, 20, 20], position: [6, 0, 0], robot: {kind: delay, delay: 0.016}}
Y
"$FREEFLOAT" run names.yaml --log mcap --out n --quiet || fail "run of odd names"
"$FREEFLOAT" export n/log.mcap --to csv,mat --out en > out.txt 2>&1 || { grep -q "no MATLAB writer" out.txt || fail "odd names: $(cat out.txt)"; }
for where in e en; do
  [ ! -e $where/log.mat ] || python3 "$FF_SOURCE_DIR/tests/record/mat.py" $where/log.mat $where/log.csv > out.txt 2>&1 || fail "$where: $(tail -1 out.txt)"
done
# metadata.yaml for ros2 bag: every topic with its type, as many messages as the log has
expect 0 "a/metadata.yaml: [0-9]* topics, [0-9]* messages" "$FREEFLOAT" export a/log.mcap --to ros2
python3 - a << 'P' > out.txt 2>&1 || { grep -q "No module named 'yaml'" out.txt || fail "metadata.yaml: $(tail -1 out.txt)"; }
import sys, yaml
bag = yaml.safe_load(open(sys.argv[1] + "/metadata.yaml"))["rosbag2_bagfile_information"]
topics = {t["topic_metadata"]["name"]: t for t in bag["topics_with_message_count"]}
assert (bag["version"], bag["storage_identifier"], bag["relative_file_paths"], bag["files"][0]["path"]) == (5, "mcap", ["log.mcap"], "log.mcap")
assert sum(t["message_count"] for t in topics.values()) == bag["message_count"] == bag["files"][0]["message_count"]
assert topics["/cycle"]["message_count"] == 7501 and topics["/client/pose"]["topic_metadata"]["type"] == "geometry_msgs/msg/PoseStamped"
assert bag["starting_time"]["nanoseconds_since_epoch"] == 10 * 10**9 and bag["duration"]["nanoseconds"] == 30 * 10**9
assert yaml.safe_load(topics["/scene"]["topic_metadata"]["offered_qos_profiles"])[0]["durability"] == 1
P
expect 2 "not with --out" "$FREEFLOAT" export a/log.mcap --to ros2 --out e
# a full disk: said so, and what was there before stays
if mkdir small && mount -t tmpfs -o size=600k none small 2> /dev/null; then
  for format in csv mat; do
    echo earlier > small/log.$format
    "$FREEFLOAT" export a/log.mcap --to $format --out small > out.txt 2>&1; got=$?
    grep -q "no MATLAB writer" out.txt || { [ $got -eq 1 ] && grep -q "cannot be written (No space" out.txt; } || fail "full disk, $format: exit $got: $(cat out.txt)"
    [ "$(cat small/log.$format)" = earlier ] && [ "$(ls -A small)" = log.$format ] || fail "full disk, $format: $(ls -lA small)"
    rm small/log.$format
  done
  umount small
else
  without "a full disk: no right to mount one"
fi
# an override longer than any line
long="contacts=[{name: right, kind: wall, body: body, $(printf '%600s' '')at: [0.05, 0, 0], normal: [-1, 0, 0], stiffness: 2500}]"
"$FREEFLOAT" run "$S/wall.yaml" --log mcap --out l --quiet --set "$long" || fail "run with a long override"
"$FREEFLOAT" replay l/log.mcap --quiet || fail "replay with a long override"
for method in direct damping; do
  "$FREEFLOAT" run "$S/wall.yaml" --log mcap --out b --quiet --method $method --set satellites.body.robot.delay=0.02 || fail "run $method"
  "$FREEFLOAT" replay b/log.mcap --quiet || fail "replay $method"
done

# cut off by a kill: still replayed, and said so
head -c $(($(stat -c %s a/log.mcap) / 2)) a/log.mcap > cut.mcap
"$FREEFLOAT" replay cut.mcap --quiet 2>&1 > out.txt | grep -q "^warning: cut.mcap: the log was cut off" && [ ! -s out.txt ] || fail "a cut log: $("$FREEFLOAT" replay cut.mcap 2>&1)"
"$FREEFLOAT" export cut.mcap --to csv --json > out.json 2> out.txt || fail "export of a cut log"
grep -q "warning: cut.mcap: the log was cut off" out.txt || fail "export does not say that the log was cut off: $(cat out.txt)"
grep -q '"whole": *false' out.json || fail "export --json: $(cat out.json)"
"$FREEFLOAT" export cut.mcap --to csv > out.txt 2>&1 && fail "the rows of a cut log replaced what was there"
grep -q "cut.csv: stands there" out.txt || fail "export over a file: $(cat out.txt)"
"$FREEFLOAT" analyze log cut.mcap --identify delay 2>&1 | grep -q "warning: cut.mcap: the log was cut off" || fail "analyze log does not say that the log was cut off"
# a part in its middle damaged: said, not only the gap
# (an eighth of the file: more than what lies between two chunks of rows)
size=$(stat -c %s a/log.mcap)
cp a/log.mcap hole.mcap; head -c $((size / 8)) /dev/zero | dd of=hole.mcap bs=64k seek=$((size / 2)) oflag=seek_bytes conv=notrunc 2> /dev/null
"$FREEFLOAT" analyze log hole.mcap --identify delay > out.txt 2>&1; got=$?
[ $got -eq 2 ] && grep -qE "hole.mcap: .*damaged parts? w(as|ere) left out; at row [0-9]* the step of time is" out.txt || fail "analyze log of a damaged log: exit $got: $(cat out.txt)"
"$FREEFLOAT" analyze log a/log.mcap --identify delay 2>&1 | grep -q "cut off" && fail "a whole log is said to be cut off"
head -1000 a/log.csv | cmp -s - <(head -1000 cut.csv) || fail "the cut log's rows differ"

# an emulation has no cycles to record: said, not left out in silence
"$FREEFLOAT" run "$S/planar-arm-emulation.yaml" --log mcap --out m --quiet > out.txt 2>&1 && grep -q "an emulation has no log.mcap" out.txt || fail "emulation: $(cat out.txt)"

# bad input: one line, exit 2
: > empty; echo "no log" > text
for bad in "replay empty" "replay text" "replay missing" "replay" "export a/log.mcap --to hdf5" "export a/log.mcap" "export text --to csv"; do
  # shellcheck disable=SC2086
  "$FREEFLOAT" $bad > out.txt 2>&1; got=$?
  [ $got -eq 2 ] && [ "$(wc -l < out.txt)" -eq 1 ] || fail "$bad: exit $got: $(cat out.txt)"
done
ended
