#!/usr/bin/env bash
# The live page in Debian's Chromium, over real runs on 127.0.0.1.
. "$(dirname "$0")/browser.sh"

# Bad usage is one line and status 2.
bad() {
    local out status=0
    out=$("$freefloat" "$@" 2>&1) || status=$?
    [ $status -eq 2 ] && [ "$(wc -l <<<"$out")" -eq 1 ] || fail "$*: status $status, said: $out"
}
bad run "$root/scenarios/wall.yaml" --live 0.0.0.0:8080 --out "$scratch/x"
bad run "$root/scenarios/wall.yaml" --live nowhere --out "$scratch/x"
bad run "$root/scenarios/wall.yaml" --live 127.0.0.1:99999 --out "$scratch/x"
bad run "$root/scenarios/wall.yaml" --control --out "$scratch/x"
bad view "$scratch/nothing"
bad view

timeout 900 node "$here/live.test.mjs" "$scratch" "$freefloat" "$root/scenarios"
