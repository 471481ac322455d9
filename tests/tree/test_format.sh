#!/usr/bin/env bash
# Every C file is formatted as .clang-format says (make format does it), every script passes shellcheck.
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
clang-format --dry-run --Werror "${sources[@]}" || status=1
shellcheck "${scripts[@]}" || status=1
exit $status
