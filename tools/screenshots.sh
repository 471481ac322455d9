#!/usr/bin/env bash
# Pictures for README and docs/ from real runs: tools/screenshots.sh [FOLDER, default docs/images]
# Needs a build, node, chromium; looks best with the font Inter installed (apt-get install fonts-inter).
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
out=$(realpath -m "${1:-$root/docs/images}")
freefloat=${FREEFLOAT:-$root/build/freefloat}
[ -x "$freefloat" ] || { echo "screenshots: $freefloat is missing: build first" >&2; exit 1; }
mkdir -p "$out"
[ -e "$root/tests/web/node_modules" ] || (cd "$root/tests/web" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
scenario=$root/scenarios/deos-client.yaml
"$freefloat" run "$scenario" --quiet --log none --out "$scratch/run"
"$freefloat" compare "$scenario" --methods ideal,direct,tdpa --quiet --log none --out "$scratch/compare"
"$freefloat" analyze delay-margin "$scenario" --map 9 --methods direct,tdpa,damping --quiet --out "$scratch/margin"
node "$root/tests/web/screenshots.mjs" "$scratch" "$out" "$freefloat" "$scenario"
