#!/usr/bin/env python3
"""foxglove_peer.py URL SUBPROTOCOL: subscribes to every topic of a paced run, decodes every message (cdr.py), calls services, sets parameters,
misbehaves, and stops the run."""
import time

from foxglove_client import PATIENCE, Client, url

# --- who is let in
for wrong in ({"origin": "https://evil.example"}, {"origin": "null"}, {"origin": "http://" + url.netloc}, {"protocol": ""},
              {"protocol": "foxglove.websocket.v9"}, {"host": "evil.example:80"}):
    assert not Client(**wrong).open, wrong
for right in ({}, {"origin": "https://app.foxglove.dev"}, {"origin": "file://"}):
    assert Client(**right).open, right

# --- one that never reads, and stays
stalled = Client(small=True).greet().subscribe()

# --- what everybody sees
guest = Client().greet().subscribe()
assert guest.info["capabilities"] == ["time", "parameters", "parametersSubscribe", "services"], guest.info
always = {"/cycle", "/state", "/tf", "/tf_static", "/scene", "/timing", "/clock", "/diagnostics", "/client/pose", "/client/twist", "/client/target",
          "/client/robot/pose", "/client/wrench", "/client/wrench/raw", "/client/wrench/applied", "/client/energy", "/forces", "/tuning"}
assert always <= {c["topic"] for c in guest.channels.values()}
end = time.time() + PATIENCE
while not always <= set(guest.topics) or guest.topics["/cycle"] < 20:
    assert time.time() < end, always - set(guest.topics)
    m = guest.hear()
    assert m is not None
    if isinstance(m, bytes):
        guest.data(m)
# the topics of one row agree
row, pose, target = guest.got["/cycle"], guest.got["/client/pose"], guest.got["/client/target"]
if row["stamp"] == pose["header"]["stamp"]:
    assert row["client_position_z"] == pose["pose"]["position"]["z"]
assert abs(row["t"] + 10 - row["stamp"]["sec"] - 1e-9 * row["stamp"]["nanosec"]) < 1e-8
assert pose["header"]["frame_id"] == "inertial" and guest.got["/client/wrench/raw"]["header"]["frame_id"] == "client/sensor"
frames = {t["child_frame_id"]: t["header"]["frame_id"] for k in ("/tf", "/tf_static") for t in guest.got[k]["transforms"]}
assert frames == {"client": "inertial", "client/robot": "inertial", "inertial": "world", "client/sensor": "client/robot"}, frames
assert guest.got["/state"]["name"] == "FLOAT"
names = [s["name"] for s in guest.got["/diagnostics"]["status"]]
assert names[:2] == ["freefloat: state", "freefloat: timing"] and len(set(names)) == len(names) > 4, names

# --- without the token: hold and continue, and nothing else
assert guest.parameters() == {"threshold": 0, "torque_threshold": 0}
assert guest.parameters(["threshold", "nonsense"]) == {"threshold": 0}
value, why = guest.set("threshold", 1.5)
assert value == 0 and "needs the token" in why, (value, why)
done, text = guest.call("/freefloat/zero")
assert done is None and "needs the token" in text, text
assert set(guest.services) == {"/freefloat/" + v for v in ("hold", "resume", "stop", "zero")}, set(guest.services)
assert guest.call("/freefloat/hold") == (True, "held")
assert guest.call("/freefloat/resume", "json", b"{}") == (True, "continues")
assert guest.call("/freefloat/hold", "protobuf", b"")[0] is None

# --- with it: within the range, and followed by the others
guest.say({"op": "subscribeParameterUpdates", "parameterNames": ["threshold"]})
operator = Client(query=url.query).greet()
value, why = operator.set("threshold", 51)
assert value == 0 and "between 0 and 50" in why, (value, why)
assert operator.set("threshold", "much")[1] == "set refused: a number is needed"
assert operator.set("mass", 1)[1] == "set refused: no such parameter"
for _ in range(200):  # refused in contact
    value, why = operator.set("threshold", 1.5)
    if not why:
        break
    assert "contact" in why and value == 0, (value, why)
    time.sleep(0.1)
assert value == 1.5, (value, why)
m = guest.text(["parameterValues"])
assert m["parameters"] == [{"name": "threshold", "value": 1.5, "type": "float64"}], m

# --- nonsense changes nothing, and is answered or closed
for junk in (b"\x05junk", b"", b"\x02\x01\x00", b"\x02" + b"\xff" * 30, '{"op":"subscribe"}', "[]", "{", '{"op":"x"}', "null", '{"op":"setParameters"}',
             '{"op":"advertise","channels":[]}', '{"op":"unsubscribe","subscriptionIds":[5,-1,1e9,"x"]}',
             {"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 0}]}, {"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 9999}]},
             {"op": "getParameters", "parameterNames": [1]}, {"op": "setParameters", "parameters": [{"name": "threshold", "value": None}]}):
    other = Client().greet()
    other.say(junk)
    assert other.text(["status"])["level"] >= 1, junk
other = Client().greet()
other.say('{"a":' * 2000 + "1" + "}" * 2000)
assert other.text(["status"])
other.say("x" * 40000)
while other.hear() is not None:
    pass
ids = [{"id": i, "channelId": 1} for i in range(300)]
other = Client().greet()
other.say({"op": "subscribe", "subscriptions": ids[:150]})
other.say({"op": "subscribe", "subscriptions": ids[150:]})
assert other.text(["status"])["message"] == "subscribe: too many subscriptions"
assert guest.parameters() == {"threshold": 1.5, "torque_threshold": 0}

# --- events came to who asked for them, and the run ends where it is commanded to
assert guest.call("/freefloat/stop")[0]
while (m := guest.hear()) is not None:
    if isinstance(m, bytes) and m[0] == 1:
        guest.data(m)
assert guest.got["/event"]["text"], guest.got.get("/event")
assert guest.got["/state"]["name"] == "END", guest.got["/state"]
print(f"{len(guest.topics)} topics, {sum(guest.topics.values())} messages")
