#!/usr/bin/env bash
# libfreefloat-host exports the calls of its header, each with its version, and nothing else; the header is C and C++; an installed copy serves
# the package.
set -eu
. "$FF_SOURCE_DIR/tests/python/python.sh"
need nm c++
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
header=$FF_SOURCE_DIR/host/abi/freefloat_host.h
nm -D --defined-only --with-symbol-versions "$FF_BUILD_DIR/libfreefloat-host.so" | awk '$3 !~ /^FREEFLOAT_HOST_1/ {print $3}' | sort > "$work/exported"
sed 's/$/@@FREEFLOAT_HOST_1/' <(grep -v '^typedef' "$header" | grep -oE '\bffh_[a-z_]+\(' | tr -d '(' | sort -u) > "$work/declared"
diff "$work/declared" "$work/exported" || { echo "FAIL: declared (<) and exported (>) differ"; exit 1; }
cc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c "$header"
c++ -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++ "$header"
DESTDIR="" cmake --install "$FF_BUILD_DIR" --prefix "$work/usr" > /dev/null
DESTDIR="" cmake --install "$FF_BUILD_DIR" --prefix "$work/usr" --component python > /dev/null
unset FREEFLOAT_HOST_LIBRARY
cd "$work"
PYTHONPATH=$work/usr/lib/python3/dist-packages LD_LIBRARY_PATH=$(dirname "$(find "$work/usr" -name libfreefloat-host.so.1)") "$PYTHON" -c "
import freefloat as ff
assert ff.__file__.startswith('$work'), ff.__file__
assert ff.Tree.from_urdf('$FF_SOURCE_DIR/scenarios/envisat-arm.urdf').joints == 7  # by a module of the installed library
print('an installed copy:', ff.run('$FF_SOURCE_DIR/scenarios/deos-client.yaml', set={'time.duration': 1}))"
[ -e "$work/usr/include/freefloat/freefloat_host.h" ]
