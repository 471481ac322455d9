#!/usr/bin/env bash
# make install's files serve an external project: pkg-config with the shared and the static library, and CMake.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
DESTDIR="" cmake --install "$FF_BUILD_DIR" --prefix "$work/usr" > /dev/null
PKG_CONFIG_PATH=$(dirname "$(find "$work/usr" -name freefloat.pc)")
export PKG_CONFIG_PATH
lib=$(dirname "$(find "$work/usr" -name libfreefloat.a)")
# the prefix of the .pc file is the one given at configure time; an installed copy elsewhere says so
read -ra flags < <(pkg-config --define-variable=prefix="$work/usr" --cflags --libs freefloat)
cc -std=c11 "$FF_SOURCE_DIR/examples/minimal.c" "${flags[@]}" -lm -o "$work/shared"
LD_LIBRARY_PATH=$lib "$work/shared"
cc -std=c11 "$FF_SOURCE_DIR/examples/minimal.c" -I"$work/usr/include" "$lib/libfreefloat.a" -lm -o "$work/static"
"$work/static"
mkdir "$work/project"
cp "$FF_SOURCE_DIR/examples/minimal.c" "$work/project/"
cat > "$work/project/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.16)
project(outside C)
find_package(freefloat REQUIRED)
add_executable(minimal minimal.c)
target_link_libraries(minimal freefloat::static)
C
cmake -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$work/usr" > /dev/null
cmake --build "$work/project/build" > /dev/null
"$work/project/build/minimal"
"$work/usr/bin/freefloat" --version
[ -n "${FF_SANITIZED-}" ] || FREEFLOAT="$work/usr/bin/freefloat" bash "$FF_SOURCE_DIR/tests/tree/test_binary.sh" # the installed one, too
# lib/ alone: nothing but a C compiler
mkdir "$work/alone"
cp -r "$FF_SOURCE_DIR/lib" "$FF_SOURCE_DIR/Makefile" "$work/alone/"
cache=$(command -v ccache) || cache=
(cd "$work/alone" && make lib CFLAGS=-O0 CC="$cache cc" > /dev/null && cc -std=c11 -Ilib/include "$FF_SOURCE_DIR/examples/minimal.c" build-lib/libfreefloat.a -lm -o minimal && ./minimal)
echo "installed copies work"
