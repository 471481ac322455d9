#!/usr/bin/env bash
# Runs side by side, one after the other and cut off: what out/NAME shows is whole, what is kept can be listed, compared, verified
# and removed, and a campaign does not mix the results of two models.
. "$FF_SOURCE_DIR/tests/expect.sh"
S=$FF_SOURCE_DIR/scenarios/wall.yaml
short="--set time.duration=0.1"
state() { sed -n 's/.*"state": "\(.*\)",/\1/p' "$1/manifest.json"; }
begun() { for _ in $(seq 200); do compgen -G "$1" > /dev/null && return; sleep 0.02; done; fail "$1 does not come"; }
stable() { readlink out/wall; }
triangle() { printf 'v 0 0 0\nv %d 0 0\nv 0 1 0\nf 1 2 3\n' "$1"; } # a mesh

# two runs: the second is shown, both are listed
expect 0 "no runs" "$FREEFLOAT" runs
# shellcheck disable=SC2086
{ expect 0 "" "$FREEFLOAT" run "$S" $short --quiet --log csv,mcap; expect 0 "report out/wall/report.html" "$FREEFLOAT" run "$S" $short --method direct --log mcap; }
mapfile -t id < <(ls out/.runs/wall)
[ ${#id[@]} -eq 2 ] && [ "$(stable)" = ".runs/wall/${id[1]}" ] || fail "out/wall shows $(stable)"
expect 0 "^[*] wall/${id[1]} +complete +direct +(pass|fail)" "$FREEFLOAT" runs wall
expect 0 "^  wall/${id[0]} +complete +tdpa +(pass|fail)" "$FREEFLOAT" runs
expect 0 '"shown": true' "$FREEFLOAT" runs wall --json
expect 0 "no runs" "$FREEFLOAT" runs nobody
expect 0 "run +method: tdpa -> direct" "$FREEFLOAT" runs diff "${id[0]}" out/wall
expect 0 "result +log.csv: [0-9a-f]{12} -> -" "$FREEFLOAT" runs diff "wall/${id[0]}" "wall/${id[1]}"
expect 0 "value +method: tdpa -> direct" "$FREEFLOAT" runs diff "${id[0]}" "${id[1]}"
expect 0 "nothing differs" "$FREEFLOAT" runs diff out/wall "${id[1]}"
# two runs alike differ in times of computing alone, which are left out; one number of one row is named
# shellcheck disable=SC2086
for n in 1 2; do (mkdir t$n && cd t$n && expect 0 "" "$FREEFLOAT" run "$S" $short --quiet --log csv,mcap --out d); done
expect 0 "" "$FREEFLOAT" runs diff t1/d t2/d
[ "$(grep -vc "^run .*folder: " out.txt)" -eq 0 ] || fail "runs alike differ: $(cat out.txt)"
sed -i '11s/^\([0-9.]*\),[0-9.]*/\1,0.0019/' t2/d/log.csv; sed -i "s/\"log.csv\": \".*\"/\"log.csv\": \"$(sha256sum < t2/d/log.csv | cut -c1-64)\"/" t2/d/manifest.json
expect 0 "^value +log.csv, row 10, body.position.x \[m\], the first of 1 that differ: 0.0018[0-9]* -> 0.0019$" "$FREEFLOAT" runs diff t1/d t2/d
grep -q "^result  log.csv: " out.txt && ! grep -q "log.mcap\|summary.json" out.txt || fail "one number: $(cat out.txt)"
# shellcheck disable=SC2086
expect 0 "" "$FREEFLOAT" run "$S" $short --set 'satellites.body.velocity=[0.051,0,0]' --quiet --log csv,mcap --out t3
expect 0 "^value +log.mcap, row 1, body.velocity.x \[m/s\], the first of 26 that differ: 0.05 -> 0.051$" "$FREEFLOAT" runs diff t1/d t3
grep -q "^value   log.csv, row 1, " out.txt && grep -q "^result  report.html: " out.txt || fail "another speed: $(cat out.txt)"
expect 2 "'nothing' is not a run" "$FREEFLOAT" runs diff out/wall nothing; one_line
expect 2 "which" "$FREEFLOAT" runs diff out/wall; one_line
expect 2 "belong to freefloat runs prune" "$FREEFLOAT" runs --keep 3; one_line

# verify: the same bits; a file that was changed, one that is gone, one that is not of the run, an input that is another one now
cp "$S" own.yaml
# shellcheck disable=SC2086
expect 0 "" "$FREEFLOAT" run own.yaml $short --quiet --log csv,mcap --out v
echo "mine" > v/notes; echo > v/.hidden; mkdir -p v/.under/a/b/c/d/e; echo > v/.under/there; echo > v/.under/a/b/c/d/e/f
expect 0 "v: the same bits" "$FREEFLOAT" verify v
for other in .hidden .under/there .under/a/b/c/d; do grep -q "^other   $other is not of this run" out.txt || fail "verify does not name $other: $(cat out.txt)"; done
rm -r v/.hidden v/.under
grep -q "log.mcap replayed: 26 cycles, the same bits" out.txt && grep -q "notes is not of this run" out.txt || fail "verify: $(cat out.txt)"
echo "# longer" >> own.yaml
expect 0 "own.yaml has changed since" "$FREEFLOAT" verify v
grep -q "v: the same bits; not every input is what it was" out.txt || fail "verify: $(cat out.txt)"
printf 'X' | dd of=v/log.csv bs=1 seek=500 conv=notrunc 2> /dev/null
expect 1 "result log.csv differs: recorded [0-9a-f]{64}, found [0-9a-f]{64}" "$FREEFLOAT" verify v
rm v/log.csv
expect 1 "found cannot be read" "$FREEFLOAT" verify v --quiet
expect 1 '"different": 1,' "$FREEFLOAT" verify v --json
size=$(stat -c %s v/log.mcap); printf 'XXXX' | dd of=v/log.mcap bs=1 seek=$((size / 2)) conv=notrunc 2> /dev/null
expect 1 "log log.mcap differs" "$FREEFLOAT" verify v
# shellcheck disable=SC2086
{ "$FREEFLOAT" run "$S" $short --quiet --method ideal --log mcap --out i; expect 0 "log.mcap replayed: nothing: the ideal reference has no loop" "$FREEFLOAT" verify i; }
for path in ../own.yaml /etc/hostname a/../../own.yaml a//b ''; do # a manifest that names files elsewhere
  cp -r i j; sed -i "s|\"results\": {|&\"$path\": \"$(sha256sum < own.yaml | cut -c1-64)\",|" j/manifest.json
  expect 1 "result $path differs: recorded .*, found cannot be read" "$FREEFLOAT" verify j; rm -r j
done
expect 2 "^v/log.mcup: cannot be read \(No such file or directory\)" "$FREEFLOAT" replay v/log.mcup; one_line
rm v/manifest.json
expect 2 "has no manifest.json" "$FREEFLOAT" verify v; one_line
# what stands in the place of a manifest is said by its kind, by run and verify alike; a pipe with another end keeps nobody waiting
mkfifo v/manifest.json; exec 9<> v/manifest.json
for kind in pipe folder; do
  [ $kind = pipe ] || { exec 9>&-; rm v/manifest.json; mkdir v/manifest.json; }
  # shellcheck disable=SC2086
  [ $kind = folder ] || expect 2 "^v: is not empty, and no run of freefloat that may be replaced \(its manifest.json is not a file but a $kind\)" "$FREEFLOAT" run own.yaml $short --quiet --out v; one_line # a folder: of any result
  expect 2 "its manifest.json is not a file but a $kind$" "$FREEFLOAT" verify v; one_line
done
rmdir v/manifest.json; echo "{}" > v/manifest.json
# shellcheck disable=SC2086
expect 2 "no run of freefloat that may be replaced \(its manifest.json is damaged, or not ours\)" "$FREEFLOAT" run own.yaml $short --quiet --out v; one_line
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then # one that this user may not read
  chmod 777 . v; chmod 0 v/manifest.json
  # shellcheck disable=SC2086
  expect 2 "no run of freefloat that may be replaced \(its manifest.json cannot be read \(Permission denied\)\)" setpriv --reuid 65534 --clear-groups "$FREEFLOAT" run own.yaml $short --quiet --out v; one_line
fi
expect 2 "no such run" "$FREEFLOAT" verify nobody; one_line

# a scenario that can be read once alone: every log holds it, with its hash
mkfifo once; (cat "$S" > once &)
# shellcheck disable=SC2086
{ expect 0 "" "$FREEFLOAT" run <(cat "$S") $short --quiet --log mcap --out pipe; expect 0 "" "$FREEFLOAT" compare once $short --methods direct,tdpa --quiet --log mcap --out fifo
expect 0 "" bash -c "'$FREEFLOAT' compare - $short --methods direct,tdpa --quiet --log mcap --out dash < '$S'"; }
expect 0 "pipe: the same bits" "$FREEFLOAT" verify pipe
for dir in fifo dash; do expect 0 "tdpa/log.mcap replayed: 26 cycles, the same bits" "$FREEFLOAT" verify $dir; grep -q "\"sha256\": \"$(sha256sum < "$S" | cut -c1-64)\"" $dir/manifest.json || fail "$dir: no hash"; done

# a run of everything that a scenario can name, moved with its folder, without its files, read from elsewhere: the same bits
sed -n '/^      links:/,/^      gripper:/!p; /^      gripper:/p' "$FF_SOURCE_DIR/scenarios/envisat-capture.yaml" |
  sed -e 's/duration: 48/duration: 0.04/; s/^      gripper:/      model: arm.urdf\n&/; s/^    mass: 7828/    mesh: {file: cube.obj}\n&/' \
    -e '/^    obsw:/,/^      joints:/c\    obsw: {kind: shared, library: hold.so}' > capture.yaml
triangle 1 > cube.obj
cp "$FF_SOURCE_DIR/scenarios/envisat-arm.urdf" arm.urdf; cp "$FF_BUILD_DIR/examples/libobsw_hold.so" hold.so
mkdir place && mv capture.yaml cube.obj arm.urdf hold.so place
cd place || exit 1
expect 0 "" "$FREEFLOAT" run capture.yaml --quiet --log mcap
cd .. && mv place moved
same() { # LINES OF INPUTS: what verify says of them, and that the results are the same bits
  expect 0 "replayed: 11 cycles, the same bits" "$FREEFLOAT" verify moved/out/envisat-capture
  [ "$(grep ^input out.txt)" = "$1" ] || fail "verify: $(cat out.txt)"
}
same "input   capture.yaml: same
input   arm.urdf: same
input   cube.obj: same
input   hold.so: same"
echo "<!-- another -->" >> moved/arm.urdf; rm moved/cube.obj; echo >> moved/hold.so
same "input   capture.yaml: same
input   arm.urdf has changed since: $(sha256sum < moved/arm.urdf | cut -c1-64)
input   cube.obj is not where it was: $PWD/moved/cube.obj cannot be read (No such file or directory)
input   hold.so has changed since: $(sha256sum < moved/hold.so | cut -c1-64)"

# Ctrl-C and a kill: marked, kept, not shown; nothing is written where another run writes
shown=$(stable)
"$FREEFLOAT" run "$S" --set time.duration=100 --set time.cycle=0.0001 --quiet & pid=$!
begun "out/.runs/wall/*/.log.csv.part"
cut=$(dirname out/.runs/wall/*/.log.csv.part)
expect 0 "wall/$(basename "$cut") +running" "$FREEFLOAT" runs wall
expect 2 "the run is still written" "$FREEFLOAT" verify "$cut"; one_line
kill -INT $pid; wait $pid; [ $? -eq 1 ] || fail "Ctrl-C"
[ "$(state "$cut")" = stopped ] && [ "$(stable)" = "$shown" ] || fail "after Ctrl-C: $(state "$cut"), $(stable)"
"$FREEFLOAT" run "$S" --set time.duration=100 --set time.cycle=0.0001 --quiet --out one & pid=$!
begun one/.log.csv.part
# shellcheck disable=SC2086
expect 2 "one: another run writes into this folder \(process $pid on " "$FREEFLOAT" run "$S" $short --quiet --out one; one_line
kill -KILL $pid; wait $pid 2> /dev/null
expect 2 "the run is not complete: running" "$FREEFLOAT" verify one; one_line
# shellcheck disable=SC2086
{ expect 2 "one: holds a run that was not completed" "$FREEFLOAT" run "$S" $short --quiet --out one; one_line
expect 0 "" "$FREEFLOAT" run "$S" $short --out one --quiet --force; }
expect 0 "one: the same bits" "$FREEFLOAT" verify one
# a sandbox does not keep a run from its own folder (a search for leaks would need what it forbids)
# shellcheck disable=SC2086
for _ in 1 2; do expect 0 "" env ASAN_OPTIONS=detect_leaks=0 "$FREEFLOAT" run own.yaml $short --sandbox --quiet --out sandboxed; done
sed '/mesh: {/d' moved/capture.yaml > strange.yaml; cp "$FF_SOURCE_DIR/scenarios/envisat-arm.urdf" arm.urdf
for command in check run; do expect 2 "strange.yaml: satellites.servicer.obsw: --sandbox loads no library and opens no socket, allowed: builtin" env ASAN_OPTIONS=detect_leaks=0 "$FREEFLOAT" $command strange.yaml --sandbox --quiet; done
expect 0 "sandboxed: the same bits" "$FREEFLOAT" verify sandboxed
# beside the scenario itself, which stays; not beside what is someone else's
mkdir beside && cp "$S" beside/my.yaml
# shellcheck disable=SC2086
{ expect 0 "" "$FREEFLOAT" run beside/my.yaml $short --out beside --quiet; expect 0 "" "$FREEFLOAT" run beside/my.yaml $short --out beside --quiet
cmp -s "$S" beside/my.yaml && [ -e beside/summary.json ] || fail "beside: $(ls -A beside)"
mkdir foreign && cp "$S" foreign/my.yaml && echo kept > foreign/notes.txt
expect 2 "foreign: is not empty" "$FREEFLOAT" run foreign/my.yaml $short --out foreign --quiet; one_line
mkdir named && cp "$S" named/summary.json
expect 2 "named: is not empty" "$FREEFLOAT" run named/summary.json $short --out named --quiet; one_line; }
cmp -s "$S" named/summary.json || fail "a scenario with the name of a result is lost"
[ "$(ls -A foreign)" = "my.yaml
notes.txt" ] || fail "foreign: $(ls -A foreign)"

# a file in a complete run's folder that the run did not write, or that was changed, is not replaced
# shellcheck disable=SC2086
{ echo mine > one/log.mcap
expect 2 "one: its file log.mcap is not what the run there wrote" "$FREEFLOAT" run "$S" $short --out one --quiet --log mcap; one_line
rm one/log.mcap; echo "# mine" >> one/log.csv
expect 2 "one: its file log.csv is not what the run there wrote" "$FREEFLOAT" run "$S" $short --out one --quiet; one_line
expect 0 "" "$FREEFLOAT" run "$S" $short --out one --quiet --force
mkdir one/direct && echo mine > one/direct/summary.json
expect 1 "cannot be switched to the new run \(a file that is not of the former run has a result's name" "$FREEFLOAT" compare "$S" $short --methods direct,tdpa --out one --quiet
[ "$(cat one/direct/summary.json)" = mine ] || fail "a file of the user's is replaced"
expect 0 "one: the same bits" "$FREEFLOAT" verify one
rm -r one/direct
expect 0 "the switch to its complete run .* was cut short; it is done now" "$FREEFLOAT" run "$S" $short --out one; }
# where nothing can be written, and where a page cannot be opened: one line, and nothing is left; no page for a run that is refused
if mkdir ro && mount -t tmpfs -o size=1m none ro 2> /dev/null; then
  cp "$S" ro/my.yaml; mount -o remount,ro "$PWD/ro"
  # shellcheck disable=SC2086
  { expect 2 "^ro/x: cannot write into this folder \(Read-only file system\); choose another with --out" "$FREEFLOAT" run ro/my.yaml $short --quiet --out ro/x; one_line
  expect 2 "^out/wall: cannot write into this folder \(Read-only file system\)" bash -c "cd ro && '$FREEFLOAT' run my.yaml $short --quiet"; one_line; }
  umount ro
else
  without "a disk that is read only: no right to mount"
fi
mkdir foreign2 && echo kept > foreign2/notes.txt
if [ -z "$FF_SANITIZED" ]; then
  # shellcheck disable=SC2086
  { expect 2 "^foreign2: is not empty" "$FREEFLOAT" run "$S" $short --out foreign2 --quiet --live 127.0.0.1:0; one_line; }
fi
expect 2 "^--live: " "$FREEFLOAT" run "$S" --out paged --quiet --live nonsense; one_line
[ ! -e paged ] || fail "a run without a page left a folder: $(ls -A paged)"

# prune: the newest ones, the one that is shown and what was cut off stay, unless asked for
rm out/wall && ln -s ".runs/wall/${id[0]}" out/wall
expect 2 "keep must be given" "$FREEFLOAT" runs prune; one_line
expect 0 "what was cut off stays \([0-9]+\); --incomplete removes it, too" "$FREEFLOAT" runs prune --keep 1
grep -q "nothing to remove" out.txt || fail "prune: $(cat out.txt)"
# shellcheck disable=SC2086
"$FREEFLOAT" run "$S" $short --quiet --log none
rm out/wall && ln -s ".runs/wall/${id[0]}" out/wall
expect 0 "would be removed" "$FREEFLOAT" runs prune wall --keep 1 --dry-run
expect 0 "  wall/${id[1]} " "$FREEFLOAT" runs prune wall --keep 1
[ -e "out/.runs/wall/${id[0]}/summary.json" ] && [ ! -e "out/.runs/wall/${id[1]}" ] && [ -e "$cut" ] || fail "pruned: $(ls out/.runs/wall)"
expect 0 "$(basename "$cut")" "$FREEFLOAT" runs prune --keep 1 --incomplete
[ ! -e "$cut" ] && [ "$(find out/.runs/wall -mindepth 1 -maxdepth 1 | wc -l)" -eq 2 ] || fail "left: $(ls -A out/.runs/wall)"

# a campaign: a file that it reads is another one now
triangle 1 > cube.obj
sed 's/^  body:.*/&\n    mesh: {file: cube.obj}/' "$S" > mesh.yaml
grep -q mesh: mesh.yaml || fail "no mesh: $(cat mesh.yaml)"
printf 'name: two\nbase: mesh.yaml\nmethods: [direct]\nvary: {time.duration: {list: [0.1, 0.2]}}\n' > c.yaml
expect 0 "report in out/two/report.html" "$FREEFLOAT" campaign c.yaml --threads 1
expect 0 "" "$FREEFLOAT" campaign c.yaml --threads 1 --out c --quiet
expect 0 "2 of 2 runs are done already" "$FREEFLOAT" campaign c.yaml --threads 1
[ "$(find out/.runs/two -mindepth 1 -maxdepth 1 | wc -l)" -eq 2 ] || fail "campaigns: $(ls out/.runs/two)"
cmp -s out/two/results.csv c/results.csv || fail "the tables differ"
triangle 2 > cube.obj
expect 2 "c: holds the results of another campaign: cube.obj is not the file that it was begun with" "$FREEFLOAT" campaign c.yaml --threads 1 --out c; one_line
expect 0 "" "$FREEFLOAT" campaign c.yaml --threads 1 --quiet
[ "$(find out/.runs/two -mindepth 1 -maxdepth 1 | wc -l)" -eq 3 ] || fail "another model's campaign: $(ls out/.runs/two)"
expect 0 "" "$FREEFLOAT" campaign c.yaml --threads 1 --out c --quiet --force
expect 0 "the same bits" "$FREEFLOAT" verify c
# each input of a campaign by its name, also one that only a varied value names, with a blank in its name
cp "$FF_BUILD_DIR/examples/libobsw_hold.so" moved/hold.so; triangle 1 > moved/cube.obj; cp moved/hold.so "moved/my hold.so"
printf '%s\n' 'name: three' 'base: capture.yaml' 'methods: [direct]' 'metrics: {v: satellites.servicer.final.velocity_mps.1}' \
  'vary: {satellites.servicer.obsw.library: {list: [hold.so, "my hold.so"]}}' > moved/c.yaml
cd moved || exit 1
expect 0 "" "$FREEFLOAT" campaign c.yaml --threads 1 --out c --quiet
for changed in arm.urdf cube.obj hold.so "my hold.so" capture.yaml; do
  cp "$changed" kept; echo "" >> "$changed"
  expect 2 "c: holds the results of another campaign: $changed is not the file that it was begun with" "$FREEFLOAT" campaign c.yaml --threads 1 --out c; one_line
  mv kept "$changed"
done
for file in c.yaml ./c.yaml; do expect 0 "2 of 2 runs are done already" "$FREEFLOAT" campaign $file --threads 1 --out c; done
printf 'g' | dd of=c/results.journal bs=1 seek=30 conv=notrunc 2> /dev/null
expect 2 "damaged journal header" "$FREEFLOAT" campaign c.yaml --threads 1 --out c; one_line
# on-board software that exchanges its own file with another one in each start, and back in each end, while two threads run: all rows are of the
# bytes that were hashed; a run with its reference and a comparison likewise
cp "$FF_BUILD_DIR/tests/libobsw_bad.so" hold.so; cp hold.so first.so; cp "my hold.so" other.so
printf '%s\n' 'name: swapped' 'base: capture.yaml' 'methods: [direct]' 'metrics: {v: satellites.servicer.final.velocity_mps.0}' \
  'vary: {time.seed: {list: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]}}' > s.yaml
expect 0 "" "$FREEFLOAT" campaign s.yaml --threads 1 --out still --quiet
sha=$(sha256sum < hold.so | cut -c1-64)
cp "my hold.so" hold.so; expect 0 "" "$FREEFLOAT" campaign s.yaml --threads 1 --out otherwise --quiet; ! cmp -s still/results.csv otherwise/results.csv || fail "both libraries do the same"
swapping() { rm -f hold.so other.so; cp first.so hold.so; cp "my hold.so" other.so; OBSW_FAULT=swap OBSW_HERE=hold.so OBSW_THERE=other.so "$@"; }
expect 0 "" swapping "$FREEFLOAT" campaign s.yaml --threads 2 --out swapped --quiet
cmp -s still/results.csv swapped/results.csv || fail "rows of two libraries: $(diff still/results.csv swapped/results.csv)"
grep -q "\"sha256\": \"$sha\"" swapped/manifest.json || fail "not the hash of what ran: $(cat swapped/manifest.json)"
swapping "$FREEFLOAT" compare capture.yaml --methods direct,ideal --quiet --out both; [ $? -ne 2 ] || fail "compare"
grep -q "\"sha256\": \"$sha\"" both/manifest.json || fail "compare: not the hash of what ran"
cp "$FF_BUILD_DIR/examples/libobsw_hold.so" hold.so
cd ..
# a campaign that is complete stays what it was, also where the next one makes a run again that was too slow
printf 'name: slow\nbase: wall.yaml\nmethods: [direct]\nlimit: 1e-6\nvary: {time.cycle: {list: [0.0001]}}\n' > slow.yaml; cp "$S" wall.yaml
for _ in 1 2; do expect 0 "" "$FREEFLOAT" campaign slow.yaml --threads 1 --quiet; done
grep -q "ran past its limit" out/slow/results.csv || fail "not too slow: $(cat out/slow/results.csv)"
for run in out/.runs/slow/*; do expect 0 "the same bits" "$FREEFLOAT" verify "$run"; done
ended
