#!/usr/bin/env bash
# The wheel: one for every Python 3, its files are those it lists, and unpacked where nothing else is it runs a shipped scenario by its name and reads a URDF
# file (a module). Where pip is there, `pip install .` into an environment of its own does the same without a network.
set -eu
. "$FF_SOURCE_DIR/tests/python/python.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export FREEFLOAT_BUILD=$FF_BUILD_DIR
unset PYTHONPATH
wheel=$("$PYTHON" "$FF_SOURCE_DIR/python/backend.py" "$work")
case $wheel in *-py3-none-linux_*.whl) ;; *) echo "FAIL: $wheel is not for every Python 3"; exit 1 ;; esac
mkdir "$work/site"
"$PYTHON" - "$wheel" "$work/site" <<'P'
import base64, csv, hashlib, io, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
info = next(n for n in wheel.namelist() if n.endswith("RECORD"))
listed = {row[0]: row[1] for row in csv.reader(io.StringIO(wheel.read(info).decode()))}
assert set(listed) == set(wheel.namelist()), set(listed) ^ set(wheel.namelist())
for name, digest in listed.items():
    if digest:
        assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=").decode(), name
assert any(n.endswith("_native/modules/xml.so") for n in listed)
wheel.extractall(sys.argv[2])
P
cat > "$work/use.py" <<P
import os, sys
import freefloat as ff
assert os.path.dirname(ff.__file__).startswith("$work"), ff.__file__
r = ff.run("deos-client", set={"time.duration": 2})  # a shipped one by its name
assert len(r.columns["client.velocity.z"]) == 501 and r.summary["cycles"] == 500
assert ff.Tree.from_urdf("$FF_SOURCE_DIR/scenarios/envisat-arm.urdf").joints == 7
print("freefloat", ff.__version__, "in", sys.version.split()[0])
P
cd "$work"
PYTHONPATH=$work/site "$PYTHON" use.py
"$PYTHON" -m pip --version > /dev/null 2>&1 && "$PYTHON" -c 'import ensurepip' 2> /dev/null ||
  { echo "left out: pip install . (python3-pip, python3-venv are not there)"; exit 77; }
"$PYTHON" -m venv --system-site-packages --without-pip env
PIP_NO_INDEX=1 "$PYTHON" -m pip --python env/bin/python install --quiet "$FF_SOURCE_DIR"
env/bin/python use.py
