#!/usr/bin/env bash
# host/devices runs in the real-time thread: its objects must not refer to allocation, streams, locale, files, sockets or clocks.
set -euo pipefail
mapfile -t objects < <(find "$FF_BUILD_DIR/host" -path '*ffhost.dir/devices/*.o')
[ ${#objects[@]} -gt 0 ] || { echo "no objects of host/devices under $FF_BUILD_DIR"; exit 1; }
bad=$(nm -u "${objects[@]}" | grep -wE '(malloc|calloc|realloc|free|(v|f|s|sn|vsn)?printf|puts|strto[a-z]+|ato[a-z]+|setlocale|localeconv|fopen|open|read|write|socket|send|sendto|recv|recvfrom|clock_gettime|time|pthread_[a-z_]+|abort|exit)' || true)
[ -z "$bad" ] || { echo "host/devices must not use:"; echo "$bad"; exit 1; }
echo "${#objects[@]} objects, nothing that allocates, prints or blocks"
