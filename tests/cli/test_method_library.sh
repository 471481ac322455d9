#!/usr/bin/env bash
# Methods in shared objects: the example appears in table, report, summary and map under its own name and is named by its
# hash; whatever is wrong with a library is one clear line, and nothing has moved.
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
need sha256sum python3
S=$FF_SOURCE_DIR/scenarios/deos-client.yaml
E=$FF_BUILD_DIR/examples/libmethod_example.so
M=$FF_BUILD_DIR/tests/method_bad.so # has the fault that FF_BAD names; what each is: tests/unit/catalog/test_library.c
DIR=$work
export FF_BAD=
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
awk '/^restitution:e=0.5 / {exit !($4 > 0.010 && $4 < 0.0220)}' "$DIR/table" || fail "the rebound is not the law's"

# the file may hold the library's map whatever method is asked for
grep -v '^method:' "$S" > "$DIR/own.yaml"
printf 'method: %s\nrestitution: {e: 0.5}\n' "$E" >> "$DIR/own.yaml"
"$FREEFLOAT" compare "$DIR/own.yaml" --methods "ideal,tdpa,$E" --log none --out "$DIR/own" > "$DIR/own.txt" 2>&1 || fail "a file with a library's map: $(cat "$DIR/own.txt")"
grep -q '^tdpa ' "$DIR/own.txt" || fail "no tdpa beside the library"
# a run that ends without a summary leaves the earlier one as it was, and says so to the next
"$FREEFLOAT" run "$S" --method tdpa --set time.duration=0.4 --quiet --out "$DIR/stale" || fail "tdpa"
FF_BAD=step:crash@80 "$FREEFLOAT" run "$S" --method "$M" --quiet --out "$DIR/stale" > /dev/null 2>&1 && fail "a crash ran"
grep -q '"method": "tdpa"' "$DIR/stale/summary.json" && grep -q '"state": "complete"' "$DIR/stale/manifest.json" || fail "the earlier run is gone"
text=$("$FREEFLOAT" run "$S" --method tdpa --set time.duration=0.4 --quiet --out "$DIR/stale" 2>&1); [ $? = 2 ] || fail "over a run that was cut off: $text"
"$FREEFLOAT" run "$S" --method tdpa --set time.duration=0.4 --quiet --out "$DIR/stale" --force || fail "--force"

# a map of a campaign
cat > "$DIR/campaign.yaml" << EOF
name: library
base: $S
vary:
  satellites.client.robot.delay: {grid: [0.01, 0.04, 2]}
  contacts.front.stiffness: {grid: [1000, 2000, 2]}
methods: [direct, $E, $M]
metrics: {final: satellites.client.final.kinetic_energy_J, steps: idle.steps, last: satellites.client.contacts.front.idle.last}
maps: [{x: satellites.client.robot.delay, y: contacts.front.stiffness, show: final}]
EOF
"$FREEFLOAT" campaign "$DIR/campaign.yaml" --out "$DIR/camp" > "$DIR/camp.txt" 2>&1 || fail "campaign: $(tail -3 "$DIR/camp.txt")"
grep -q '^0,restitution,' "$DIR/camp/results.csv" || fail "the campaign lacks the library's method"
# what a library reports is a metric: 7500 steps of a run, and those up to the end of its first contact; of others nothing
awk -F, '$2 == "idle" {n += $6 == 7500 && $7 > 300 && $7 < 1500} $2 == "direct" {n += $6 == "" && $7 == ""} END {exit n != 8}' "$DIR/camp/results.csv" || fail "metrics of a library: $(cat "$DIR/camp/results.csv")"
grep -A3 '"restitution": {' "$DIR/camp/summary.json" | grep -q "\"sha256\": \"$hash\"" || fail "the campaign's summary lacks the library's SHA-256"
while IFS='|' read -r path pattern; do
    sed "s|^metrics:.*|metrics: {final: $path}|" "$DIR/campaign.yaml" > "$DIR/metric.yaml"
    text=$("$FREEFLOAT" campaign "$DIR/metric.yaml" --out "$DIR/metric" 2>&1) && fail "$path is a metric"
    printf '%s' "$text" | grep -q -- "$pattern" || fail "$path: '$text' lacks '$pattern'"
