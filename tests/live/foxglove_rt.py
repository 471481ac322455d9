#!/usr/bin/env python3
"""foxglove_rt.py URL: a run on (virtual) devices as a client without the token sees it: it may hold and stop, nothing arms or continues it."""
import sys

sys.argv.append("foxglove.sdk.v1")
from foxglove_client import Client

guest = Client().greet().subscribe()
assert set(guest.services) == {"/freefloat/" + v for v in ("hold", "stop", "zero", "retreat")}, set(guest.services)
while guest.got.get("/state", {}).get("name") not in ("FLOAT", "CONTACT") or "/joint_states" not in guest.got or "/diagnostics" not in guest.got:
    m = guest.hear()
    assert m is not None, guest.got.get("/state")
    if isinstance(m, bytes):
        guest.data(m)
joints = guest.got["/joint_states"]
assert joints["name"] == [f"client/A{a}" for a in range(1, 7)] and len(joints["position"]) == 6, joints  # no rail here
assert joints["velocity"] == joints["effort"] == [], joints  # not measured, so not said: no NaN
limits = [s["name"] for s in guest.got["/diagnostics"]["status"]]
assert "freefloat: tracking error" in limits, limits
assert guest.call("/freefloat/zero")[0] is None
assert guest.call("/freefloat/hold")[0], "hold"
while guest.got["/state"]["name"] != "HOLD":
    m = guest.hear()
    assert m is not None
    if isinstance(m, bytes):
        guest.data(m)
done, text = guest.call("/freefloat/stop")
assert done, text
print(f"rt: {len(guest.topics)} topics, held and stopped")
