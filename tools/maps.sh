#!/usr/bin/env bash
# Runs every shipped campaign, keeps its maps in docs/maps/ and fills the tables of docs/maps.md. Options go to `freefloat campaign` (--threads N).
#   tools/maps.sh [options]          CAMPAIGNS="readings integrators" tools/maps.sh  for some of them
set -eu
cd "$(dirname "$0")/.."
freefloat=${FREEFLOAT:-build/freefloat}
[ -x "$freefloat" ] || { echo "build freefloat first (make build)" >&2; exit 1; }
mkdir -p docs/maps
for name in ${CAMPAIGNS:-delay-stiffness delay-damping noise-delay-error skew lag cycle drop-outs readings integrators random-6dof}; do
  "$freefloat" campaign "campaigns/$name.yaml" --out "out/campaigns/$name" "$@"
  rm -f docs/maps/"$name"-*.svg
  for svg in out/campaigns/"$name"/map-*.svg; do
    cp "$svg" "docs/maps/$name-$(basename "$svg" | sed 's/^map-//')"
  done
done
tools/maps_tables.sh
