#!/usr/bin/env bash
# Pictures for README and docs/ from real runs: tools/screenshots.sh [FOLDER, default docs/images]
# Needs a build, node, chromium; looks best with the font Inter installed (apt-get install fonts-inter).
. "$(dirname "$0")/../tests/web/browser.sh"
out=$(realpath -m "${1:-$root/docs/images}")
mkdir -p "$out"
scenario=$root/scenarios/deos-client.yaml
"$freefloat" run "$scenario" --method fused --quiet --log none --out "$scratch/run"
"$freefloat" compare "$scenario" --methods ideal,direct,tdpa,damping,impact,fused --quiet --log none --out "$scratch/compare"
"$freefloat" run "$root/scenarios/envisat-capture.yaml" --quiet --log none --out "$scratch/capture"
"$freefloat" analyze delay-margin "$scenario" --map 9 --methods damping,fused --quiet --out "$scratch/margin"
node "$root/tests/web/screenshots.mjs" "$scratch" "$out" "$freefloat" "$scenario"
