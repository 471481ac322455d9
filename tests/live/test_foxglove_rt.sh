#!/usr/bin/env bash
# Foxglove on a run on (virtual) devices: who has no token may hold and stop it, nobody arms it.
set -u
. "$FF_SOURCE_DIR/tests/rt/pair.sh"
need python3
[ -e "$FF_BUILD_DIR/modules/live.so" ] || { echo "skipped: built without libwebsockets"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
S=$FF_SOURCE_DIR/scenarios/deos-client.yaml # in lock step: on a busy machine nothing is late
start_facility --lockstep --set time.duration=140
behind rt.txt timeout 60 "$FREEFLOAT" rt "$S" --arm --out rt --log none --foxglove=127.0.0.1:0 --silence 20 --set time.duration=140 "${P[@]}"
rt_pid=$!
for _ in $(seq 600); do
  url=$(sed -n 's/^foxglove //p' rt.txt)
  [ -z "$url" ] || break
  sleep 0.05
done
timeout 50 python3 "$FF_SOURCE_DIR/tests/live/foxglove_rt.py" "$url" > peer.txt 2>&1 || fail "$(tail -3 peer.txt) $(tail -3 rt.txt)"
cat peer.txt
finish
ended
