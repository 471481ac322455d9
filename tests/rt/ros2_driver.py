#!/usr/bin/env python3
"""ros2_driver.py PEER DOMAIN STATES COMMAND WRENCH WHAT Q1 ... Q6: a robot's ROS 2 driver on another vendor's DDS (ros_peer.cpp), messages written and read
by the specification (CDR, sensor_msgs, std_msgs, geometry_msgs) without freefloat's code. It follows its commands two cycles later. WHAT it does wrong."""
import queue, struct, subprocess, sys, threading, time

peer, domain, states, command, wrench, what = sys.argv[1:7]
home = [float(x) for x in sys.argv[7:13]]
NAMES = ["elbow_joint", "shoulder_lift_joint", "shoulder_pan_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint"]  # as a broadcaster sorts them
AXES = [2, 1, 0, 3, 4, 5]  # which of them each axis is
CYCLE = 0.04 if what == "slow" else 0.02


class Writer:
    def __init__(self):
        self.data = b""

    def put(self, code, *values):
        for value in values:
            self.data += b"\0" * (-len(self.data) % struct.calcsize("<" + code)) + struct.pack("<" + code, value)
        return self

    def text(self, text):
        raw = text.encode() + b"\0"
        self.put("I", len(raw)).data += raw
        return self

    def header(self, stamp):
        mark = "" if what == "unmarked" else "freefloat/facility"
        return self.put("i", int(stamp // 10**9)).put("I", int(stamp % 10**9)).text(mark)

    def hex(self):
        return (b"\0\1\0\0" + self.data).hex()


class Peer:
    def __init__(self):
        self.process = subprocess.Popen([peer, domain], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        threading.Thread(target=lambda: [self.lines.put(line) for line in self.process.stdout], daemon=True).start()

    def say(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()


def joint_state(q, stamp):
    names, values = list(NAMES), [q[AXES.index(n)] for n in range(6)]
    if what == "missing":
        names[0] = "other"
    if what == "repeated":
        names.append("elbow_joint")
        values.append(0.0)
    if what == "nan":
        values[0] = float("nan")
    w = Writer().header(stamp).put("I", len(names))
    for name in names:
        w.text(name)
    w.put("I", len(values)).put("d", *values)
    return (w.put("I", 0) if what == "unrated" else w.put("I", len(values)).put("d", *[0.0] * len(values))).put("I", 0).hex()  # it hardly moves


def positions(data):
    """std_msgs/Float64MultiArray: the six positions, and to the virtual driver their velocities."""
    data, at = bytes.fromhex(data)[4:], 4
    for _ in range(struct.unpack_from("<I", data)[0]):
        n, = struct.unpack_from("<I", data, at)
        at += 4 + n
        at += -at % 4 + 8
    at += 4
    n, = struct.unpack_from("<I", data, at)
    at += 4
    at += -at % 8
    return list(struct.unpack_from(f"<{n}d", data, at)) if n else []


arm, feel = Peer(), Peer()
second = Peer() if what in ("rival", "later", "two", "second") else None
TYPE = "sensor_msgs::msg::dds_::JointState_" if what != "type" else "std_msgs::msg::dds_::String_"
ARRAY = "std_msgs::msg::dds_::Float64MultiArray_"
if what != "deaf":
    arm.say("read", "rt" + command, ARRAY, "r")
if what == "rival":
    second.say("write", "rt" + command, ARRAY, Writer().put("I", 0, 0, 0).hex())
q, orders, jump, begun = list(home), [list(home)] * 3, 0.0, None
due, count = time.time(), 0
while True:
    due = max(due + CYCLE, time.time() - 0.2)  # a driver on a busy machine misses cycles; its stamps are of the time there is
    time.sleep(max(0.0, due - time.time()))
    stamp = int(1e9 * max(due, time.time() - CYCLE)) + {"ahead": 3 * 10**9, "behind": -3 * 10**9}.get(what, 0)
    if what == "jumps" and count > 30:
        stamp += 3 * 10**9
    feel.say("put", "rt" + wrench, "geometry_msgs::msg::dds_::WrenchStamped_", Writer().header(stamp).put("d", *[1e-3 * (count % 3)] * 6).hex())
    arm.say("put", "rt" + states, TYPE, joint_state(q, stamp) if what != "type" else Writer().text("x").hex())
    if what == "two" or (what == "second" and count > 30):
        second.say("put", "rt" + states, TYPE, joint_state(q, stamp))
    if what == "later" and count > 30 and not begun:
        begun = second.say("write", "rt" + command, ARRAY, Writer().put("I", 0, 0, 0).hex()) or True
    while not arm.lines.empty():
        name, rest = arm.lines.get().split()
        if name in ("matched", "refused"):
            continue
        order = positions(rest)
        if not order:  # the rival's
            continue
        assert len(order) == (6 if what == "unmarked" else 12), order
        order = order[:6]
        jump = max([jump] + [abs(a - b) for a, b in zip(order, orders[-1])])
        orders.append(order)
        count += 1
    q = orders[max(0, len(orders) - 3)]
    print(f"orders {len(orders)} jump {jump:.6f}", flush=True)
