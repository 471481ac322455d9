#!/usr/bin/env bash
# The ladder of commissioning: ten steps that pass and a name are a protocol that passes, as JSON and HTML; a step that
# fails, the self-test among them, or no name is one that does not, and says where it ended.
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
export XDG_STATE_HOME="$PWD/state"
answers() { # N steps pass, with remarks
  for ((n = 1; n <= $1; n++)); do printf 'pass\nrun %d <b>&\n' "$n"; done
}
check() { # EXIT EXPRESSION: protocol v, exit status
  python3 - "$2" <<'P' || fail "$2: $(cat out/protocol.json)"
import json, sys
v = json.load(open("out/protocol.json"))
assert eval(sys.argv[1]), v
P
  [ "$status" = "$1" ] || fail "exit $status, not $1"
  grep -q "^<!doctype html>" out/protocol.html || fail "no page"
}
{ answers 2; echo Ada; } | "$FREEFLOAT" rt --commission --out out > said.txt; status=$?
check 1 'not v["passed"] and [s["verdict"] for s in v["steps"]] == ["pass", "pass", "fail"] + ["open"] * 7 and "there is none" in v["steps"][2]["remark"] and v["signed_by"] == "Ada"'
mkdir -p state/freefloat
"$FREEFLOAT" rt --selftest > /dev/null
sed -i 's/^fit_250 .*/fit_250 1/' state/freefloat/selftest # whatever this machine is
{ answers 10; echo 'Ada <L>'; } | "$FREEFLOAT" rt --commission --out out > said.txt; status=$?
check 0 'v["passed"] and len(v["steps"]) == 10 and all(s["verdict"] == "pass" for s in v["steps"]) and v["steps"][9]["remark"] == "run 10 <b>&"'
grep -q "Ada &#60;L&#62;" out/protocol.html && ! grep -q "<b>" out/protocol.html || fail "not escaped"
answers 10 | "$FREEFLOAT" rt --commission --out out > said.txt; status=$?
check 1 'not v["passed"] and v["signed_by"] == ""'
{ answers 5; printf 'maybe\nfail\nslid by 4 mm\nAda\n'; } | "$FREEFLOAT" rt --commission --out out > said.txt; status=$?
check 1 '[s["verdict"] for s in v["steps"]][5:7] == ["fail", "open"] and v["steps"][5]["remark"] == "slid by 4 mm"'
{ printf 'stop\nAda\n'; } | "$FREEFLOAT" rt --commission --out out > said.txt; status=$?
check 1 'v["steps"][0]["verdict"] == "open"'
expect 1 "cannot be written" "$FREEFLOAT" rt --commission --out /dev/null/x
exit $((failures > 0))
