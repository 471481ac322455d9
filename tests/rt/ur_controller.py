"""A Universal Robots controller of its own for freefloat rt, from the facts of docs/protocols.md and no code of freefloat's: RTDE on one port,
programs on another, a robot that does what the input registers say one cycle later. Beside it an ATI sensor that
reads nothing. ur_controller.py RTDE_PORT SCRIPT_PORT ATI_PORT HTTP_PORT WHAT Q1 .. Q6 X Y Z RX RY RZ
Prints what it saw as one line of JSON when the program has ended."""
import json, re, select, socket, struct, sys, time

rtde_port, script_port, ati_port, http_port = map(int, sys.argv[1:5])
what = sys.argv[5]
numbers = list(map(float, sys.argv[6:18]))
q, pose = numbers[:6], numbers[6:]
TYPES = {"timestamp": "DOUBLE", "actual_q": "VECTOR6D", "actual_TCP_pose": "VECTOR6D", "runtime_state": "UINT32", "robot_status_bits": "UINT32",
         "safety_status_bits": "UINT32", "speed_scaling": "DOUBLE"}
for n in range(48):
    for way in "input", "output":
        TYPES["%s_int_register_%d" % (way, n)] = "INT32"
        TYPES["%s_double_register_%d" % (way, n)] = "DOUBLE"
PACK = {"DOUBLE": ">d", "VECTOR6D": ">6d", "UINT32": ">I", "INT32": ">i"}


def listen(port):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", port))
    s.listen(2)
    return s


def packet(kind, payload):
    return struct.pack(">HB", len(payload) + 3, ord(kind)) + payload


page = b"<netft><cfgcpf>1000000</cfgcpf><cfgcpt>1000000</cfgcpt><scfgfu>N</scfgfu><scfgtu>Nm</scfgtu><comrdte>Enabled</comrdte></netft>"
rtde, script, http = listen(rtde_port), listen(script_port), listen(http_port)
ati = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ati.bind(("127.0.0.1", ati_port))
client, ft_client, waiting, outputs, inputs, started, program, run = None, None, b"", [], [], False, "", 0
registers = {name: 0 for name in TYPES if name.startswith("input")}
seen = {"answers": 0, "largest": 0.0, "jump": 0.0, "ended": False, "program": ""}
begun, tick, records, target = time.monotonic(), time.monotonic(), 0, list(q)
taken, stood, cycles = 0, 1, 0
while time.monotonic() < begun + 40 and not seen["ended"]:
    tick = max(tick + 0.004, time.monotonic() + 0.0005)
    cycles += 1  # a controller is never late itself; this one may be, on a busy machine
    stamp = 1000.0 + cycles * 0.004
    while (left := tick - time.monotonic()) > 0:
        ready = select.select([s for s in (rtde, script, http, ati, client) if s], [], [], left)[0]
        if http in ready:
            c, _ = http.accept()
            c.recv(1000)
            c.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + page)
            c.close()
        if ati in ready:
            ft_client = ati.recvfrom(100)[1]
        if script in ready:
            c, _ = script.accept()
            c.settimeout(1)
            text = b""
            while not text.endswith(b"\nend\n"):
                text += c.recv(4096) or exit("the program was cut")
            c.close()
            seen["program"] = text.decode()
            run = int(re.search(r"write_output_integer_register\(25, (\d+)\)", seen["program"]).group(1))
            if what == "local":
                run = 0  # refused without a word
        if rtde in ready:
            client = rtde.accept()[0]
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if client in ready:
            got = client.recv(4096)
            if not got:
                seen["ended"] = True
                break
            waiting += got
        while len(waiting) >= 3 and len(waiting) >= (size := struct.unpack(">H", waiting[:2])[0]):
            kind, payload, waiting = chr(waiting[2]), waiting[3:size], waiting[size:]
            if kind == "V":
                good = payload == b"\0\2" and what != "old"
                # a text may come at any time; in two pieces, as a stream may
                client.sendall(packet("M", b"\5hello\4peer\3") + packet("V", bytes([good]))[:2])
                time.sleep(0.01)
                client.sendall(packet("V", bytes([good]))[2:])
            elif kind in "OI":
                names = (payload[8:] if kind == "O" else payload).decode().split(",")
                types = [TYPES.get(n, "NOT_FOUND") for n in names]
                if what == "used" and kind == "I":
                    types[0] = "IN_USE"
                if kind == "O":
                    assert struct.unpack(">d", payload[:8])[0] == 250.0
                    outputs = names
                else:
                    inputs = names
                client.sendall(packet(kind, bytes([3 if kind == "O" else 5]) + ",".join(types).encode()))
            elif kind == "S":
                client.sendall(packet("S", b"\1"))
                started = True
            elif kind == "U":
                assert payload[0] == 5
                at = 1
                for name in inputs:
                    form = PACK[TYPES[name]]
                    registers[name] = struct.unpack_from(form, payload, at)[0]
                    at += struct.calcsize(form)
                assert at == len(payload)
                seen["answers"] += run > 0
            else:
                exit("packet " + kind)
    if not client or not started:
        continue
    mode = registers["input_int_register_25"] if registers["input_int_register_26"] == run and run else 0
    moved = target
    # the program's rule: an order is a step from the one it took last, and after a step without one it begins at rest
    count, base, rest = (registers["input_int_register_%d" % n] for n in (24, 29, 30))
    fits = run and registers["input_int_register_26"] == run and count > taken and base == taken and (rest == 2 or (rest == 1) == (stood > 0))
    taken, stood = (count, 0) if fits else (taken, stood + 1)
    if mode == 1 and fits:
        moved = [registers["input_double_register_%d" % n] for n in range(24, 30)]
    seen["jump"] = max(seen["jump"], max(abs(a - b) for a, b in zip(moved, target)))
    target = moved
    seen["largest"] = max(seen["largest"], max(abs(a - b) for a, b in zip(moved, numbers)))
    # the TCP beside it: only as far as the loop needs it, along the command (it is not this peer's task to know the arm)
    value = {"timestamp": stamp, "actual_q": target, "actual_TCP_pose": pose, "runtime_state": 2 if run else 1, "robot_status_bits": 3 if run else 1,
             "safety_status_bits": 1, "speed_scaling": 1.0, "output_int_register_24": taken, "output_int_register_25": run,
             "output_int_register_26": stood}
    if what == "stop" and seen["answers"] > 300:
        value["safety_status_bits"] = 4
    data = b"\3"
    for name in outputs:
        x = value.get(name, 0)
        data += struct.pack(PACK[TYPES[name]], *x) if isinstance(x, list) else struct.pack(PACK[TYPES[name]], x)
    try:
        client.sendall(packet("U", data))
    except OSError:
        seen["ended"] = True
    if ft_client:
        records += 1
        ati.sendto(struct.pack(">III6i", records, records, 0, 0, 0, records % 7, 0, 0, 0), ft_client)
    if mode == 2:
        seen["ended"] = True
print(json.dumps(seen))
