#!/usr/bin/env bash
# Bad usage of every command and option: exit status 2, one line that names the value and what is allowed; what cannot be
# written: exit status 1 or 2, one line with the file. Every --help ends with an example.
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
S=$FF_SOURCE_DIR/scenarios/wall.yaml
E=$FF_SOURCE_DIR/scenarios/planar-arm-emulation.yaml
narrow() { ! awk 'length($0) > 80 && !/^warning:/' out.txt | grep . || fail "wider than 80 columns"; }
for command in run compare papers campaign analyze rt guard facility replay export view runs verify "runs diff" "runs prune" "analyze log" "analyze workspace" "analyze delay-margin" "analyze contact-stability"; do
  # shellcheck disable=SC2086
  expect 0 "example: " "$FREEFLOAT" $command --help; narrow
  # shellcheck disable=SC2086
  expect 2 "unknown (option|analysis) '--nonsense'" "$FREEFLOAT" $command --nonsense; one_line
done
refuse() { # PATTERN words...
  local pattern=$1
  shift
  expect 2 "$pattern" "$FREEFLOAT" "$@"; one_line
}
expect 2 "usage: freefloat analyze" "$FREEFLOAT" analyze
expect 0 "usage: freefloat COMMAND" "$FREEFLOAT" --help; narrow
[ "$("$FREEFLOAT" help run)" = "$("$FREEFLOAT" run --help)" ] || fail "help run is not run --help"
refuse "unknown command 'compar' .did you mean 'compare'" help compar
# the mistake that README shows is the one that is said
sed 's/mass: 280/mass: -280/' "$FF_SOURCE_DIR/scenarios/template.yaml" > my.yaml
said=$("$FREEFLOAT" check my.yaml 2>&1)
grep -qxF "$said" "$FF_SOURCE_DIR/README.md" || fail "README does not say: $said"
refuse "'lang' is not a paper reproduced here .did you mean 'lange'" papers lang
refuse "wal.yaml:1:1: the file cannot be read: No such file or directory .did you mean 'wall.yaml'" run "$(dirname "$S")/wal.yaml"
refuse "unknown command '--versio' .did you mean '--version'" --versio
refuse "set time.cycle: no value, allowed: path=value" run "$S" --set time.cycle
refuse "identify is missing, allowed: delay, contact, payload" analyze log "$S"
refuse "nothing-here: there is no such folder" view nothing-here
mkdir bare && refuse "bare: it has neither log.csv nor log.mcap" view bare
refuse "bare: it is a folder" replay bare
refuse "bare:1:1: this is a folder, allowed: a YAML file" check bare
# what is broken at 80 columns can be copied: a shell reads the example on
"$FREEFLOAT" compare --help | sed -n '/^example: /,$p' | sed '1s/^example: freefloat/printf "%s " /' > example.sh
[ "$(bash example.sh)" = "compare scenarios/deos-client.yaml --methods ideal,direct,tdpa,tdpa:reading=printed " ] || fail "an example that cannot be copied: $(cat example.sh)"
# a method that is none is said once: in the table, where there is one
expect 2 "^tpda refused: unknown method 'tpda' .did you mean 'tdpa'" "$FREEFLOAT" compare "$S" --methods tpda,direct --set time.duration=3 --log none --out once; narrow
[ "$(grep -c tpda out.txt)" -eq 1 ] || fail "said twice: $(cat out.txt)"
refuse "^tpda refused: unknown method 'tpda'" compare "$S" --methods tpda
refuse "takes no value" run "$S" --json=yes
refuse "'xml' is not a log format; allowed: csv, mcap, mcap-plain, none" compare "$S" --log csv,xml
refuse "needs --live" run "$S" --control
refuse "needs --live" rt "$S" --control
refuse "emulations have no live page" run "$E" --live 127.0.0.1:0 --out e
refuse "live" run "$S" --live nowhere --out e
refuse "allowed: a whole number from 1 to 4096" campaign skew --threads 0
refuse "allowed: a whole number from 1 to 4096" campaign skew --threads 2x
refuse "x.yaml" campaign x.yaml
refuse "is not a method" compare "$S" --methods ,tdpa
refuse "METHOD:key=value" compare "$S" --methods tdpa:=3
refuse "more than 32 variants" compare "$S" --methods "$(for i in $(seq 33); do printf 'tdpa:time.seed=%d,' "$i"; done)"
refuse "cannot write into this folder" run "$S" --out /dev/null/x
: > plain
refuse "plain: cannot write into this folder" compare "$S" --methods direct --out plain
refuse "plain: cannot write into this folder" analyze delay-margin "$S" --methods direct --map 2 --out plain --quiet

