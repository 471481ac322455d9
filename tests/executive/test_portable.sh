#!/bin/bash
# The executive's cycle and the virtual station need no operating system below them but memory and libm.
set -eu
here=$(dirname "$0")
where=("$(cd "$here/../.." && pwd)/host" "$FF_BUILD_DIR/lib/CMakeFiles")
python3 "$here/portable.py" ff_executive_open,ff_executive_cycle,ff_executive_close,ff_virtual_station "${where[@]}"
# and the check sees what it looks for
if python3 "$here/portable.py" ff_socket_open,ff_module_table "${where[@]}" >/dev/null; then
    echo "threads and sockets are not noticed" >&2
    exit 1
fi
