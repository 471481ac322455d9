#!/usr/bin/env bash
# The Python package: cases_gaps.py.
set -eu
. "$FF_SOURCE_DIR/tests/python/python.sh"
exec "$PYTHON" "$FF_SOURCE_DIR/tests/python/cases_gaps.py"
