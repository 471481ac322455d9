"""A client of its own for the virtual UR of freefloat facility, from the facts of docs/protocols.md and no code of freefloat's: reads the robot, sends a program, moves
one joint by registers, is refused where a controller would refuse. ur_client.py RTDE_PORT SCRIPT_PORT"""
import socket, struct, sys, time

rtde_port, script_port = int(sys.argv[1]), int(sys.argv[2])


class Link:
    def __init__(self):
        for _ in range(200):
            try:
                self.s = socket.create_connection(("127.0.0.1", rtde_port), 5)
                break
            except OSError:
                time.sleep(0.05)
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.waiting = b""

    def send(self, kind, payload=b""):
        self.s.sendall(struct.pack(">HB", len(payload) + 3, ord(kind)) + payload)

    def read(self):
        while len(self.waiting) < 3 or len(self.waiting) < struct.unpack(">H", self.waiting[:2])[0]:
            got = self.s.recv(4096)
            if not got:
                raise EOFError
            self.waiting += got
        size = struct.unpack(">H", self.waiting[:2])[0]
        kind, payload, self.waiting = chr(self.waiting[2]), self.waiting[3:size], self.waiting[size:]
        return kind, payload

    def ask(self, kind, payload=b""):
        self.send(kind, payload)
        while True:
            got, reply = self.read()
            if got == kind:
                return reply


a = Link()
assert a.ask("V", b"\0\1") == b"\0"  # version 1 is refused
assert a.ask("V", b"\0\2") == b"\1"
assert len(a.ask("v")) == 16
names = "timestamp,actual_q,output_int_register_24,output_int_register_25,robot_status_bits,safety_status_bits"
assert a.ask("O", struct.pack(">d", 500) + b"timestamp,nonsense") == b"\0DOUBLE,NOT_FOUND"
assert a.ask("O", struct.pack(">d", 500) + names.encode()) == b"\1DOUBLE,VECTOR6D,INT32,INT32,UINT32,UINT32"
writes = "input_int_register_24,input_int_register_25,input_int_register_26,input_int_register_29,input_int_register_30," + ",".join("input_double_register_%d" % n for n in range(24, 30))
writes += ",input_double_register_30"
assert a.ask("I", writes.encode()) == b"\1" + b",".join([b"INT32"] * 5 + [b"DOUBLE"] * 7)
b = Link()  # a second client may read, not write what the first one writes
assert b.ask("V", b"\0\2") == b"\1"
assert b.ask("I", b"input_int_register_24") == b"\0IN_USE"
assert b.ask("O", struct.pack(">d", 500) + b"timestamp,ft_raw_wrench") == b"\1DOUBLE,VECTOR6D"
assert b.ask("S") == b"\1"
assert a.ask("S") == b"\1"


def state():
    kind, payload = a.read()
    assert kind == "U" and payload[0] == 1 and len(payload) == 73, (kind, len(payload))
    return struct.unpack(">d6diiII", payload[1:])


def put(count, mode, q, stamp, base=None, rest=0):
    a.send("U", b"\1" + struct.pack(">5i7d", count, mode, 77, count - 1 if base is None else base, rest, *q, stamp))


first = state()
assert first[7:] == (0, 0, 1, 1), first  # no program yet: powered, normal
q0 = first[1:7]
put(0, 0, q0, first[0])
with socket.create_connection(("127.0.0.1", script_port)) as s:
    s.sendall(b"def freefloat():\n  write_output_integer_register(25, 77)\nend\n")
while (now := state())[8] != 77:
    pass
assert now[9] == 3, now  # the program runs
count, last = 0, now
for n in range(400):  # a joint by 10 mrad, smoothly
    q = list(q0)
    q[5] += 0.01 * min(1.0, n / 300)
    count += 1
    put(count, 1, q, now[0], rest=count == 1)
    now = state()
    assert abs(now[0] - last[0] - 0.002) < 1e-9, (now[0], last[0])
    last = now
assert now[7] >= count - 2, now  # orders are taken
for n in range(200):
    count += 1
    put(count, 1, q, now[0])
    now = state()
# orders that are no step from the last one taken, or that follow a step without one and do not begin at rest, are not taken
for base, rest in (count - 1, 1), (count + 1, 1), (count, 0), (count, 1):
    put(count + 1, 1, q, now[0], base, rest)
    now = state()
    if (base, rest) == (count, 1):
        assert now[7] == count + 1, (base, rest, now)
    else:
        assert now[7] == count, (base, rest, now)
count += 1
assert abs(now[6] - q0[5] - 0.01) < 1e-5 and all(abs(x - y) < 1e-5 for x, y in zip(now[1:6], q0[:5])), (now, q0)
kind, payload = b.read()
assert kind == "U" and len(payload) == 57
put(count + 1, 2, q, now[0])  # the program ends
try:
    for n in range(100):
        state()
except (EOFError, OSError):
    pass
c = Link()
c.ask("V", b"\0\2")
c.send("?")  # not RTDE: it hangs up
try:
    while True:
        c.read()
except (EOFError, OSError):
    print("good")
