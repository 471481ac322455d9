# shellcheck shell=bash
# What the tests of the pages share; to be sourced: the build, Chromium, playwright, a scratch folder.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../..
build=${FF_BUILD_DIR:-$root/build}
freefloat=${FREEFLOAT:-$build/freefloat}
fail() { echo "$(basename "$0" .sh): $*" >&2; exit 1; }
command -v node >/dev/null || fail "node is missing"
[ -x "${FF_CHROMIUM:-/usr/bin/chromium}" ] || fail "chromium is missing (apt-get install chromium)"
[ -x "$freefloat" ] || fail "$freefloat is missing: build first"
if [ ! -e "$here/node_modules/playwright-core/package.json" ]; then
    (cd "$here" && npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error)
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
