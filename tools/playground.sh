#!/usr/bin/env bash
# tools/playground.sh BUILD [OUT]: builds the playground's page, OUT (default BUILD/modules/playground.html): the program as WebAssembly by
# Debian's clang, lld and wasi-libc, with libyaml and SUNDIALS from Debian's source packages, and the page around it by Node.
#
# What it needs is optional: without it nothing is built, OUT.missing says in one line what to do, and the status is 0. The sources are kept in
# BUILD/playground/sources (FF_PLAYGROUND_SOURCES: a folder that has them, for a machine without network).
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=$(mkdir -p "$1" && cd "$1" && pwd)
out=${2:-$build/modules/playground.html}
work=$build/playground
sources=${FF_PLAYGROUND_SOURCES:-$work/sources}
mkdir -p "$work" "$(dirname "$out")"

missing() {
  echo "playground: left out: $1" >&2
  rm -f "$out"
  echo "$1" > "$out.missing"
  exit 0
}

wanted=""
for package in clang:clang-14,clang lld:wasm-ld-14,wasm-ld llvm:llvm-ar-14,llvm-ar nodejs:node,nodejs npm:npm; do
  IFS=, read -r first second <<< "${package#*:}"
  command -v "$first" > /dev/null || command -v "${second:-$first}" > /dev/null || wanted="$wanted ${package%%:*}"
done
[ -f /usr/include/wasm32-wasi/stdio.h ] || wanted="$wanted wasi-libc"
compgen -G "/usr/lib/llvm-14/lib/clang/*/lib/wasi/libclang_rt.builtins-wasm32.a" > /dev/null || [ -f /usr/lib/wasm32-wasi/libclang_rt.builtins-wasm32.a ] ||
  wanted="$wanted libclang-rt-14-dev-wasm32"
[ -z "$wanted" ] || missing "apt-get install$wanted, then make playground"

# The sources, by apt's own lists in a folder of ours: nothing of the system is changed, and its keys are those that it trusts.
have() { compgen -G "$sources/$1-*/$2" > /dev/null; }
if ! have libyaml src/api.c || ! have sundials src/cvode/cvode.c; then
  command -v apt-get > /dev/null && command -v dpkg-source > /dev/null || missing "it needs apt-get and dpkg-source (apt-get install dpkg-dev), or FF_PLAYGROUND_SOURCES"
  mkdir -p "$sources" "$work/apt/lists/partial"
  sed -n 's/^deb \(\[[^]]*\] \)\?\(https\?:[^ ]*debian\/\? [a-z]* main\).*/deb-src \1\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2> /dev/null > "$work/apt/source.list" || true
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -f "$file" ] && sed 's/^Types:.*/Types: deb-src/' "$file" > "$work/apt/$(basename "$file")"
  done
  mkdir -p "$work/apt/parts"
  for file in "$work"/apt/*.sources; do
    [ -f "$file" ] && grep -q 'Signed-By: /usr/share/keyrings/debian-archive-keyring' "$file" && mv "$file" "$work/apt/parts/"
  done
  apt=(apt-get -q -o "Dir::Etc::sourcelist=$work/apt/source.list" -o "Dir::Etc::sourceparts=$work/apt/parts" -o "Dir::State::lists=$work/apt/lists"
       -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o APT::Sandbox::User=root)
  (cd "$sources" && "${apt[@]}" update && "${apt[@]}" source --download-only libyaml sundials) > "$work/sources.log" 2>&1 ||
    missing "the sources of libyaml and SUNDIALS cannot be fetched (apt-get source; $work/sources.log); set FF_PLAYGROUND_SOURCES to a folder that has them, then make playground"
  for package in "$sources"/*.dsc; do
    (cd "$sources" && dpkg-source -x "$package") >> "$work/sources.log" 2>&1 || missing "dpkg-source -x $package failed ($work/sources.log)"
  done
fi

cmake -G Ninja -S "$here/programs/playground" -B "$work/wasm" -DCMAKE_TOOLCHAIN_FILE="$here/programs/playground/wasm.cmake" -DFF_SOURCES="$sources" > "$work/cmake.log" ||
  { cat "$work/cmake.log" >&2; exit 1; }
cmake --build "$work/wasm" > "$work/build.log" || { tail -40 "$work/build.log" >&2; exit 1; }
node "$here/web/build.mjs" --playground "$work/wasm/model.wasm" "$work/page"
[ -f "$work/page/playground.html" ] || missing "npm's packages could not be fetched; when its registry can be reached, make playground"
rm -f "$out.missing"
cmp -s "$work/page/playground.html" "$out" || cp "$work/page/playground.html" "$out"
