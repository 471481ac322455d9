#!/usr/bin/env bash
# Our log as the world's readers see it: @mcap/core and Foxglove's ROS 2 packages read the sample whole, cut and damaged.
set -euo pipefail
. "$FF_SOURCE_DIR/tests/need.sh"
work="$FF_BUILD_DIR/record-public"
packages "$FF_SOURCE_DIR/tests/record" "$work"
cp "$FF_SOURCE_DIR"/tests/record/{read,log}.mjs "$work"
cd "$work"
FF_MCAP_SAMPLE="$work/sample.mcap" "$FF_BUILD_DIR/tests/test_unit_record_mcap"
node read.mjs sample.mcap "$([ "${FF_TEST_LONG:-0}" = 0 ] && echo short || echo long)"
# a capture whose arm is a URDF file
sed '/^      links:/,/pose: {position: \[0, -0.081/d; s/^      gripper:/      model: arm.urdf\n      gripper:/' "$FF_SOURCE_DIR/scenarios/envisat-capture.yaml" > capture.yaml
cp "$FF_SOURCE_DIR/scenarios/envisat-arm.urdf" arm.urdf
how=; [ ! -e "$FF_BUILD_DIR/modules/zstd.so" ] || how=zstd
"$FREEFLOAT" run capture.yaml --set time.duration=0.5 --set contacts.grip.closes=0.2 --log mcap --quiet --out capture
node log.mjs capture/log.mcap "$how"
# the same arm as a table, not compressed; a log that was compressed is read back to the same bits
"$FREEFLOAT" run "$FF_SOURCE_DIR/scenarios/envisat-capture.yaml" --set time.duration=0.5 --set contacts.grip.closes=0.2 --log mcap-plain --quiet --out table
node log.mjs table/log.mcap ""
for log in capture table; do "$FREEFLOAT" replay $log/log.mcap --quiet; done
