#!/usr/bin/env bash
# Our log as the world's readers see it: @mcap/core and Foxglove's ROS 2 packages read the sample whole, cut and damaged.
set -euo pipefail
. "$FF_SOURCE_DIR/tests/need.sh"
need node npm
work="$FF_BUILD_DIR/record-public"
mkdir -p "$work"
cp "$FF_SOURCE_DIR"/tests/record/{package.json,package-lock.json,read.mjs} "$work"
cd "$work"
cmp -s package-lock.json node_modules/.ready || {
  npm ci --no-audit --no-fund --prefer-offline --loglevel=error
  cp package-lock.json node_modules/.ready
}
FF_MCAP_SAMPLE="$work/sample.mcap" "$FF_BUILD_DIR/tests/test_unit_record_mcap"
node read.mjs sample.mcap "$([ "${FF_TEST_LONG:-0}" = 0 ] && echo short || echo long)"
