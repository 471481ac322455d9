# shellcheck shell=bash
# Sourced by the tests of the package: a Python with cffi and numpy, and the package that was built; else the test is skipped.
. "$FF_SOURCE_DIR/tests/need.sh"
need cc
PYTHON=
for candidate in /usr/bin/python3 python3; do
  "$candidate" -c 'import cffi, numpy' 2> /dev/null && PYTHON=$candidate && break
done
[ -n "$PYTHON" ] || { echo "skipped: needs a Python with cffi and numpy (tools/setup.sh installs python3-cffi, python3-numpy)"; exit 77; }
[ -e "$FF_BUILD_DIR/python/freefloat/_native/libfreefloat-host.so.1" ] || { echo "the package is not built: make python"; exit 1; }
export PYTHONPATH=$FF_BUILD_DIR/python:$FF_SOURCE_DIR/tests/python PYTHONDONTWRITEBYTECODE=1
