#!/usr/bin/env bash
# The live page in Debian's Chromium, over real runs on 127.0.0.1.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${FF_BUILD_DIR:-$here/../../build}
freefloat=${FREEFLOAT:-$build/freefloat}
fail() { echo "test_live: $*" >&2; exit 1; }
command -v node >/dev/null || fail "node is missing"
[ -x "${FF_CHROMIUM:-/usr/bin/chromium}" ] || fail "chromium is missing (apt-get install chromium)"
[ -x "$freefloat" ] || fail "$freefloat is missing: build first"
if [ ! -e "$here/node_modules/playwright-core/package.json" ]; then
    (cd "$here" && npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error)
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Bad usage is one line and status 2.
bad() {
    local out status=0
    out=$("$freefloat" "$@" 2>&1) || status=$?
    [ $status -eq 2 ] && [ "$(wc -l <<<"$out")" -eq 1 ] || fail "$*: status $status, said: $out"
}
bad run "$here/../../scenarios/wall.yaml" --live 0.0.0.0:8080 --out "$scratch/x"
bad run "$here/../../scenarios/wall.yaml" --live nowhere --out "$scratch/x"
bad run "$here/../../scenarios/wall.yaml" --live 127.0.0.1:99999 --out "$scratch/x"
bad run "$here/../../scenarios/wall.yaml" --control --out "$scratch/x"
bad view "$scratch/nothing"
bad view

timeout 900 node "$here/live.test.mjs" "$scratch" "$freefloat" "$here/../../scenarios"
