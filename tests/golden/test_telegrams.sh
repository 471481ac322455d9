#!/usr/bin/env bash
# The answers sent to the robots, cycle by cycle, in lock-step runs with faults: the streams and their largest steps of the store (docs/testing.md).
command -v python3 > /dev/null || { echo "skipped: needs python3"; exit 0; }
exec "$FF_SOURCE_DIR/tools/golden" check telegrams -j 2
