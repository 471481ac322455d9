#!/usr/bin/env bash
# run --log mcap, replay, export: as a user meets them.
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
S=$FF_SOURCE_DIR/scenarios

"$FREEFLOAT" run "$S/deos-client.yaml" --log mcap,csv --out a --quiet || fail "run"
[ "$("$FREEFLOAT" replay a/log.mcap)" = "7501 cycles replayed, the same bits" ] || fail "replay: $("$FREEFLOAT" replay a/log.mcap 2>&1)"
"$FREEFLOAT" export a/log.mcap --to csv,mat --out e > out.txt 2>&1 || { grep -q "no MATLAB writer" out.txt || fail "export: $(cat out.txt)"; }
cmp -s e/log.csv a/log.csv || fail "the exported csv is not the run's own"
if [ -e e/log.mat ]; then head -c 6 e/log.mat | grep -q MATLAB || fail "log.mat is no MATLAB file"; fi
for method in direct damping; do
  "$FREEFLOAT" run "$S/wall.yaml" --log mcap --out b --quiet --method $method --set satellites.body.robot.delay=0.02 || fail "run $method"
  "$FREEFLOAT" replay b/log.mcap --quiet || fail "replay $method"
done

# cut off by a kill: still replayed, and said so
head -c $(($(stat -c %s a/log.mcap) / 2)) a/log.mcap > cut.mcap
"$FREEFLOAT" replay cut.mcap | grep -q "cut off" || fail "a cut log: $("$FREEFLOAT" replay cut.mcap 2>&1)"
"$FREEFLOAT" export cut.mcap --to csv > /dev/null || fail "export of a cut log"
head -1000 a/log.csv | cmp -s - <(head -1000 cut.csv) || fail "the cut log's rows differ"

# bad input: one line, exit 2
: > empty; echo "no log" > text
for bad in "replay empty" "replay text" "replay missing" "replay" "export a/log.mcap --to hdf5" "export a/log.mcap" "export text --to csv"; do
  "$FREEFLOAT" $bad > out.txt 2>&1; got=$?
  [ $got -eq 2 ] && [ "$(wc -l < out.txt)" -eq 1 ] || fail "$bad: exit $got: $(cat out.txt)"
done
[ $failures -eq 0 ]