sets=()
for i in $(seq 65); do sets+=(--set "time.seed=$i"); done
refuse "more than 64 --set" run "$S" "${sets[@]}"
refuse "unexpected '-'" run "$S" -
expect 0 "usage: freefloat run" "$FREEFLOAT" run -h
refuse "'x' is not a finite number" analyze contact-stability --velocity-gain x
refuse "'inf' is not a finite number" analyze contact-stability --velocity-gain inf
refuse "position-gain is missing" analyze contact-stability --velocity-gain 20
refuse "unexpected 'word'" analyze contact-stability word
refuse "needs a value" campaign skew --threads
refuse "timeout 0: allowed: 1 to 100000 answers" facility "$S" --timeout 0
refuse "timeout 5x: allowed: 1 to 100000 answers" facility "$S" --timeout 5x
expect 1 "answers /dev/null/x" "$FREEFLOAT" facility "$S" --answers /dev/null/x; one_line
refuse "is not a log format" rt "$S" --log xml
refuse "'mcp' is not a log format .did you mean 'mcap'" run "$S" --log mcp
refuse "no item 'rigt' in contacts .did you mean 'right'" run "$S" --set contacts.rigt.damping=3
refuse "arm 'kr12' .did you mean 'kr120'" analyze workspace "$S" --arm kr12
refuse "no run is named 'dif' .did you mean 'diff'" runs dif a b
refuse "no run is named 'lst'; freefloat runs alone lists them" runs lst
for command in replay "export --to csv" "analyze log --identify delay"; do
  # shellcheck disable=SC2086
  refuse "a log is not read from the standard input, allowed: a file" $command -
done

# what a run shows: on-board software and its monitors, an emulation beside its target, a page with its token
expect 0 "on-board software \(builtin\): [0-9]+ cycles, 0 without a good answer" "$FREEFLOAT" run "$FF_SOURCE_DIR/scenarios/envisat-capture.yaml" --set time.duration=0.2 --log none --out a
narrow
grep -q "monitors: W_c (25)" out.txt || fail "no monitors: $(cat out.txt)"
expect 0 "largest differences: pose [0-9.e-]+ m, " "$FREEFLOAT" run "$E" --set time.duration=0.05 --log none --out a; narrow
grep -q "^verdict pass: " out.txt || fail "no verdict of an emulation: $(cat out.txt)"
grep -q '"verdict": "pass"' a/summary.json && grep -q '"verdict": "pass"' a/manifest.json && grep -q '"pose_error_rad": ' a/summary.json && grep -q '"pose_unit": "m"' a/summary.json || fail "verdict of an emulation: $(grep verdict a/*.json)"
grep -Eq "contact s +none +none" out.txt || fail "a contact in 50 ms: $(cat out.txt)"
expect 0 "contact s +0.39487[0-9] +0.39487" "$FREEFLOAT" run "$FF_SOURCE_DIR/scenarios/papers/aghili/appendix-e.yaml" --set time.duration=0.5 --log none --out a
expect 0 "live http://127.0.0.1:[0-9]+/#token=[0-9a-f]{32}" "$FREEFLOAT" run "$S" --live 127.0.0.1:0 --control --set time.duration=0.1 --log none --out a
expect 0 "'limits' and 'safety' do not act under method ideal" "$FREEFLOAT" run "$S" --method ideal --set satellites.body.limits.velocity=1 --set time.duration=0.1 --log none --out a

