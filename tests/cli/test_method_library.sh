#!/usr/bin/env bash
# Methods in shared objects: the example appears in table, report, summary and map under its own name and is named by its
# hash; whatever is wrong with a library is one clear line, and nothing has moved.
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
need sha256sum
S=$FF_SOURCE_DIR/scenarios/deos-client.yaml
E=$FF_BUILD_DIR/examples/libmethod_example.so
M=$FF_BUILD_DIR/tests/methods
DIR=$work
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

# the file may hold the library's map whatever method is asked for
grep -v '^method:' "$S" > "$DIR/own.yaml"
printf 'method: %s\nrestitution: {e: 0.5}\n' "$E" >> "$DIR/own.yaml"
"$FREEFLOAT" compare "$DIR/own.yaml" --methods "ideal,tdpa,$E" --log none --out "$DIR/own" > "$DIR/own.txt" 2>&1 || fail "a file with a library's map: $(cat "$DIR/own.txt")"
grep -q '^tdpa ' "$DIR/own.txt" || fail "no tdpa beside the library"
# rounding that a library sets when it is loaded is its own
for name in good rounds; do
    "$FREEFLOAT" run "$S" --method "$M/method_$name.so" --set time.duration=0.4 --quiet --out "$DIR/$name" || fail "$name"
done
cmp <(cut -d, -f1-40 "$DIR/good/log.csv") <(cut -d, -f1-40 "$DIR/rounds/log.csv") || fail "a library's rounding acts in the program"
# a run that ends without a summary leaves none of an earlier one
"$FREEFLOAT" run "$S" --method tdpa --set time.duration=0.4 --quiet --out "$DIR/stale" || fail "tdpa"
"$FREEFLOAT" run "$S" --method "$M/method_late_crash.so" --quiet --out "$DIR/stale" > /dev/null 2>&1 && fail "late_crash ran"
{ [ -e "$DIR/stale/summary.json" ] || [ -e "$DIR/stale/report.html" ]; } && fail "results of an earlier run remain"

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

# what is wrong with a library: when it is tried
"$FREEFLOAT" run "$S" --method "$M/method_good.so" --set time.duration=0.4 --quiet --out "$DIR/out" || fail "a good library is refused"
for key in choice count flags; do
    grep -q "\"$key\": null" "$DIR/out/summary.json" || fail "$key: a value that its type does not have is not null"
done
refuse 2 'cannot be read' run "$S" --method "$DIR/none.so"
echo nothing > "$DIR/text.so"
refuse 2 'a key of summary.json' run "$S" --method "$M/method_summary.so"
refuse 2 'not a shared library' run "$S" --method "$DIR/text.so"
refuse 2 'does not export ff_method_entry' run "$S" --method "$FF_BUILD_DIR/examples/libobsw_hold.so"
while IFS='|' read -r name pattern; do
    refuse 2 "$pattern" run "$S" --method "$M/method_$name.so"
done << EOF
old|built for another freefloat/method.h
broken|its table is refused
big|bytes of memory, allowed: 67108864
never|it never likes anything
nan|not finite
crash|crashes when it is loaded
crash5|crashes when it is stepped
exit5|ends the process when it is stepped
fork|starts a process of its own
fork5|starts a process of its own
hang|does not return when it is loaded
same|named 'tdpa', as one that is built in
key|named 'time', as a key of the scenario
twice|two columns of its report have one name
initial|default of one of its settings is outside its range
default|default of its setting 'share' is nan, outside
lead|its lead is nan
threshold|thresholds of contact are negative
EOF
refuse 2 "is 2, allowed: 0 to 1" run "$S" --method "$M/method_good.so" --set idle.share=2
cp "$M/method_good.so" "$DIR/twin.so"
refuse 2 "named 'idle', as $M/method_good.so" compare "$S" --methods "$M/method_good.so,$DIR/twin.so"

# what only shows in the run, in step 80: one line and status 1, whatever it is
while IFS='|' read -r name pattern; do
    refuse 1 "$pattern" run "$S" --method "$M/method_$name.so"
done << EOF
late_nan|at 0.316 s
late_crash|method 'idle' ($M/method_late_crash.so) crashes when it is stepped: Segmentation fault
late_hang|method 'idle' .* does not return when it is stepped
late_exit|method 'idle' .* ends the program when it is stepped: there is no result
late_exit_at_once|method 'idle' .* ends the program when it is stepped
late_fork|method 'idle' .* starts a process of its own when it is stepped
late_over|method 'idle' .* writes beyond its state when it is stepped
late_under|method 'idle' .* writes beyond its state when it is stepped
late_report|method 'idle' .* crashes when it is asked for its report: Aborted
EOF
refuse 1 "method 'idle' .* crashes when it is stepped" compare "$S" --methods "direct,$M/method_late_crash.so"
sed "s|^methods:.*|methods: [direct, $M/method_late_exit.so]|" "$DIR/campaign.yaml" > "$DIR/exit.yaml"
text=$("$FREEFLOAT" campaign "$DIR/exit.yaml" --out "$DIR/exit" --quiet --threads 2 2>&1)
status=$?
[ "$status $(printf '%s\n' "$text" | wc -l)" = "1 1" ] || fail "a campaign with a library that exits: $status, $text"
# when a library is unloaded the result is whole already: nothing of it runs any more
for name in crash_unload hang_unload; do
    "$FREEFLOAT" run "$S" --method "$M/method_$name.so" --set time.duration=0.4 --quiet --out "$DIR/out" || fail "$name: exit status $?"
done
# a run that is stopped from outside ends as one without a library does
"$FREEFLOAT" run "$S" --method "$M/method_late_hang.so" --set time.duration=0.4 --quiet --out "$DIR/out" &
pid=$!
sleep 1
kill -TERM $pid
wait $pid
status=$?
[ $status -eq 143 ] || fail "SIGTERM ends a run with a library with status $status"

# a log names its library by hash: another one in its place is refused, the same one replays
cp "$E" "$DIR/law.so"
"$FREEFLOAT" run "$S" --method "$DIR/law.so" --set time.duration=4 --log mcap --quiet --out "$DIR/logged" || fail "a run with a log"
"$FREEFLOAT" replay "$DIR/logged/log.mcap" --quiet || fail "the log does not replay"
cp "$M/method_good.so" "$DIR/law.so"
text=$("$FREEFLOAT" replay "$DIR/logged/log.mcap" 2>&1)
status=$?
[ "$status $(printf '%s\n' "$text" | wc -l)" = "2 1" ] || fail "a log with another library: $status, $text"
printf '%s' "$text" | grep -q 'made with the method library of SHA-256' || fail "another library: $text"

# on devices only for those who say so
refuse 2 'only with --trust-method' rt "$S" --method "$M/method_good.so"
[ $failures -eq 0 ] || exit 1
echo "libraries: taken, named by hash, refused in one line each"
