#!/usr/bin/env bash
# Every scenario under every method computes the bits of the store, or the commit that changes them rewrites it (docs/testing.md).
# Under a sanitizer every 6th case: all methods and kinds of devices are among them.
. "$FF_SOURCE_DIR/tests/need.sh"
need python3
every=1
[ -z "${FF_SANITIZED:-}" ] || [ "${FF_TEST_LONG:-0}" != 0 ] || every=6
exec "$FF_SOURCE_DIR/tools/golden" check logs --every $every
