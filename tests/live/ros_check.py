#!/usr/bin/env python3
"""ros_check.py PEER DOMAIN URL: a paced run on DDS as another vendor's implementation sees it (ros_peer.cpp, Fast DDS), its bytes read by our own
decoder (cdr.py), beside the same run over Foxglove. Every topic, every service; bad requests; stops the run."""
import queue, struct, subprocess, sys, threading, time

peer, domain = sys.argv[1:3]
sys.argv = [sys.argv[0], sys.argv[3], "foxglove.sdk.v1"]
import cdr
from foxglove_client import PATIENCE, Client, url

LATCHED, SENSOR = {"/tf_static", "/robot_description", "/scene", "/state"}, {"/client/wrench", "/client/wrench/raw", "/client/wrench/applied", "/clock"}
SILENT = {"/robot_description", "/joint_states", "/client/clock"}  # nothing to say in this run


class Peer:
    def __init__(self):
        self.process = subprocess.Popen([peer, domain], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines, self.samples, self.matched, self.refused = queue.Queue(), {}, set(), set()
        threading.Thread(target=lambda: [self.lines.put(line) for line in self.process.stdout], daemon=True).start()

    def say(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()

    def until(self, what, good):
        end = time.time() + PATIENCE
        while not good():
            assert time.time() < end, f"{what}: {sorted(self.samples)} matched {sorted(self.matched)} refused {sorted(self.refused)}"
            try:
                name, rest = self.lines.get(timeout=0.2).split()
            except queue.Empty:
                continue
            if name in ("matched", "refused"):
                getattr(self, name).add(rest)
            else:
                self.samples.setdefault(name, []).append(bytes.fromhex(rest))

    def end(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)


def dds(ros, suffix=""):
    package, folder, name = ros.split("/")
    return f"{package}::{folder}::dds_::{name}{suffix}_"


web = Client(query=url.query).greet()
ros = Peer()
topics = {c["topic"]: c for c in web.channels.values() if c["topic"] not in ("/cycle", "/tuning")}
types = {name: cdr.parse(c["schema"]) for name, c in topics.items()}
for name, c in topics.items():
    ros.say("read", "rt" + name, dds(c["schemaName"]), "l" if name in LATCHED else "b" if name in SENSOR else "r")
ros.say("read", "ros_discovery_info", "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_", "l")
ros.until("topics", lambda: {"rt" + t for t in topics if t not in SILENT} | {"ros_discovery_info"} <= set(ros.samples) and len(ros.samples["rt/client/pose"]) > 50)
assert not ros.refused, ros.refused

# --- the same as Foxglove got, from the same rows, in the same types
pose = next(i for i, c in web.channels.items() if c["topic"] == "/client/pose")
web.say({"op": "subscribe", "subscriptions": [{"id": 1000 + pose, "channelId": pose}]})
kept = []
while len(kept) < 20:
    m = web.hear()
    if isinstance(m, bytes) and m[0] == 1:
        kept.append(m[13:])
ros.until("rows", lambda: kept[-1] in ros.samples["rt/client/pose"])
assert all(k in ros.samples["rt/client/pose"] for k in kept)
web.say({"op": "unsubscribe", "subscriptionIds": [1000 + pose]})
for name, samples in ros.samples.items():
    for sample in samples if name[2:] in types else ():
        cdr.decode(types[name[2:]], sample, 3)


# --- reliable: every cycle, none twice, none missing
def stamps(name):
    own = (cdr.decode(types[name], s, 3)["header"]["stamp"] for s in ros.samples["rt" + name])
    return [s["sec"] * 10**9 + s["nanosec"] for s in own]


rows = stamps("/client/pose")
assert rows == list(range(rows[0], rows[-1] + 1, 4000000)), "cycles are missing"
# --- the node is known by its name, with all that is its own
graph = cdr.Reader(ros.samples["ros_discovery_info"][-1])
graph.at += 24
assert graph.basic("I") == 1
assert [graph.value({}, "string") for _ in range(2)] == ["/", "freefloat"]
readers = graph.basic("I")
graph.at += 24 * readers
writers = graph.basic("I")
graph.at += 24 * writers
assert 0 <= len(graph.data) - graph.at < 4 and readers == 4 + 6 and writers == len(topics) + readers, (readers, writers)

# --- services, as rmw_cyclonedds_cpp calls them
VALUE = "uint8 type\nbool bool_value\nint64 integer_value\nfloat64 double_value\nstring string_value\nbyte[] b\nbool[] c\nint64[] i\nfloat64[] d\nstring[] s\n"
RESULT = "bool successful\nstring reason\n"
SERVICES = {
    "list_parameters": ("rcl_interfaces/srv/ListParameters", "string[] names\nstring[] prefixes\n"),
    "get_parameters": ("rcl_interfaces/srv/GetParameters", "V[] values\nMSG: V\n" + VALUE),
    "get_parameter_types": ("rcl_interfaces/srv/GetParameterTypes", "uint8[] types\n"),
    "describe_parameters": ("rcl_interfaces/srv/DescribeParameters", "D[] descriptors\nMSG: D\nstring name\nuint8 type\nstring description\nstring "
                            "additional_constraints\nbool read_only\nbool dynamic_typing\nF[] range\nI[] integers\nMSG: F\nfloat64 from_value\nfloat64 to_value\nfloat64 step\nMSG: I\nint64 from_value\nint64 to_value\nuint64 step\n"),
    "set_parameters": ("rcl_interfaces/srv/SetParameters", "R[] results\nMSG: R\n" + RESULT),
    "set_parameters_atomically": ("rcl_interfaces/srv/SetParametersAtomically", RESULT),
    **{verb: ("std_srvs/srv/Trigger", "bool success\nstring message\n") for verb in ("hold", "resume", "stop", "zero")}}
for name, (kind, _) in SERVICES.items():
    ros.say("read", f"rr/freefloat/{name}Reply", dds(kind, "_Response"), "r")
ros.until("services", lambda: {f"rr/freefloat/{name}Reply" for name in SERVICES} <= ros.matched)
sequence = 0


def send(name, body):
    ros.say("write", f"rq/freefloat/{name}Request", dds(SERVICES[name][0], "_Request"), body.hex())


def call(name, body=b"\0"):
    global sequence
    sequence += 1
    head, topic = struct.pack("<Qq", 0x1122334455667788, sequence), f"rr/freefloat/{name}Reply"
    reply = []
    while not reply:  # a writer whose reader has not heard of it yet is not heard: ask again
        send(name, b"\0\1\0\0" + head + body)
        asked = time.time()
        ros.until(name, lambda: reply.extend(r for r in ros.samples.get(topic, []) if r[4:20] == head) or reply or time.time() > asked + 1)
    reply = reply[0]
    return cdr.decode(cdr.parse(SERVICES[name][1]), reply[:4] + reply[20:], 3)


def text(t, at=0):
    raw = t.encode() + b"\0"
    return b"\0" * (-at % 4) + struct.pack("<I", len(raw)) + raw


def names(*list_):
    out = struct.pack("<I", len(list_))
    for name in list_:
        out += text(name, len(out))
    return out


def parameters(*list_):
    out = struct.pack("<I", len(list_))
    for name, kind, value in list_:
        out += text(name, len(out))
        out += struct.pack("<BB", kind, 0)
        out += b"\0" * (-len(out) % 8) + struct.pack("<qd", int(value) if kind == 2 else 0, value if kind == 3 else 0)
        out += text("x" if kind == 4 else "", len(out))
        out += b"\0" * (-len(out) % 4) + struct.pack("<IIIII", 0, 0, 0, 0, 0)
    return out


assert call("hold") == {"success": True, "message": "held"}
assert call("resume") == {"success": True, "message": "continues"}
assert call("list_parameters", names() + b"\0\0\0\0" + struct.pack("<Q", 0)) == {"names": ["threshold", "torque_threshold"], "prefixes": []}
assert call("get_parameter_types", names("threshold", "x" * 400)) == {"types": [3, 0]}
described = call("describe_parameters", names("threshold"))["descriptors"][0]
assert described["range"] == [{"from_value": 0, "to_value": 50, "step": 0}] and described["type"] == 3 and not described["read_only"], described
for _ in range(200):  # refused in contact
    answer = call("set_parameters", parameters(("threshold", 3, 1.25)))["results"]
    if answer[0]["successful"] or "contact" not in answer[0]["reason"]:
        break
    time.sleep(0.1)
assert answer == [{"successful": True, "reason": ""}], answer
assert call("get_parameters", names("threshold"))["values"][0]["double_value"] == 1.25
assert web.parameters(["threshold"]) == {"threshold": 1.25}  # who watches elsewhere sees it, too
answer = call("set_parameters", parameters(("threshold", 3, 51.0), ("mass", 3, 1.0), ("threshold", 4, 0), ("threshold", 3, float("nan"))))["results"]
assert [a["successful"] for a in answer] == [False] * 4 and "between 0 and 50" in answer[0]["reason"] and "no such" in answer[1]["reason"], answer
assert call("set_parameters_atomically", parameters(("threshold", 3, 1.0), ("torque_threshold", 3, 1.0)))["successful"] is False
assert call("get_parameters", names("threshold"))["values"][0]["double_value"] == 1.25

# --- many in one request are each answered, also more than wait for the loop at a time; more than 64 are refused, by an answer
answer = call("set_parameters", parameters(*[("mass" if n == 20 else "threshold", 3, 1 + n / 64) for n in range(64)]))["results"]
assert len(answer) == 64 and "no such" in answer[20]["reason"], answer
assert all(a["successful"] or "contact" in a["reason"] for n, a in enumerate(answer) if n != 20), answer
if all(a["successful"] for n, a in enumerate(answer) if n != 20):
    assert call("get_parameters", names("threshold"))["values"][0]["double_value"] == 1 + 63 / 64  # in their order
assert len(call("get_parameters", names(*["threshold"] * 64))["values"]) == 64
before = call("get_parameters", names("threshold"))
answer = call("set_parameters", parameters(*[("threshold", 3, 1.0)] * 65))["results"]
assert len(answer) == 65 and not any(a["successful"] for a in answer) and "64 at most" in answer[64]["reason"], answer
assert call("set_parameters_atomically", parameters(*[("threshold", 3, 1.0)] * 65))["successful"] is False
assert call("get_parameters", names(*["threshold"] * 65)) == {"values": []} and call("set_parameters", parameters()) == {"results": []}
assert call("get_parameters", names("threshold")) == before
before = before["values"][0]["double_value"]

# --- nonsense is not answered and changes nothing
for bad in (b"", b"\0\1\0\0", b"\0\0\0\0" + b"\0" * 40, b"\0\1\0\0" + b"\xff" * 15, b"\0\1\0\0" + b"\xff" * 60, b"\0\1\0\0" + b"\0" * 16 + b"\xff\xff\xff\xff" * 9,
            b"\0\1\0\0" + b"\0" * 16 + parameters(("threshold", 3, 2.0))[:-9], b"\0\1\0\0" + b"\0" * 30000):
    for service in ("set_parameters", "get_parameters", "describe_parameters"):
        send(service, bad)
assert call("get_parameters", names("threshold"))["values"][0]["double_value"] == before
# --- another type under the same name, and a reliable reader of what is best effort: told apart, and nobody else's loss
other = Peer()
other.say("read", "rt/client/pose", "std_msgs::msg::dds_::String_", "r")
other.say("read", "rt/clock", "rosgraph_msgs::msg::dds_::Clock_", "r")
other.say("read", "rt/client/twist", dds("geometry_msgs/msg/TwistStamped"), "r")
other.until("others", lambda: "rt/client/twist" in other.samples and "rt/clock" in other.refused)
assert "rt/client/pose" not in other.samples and "rt/client/pose" not in other.matched
other.end()

rows = stamps("/client/pose")
assert rows == list(range(rows[0], rows[-1] + 1, 4000000)), "cycles are missing"
# --- whoever asks the diagnostics hears of the contact; no stamp comes twice
said = lambda: {cdr.decode(types["/diagnostics"], s, 3)["status"][0]["message"] for s in ros.samples["rt/diagnostics"]}
ros.until("contact", lambda: {"FLOAT", "CONTACT"} <= said())
for name in ("/client/pose", "/client/target", "/diagnostics"):
    own = stamps(name)
    assert all(a < b for a, b in zip(own, own[1:])), name
assert call("stop")["success"]
ros.until("the end", lambda: cdr.decode(types["/state"], ros.samples["rt/state"][-1], 3)["name"] == "END")
ros.end()
print(f"Fast DDS: {len(ros.samples)} topics, {sum(map(len, ros.samples.values()))} samples, {len(rows)} poses in a row, {len(SERVICES)} services")
