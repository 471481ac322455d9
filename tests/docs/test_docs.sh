#!/usr/bin/env bash
# The README's program is examples/minimal.c; links lead somewhere; the life of a sample names functions that exist; every command has --help with an example; every row of the fault table has its fault and its test.
set -eu
cd "$FF_SOURCE_DIR"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# README's first C block is the example
awk '/^```c$/ {on = 1; next} /^```$/ {if (on) exit} on' README.md > "$work/readme.c"
diff "$work/readme.c" examples/minimal.c || { echo "README.md and examples/minimal.c differ"; exit 1; }
# relative links
status=0
for page in README.md CONTRIBUTING.md CHANGELOG.md $(find docs -name '*.md'); do
  while read -r link; do
    [ -z "$link" ] || [ -e "$(dirname "$page")/$link" ] || { echo "$page: dead link $link"; status=1; }
  done < <(grep -o '](\([^)#: ]*\)' "$page" | sed 's/](//' | sort -u)
done
# each command explains itself with an example
for command in $("$FREEFLOAT" --help | awk '/^  [a-z]/ {print $1}'); do
  "$FREEFLOAT" "$command" --help | grep -q "example:" || { echo "freefloat $command --help has no example"; status=1; }
done
# the life of a sample: every function it names is in the file it names, and is named once
# shellcheck disable=SC2016 # backquotes of the page
named=$(sed -n 's/.*| `\([a-z_]*\)` | \([a-z/_.]*\) |$/\1 \2/p' docs/life-of-a-sample.md)
[ "$(wc -l <<< "$named")" -ge 20 ] || { echo "docs/life-of-a-sample.md: too few functions"; status=1; }
while read -r function file; do
  grep -qE "(^|[ *])$function\(" "$file" || { echo "docs/life-of-a-sample.md: no $function in $file"; status=1; }
done <<< "$named"
[ -z "$(sort <<< "$named" | uniq -d)" ] || { echo "docs/life-of-a-sample.md: named twice: $(sort <<< "$named" | uniq -d)"; status=1; }
# every scenario that ships can be loaded
while read -r file; do
  "$FREEFLOAT" run "$file" --set time.duration=0.1 --set time.cycle=0.01 --log none --quiet --out "$work/out" || { echo "$file: does not run"; status=1; }
done < <(find scenarios -name '*.yaml')
# every row of the fault table is injected through facility.faults, by the test that it names
rows=0
while IFS='|' read -r _ number fault by _; do
  rows=$((rows + 1))
  tests=$(grep -o 'test_[a-z]*\.[a-z]*' <<< "$by" || echo test_faults.c)
  # shellcheck disable=SC2016 # backquotes of the page
  kinds=$(grep -o '`[a-z-]*`' <<< "$by" | tr -d '`')
  [ -n "$kinds" ] || { echo "docs/safety.md, row$number:$fault: no fault kind"; status=1; continue; }
  for kind in $kinds; do
    grep -q "\"$kind\"" host/scenario/schema.c || { echo "docs/safety.md, row$number: $kind is not a fault kind"; status=1; }
    for test in $tests; do
      grep -q -- "$kind" "tests/rt/$test" || { echo "docs/safety.md, row$number: $kind is not in tests/rt/$test"; status=1; }
    done
  done
done < <(grep -E '^\| [0-9]+ \|' docs/safety.md)
[ $rows -ge 30 ] || { echo "docs/safety.md: $rows rows of faults"; status=1; }
# the page on speed is what the tool makes of the figures
tools/bench page | diff docs/performance.md - || { echo "docs/performance.md: not made from docs/bench.json (tools/bench page)"; status=1; }
exit $status