done << EOF
idle.nothing|method 'idle' reports no such number of the run, allowed: choice, count, flags, steps
idle.choice|'idle.choice' is text
satellites.client.contacts.0.idle.steps|reports no such number of a contact, allowed: last
EOF
# go or no go for a library: direct's wrench gives direct's rebound
"$FREEFLOAT" analyze delay-margin "$S" --methods "direct,$M" --map 0 --set time.duration=4 --json > "$DIR/margin.json" || fail "delay-margin with a library"
python3 -c '
import json, sys
m = {x["method"]: x for x in json.load(open(sys.argv[1]))["methods"]}
assert m["idle"]["rebound"] == m["direct"]["rebound"] > 1.1 and m["idle"]["rebound_theory"] is None, m' "$DIR/margin.json" || fail "delay-margin of a library"
# a method that cannot run the scenario is a row with its reason beside those that can; alone it is refused
text=$("$FREEFLOAT" compare "$S" --methods "direct,$M" --set frame=relative --set time.duration=0.4 --log none --out "$DIR/cannot" 2> /dev/null) || fail "compare with a method that cannot: $?"
printf '%s\n' "$text" | tr '\n' ' ' | tr -s ' ' | grep -q " idle refused: method 'idle' does not take frame: relative: its table lacks FF_CAN_RELATIVE" || fail "no row: $text"
# a path with a comma and a colon, alone, with settings and beside others
mkdir "$DIR/a,b:c" && cp "$E" "$DIR/a,b:c/m:e=1,x.so" && O="$DIR/a,b:c/m:e=1,x.so"
for list in "direct,$O,tdpa" "$O:e=0.5,direct" "$O"; do
    text=$("$FREEFLOAT" compare "$S" --methods "$list" --set time.duration=0.4 --log none --out "$DIR/odd" --force --json 2> /dev/null) || fail "compare $list: $text"
    printf '%s' "$text" | python3 -c 'import json, sys
s = json.load(sys.stdin)
assert all(v["status"] == "done" for v in s.values()) and len(s) == int(sys.argv[1]), s' "$(case $list in direct*) echo 3 ;; *direct) echo 2 ;; *) echo 1 ;; esac)" || fail "compare $list"
done
# what one method does wrong costs the others nothing: no such method, a wrong setting, a library that is not there or crashes
compare_bad() { # STATUS METHOD REASON
    text=$("$FREEFLOAT" compare "$S" --methods "direct,$2,tdpa" --set time.duration=0.4 --log none --out "$DIR/bad" --force 2> "$DIR/bad.txt")
    got=$?
    [ $got -eq "$1" ] && [ "$(grep -vc "warning:" "$DIR/bad.txt")" -eq 0 ] || fail "compare with $2: $got: $(cat "$DIR/bad.txt")" # the table says it
    [ "$(printf '%s\n' "$text" | grep -Ec "^(direct|tdpa) +(pass|fail) ")" -eq 2 ] && printf '%s\n' "$text" | tr '\n' ' ' | tr -s ' ' | grep -Eq "refused: .*$3" && [ -s "$DIR/bad/report.html" ] || fail "compare with $2: $text"
    for how in --json --quiet; do # no table
        "$FREEFLOAT" compare "$S" --methods "direct,$2,tdpa" --set time.duration=0.4 --log none --out "$DIR/bad" --force $how > /dev/null 2> "$DIR/bad.txt"
        [ "$(grep -Ec "refused: .*$3" "$DIR/bad.txt")" -eq 1 ] || fail "compare $how with $2: $(cat "$DIR/bad.txt")"
    done
}
compare_bad 2 nobody "unknown method 'nobody'"
compare_bad 2 tdpa:reading=none "unknown reading 'none'"
compare_bad 2 "$DIR/none.so" "No such file"
FF_BAD=step:crash@80 compare_bad 1 "$M" "crashes when it is stepped: Segmentation fault"
"$FREEFLOAT" compare "$S" --methods "direct,$M" --set frame=relative --set time.duration=0.4 --log none --out "$DIR/cannot" --json 2> /dev/null | python3 -c '
import json, sys
s = json.load(sys.stdin)
assert "FF_CAN_RELATIVE" in s["idle"]["refused"] and s["direct"]["status"] == "done", s' || fail "compare --json with a method that cannot"
refuse 2 "does not take an arm: its table lacks FF_CAN_TREE" compare "$FF_SOURCE_DIR/scenarios/envisat-capture.yaml" --methods "$M" --set frame=absolute

# what is wrong with a library: when it is tried, status 2; what only shows in the run, in step 80, status 1
"$FREEFLOAT" run "$S" --method "$M" --set time.duration=0.4 --quiet --out "$DIR/out" || fail "a good library is refused"
for key in choice count flags; do
    grep -q "\"$key\": null" "$DIR/out/summary.json" || fail "$key: a value that its type does not have is not null"
