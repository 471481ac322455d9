#!/usr/bin/env bash
# tools/claims: every claim of README and docs/ is well formed and its number stands in the text; a true one passes, a false one, a number that
# is not shown, an output that differs and a command that fails do not. All claims are run by make test-long.
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
need python3
claims=$FF_SOURCE_DIR/tools/claims
export FREEFLOAT
expect 0 "^[1-9][0-9]* claims, 0 not well formed" "$claims" --list
S="freefloat run scenarios/wall.yaml --set time.duration=0.1 --log none"
page() { printf '%s\n' "$@" > page.md; }
page 'It has 26 cycles, and <!-- claim 25 +-0 j.cycles: '"$S"' --json --> 25 steps.'
expect 0 "1 claims, 0 not true" "$claims" page.md
page 'A ratio of 24.6 <!-- claim 24.6 +-0.5 j.cycles: '"$S"' --json -->'
expect 0 "1 claims, 0 not true" "$claims" page.md
page 'A ratio of 24.6 <!-- claim 24.6 +-0.3 j.cycles: '"$S"' --json -->'
expect 1 "page.md:1: 24.6 .-0.3 is claimed, the command gives 25" "$claims" page.md
page 'It has 125 steps. <!-- claim 25 +-0 j.cycles: '"$S"' --json -->'
expect 1 "25 does not stand in the text above it" "$claims" page.md
page '25 <!-- claim 25 +-0 j.nothing: '"$S"' --json -->'
expect 1 "KeyError" "$claims" page.md
page '25 <!-- claim 25 +-0 j.cycles: freefloat run none.yaml --json -->'
expect 1 "the command failed" "$claims" page.md
page '25 <!-- claim 25: freefloat run none.yaml -->'
expect 1 "not a claim" "$claims" page.md
page '0.25 J <!-- claim 0.25 +-0.005 m(r"^energy (\S+) J at start"): '"$S"' -->'
expect 0 "1 claims, 0 not true" "$claims" page.md
page '0.25 J, 0.25 <!-- claim 0.25,0.25 +-0.005 ms(r"^energy (\S+) J at start.*") + ms(r"^energy (\S+) J at start"): '"$S"' -->'
expect 0 "1 claims, 0 not true" "$claims" page.md
(cd "$FF_SOURCE_DIR" && "$FREEFLOAT" check scenarios/wall.yaml) > text
page '```text' '$ freefloat check scenarios/wall.yaml' "$(cat text)" '```' '<!-- claim block: freefloat check scenarios/wall.yaml -->'
expect 0 "1 claims, 0 not true" "$claims" page.md
sed -i 's/valid/Valid/' page.md
expect 1 "page.md:5: line 1 is '.*: valid: .*', the page has '.*: Valid: " "$claims" page.md
page '25 steps of .0040 s <!-- claim 25,.0040 +-digits [j.cycles, j.cycle_s]: '"$S"' --json -->'
expect 0 "1 claims, 0 not true" "$claims" page.md
sed -i 's/\.0040/.0041/g' page.md
expect 1 ".0041 .-digits is claimed, the command gives 0.004" "$claims" page.md
page '25, 25 <!-- claim 25,25 +-digits [j.cycles]: '"$S"' --json -->'
expect 1 "2 numbers are claimed, the command gives 1" "$claims" page.md
page '.5, .25 <!-- claim .5,.25 +-0 product([0.5, 0.5, None, 0.5]): '"$S"' --json -->'
expect 0 "1 claims, 0 not true" "$claims" page.md
page '| claim |' '<!-- claim table: freefloat papers lange --short --json --quiet -->'
expect 1 "the page has '. claim .'" "$claims" page.md
expect 0 "1 claims, 0 not true" "$claims" --write page.md
expect 0 "1 claims, 0 not true" "$claims" page.md
grep -q '| III-B: speed ratio at a wall, 10 ms | increased | 1.413 | 1.0000 |' page.md || fail "a table without its row"
sed -i 's/| 1.413 |/| 1.415 |/' page.md
expect 1 "1.413" "$claims" page.md
# Help, a filter, how far it is; mistakes of usage are one line, a program that is not built is named.
expect 0 "^    --only TEXT" "$claims" --help
expect 2 "^claims: unknown option '--hepl'" "$claims" --hepl
expect 2 "^claims: none.md: there is no such page" "$claims" none.md
expect 2 "^claims: --only needs a text" "$claims" page.md --only
page '25 <!-- claim 25 +-0 j.cycles: '"$S"' --json --> and 7 <!-- claim 7 +-0 j.cycles: '"$S"' --json -->'
expect 1 "^2 claims, 1 not true" "$claims" page.md
expect 0 "^1 claims, 0 not true" "$claims" --only 'claim 25 ' page.md
expect 0 "^1 of 1: [0-9.]* s: freefloat run scenarios/wall.yaml" "$claims" --only 'claim 25 ' page.md
page '25 <!-- claim 25 +-0 m("(.)"): build/tests/no_such_program -->'
expect 1 "build/tests/no_such_program: No such file or directory: build it first" "$claims" page.md
page 'nothing is claimed'
expect 1 "0 claims" "$claims" page.md
if [ "${FF_TEST_LONG:-0}" != 0 ]; then
  "$claims" || fail "a claim of README or docs/ is not true"
fi
ended
