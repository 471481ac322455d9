#!/usr/bin/env bash
# Every C file is formatted as .clang-format says (make format does it), every script passes shellcheck, and a test's background programs
# write into files that are new (need.sh: behind).
set -u
. "$FF_SOURCE_DIR/tests/need.sh"
need git clang-format shellcheck
cd "$FF_SOURCE_DIR" || exit 1
git rev-parse --is-inside-work-tree > /dev/null 2>&1 || { echo "skipped: not a git work tree, so the list of files is not known"; exit 77; }
status=0
files() { git ls-files --cached --others --exclude-standard "$@" | while read -r file; do [ ! -f "$file" ] || echo "$file"; done; }
mapfile -t sources < <(files '*.c' '*.h')
mapfile -t scripts < <(files '*.sh' .ci/run)
[ ${#sources[@]} -gt 100 ] && [ ${#scripts[@]} -gt 20 ] || { echo "FAIL: ${#sources[@]} sources, ${#scripts[@]} scripts found"; exit 1; }
# Side by side, and the sources in two parts: this begins late in the list of tests and should not be its end.
half=$((${#sources[@]} / 2))
clang-format --dry-run --Werror "${sources[@]:0:half}" & first=$!
clang-format --dry-run --Werror "${sources[@]:half}" & second=$!
shellcheck "${scripts[@]}" || status=1
if printf '%s\n' "${scripts[@]}" | grep '^tests/' | grep -v '^tests/need.sh$' | xargs grep -nE '[^)] > *"?[A-Za-z0-9_.$"]+"? 2>&1 &( |$|;)'; then
  echo "FAIL: a background program's words go into a file that may still have those of the one before: use behind FILE COMMAND..."
  status=1
fi
wait $first || status=1
wait $second || status=1
exit $status
