"""An arm that stands where planar-arm-emulation begins and does what CASE says; prints what it was sent. PORT is rt's."""
import json, math, random, struct, sys
from arm_wire import *

port, case = int(sys.argv[1]), sys.argv[2]
s = open_socket(0, 0.02)
q = [0.3, 0.9] if case != "elsewhere" else [0.31, 0.9]
if case == "joints":
    q = [0.3, 0.9, 0.0]
cycle, session, state, run, echo, late, clean = 0.005 if case != "cycle" else 0.004, 7, 0, 0, 0xFFFFFFFF, 0, True
seen = dict(hold=0, torque=0, end=0, refused=0, first=None, largest=0.0, answered=0)
commanded = 0
waited = 0
sequence = 0
while waited < 300 and not seen["end"]:
    qd = [0.0] * len(q)
    fault = 0
    if case == "fast" and commanded > 5:
        qd[1] = 3.0
    if case == "fault" and commanded > 5:
        state, fault = 3, 4
    if case == "restart" and commanded > 5:
        session, sequence = 8, 0
    if case == "silent" and commanded > 5:
        break
    data = telegram(state, fault, 0 if state == 2 else 2, session, sequence, echo, run, late, sequence * cycle, cycle, [0.0] * 6, q, qd,
                    [0.0] * len(q), [0.0] * len(q), 2 if case == "version" else 1)
    to = ("127.0.0.1", port)
    if case == "met": # noise on the wire: none of it may be used
        i = random.randrange(len(data))
        s.sendto(data[:i] + bytes([data[i] ^ 0x40]) + data[i + 1:], to)
        nan = data[:104] + struct.pack("<d", math.nan) + data[112:-2]
        s.sendto(seal(nan), to)
        s.sendto(data[:-7], to)
    s.sendto(data, to)
    if case == "met":
        s.sendto(data, to)
    try:
        answer = read_command(s.recv(2048))
    except (socket.timeout, ConnectionError):
        waited += 1
        if commanded == 0: # nobody is there yet
            continue
        late += 1
        sequence += 1
        continue
    assert answer["session"] == session and answer["sequence"] == sequence and list(answer["q"]) == q, answer
    assert run in (0, answer["run"])
    seen["answered"] += 1
    run, echo = answer["run"], sequence
    seen[("hold", "torque", "end")[answer["mode"]]] += 1
    if answer["mode"] == 1:
        assert state in (1, 2), "a torque before the joints were held"
        seen["first"] = seen["first"] or answer["torque"]
        seen["largest"] = max(seen["largest"], *map(abs, answer["torque"]))
        commanded += 1
    if state != 3:
        state = (1, 2, 0)[answer["mode"]]
    sequence += 1
print(json.dumps(seen))
