#!/usr/bin/env bash
# The report in Debian's Chromium: builds sample reports, then drives the browser over them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${FF_BUILD_DIR:-$here/../../build}
sample=$build/tests/report_sample
fail() { echo "test_report: $*" >&2; exit 1; }
command -v node >/dev/null || fail "node is missing"
[ -x "${FF_CHROMIUM:-/usr/bin/chromium}" ] || fail "chromium is missing (apt-get install chromium)"
[ -x "$sample" ] || fail "$sample is missing: build first"

# Packages come from the lock file, and it must not name a registry's host.
for lock in "$here/package-lock.json" "$here/../../web/package-lock.json"; do
    if grep -n '"resolved"' "$lock"; then fail "$lock names a registry"; fi
done
if [ ! -e "$here/node_modules/playwright-core/package.json" ]; then
    (cd "$here" && npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error)
fi

# The types are right (esbuild does not look at them).
tsc=$here/../../web/node_modules/typescript/bin/tsc
[ -e "$tsc" ] && node "$tsc" --noEmit -p "$here/../../web"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for kind in single failed compare hostile long diverged raw tables; do
    "$sample" $kind "$scratch/$kind.html"
done
freefloat=${FREEFLOAT:-$build/freefloat}
scenario=$here/../../scenarios/deos-client.yaml
"$freefloat" run "$scenario" --quiet --out "$scratch/run"
"$freefloat" compare "$scenario" --methods ideal,direct,tdpa --quiet --log none --out "$scratch/compared"
node "$here/report.test.mjs" "$scratch" ${FF_SCREENS:-}
