#!/usr/bin/env bash
# Every notebook of examples/python runs to its end: its cells hold their own assertions. It was stored with its outputs, and is small.
set -eu
. "$FF_SOURCE_DIR/tests/python/python.sh"
"$PYTHON" -c 'import matplotlib' 2> /dev/null || { echo "skipped: needs matplotlib (tools/setup.sh installs python3-matplotlib)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MPLCONFIGDIR=$work
count=0
for book in "$FF_SOURCE_DIR"/examples/python/*.ipynb; do
  echo "${book##*/}"
  "$PYTHON" "$FF_SOURCE_DIR/tools/notebook" "$book"
  "$PYTHON" - "$book" <<'P'
import json, os, sys
book = json.load(open(sys.argv[1]))
code = [c for c in book["cells"] if c["cell_type"] == "code"]
assert [c["execution_count"] for c in code] == list(range(1, len(code) + 1)), "stored without its outputs: tools/notebook --write"
assert any(c["outputs"] for c in code) and os.path.getsize(sys.argv[1]) < 100000
P
  count=$((count + 1))
done
[ "$count" -ge 6 ] || { echo "FAIL: $count notebooks"; exit 1; }
# one that raises is seen
printf '{"cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null, "source": ["1/0"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}' > "$work/bad.ipynb"
if "$PYTHON" "$FF_SOURCE_DIR/tools/notebook" "$work/bad.ipynb" 2> "$work/said"; then echo "FAIL: a cell that raises passed"; exit 1; fi
grep -q ZeroDivisionError "$work/said"
