#!/usr/bin/env bash
# lib/ refers to libm and memory copies only: no allocation, I/O, time, thread or system call.
set -eu
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