done
refuse 2 "^--method $DIR/none.so: cannot be read: No such file" run "$S" --method "$DIR/none.so"
refuse 2 'does not export ff_method_entry' run "$S" --method "$FF_BUILD_DIR/examples/libobsw_hold.so"
refuse 2 "is 2, allowed: 0 to 1" run "$S" --method "$M" --set idle.share=2
FF_BAD=load:abort refuse 2 "^$M refused: crashes when it is loaded: Aborted" compare "$S" --methods "direct,$M"
sed "s|$E|$M|" "$DIR/own.yaml" > "$DIR/bad.yaml"
FF_BAD=load:abort refuse 2 "bad.yaml:[0-9]*:9: method library $M: crashes when it is loaded" run "$DIR/bad.yaml"
cp "$M" "$DIR/twin.so"
refuse 2 "named 'idle', as $M" compare "$S" --methods "$M,$DIR/twin.so"
FF_BAD=step:nan@80 refuse 1 "at 0.316 s: method 'idle': " run "$S" --method "$M"
FF_BAD=step:crash@80 refuse 1 "^idle refused: its library $M crashes when it is stepped: Segmentation fault" compare "$S" --methods "direct,$M"
sed "s|^methods:.*|methods: [direct, $M]|" "$DIR/campaign.yaml" > "$DIR/exit.yaml"
text=$(FF_BAD=step:exit@80 "$FREEFLOAT" campaign "$DIR/exit.yaml" --out "$DIR/exit" --quiet --threads 2 2>&1)
status=$?
[ "$status $(printf '%s\n' "$text" | wc -l)" = "1 1" ] || fail "a campaign with a library that exits: $status, $text"
# a run that is stopped from outside ends as one without a library does: at the next cycle, or, when the library does not return, at the second signal
FF_BAD=step:hang@80 "$FREEFLOAT" run "$S" --method "$M" --set time.duration=0.4 --quiet --out "$DIR/hang" &
pid=$!
while kill -0 $pid && ! [ -e "$DIR/hang/.log.csv.part" ]; do sleep 0.02; done
kill -TERM $pid
sleep 0.3
kill -TERM $pid 2> /dev/null
wait $pid
status=$?
[ $status -eq 143 ] || [ $status -eq 1 ] || fail "SIGTERM ends a run with a library with status $status"

# a log names its library by hash: another one in its place is refused, the same one replays
cp "$E" "$DIR/law.so"
"$FREEFLOAT" run "$S" --method "$DIR/law.so" --set time.duration=4 --log mcap --quiet --out "$DIR/logged" || fail "a run with a log"
"$FREEFLOAT" replay "$DIR/logged/log.mcap" --quiet --trust || fail "the log does not replay"
"$FREEFLOAT" verify "$DIR/logged" --quiet --trust || fail "the run is not verified"
text=$("$FREEFLOAT" replay "$DIR/logged/log.mcap" 2>&1)
[ "$? $(printf '%s\n' "$text" | grep -c 'runs only with --trust: it is code of whoever made it$')" = "2 1" ] || fail "a stranger's library: $text"
text=$("$FREEFLOAT" verify "$DIR/logged" --quiet 2>&1)
[ "$? $(printf '%s\n' "$text" | grep -c 'runs only with --trust')" = "1 1" ] || fail "a stranger's run: $text"
cp "$M" "$DIR/law.so"
text=$("$FREEFLOAT" replay "$DIR/logged/log.mcap" --trust 2>&1)
status=$?
[ "$status $(printf '%s\n' "$text" | wc -l)" = "2 1" ] || fail "a log with another library: $status, $text"
printf '%s' "$text" | grep -q "made with method 'restitution', version 1, of $DIR/law.so, SHA-256 ${hash:0:16}..., but that file is now method 'idle', version 1, .*: put the library that it was made with back" || fail "another library: $text"
rm "$DIR/law.so"
text=$("$FREEFLOAT" replay "$DIR/logged/log.mcap" --trust 2>&1)
[ "$? $(printf '%s\n' "$text" | wc -l)" = "2 1" ] || fail "a log without its library: $text"
printf '%s' "$text" | grep -q "cannot be read: No such file or directory; put the library that it was made with back there" || fail "no library: $text"

# on devices only for those who say so
refuse 2 'only with --trust-method' rt "$S" --method "$M"
[ $failures -eq 0 ] || exit 1
echo "libraries: taken, named by hash, refused in one line each"
