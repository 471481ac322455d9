#!/usr/bin/env bash
# What the program's ELF header must say: no folder of its own to load libraries from, tables read-only once bound, random addresses,
# stack and buffers guarded. A library planted in the current folder is not loaded.
# The same for its modules.
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
# Modules: guarded as the program is; found beside the program's own file and nowhere else; a missing one is one line.
for module in "$FF_BUILD_DIR"/modules/*.so; do
  dynamic=$(readelf -dW "$module") || exit 1
  grep -qE 'R(UN)?PATH' <<< "$dynamic" && fail "$module looks for libraries in a folder of its own"
  grep -qE 'FLAGS.*BIND_NOW|FLAGS_1.*NOW' <<< "$dynamic" || fail "$module: symbols are bound while the program runs (-z now)"
  [ "$(nm -D --defined-only "$module" | awk '{print $3}')" = ff_module_offer ] || fail "$module exports something else than ff_module_offer"
done
readelf -dW "$FREEFLOAT" | grep -E 'NEEDED.*lib(mpi|websockets|ssl|xml2|icu)' && fail "the program waits for a library that a module should bring"
mkdir -p "$place/bin" "$place/modules" "$place/lib/freefloat" && cp "$FREEFLOAT" "$place/bin/"
for name in mpi live; do cp "$place/planted.so" "$place/modules/$name.so"; done
# says PATTERN: the program without modules, as one of two ranks, ends with 1 and one line
says() {
  local out status=0
  out=$(cd "$place" && OMPI_COMM_WORLD_SIZE=2 LD_LIBRARY_PATH="$place/modules" "$place/bin/freefloat" campaign "$FF_SOURCE_DIR/campaigns/delay-stiffness.yaml" 2>&1) || status=$?
  [ $status = 1 ] && [ "$(wc -l <<< "$out")" = 1 ] && grep -qE "$1" <<< "$out" || fail "status $status, expected one line with '$1': $out"
}
says "the module mpi is missing: no $place/bin/../lib.*/freefloat/mpi.so"
out=$(cd "$place" && "$place/bin/freefloat" run "$FF_SOURCE_DIR/scenarios/wall.yaml" --live 127.0.0.1:0 --out "$place/out" 2>&1) && fail "a live page without its module"
grep -q "the module live is missing" <<< "$out" || fail "no word about the missing module: $out"
mkdir "$place/bin/modules" && echo 'int nothing;' | cc -shared -fPIC -x c -o "$place/bin/modules/mpi.so" - || exit 1
says "the module mpi cannot be loaded: .*ff_module_offer"
echo 'const struct { const char *version; void *open; } ff_module_offer = {"0.0.1 1", 0};' | cc -shared -fPIC -x c -o "$place/bin/modules/mpi.so" - || exit 1
says "$place/bin/modules/mpi.so is of version 0.0.1 1, allowed: "
exit $failures
