"""The protocol of an arm that is commanded by joint torques, written from docs/protocols.md: no code of freefloat."""
import binascii, socket, struct

def seal(body):
    return body + struct.pack("<H", binascii.crc_hqx(body, 0xFFFF))

def telegram(state, fault, flags, session, sequence, echo, run, late, t, cycle, wrench, q, qd, torque, external, version=1):
    n = len(q)
    return seal(struct.pack("<4sHBBBBHIIIII3d6d", b"FFJT", 106 + 32 * n, version, n, state, fault, flags, session, sequence, echo, run, late,
                            t, cycle, 0.0, *wrench) + struct.pack("<%dd" % (4 * n), *q, *qd, *torque, *external))

def read_telegram(data):
    assert data[:4] == b"FFJT" and seal(data[:-2]) == data, data[:120]
    size, version, n, state, fault, flags, session, sequence, echo, run, late = struct.unpack_from("<HBBBBHIIIII", data, 4)
    assert size == len(data) == 106 + 32 * n and version == 1
    t, cycle, arrives, *wrench = struct.unpack_from("<9d", data, 32)
    numbers = struct.unpack_from("<%dd" % (4 * n), data, 104)
    return dict(n=n, state=state, fault=fault, flags=flags, session=session, sequence=sequence, echo=echo, run=run, late=late, t=t,
                cycle=cycle, wrench=wrench, q=numbers[:n], qd=numbers[n:2 * n], torque=numbers[2 * n:3 * n], external=numbers[3 * n:])

def command(mode, session, sequence, run, torque, q, grip=0):
    n = len(q)
    return seal(struct.pack("<4sHBBBBHIII", b"FFJC", 26 + 16 * n, 1, n, mode, grip, 0, session, sequence, run)
                + struct.pack("<%dd" % (2 * n), *torque, *q))

def read_command(data):
    assert data[:4] == b"FFJC" and seal(data[:-2]) == data, data[:120]
    size, version, n, mode, grip, zero, session, sequence, run = struct.unpack_from("<HBBBBHIII", data, 4)
    assert size == len(data) == 26 + 16 * n and version == 1 and zero == 0 and mode in (0, 1, 2)
    numbers = struct.unpack_from("<%dd" % (2 * n), data, 24)
    return dict(mode=mode, session=session, sequence=sequence, run=run, torque=numbers[:n], q=numbers[n:])

def open_socket(port, timeout):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", port))
    s.settimeout(timeout)
    return s
