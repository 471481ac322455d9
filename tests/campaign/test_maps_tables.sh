#!/usr/bin/env bash
# The tables of docs/maps.md are what tools/maps_tables.sh makes of a campaign's results; every campaign that ships is in
# tools/maps.sh, and every picture that the page shows is there. In the long form the campaigns are run, and give the page's
# tables.
set -eu
cd "$FF_SOURCE_DIR"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/demo"
cat > "$work/demo/results.csv" <<'T'
index,method,a.b,x,note,status
0,one,1,5,"[1, 2]",ok
0,two,1,7,q,ok
1,one,2,,"say ""no"", then",failed
1,two,2,1,q,ok
2,one,3,6,q,ok
2,two,3,9,q,ok
T
cat > "$work/page.md" <<'T'
before
<!-- table demo: max x*2 as twice; median x; share x<=6; border x<=7 along b -->
old
<!-- /table -->
<!-- table demo over b: max x -->
<!-- /table -->
<!-- table demo over a.b[2]: count x -->
<!-- /table -->
<!-- table demo where b=3: min x -->
<!-- /table -->
after
T
tools/maps_tables.sh "$work/page.md" "$work"
grep -v '^<!--\|^$\|---' "$work/page.md" > "$work/got"
diff "$work/got" - <<'T'
before
| | twice | median x | share x<=6 | border x<=7 along b |
| `one` | 12 | 5 | 66.7 | 1 |
| `two` | 18 | 7 | 33.3 | 2 |
| | 1 | 2 | 3 |
| `one` | 5 | - | 6 |
| `two` | 7 | 1 | 9 |
| | < 2 | >= 2 |
| `one` | 1 | 1 |
| `two` | 1 | 2 |
| | min x |
| `one` | 6 |
| `two` | 9 |
after
T
cp "$work/page.md" "$work/again.md"
tools/maps_tables.sh "$work/again.md" "$work"
diff "$work/page.md" "$work/again.md"
for wrong in 'demo: max y' 'none: max x' 'demo: least x' 'demo under b: max x'; do
  printf '<!-- table %s -->\n<!-- /table -->\n' "$wrong" > "$work/wrong.md"
  cp "$work/wrong.md" "$work/kept.md"
  if tools/maps_tables.sh "$work/wrong.md" "$work" 2> "$work/said"; then echo "not refused: $wrong"; exit 1; fi
  grep -q '^maps_tables: ' "$work/said"
  diff "$work/wrong.md" "$work/kept.md"
done
for file in campaigns/*.yaml; do
  grep -q "[ :-]$(basename "$file" .yaml)[ }]" tools/maps.sh || { echo "$file is not in tools/maps.sh"; exit 1; }
done
while read -r picture; do
  [ -e "docs/$picture" ] || { echo "docs/$picture is missing"; exit 1; }
done < <(grep -o 'maps/[a-z0-9-]*\.svg' docs/maps.md)
if [ "${FF_TEST_LONG:-0}" != 0 ]; then # random-6dof alone takes most of an hour of processor time: tools/maps.sh runs it
  sed '/<!-- table random-6dof/,/<!-- \/table -->/d' docs/maps.md > "$work/maps.md"
  cp "$work/maps.md" "$work/made.md"
  for file in campaigns/*.yaml; do
    [ "$file" = campaigns/random-6dof.yaml ] || "$FREEFLOAT" campaign "$file" --out "$work/all/$(basename "$file" .yaml)" --quiet
  done
  tools/maps_tables.sh "$work/made.md" "$work/all"
  diff "$work/maps.md" "$work/made.md" || { echo "docs/maps.md is not what the campaigns give: tools/maps.sh"; exit 1; }
fi
