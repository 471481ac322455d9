#!/usr/bin/env bash
# The playground in Debian's Chromium: its numbers beside those of the program, its sliders, editor, links, and who cannot see or point.
. "$(dirname "$0")/browser.sh"

page=$build/modules/playground.html
[ -f "$page" ] || [ -f "$page.missing" ] || cmake --build "$build" --target playground > "$scratch/build.log" 2>&1 || { cat "$scratch/build.log"; fail "the page cannot be built"; }
if [ -f "$page.missing" ]; then
  echo "skipped: the playground was not built: $(cat "$page.missing")"
  # and the command says so, with its status
  status=0
  said=$("$freefloat" playground --out "$scratch/none.html" 2>&1) || status=$?
  [ $status -eq 1 ] && [ "$(wc -l <<< "$said")" -eq 1 ] && [ ! -e "$scratch/none.html" ] || fail "without a page: $status $said"
  exit 77
fi
"$freefloat" playground --out "$scratch/playground.html" > "$scratch/said"
cmp "$page" "$scratch/playground.html" || fail "the page that is written is not the page that was built"
[ "$(stat -c %s "$scratch/playground.html")" -le 2000000 ] || fail "the page has more than 2 MB"
status=0
said=$("$freefloat" playground --out "$scratch/no/such/folder/page.html" 2>&1) || status=$?
[ $status -eq 1 ] && [ "$(wc -l <<< "$said")" -eq 1 ] || fail "a folder that is not there: $status $said"
FREEFLOAT=$freefloat timeout 600 node "$here/playground.test.mjs" "$scratch" ${FF_SCREENS:+"$FF_SCREENS"}