# a contact that lasts to the end has no speed behind it
expect 0 "^front +1\.[0-9]+ +open +0\.02693 +1[0-9]\.[0-9]+ +" "$FREEFLOAT" run "$FF_SOURCE_DIR/scenarios/deos-client.yaml" --set time.duration=2 --log none --out a

# analyses
refuse "delay-max 'x', allowed: > 0" analyze delay-margin "$S" --delay-max x
refuse "delay-max '-1', allowed: > 0" analyze delay-margin "$S" --delay-max -1
refuse "span '1', allowed: > 1" analyze delay-margin "$S" --span 1
refuse "map '2.5', allowed: 0 to 25" analyze delay-margin "$S" --map 2.5
refuse "margin '2', allowed: 0 to 1" analyze workspace "$S" --margin 2
refuse "ball 'x', allowed: > 0" analyze workspace "$S" --ball x
printf '1 0\n0 2\n' > Q
printf '1 0\n0\n' > ragged
printf '1 x\n0 1\n' > words
: > empty
C=(analyze contact-stability --velocity-gain 20 --position-gain 100 --bandwidth 25)
expect 0 "eigenvalues of Q +1 2" "$FREEFLOAT" "${C[@]}" --inertia-ratio Q
expect 0 '"eigenvalues": \[1, 2\]' "$FREEFLOAT" "${C[@]}" --inertia-ratio Q --json
refuse "ragged:2: row 2 has not 2 numbers" "${C[@]}" --inertia-ratio ragged
refuse "words:1" "${C[@]}" --inertia-ratio words
refuse "empty: 0 rows" "${C[@]}" --inertia-ratio empty
refuse "nothing" "${C[@]}" --inertia-ratio nothing
refuse "plot 'x.svg', allowed: a page, FILE.html" "${C[@]}" --plot x.svg
expect 1 "cannot be written" "$FREEFLOAT" "${C[@]}" --plot /dev/null/x.html; one_line
expect 0 "plot: p.html" "$FREEFLOAT" "${C[@]}" --inertia-ratio 2 --plot p.html
expect 0 "stable from inertia ratio 0.539 up to 3.09" "$FREEFLOAT" analyze contact-stability --velocity-gain 20 --position-gain 100 --delay 0.04
expect 0 "amplifies [0-9.]+ rad/s by" "$FREEFLOAT" "${C[@]}" --inertia-ratio 4.9
expect 0 "is unstable: the contact grows" "$FREEFLOAT" "${C[@]}" --inertia-ratio 9

# logs
expect 0 "" "$FREEFLOAT" run "$S" --quiet --out w --log csv,mcap --set time.duration=2.4
[ ! -s out.txt ] || fail "--quiet prints: $(cat out.txt)"
expect 0 '"scenario": "wall"' "$FREEFLOAT" run "$S" --json --out w2 --log none --set time.duration=0.2
[ ! -e w2/log.csv ] || fail "--log none wrote a log"
expect 1 "verdict" "$FREEFLOAT" run "$S" --strict --method direct --out w2 --log none --set time.duration=3 --set requirements.velocity_error=1e-9
L=(analyze log w/log.csv --identify delay)
refuse "identify 'mass', allowed: delay, contact, payload" analyze log w/log.csv --identify mass
refuse "identify is missing" analyze log w/log.csv
refuse "delay-max '0', allowed: > 0" "${L[@]}" --delay-max 0
refuse "skew '-1', allowed: >= 0" "${L[@]}" --skew -1
for gravity in 1,2 1,2,3,4 1,,3 x,0,0; do refuse "gravity '$gravity', allowed: X,Y,Z" "${L[@]}" --gravity "$gravity"; done
refuse "no satellite 'moon' in this log; it has 'body'" "${L[@]}" --body moon
expect 0 '"delay_s": 0.01(6|5999999)' "$FREEFLOAT" "${L[@]}" --json
expect 0 "stiffness 20[0-9.]* " "$FREEFLOAT" analyze log w/log.mcap --identify contact --skew 0
expect 1 "without gravity|did not turn|hardly|raw" "$FREEFLOAT" analyze log w/log.csv --identify payload --gravity 0,0,0; one_line
refuse "nowhere.mcap" replay nowhere.mcap
refuse "not .* log|MCAP|mcap" replay w/log.csv
expect 0 '"same": true' "$FREEFLOAT" replay w/log.mcap --json
refuse "to what" export w/log.mcap
refuse "'xls' is not an export format; allowed: csv, mat" export w/log.mcap --to xls
refuse "nowhere.mcap" export nowhere.mcap --to csv
expect 0 "log.csv: [0-9]+ columns, 601 rows" "$FREEFLOAT" export w/log.mcap --to csv --out x
expect 0 '"rows": 601' "$FREEFLOAT" export w/log.mcap --to csv --out x --json
mkdir -p y/log.csv/z
expect 1 "y/log.csv: cannot be written" "$FREEFLOAT" export w/log.mcap --to csv --out y; one_line
refuse "cannot write into this folder" export w/log.mcap --to csv --out /dev/null/x

