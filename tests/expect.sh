# shellcheck shell=bash
# Sourced by the tests of the command line: a scratch folder to work in, failures counted, what a command must answer.
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$FF_SOURCE_DIR/tests/need.sh"
failures=0
fail() { echo "FAIL: $*"; failures=$((failures + 1)); }
# expect STATUS PATTERN command...: exit status, and stdout+stderr match
expect() {
  local want=$1 pattern=$2 got
  shift 2
  "$@" > out.txt 2>&1
  got=$?
  [ $got -eq "$want" ] || fail "exit $got instead of $want: $*: $(head -c 300 out.txt)"
  [ -z "$pattern" ] || grep -Eq -- "$pattern" out.txt || fail "no '$pattern' in: $(head -c 300 out.txt) ($*)"
}
one_line() { [ "$(wc -l < out.txt)" -eq 1 ] || fail "not one line: $(cat out.txt)"; }
