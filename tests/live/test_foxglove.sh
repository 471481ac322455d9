#!/usr/bin/env bash
# Foxglove's WebSocket protocol on a paced run: our own client in Python, Foxglove's from npm, bad usage. On 127.0.0.1 alone.
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
need python3
S=$FF_SOURCE_DIR/scenarios/deos-client.yaml
export PYTHONDONTWRITEBYTECODE=1

# start OPTIONS...: a paced run; $url is where Foxglove connects to
start() {
  : > said.txt # the shell opens it only in the background: until then it would show the address of the run before
  timeout 100 "$FREEFLOAT" run "$S" --quiet --force --out run --log none "$@" 2> said.txt &
  pid=$!
  url=
  for _ in $(seq 600); do
    url=$(sed -n 's/^foxglove //p' said.txt)
    [ -z "$url" ] || return 0
    kill -0 $pid 2> /dev/null || break
    sleep 0.05
  done
  [ -n "$url" ] || { fail "no address: $(cat said.txt)"; ended; }
}

expect 2 "^--foxglove: 'nonsense' is not an address" "$FREEFLOAT" run "$S" --out x --quiet --foxglove=nonsense
one_line
if grep -q "no module live" out.txt || [ ! -e "$FF_BUILD_DIR/modules/live.so" ]; then
  echo "skipped: built without libwebsockets"
  exit 77
fi
expect 2 "name one address" "$FREEFLOAT" run "$S" --out x --quiet --foxglove=0.0.0.0:8765
one_line
expect 2 "control needs --live or --foxglove" "$FREEFLOAT" run "$S" --out x --quiet --control
expect 2 "needs a socket" "$FREEFLOAT" run "$S" --out x --quiet --sandbox --foxglove
[ ! -e x ] || fail "a folder of a run that was refused"

for subprotocol in foxglove.sdk.v1 foxglove.websocket.v1; do
  start --foxglove=127.0.0.1:0 --control
  timeout 90 python3 "$FF_SOURCE_DIR/tests/live/foxglove_peer.py" "$url" $subprotocol > peer.txt 2>&1 || fail "$subprotocol: $(tail -5 peer.txt)"
  cat peer.txt
  wait $pid
  got=$?
  ! grep -q Sanitizer said.txt || fail "$(cat said.txt)"
  [ $got -eq 1 ] || fail "stopped by a client: exit $got: $(cat said.txt)" # as by the page: what there is, not the whole
done
# an address that is taken is said, and nothing runs
start --foxglove=127.0.0.1:0
expect 2 "^--foxglove: .* cannot be listened on" "$FREEFLOAT" run "$S" --out y --quiet --foxglove="$(sed 's|ws://||; s|/.*||' <<< "$url")"
one_line
kill $pid
wait $pid

# Foxglove's own client and decoders
(packages "$FF_SOURCE_DIR/tests/record" "$FF_BUILD_DIR/record-public") > npm.txt 2>&1
case $? in
  0)
    start --foxglove=127.0.0.1:0
    cp "$FF_SOURCE_DIR/tests/live/foxglove.mjs" "$FF_BUILD_DIR/record-public/foxglove.mjs"
    (cd "$FF_BUILD_DIR/record-public" && timeout 90 node foxglove.mjs "$url" "$FF_SOURCE_DIR/examples/foxglove/freefloat.json") > peer.txt 2>&1 || fail "npm: $(tail -5 peer.txt)"
    cat peer.txt
    wait $pid
    ;;
  77) without "Foxglove's own client: $(tail -1 npm.txt)" ;;
  *) fail "npm: $(tail -3 npm.txt)" ;;
esac
if [ -n "${FF_TEST_LONG:-}" ]; then # at most 5 % of a processor, which is counted in its own time
  timeout 100 python3 "$FF_SOURCE_DIR/tests/live/foxglove_cost.py" "$FREEFLOAT" "$S" 15 > cost.txt 2>&1 || fail "what a client costs: $(tail -n 2 cost.txt)"
  cat cost.txt
fi
ended
