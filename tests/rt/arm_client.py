"""A client of the virtual arm of planar-arm-emulation, without gravity or friction: constant torques move it as the equations of two
links say; what is not allowed does not. PORT is where the telegrams come."""
import math, sys
from arm_wire import *

port = int(sys.argv[1])
s = open_socket(port, 20)

arm = None

def hear():
    global arm
    while True: # who else sends here is not the arm
        data, peer = s.recvfrom(2048)
        if peer == arm or (arm is None and data[:4] == b"FFJT"):
            arm = peer
            return read_telegram(data), peer

def answer(t, peer, mode, torque, run=5, q=None, **other):
    s.sendto(command(mode, t["session"], t["sequence"], run, torque, q or t["q"], **other), peer)

t, peer = hear()
answer(t, peer, 1, [1.0, 0.0]) # nobody begins with a torque
t, peer = hear()
assert t["state"] == 1 and t["flags"] & 2 and t["n"] == 2 and t["cycle"] == 0.001, t
assert t["echo"] == t["sequence"] - 1 and t["run"] == 5, t
s.sendto(b"FFJC nonsense", peer)
answer(t, peer, 1, [1.0, 0.0], run=6)                # another client
answer(t, peer, 1, [1.0, 0.0], q=[0.0, 0.0])         # on other joints
answer(t, peer, 0, [0.0, 0.0])
start, _ = hear()
assert start["state"] == 1 and max(map(abs, start["qd"])) == 0.0, start
tau = [4.0, -1.5]
t = start
cycles = 40
for _ in range(cycles):
    answer(t, peer, 1, tau)
    t, peer = hear()
    assert t["state"] == 2 and list(t["torque"]) == tau and t["late"] == 0, t

# M(q) q'' + c(q, q') = tau of two links (mass 3.5, CoM 0.25 and 0.01, 0.02 aside, inertia 0.073 about it, length 0.5), by fourth order
def rates(x):
    a, b, va, vb = x
    m, i, l = 3.5, 0.073, 0.5
    c1, c2 = (0.25, 0.01), (0.25, 0.02)
    cos, sin = math.cos(b), math.sin(b)
    # CoM of the second link in the first one's axes: l + R(b) c2
    px, py = cos * c2[0] - sin * c2[1], sin * c2[0] + cos * c2[1]
    r1, r2 = c1[0] ** 2 + c1[1] ** 2, c2[0] ** 2 + c2[1] ** 2
    h = l * px
    m11 = i + m * r1 + i + m * (l * l + 2 * h + r2)
    m12 = i + m * (r2 + h)
    m22 = i + m * r2
    dh = -l * py # d h / d b
    c = m * dh
    f1 = tau[0] - c * (2 * va * vb + vb * vb)
    f2 = tau[1] + c * va * va
    d = m11 * m22 - m12 * m12
    return [va, vb, (m22 * f1 - m12 * f2) / d, (m11 * f2 - m12 * f1) / d]

x = [*start["q"], 0.0, 0.0]
h = 0.001
for _ in range(cycles):
    k1 = rates(x)
    k2 = rates([y + 0.5 * h * k for y, k in zip(x, k1)])
    k3 = rates([y + 0.5 * h * k for y, k in zip(x, k2)])
    k4 = rates([y + h * k for y, k in zip(x, k3)])
    x = [y + h / 6 * (a + 2 * b + 2 * c + d) for y, a, b, c, d in zip(x, k1, k2, k3, k4)]
worst = max(abs(p - y) for p, y in zip([*t["q"], *t["qd"]], x))
assert worst < 1e-10 and abs(x[0] - start["q"][0]) > 1e-4, (worst, x, t)
answer(t, peer, 1, [1e6, 0.0]) # more than the motor gives
t, peer = hear()
assert t["torque"][0] == 50.0 and t["flags"] & 8, t
answer(t, peer, 0, [0.0, 0.0]) # brakes: it comes to rest near by
for _ in range(400):
    t, peer = hear()
    assert t["state"] == 1
    answer(t, peer, 0, [0.0, 0.0])
assert max(map(abs, t["qd"])) < 1e-5, t
t, peer = hear()
answer(t, peer, 2, [0.0, 0.0])
print("good", worst)
