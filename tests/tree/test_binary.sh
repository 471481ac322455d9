#!/usr/bin/env bash
# What the program's ELF header must say: no folder of its own to load libraries from, tables read-only once bound, random addresses,
# stack and buffers guarded. A library planted in the current folder is not loaded.
set -u
. "$FF_SOURCE_DIR/tests/need.sh"
need readelf nm cc
[ -z "${FF_SANITIZED-}" ] || { echo "skipped: a sanitizer has its own guards"; exit 77; }
failures=0
fail() { echo "FAIL: $*"; failures=1; }
dynamic=$(readelf -dW "$FREEFLOAT") || exit 1
grep -qE 'R(UN)?PATH' <<< "$dynamic" && fail "libraries are looked for in $(grep -E 'R(UN)?PATH' <<< "$dynamic")"
grep -qE 'FLAGS.*BIND_NOW|FLAGS_1.*NOW' <<< "$dynamic" || fail "symbols are bound while the program runs (-z now)"
readelf -lW "$FREEFLOAT" | grep -q GNU_RELRO || fail "no table is made read-only (-z relro)"
readelf -lW "$FREEFLOAT" | grep -q 'GNU_STACK.* RWE' && fail "the stack is executable"
readelf -hW "$FREEFLOAT" | grep -qE 'Type: +DYN' || fail "not position independent"
undefined=$(nm -D --undefined-only "$FREEFLOAT")
grep -q __stack_chk_fail <<< "$undefined" || fail "no stack protector"
grep -qE '__(memcpy|snprintf|fprintf|vsnprintf)_chk' <<< "$undefined" || fail "buffers are not guarded (_FORTIFY_SOURCE)"

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
echo '__attribute__((constructor)) static void planted(void) { __builtin_trap(); }' | cc -shared -fPIC -x c -o "$place/planted.so" - || exit 1
grep -oP 'NEEDED.*\[\K[^]]+' <<< "$dynamic" | grep -vE '^(libc|libm)\.so' | while read -r name; do cp "$place/planted.so" "$place/$name"; done
(cd "$place" && "$FREEFLOAT" --version > /dev/null) || fail "a library of the current folder was loaded"
exit $failures