# a page of a recorded run
mkdir cut; head -3 w/log.csv | cut -c1-40 > cut/log.csv
refuse "log.csv:" view cut
refuse "live|address" view w --live nowhere
for log in csv mcap; do
  mkdir "v$log"; cp w/log.$log "v$log"
  behind out.txt "$FREEFLOAT" view "v$log" --live 127.0.0.1:0
  view=$!
  for _ in $(seq 600); do grep -qs "rows of" out.txt && break; sleep 0.1; done
  kill -INT $view
  wait $view || fail "view of log.$log: exit $?: $(cat out.txt)"
  grep -q "live http://127.0.0.1:" out.txt || fail "view of log.$log shows no address: $(cat out.txt)"
  grep -q "601 rows of v$log/log.$log" out.txt || fail "view of log.$log: $(cat out.txt)"
done

# devices
refuse "which scenario" rt
refuse "which scenario" facility
refuse "allowed: a number from 0.1 to 3600" rt "$S" --wait x
refuse "allowed: a number from 0.01 to 60" rt "$S" --silence 100
refuse "allowed: a number from 0 to 1023" rt "$S" --cpu -1
refuse "which scenario" guard
refuse "margin is 1 to 10" guard "$S" --margin 0.5
refuse "patience positive" guard "$S" --patience -1
refuse "satellite moon: the scenario has no such satellite" guard "$S" --satellite moon
refuse "freefloat guard: .*nowhere" guard "$S" --listen nowhere
robot="kind: kuka-rsi, delay: 0.016, tool: {attitude: [0, 0, 1, 0]}"
refuse "robot on a rail.* is not supported" guard "$S" --set "satellites.body.robot={$robot, base: {position: [-1.35, 0, -1.57]}, rail: {axis: [0, 1, 0], length: 6, speed: 1.5}}"
refuse "freefloat guard: satellites.body: " guard "$S" --set "satellites.body.robot={$robot, base: {position: [-9, 0, 0]}}"
port=$((10240 + RANDOM % 20000))
behind guard.txt "$FREEFLOAT" guard "$S" --listen 127.0.0.1:$port --loop 127.0.0.1:$((port + 1)) --satellite body
guard=$!
for _ in $(seq 600); do grep -qs "guard: " guard.txt && break; sleep 0.05; done
kill -INT $guard
wait $guard || fail "guard, interrupted before any telegram: exit $?: $(cat guard.txt)"
refuse "port" rt "$S" --rsi-port 70000
refuse "port" facility "$S" --ati-port x

