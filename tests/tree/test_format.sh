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
# Half a minute of processor time for all sources, and most were seen before: those that passed are remembered by what decides, their bytes,
# the rules and the program.
known=${XDG_CACHE_HOME:-${HOME:-/nowhere}/.cache}/freefloat-format
rules=$({ clang-format --version; cat .clang-format; } | sha256sum | cut -c1-16)
mapfile -t sums < <(sha256sum "${sources[@]}" | sort)
[ ${#sums[@]} -eq ${#sources[@]} ] || { echo "FAIL: not every source can be read"; exit 1; }
mapfile -t new < <(printf '%s\n' "${sums[@]}" | if [ -r "$known/$rules" ]; then grep -vFf "$known/$rules"; else cat; fi | cut -c67-)
# Side by side, and the sources in two parts: this begins late in the list of tests and should not be its end.
half=$((${#new[@]} / 2))
{ [ $half -eq 0 ] || clang-format --dry-run --Werror "${new[@]:0:half}"; } & first=$!
{ [ ${#new[@]} -eq 0 ] || clang-format --dry-run --Werror "${new[@]:half}"; } & second=$!
# a script is judged with those that it sources, so all together
together=scripts-$({ shellcheck --version; cat .shellcheckrc "${scripts[@]}"; } | sha256sum | cut -c1-32)
[ -e "$known/$together" ] || shellcheck "${scripts[@]}" || status=1
if printf '%s\n' "${scripts[@]}" | grep '^tests/' | grep -v '^tests/need.sh$' | xargs grep -nE '[^)] > *"?[A-Za-z0-9_.$"]+"? 2>&1 &( |$|;)'; then
  echo "FAIL: a background program's words go into a file that may still have those of the one before: use behind FILE COMMAND..."
  status=1
fi
formatted=yes
wait $first || formatted=no
wait $second || formatted=no
[ $status -ne 0 ] || { mkdir -p "$known" && touch "$known/$together"; } 2> /dev/null
if [ $formatted = no ]; then
  status=1
elif mkdir -p "$known" 2> /dev/null && mine=$(mktemp "$known/.new.XXXXXX" 2> /dev/null); then
  printf '%s\n' "${sums[@]}" | cut -c1-64 > "$mine" && mv "$mine" "$known/$rules"
fi
exit $status
