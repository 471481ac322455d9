#!/usr/bin/env bash
# Every notebook of examples/python runs to its end: its cells hold their own assertions. It was stored with its outputs, and is small.
set -eu
. "$FF_SOURCE_DIR/tests/python/python.sh"
"$PYTHON" -c 'import matplotlib' 2> /dev/null || { echo "skipped: needs matplotlib (tools/setup.sh installs python3-matplotlib)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MPLCONFIGDIR=$work
"$PYTHON" "$FF_SOURCE_DIR/tools/notebook" "$FF_SOURCE_DIR"/examples/python/*.ipynb # all in one interpreter: to start costs as much as to run
"$PYTHON" - "$FF_SOURCE_DIR"/examples/python/*.ipynb <<'P'
import json, os, sys
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        book = json.load(file)
    code = [c for c in book["cells"] if c["cell_type"] == "code"]
    assert [c["execution_count"] for c in code] == list(range(1, len(code) + 1)), f"{path}: stored without its outputs: tools/notebook --write"
    assert any(c["outputs"] for c in code) and os.path.getsize(path) < 100000, path
assert len(sys.argv) > 6, sys.argv
P
# one that raises is seen
printf '{"cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null, "source": ["1/0"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}' > "$work/bad.ipynb"
if "$PYTHON" "$FF_SOURCE_DIR/tools/notebook" "$work/bad.ipynb" 2> "$work/said"; then echo "FAIL: a cell that raises passed"; exit 1; fi
grep -q ZeroDivisionError "$work/said"
