#!/usr/bin/env bash
# The README's program is examples/minimal.c; links lead somewhere; headers stand alone in C and C++; every public function is documented in docs by its header; every command has --help with an example.
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
  for link in $(grep -o '](\([^)#: ]*\)' "$page" | sed 's/](//' | sort -u); do
    [ -n "$link" ] && [ ! -e "$(dirname "$page")/$link" ] && { echo "$page: dead link $link"; status=1; }
  done
done
# headers stand alone
for header in lib/include/freefloat/*.h; do
  cc -std=c11 -Wall -Wextra -Werror -fsyntax-only -Ilib/include -x c "$header" || status=1
done
# each command explains itself with an example
for command in $("$FREEFLOAT" --help | awk '/^  [a-z]/ {print $1}'); do
  "$FREEFLOAT" "$command" --help | grep -q "example:" || { echo "freefloat $command --help has no example"; status=1; }
done
# every scenario that ships can be loaded
for file in $(find scenarios -name '*.yaml'); do
  "$FREEFLOAT" run "$file" --set time.duration=0.1 --set time.cycle=0.01 --log none --quiet --out "$work/out" || { echo "$file: does not run"; status=1; }
done
exit $status
