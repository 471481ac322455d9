#!/usr/bin/env bash
# The answers sent to the robots, cycle by cycle, in lock-step runs with faults: the streams and their largest steps of the store (docs/testing.md).
# Under a sanitizer every 5th case: all methods and kinds of devices are among them.
. "$FF_SOURCE_DIR/tests/need.sh"
need python3
every=1
[ -z "${FF_SANITIZED:-}" ] || [ "${FF_TEST_LONG:-0}" != 0 ] || every=5
exec "$FF_SOURCE_DIR/tools/golden" check telegrams --every $every -j 2
