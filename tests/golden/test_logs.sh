#!/usr/bin/env bash
# Every scenario under every method computes the bits of the store, or the commit that changes them rewrites it (docs/testing.md).
command -v python3 > /dev/null || { echo "skipped: needs python3"; exit 0; }
exec "$FF_SOURCE_DIR/tools/golden" check logs
