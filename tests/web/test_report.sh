#!/usr/bin/env bash
# The report in Debian's Chromium: builds sample reports, then drives the browser over them.
. "$(dirname "$0")/browser.sh"

sample=$build/tests/report_sample
[ -x "$sample" ] || fail "$sample is missing: build first"

# Packages come from the lock file, and it must not name a registry's host.
for lock in "$here/package-lock.json" "$root/web/package-lock.json"; do
    if grep -n '"resolved"' "$lock"; then fail "$lock names a registry"; fi
done

# The types are right (esbuild does not look at them).
tsc=$root/web/node_modules/typescript/bin/tsc
[ -e "$tsc" ] && node "$tsc" --noEmit -p "$root/web"

node "$here/colours.test.mjs"
# What the live page keeps does not grow with the time that it runs.
"$root/web/node_modules/.bin/esbuild" "$root/web/src/table.ts" --format=esm --log-level=error --outfile="$scratch/table.mjs"
node "$here/memory.test.mjs" "$scratch/table.mjs"

for kind in single failed compare hostile long diverged raw tables; do
    "$sample" $kind "$scratch/$kind.html"
done
scenario=$root/scenarios/deos-client.yaml
"$freefloat" run "$scenario" --quiet --out "$scratch/run"
"$freefloat" run "$scenario" --method fused --quiet --log csv,mcap --out "$scratch/fused"
"$freefloat" run "$scenario" --method direct --set time.cycle=0.0005 --set time.duration=9 --quiet --log csv,mcap --out "$scratch/fast"
"$freefloat" compare "$scenario" --methods ideal,direct,tdpa --quiet --log none --out "$scratch/compared"
"$freefloat" run "$root/scenarios/papers/lange/fig-7.yaml" --method tdpa --quiet --log none --out "$scratch/pair"
node "$here/report.test.mjs" "$scratch" ${FF_SCREENS:+"$FF_SCREENS"}
