#!/bin/bash
# The executive's cycle and the virtual station need no operating system below them but memory and libm.
set -eu
here=$(dirname "$0")
objects=("$FF_BUILD_DIR/host/CMakeFiles/ffhost.dir" "$FF_BUILD_DIR/lib/CMakeFiles")
python3 "$here/portable.py" ff_executive_open,ff_executive_cycle,ff_executive_close,ff_virtual_station "${objects[@]}"
# and the check sees what it looks for
if python3 "$here/portable.py" ff_run,ff_socket_open "${objects[@]}" >/dev/null; then
    echo "threads and sockets are not noticed" >&2
    exit 1
fi
