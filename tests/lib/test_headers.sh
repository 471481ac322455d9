#!/usr/bin/env bash
# Every public header compiles alone and twice, and all of them together, as C11 and as C++17, without a warning, with gcc and clang.
set -u
. "$FF_SOURCE_DIR/tests/need.sh"
need gcc g++ clang clang++
cd "$FF_SOURCE_DIR/lib/include" || exit 1
status=0
headers=(freefloat/*.h)
[ ${#headers[@]} -gt 5 ] || { echo "FAIL: no headers found"; exit 1; }
all=$(printf '#include "%s"\n' "${headers[@]}")
check() { # TEXT COMPILER...
  local text=$1
  shift
  for compiler; do
    # shellcheck disable=SC2086
    $compiler -fsyntax-only -Wall -Wextra -Werror -I. - <<< "$text" || { echo "FAIL: $compiler: $text"; status=1; }
  done
}
for header in "${headers[@]}"; do
  check "#include \"$header\"
#include \"$header\"
int nothing_else;" "gcc -std=c11 -x c" "clang++ -std=c++17 -x c++" # what is missing or defined twice shows in any
done
check "$all
int main(void) { return 0; }" "gcc -std=c11 -x c" "g++ -std=c++17 -x c++" "clang -std=c11 -x c" "clang++ -std=c++17 -x c++"
# C linkage: a C++ program finds the library.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat > "$scratch/all.cpp" << 'C'
#include "freefloat/freefloat.h"
int main() {
    ff_loop_config config;
    ff_loop_default(&config);
    return ff_status_text(FF_OK) ? 0 : 1;
}
C
g++ -std=c++17 -Wall -Wextra -Werror -I. "$scratch/all.cpp" -L"$FF_BUILD_DIR/lib" -lfreefloat -lm -Wl,-rpath,"$FF_BUILD_DIR/lib" -o "$scratch/all" &&
  "$scratch/all" || { echo "FAIL: a C++ program with libfreefloat"; status=1; }
exit $status
