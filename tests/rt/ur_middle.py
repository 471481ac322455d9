"""A man in the middle of RTDE between freefloat rt and freefloat facility, in lock step, without code of freefloat's. He loses 1 to 10
orders in a row, or lets them come 1 to 3 cycles late, at random; he runs the program's rule himself, and adds up by his own kinematics of
the UR10e (its data sheet's DH table) what the robot executes: velocity, acceleration and jerk of the flange, from rest where it stood.
ur_middle.py LISTEN CONNECT SEED CYCLE VELOCITY ACCELERATION JERK CHANCE      prints one line of JSON: each over its limit, and what was done."""
import json, math, random, select, socket, struct, sys, time

listen, connect = map(int, sys.argv[1:3])
draw = random.Random(int(sys.argv[3]))
cycle, most_v, most_a, most_j, chance = map(float, sys.argv[4:9])
SIZE = {"INT32": ">i", "UINT32": ">I", "DOUBLE": ">d", "VECTOR6D": ">6d"}
DH = [(0.1807, 0, math.pi / 2), (0, -0.6127, 0), (0, -0.57155, 0), (0.17415, 0, math.pi / 2), (0.11985, 0, -math.pi / 2), (0.11655, 0, 0)]


def flange(q):
    m = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    for angle, (d, a, alpha) in zip(q, DH):
        c, s, ca, sa = math.cos(angle), math.sin(angle), math.cos(alpha), math.sin(alpha)
        t = [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]]
        m = [[sum(r[k] * t[k][j] for k in range(4)) for j in range(4)] for r in m]
    return [r[3] for r in m]


server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("127.0.0.1", listen))
server.listen(1)
server.settimeout(60)
near = server.accept()[0]  # rt
for _ in range(400):
    try:
        far = socket.create_connection(("127.0.0.1", connect))
        break
    except OSError:
        time.sleep(0.05)
for s in near, far:
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class Recipe:
    def __init__(self, names):
        self.names, self.types = names, []

    def read(self, payload):
        at, value = 1, {}
        for name, kind in zip(self.names, self.types):
            got = struct.unpack_from(SIZE[kind], payload, at)
            value[name] = got[0] if len(got) == 1 else list(got)
            at += struct.calcsize(SIZE[kind])
        return value

    def write(self, head, value):
        return head + b"".join(struct.pack(SIZE[k], value[n]) for n, k in zip(self.names, self.types))


recipe, waiting, history = {}, {near: b"", far: b""}, []
taken, stood, hold, p, v, a = 0, 1, None, None, [0.0] * 3, [0.0] * 3
depth, losing, delivered, moving = 0, 0, None, False
seen = {"velocity": 0.0, "acceleration": 0.0, "jerk": 0.0, "cycles": 0, "lost": 0, "late": 0, "moved": 0.0, "stood": 0, "echo": 0}


def step(order):
    """One step of the program."""
    global taken, stood, hold, p, v, a
    rest = order["input_int_register_30"]
    fits = order["input_int_register_24"] > taken and order["input_int_register_29"] == taken and (rest == 2 or (rest == 1) == (stood > 0))
    taken, stood = (order["input_int_register_24"], 0) if fits else (taken, stood + 1)
    seen["cycles"] += 1
    seen["stood"] += not fits
    q = [order["input_double_register_%d" % n] for n in range(24, 30)]
    if not fits or order["input_int_register_25"] != 1:
        v, a = [0.0] * 3, [0.0] * 3
        hold = hold or q
        p = p or flange(hold)
        return
    to = flange(q)
    v1 = [(x - y) / cycle for x, y in zip(to, p or to)]
    a1 = [(x - y) / cycle for x, y in zip(v1, v)]
    for name, x, most in ("velocity", v1, most_v), ("acceleration", a1, most_a), ("jerk", [(x - y) / cycle for x, y in zip(a1, a)], most_j):
        seen[name] = max(seen[name], math.hypot(*x) / most)
    seen["moved"] += math.dist(to, p or to)
    hold, p, v, a = q, to, v1, a1


def mischief(payload):
    """What comes to the controller in place of this order; it says which telegram it answers in any case, so that lock step goes on."""
    global depth, losing, delivered, moving
    order = recipe["I"].read(payload)
    history.append(order)
    moves = order["input_int_register_25"] == 1
    moving |= moves
    ripe = moves and seen["moved"] > 0.002
    if ripe and not losing and draw.random() < chance:
        losing = draw.randint(1, 10)
    if ripe and draw.random() < 0.3 * chance:
        depth = draw.randint(0, 3)
    if not moves:
        depth = losing = 0
    if losing:
        losing -= 1
        seen["lost"] += 1
    else:
        seen["late"] += depth > 0
        delivered = history[max(0, len(history) - 1 - depth)]
    delivered = dict(delivered or order, input_double_register_30=order["input_double_register_30"])
    step(delivered)
    return recipe["I"].write(payload[:1], delivered)


open_ = True
while open_:
    for s in select.select([near, far], [], [], 60)[0]:
        try:
            got = s.recv(65536)
        except OSError:
            got = b""
        if not got:
            open_ = False
            break
        waiting[s] += got
        out = b""
        while len(waiting[s]) >= 3 and len(waiting[s]) >= (size := struct.unpack(">H", waiting[s][:2])[0]):
            kind, payload, waiting[s] = chr(waiting[s][2]), waiting[s][3:size], waiting[s][size:]
            if s is near and kind in "OI":
                recipe[kind] = Recipe((payload[8:] if kind == "O" else payload).decode().split(","))
            elif s is far and kind in "OI":
                recipe[kind].types = payload[1:].decode().split(",")
            elif s is near and kind == "U" and struct.unpack_from(">i", payload, 1)[0] > 0:
                payload = mischief(payload)
            elif s is far and kind == "U":
                echo = recipe["O"].read(payload)
                if not moving:  # while they meet, several telegrams may wait for their answers
                    taken, stood = echo["output_int_register_24"], echo["output_int_register_26"]
                seen["echo"] += (echo["output_int_register_24"], echo["output_int_register_26"]) != (taken, stood)
            out += struct.pack(">HB", len(payload) + 3, ord(kind)) + payload
        try:
            (far if s is near else near).sendall(out)
        except OSError:
            open_ = False
print(json.dumps(seen))
