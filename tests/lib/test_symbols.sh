#!/usr/bin/env bash
# lib/ refers to libm and memory copies only: no allocation, I/O, time, thread or system call. libfreefloat.so exports what the public
# headers declare, as lib/symbols.map lists it, and nothing else.
set -eu
. "$FF_SOURCE_DIR/tests/need.sh"
need nm python3
archive=$(find "$FF_BUILD_DIR/lib" -name libfreefloat.a)
allowed='^(acos|acosh|asin|atan|atan2|cbrt|ceil|copysign|cos|exp|expm1|fabs|floor|fma|fmax|fmin|fmod|hypot|log|log1p|log10|lround|ldexp|frexp|nearbyint|pow|remainder|rint|round|sin|sincos|sinh|cosh|tanh|sqrt|tan|trunc|memcpy|memmove|memset|memcmp|strlen|strcmp|__stack_chk_fail|__cpu_model|__cpu_indicator_init|_GLOBAL_OFFSET_TABLE_)$'
defined=$(nm --defined-only "$archive" | awk 'NF == 3 {print $3}' | sort -u)
bad=$(nm --undefined-only "$archive" | awk '$1 == "U" {print $2}' | sort -u | grep -Ev "$allowed" | grep -Fxv -f <(printf '%s\n' "$defined") || true)
if [ -n "$bad" ]; then
  echo "lib/ refers to symbols it must not use:"
  echo "$bad"
  exit 1
fi
echo "lib/ refers to libm and memory copies only"

"$FF_SOURCE_DIR/tools/symbols" | diff "$FF_SOURCE_DIR/lib/symbols.map" - || {
  echo "the public headers declare something else than lib/symbols.map lists: tools/symbols > lib/symbols.map"
  exit 1
}
exported=$(nm -D --defined-only "$FF_BUILD_DIR/lib/libfreefloat.so" | awk '{print $3}' | LC_ALL=C sort)
listed=$(sed -n 's/^    \(ff_.*\);/\1/p' "$FF_SOURCE_DIR/lib/symbols.map" | LC_ALL=C sort)
diff <(echo "$listed") <(echo "$exported") || { echo "declared but not defined (<), or exported but not listed (>)"; exit 1; }
echo "libfreefloat.so exports the $(wc -l <<< "$exported") functions of the public headers"
