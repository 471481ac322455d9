#!/usr/bin/env bash
# Methods in shared objects: the example appears in table, report, summary and map under its own name and is named by its
# hash; whatever is wrong with a library is one clear line, and nothing has moved.
set -u
. "$FF_SOURCE_DIR/tests/need.sh"
need cc sha256sum
S=$FF_SOURCE_DIR/scenarios/deos-client.yaml
E=$FF_BUILD_DIR/examples/libmethod_example.so
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
library() { # NAME FLAGS...
    local name=$1
    shift
    cc -shared -fPIC -I "$FF_SOURCE_DIR/lib/include" "$@" "$FF_SOURCE_DIR/tests/cli/method_bad.c" -o "$DIR/$name.so" || fail "$name is not built"
}
refuse() { # STATUS PATTERN ARGUMENTS...
    local status=$1 pattern=$2 text got
    shift 2
    rm -rf "$DIR/out"
    text=$("$FREEFLOAT" "$@" --set time.duration=0.4 --quiet --out "$DIR/out" 2>&1)
    got=$?
    [ $got -eq "$status" ] || fail "$* gave exit status $got, not $status: $text"
    [ "$(printf '%s\n' "$text" | wc -l)" -eq 1 ] || fail "$*: not one line: $text"
    printf '%s' "$text" | grep -q -- "$pattern" || fail "$*: '$text' lacks '$pattern'"
}

# the example, beside others
"$FREEFLOAT" compare "$S" --methods "ideal,direct,$E,$E:e=0.5" --out "$DIR/cmp" > "$DIR/table" || fail "compare"
grep -q '^restitution ' "$DIR/table" || fail "the table lacks the library's method"
grep -q '^restitution:e=0.5 ' "$DIR/table" || fail "the table lacks the variant"
grep -q restitution "$DIR/cmp/report.html" || fail "the report lacks it"
hash=$(sha256sum "$E" | cut -d' ' -f1)
grep -q "\"sha256\": \"$hash\"" "$DIR/cmp/restitution/summary.json" || fail "summary.json lacks the library's SHA-256"
# e times the approach speed of 0.02693 m/s, first contact: the wall's own damping takes no more
awk '/^restitution:e=0.5 / {exit !($2 > 0.010 && $2 < 0.0220)}' "$DIR/table" || fail "the rebound is not the law's"

# a map of a campaign
cat > "$DIR/campaign.yaml" << EOF
name: library
base: $S
vary:
  satellites.client.robot.delay: {grid: [0.01, 0.04, 2]}
  contacts.front.stiffness: {grid: [1000, 2000, 2]}
methods: [direct, $E]
metrics: {final: satellites.client.final.kinetic_energy_J}
maps: [{x: satellites.client.robot.delay, y: contacts.front.stiffness, show: final}]
EOF
"$FREEFLOAT" campaign "$DIR/campaign.yaml" --out "$DIR/camp" > "$DIR/camp.txt" 2>&1 || fail "campaign: $(tail -3 "$DIR/camp.txt")"
grep -rqs restitution "$DIR/camp" || fail "the campaign lacks the library's method"

# what is wrong with a library
library good
"$FREEFLOAT" run "$S" --method "$DIR/good.so" --set time.duration=0.4 --quiet --out "$DIR/out" || fail "a good library is refused"
library report -DREPORT
"$FREEFLOAT" run "$S" --method "$DIR/report.so" --set time.duration=0.4 --quiet --out "$DIR/out" || fail "a report out of range ends the run"
for key in choice count flags; do
    grep -q "\"$key\": null" "$DIR/out/summary.json" || fail "$key: a value that its type does not have is not null"
done
refuse 2 'cannot be read' run "$S" --method "$DIR/none.so"
echo nothing > "$DIR/text.so"
refuse 2 'not a shared library' run "$S" --method "$DIR/text.so"
refuse 2 'does not export ff_method_entry' run "$S" --method "$FF_BUILD_DIR/examples/libobsw_hold.so"
library old -DOLD
refuse 2 'built for another freefloat/method.h' run "$S" --method "$DIR/old.so"
library broken -DBROKEN
refuse 2 'its table is refused' run "$S" --method "$DIR/broken.so"
library big -DBIG
refuse 2 'bytes of memory, allowed: 67108864' run "$S" --method "$DIR/big.so"
library never -DREFUSE
refuse 2 'it never likes anything' run "$S" --method "$DIR/never.so"
library nan -DNAN_AT=5
refuse 2 'not finite' run "$S" --method "$DIR/nan.so"
library crash -DCRASH_LOAD
refuse 2 'crashes when it is loaded' run "$S" --method "$DIR/crash.so"
library crash5 -DCRASH_AT=5
refuse 2 'crashes when it is stepped' run "$S" --method "$DIR/crash5.so"
library hang -DHANG_LOAD
refuse 2 'does not return when it is loaded' run "$S" --method "$DIR/hang.so"
library same '-DNAME="tdpa"'
refuse 2 "named 'tdpa', as one that is built in" run "$S" --method "$DIR/same.so"
cp "$DIR/good.so" "$DIR/twin.so"
refuse 2 "named 'idle', as one that is" compare "$S" --methods "$DIR/good.so,$DIR/twin.so"
# what only shows during the run: after 80 steps
library late_nan -DNAN_AT=80
refuse 1 'at 0.316 s' run "$S" --method "$DIR/late_nan.so"
library late_hang -DHANG_AT=80
refuse 1 "method 'idle' .* does not return" run "$S" --method "$DIR/late_hang.so"
# on devices only for those who say so
refuse 2 'only with --trust-method' rt "$S" --method "$DIR/good.so"
[ $failures -eq 0 ] || exit 1
echo "libraries: taken, named by hash, refused in one line each"
