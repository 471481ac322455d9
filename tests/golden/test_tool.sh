#!/usr/bin/env bash
# tools/golden notices: a changed bit of a log, a changed figure, a case that is new or gone; another toolchain is judged by its figures.
set -u
. "$FF_SOURCE_DIR/tests/need.sh"
need python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAIL: $*"; failures=$((failures + 1)); }
golden() { "$FF_SOURCE_DIR/tools/golden" "$@" -s "$work" > "$work.out" 2>&1; }
expect() { # STATUS TEXT
  [ "$got" -eq "$1" ] && grep -q -- "$2" "$work.out" || fail "exit $got instead of $1, or no '$2': $(cat "$work.out")"
}
echo "wall scenarios/wall.yaml direct,tdpa time.duration=0.5" > "$work/logs.cases"
golden update logs; got=$?; expect 0 "wall tdpa: new case"
golden check logs; got=$?; expect 0 "2 cases, 0 differ"
store=$work/logs/wall.txt
cp "$store" "$work/kept"
sed -i '0,/^hash.state ./s//hash.state x/' "$store"
golden check logs; got=$?; expect 1 "wall direct: changed state, 0 figures"
cp "$work/kept" "$store"
sed -i '0,/^body.final.position_m .*/s//body.final.position_m 0.026 0 0/' "$store" # 0.025
golden check logs; got=$?; expect 1 "body.final.position_m  *0.038"
sed -i 's/^libm .*/libm other/' "$work/toolchain.txt" # a change of a figure is one under any toolchain, of a hash is not
golden check logs; got=$?; expect 1 "other toolchain: figures compared"
sed 's/^hash.state ./hash.state x/' "$work/kept" > "$store"
golden check logs; got=$?; expect 0 "wall direct: changed state, 0 figures, within the limit"
echo "wall scenarios/wall.yaml direct,impact time.duration=0.5" > "$work/logs.cases"
golden check logs; got=$?; expect 1 "wall tdpa: no longer a case"
expect 1 "wall impact: new case"
[ $failures -eq 0 ]