# not an ordinary file: a pipe that nobody writes to, an empty name
mkfifo pipe
exec 9<> pipe # a writer that says nothing
refuse "a pipe whose writer said nothing for 2 s" check pipe
exec 9>&-
refuse "not a regular file" replay pipe
refuse "not a regular file" analyze log pipe --identify delay
mkdir vpipe; mkfifo vpipe/log.csv
refuse "cannot be read, or is empty" view vpipe
refuse "\-\-out needs a value, it is empty" run "$S" --out ''
# a name is text in JSON, too
printf 'name: a "quoted" name\nbase: %s\nmethods: [direct]\nsamples: 2\nvary: {satellites.body.robot.delay: {uniform: [0.005, 0.03]}}\nmetrics: {force: peak_force_ratio}\n' "$S" > quoted.yaml
expect 0 '"campaign": "a \\"quoted\\" name"' "$FREEFLOAT" campaign quoted.yaml --dry-run --json
# names that a terminal would obey or that turn what is written are refused; folders, manifests and files with such names are shown without
text=$(< "$S")
for name in '"a\x9b31m"' '"a\u202eb"' '"a\u2028b"' '"a\eb"'; do
  printf '%s\n' "${text/name: wall/name: "$name"}" > odd.yaml; refuse "name is 'a" check odd.yaml
  printf '%s\n' "${text/  body:/  "$name":}" > odd.yaml; expect 2 "satellite 'a.*is not a valid name" "$FREEFLOAT" check odd.yaml
done
odd=$(printf 'd\n\033[31m\302\233x\377"')
quiet() { LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177\302\377]')" out.txt && fail "$1: $(od -c out.txt | head -20)"; }
expect 0 "report d.*report.html" "$FREEFLOAT" run "$S" --set time.duration=1 --out "$odd"; quiet run
expect 0 "^d.*: the same bits" "$FREEFLOAT" verify "$odd"; quiet verify
: > "$odd/$odd"
expect 0 "^other +d.*is not of this run" "$FREEFLOAT" verify "$odd"; quiet verify
cp -r "$odd" "even"; sed -i 's/"name": "wall"/"name": "a\\u001b[2J\\nb\\u202e"/' even/manifest.json
expect 0 "name: wall -> a" "$FREEFLOAT" runs diff "$odd" even; quiet diff
for args in "verify" "runs diff even"; do
  # shellcheck disable=SC2086
  "$FREEFLOAT" $args "$odd" --json > out.txt; python3 -c 'import json; json.load(open("out.txt", encoding="utf-8"))' || fail "$args --json"; quiet "$args --json"
done
refuse "cannot write into this folder" run "$S" --out "/dev/null/$odd"; quiet refusal
# SIGTERM, and a terminal that is gone, end a run as Ctrl-C does: what was computed is kept; nohup says that it continues
for how in TERM HUP; do
  behind out.txt "$FREEFLOAT" run "$S" --set time.duration=60 --method direct --live 127.0.0.1:0 --log mcap,csv --out "$how"
  run=$!
  for _ in $(seq 600); do [ "$(stat -c %s "$how/log.mcap" 2> /dev/null || echo 0)" -gt 60000 ] && break; sleep 0.1; done
  kill "-$how" $run
  [ $how = TERM ] || kill -HUP $run 2> /dev/null # a shell and the kernel say it both
  wait $run; got=$?
  [ $got -eq 1 ] && [ -s "$how/summary.json" ] && [ "$(wc -l < "$how/log.csv")" -gt 10 ] || fail "SIG$how: exit $got: $(cat out.txt; ls -A "$how")"
done
expect 0 "rows" "$FREEFLOAT" export TERM/log.mcap --to csv --out term2
behind out.txt nohup "$FREEFLOAT" run "$S" --set time.duration=60 --method direct --live 127.0.0.1:0 --log none --out no
run=$!
for _ in $(seq 600); do [ -e no/manifest.json ] && break; sleep 0.1; done
kill -HUP $run; sleep 0.3
kill -0 $run || fail "nohup: the run ended"
kill -KILL $run; wait $run 2> /dev/null
exit $((failures > 0))
