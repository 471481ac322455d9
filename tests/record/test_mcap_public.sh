#!/usr/bin/env bash
# Our log as the world's readers see it: @mcap/core and Foxglove's ROS 2 packages read the sample whole, cut and damaged.
set -euo pipefail
. "$FF_SOURCE_DIR/tests/need.sh"
work="$FF_BUILD_DIR/record-public"
packages "$FF_SOURCE_DIR/tests/record" "$work"
cp "$FF_SOURCE_DIR/tests/record/read.mjs" "$work"
cd "$work"
FF_MCAP_SAMPLE="$work/sample.mcap" "$FF_BUILD_DIR/tests/test_unit_record_mcap"
node read.mjs sample.mcap "$([ "${FF_TEST_LONG:-0}" = 0 ] && echo short || echo long)"
