# shellcheck shell=bash
# What the tests of the pages share; to be sourced: the build, Chromium, playwright, a scratch folder.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../..
. "$root/tests/need.sh"
build=${FF_BUILD_DIR:-$root/build}
freefloat=${FREEFLOAT:-$build/freefloat}
fail() { echo "$(basename "$0" .sh): $*" >&2; exit 1; }
need "${FF_CHROMIUM:-/usr/bin/chromium}"
[ -x "$freefloat" ] || fail "$freefloat is missing: build first"
packages "$here" "$here"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
