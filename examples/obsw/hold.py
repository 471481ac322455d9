#!/usr/bin/env python3
"""The software of hold.c in Python, over UDP, with the standard library alone.

    python3 hold.py [PORT [ADDRESS ANSWER_PORT]]      listens at 127.0.0.1 port 1234, answers to port 1235
    freefloat run FILE --set 'satellites.servicer.obsw={kind: udp}'

It keeps the base at rest relative to the client and the joints where they are. docs/obsw.md has the packets byte by byte.
It ends after 60 s without a packet (OBSW_IDLE sets another number of seconds)."""
import math
import os
import socket
import struct
import sys

VERSION, SENSORS_APID, COMMAND_APID = 2, 160, 161
MASS, INERTIA, RATE = 1500.0, 1000.0, 0.3  # kg, kg m2, 1/s
HEAD = struct.Struct("<IIIIQ26d")  # version, joints, session, flags, sequence; t, cycle, camera 14, star 5, gyro 4, encoder's time


def read_sensors(packet):
    """A dict, or None when the packet is not one of ours."""
    if len(packet) < 16 + HEAD.size:
        return None
    ident, _, length = struct.unpack_from(">HHH", packet)
    if ident & 0x1FFF != 0x0800 | SENSORS_APID or length + 7 != len(packet):
        return None
    fields = HEAD.unpack_from(packet, 16)
    version, joints, session, _, sequence = fields[:5]
    if version != VERSION or len(packet) != 16 + HEAD.size + 16 * joints:
        return None
    x = fields[5:]
    both = struct.unpack_from("<%dd" % (2 * joints), packet, 16 + HEAD.size)
    return {"joints": joints, "session": session, "sequence": sequence, "t": x[0],
            "client_velocity": x[10:13], "client_angular_velocity": x[13:16], "q": both[:joints], "qd": both[joints:]}


def write_command(s, count, force, torque, joint_torque):
    body = struct.pack("<IIIIQd", VERSION, s["joints"], s["session"], 0, s["sequence"], s["t"])
    body += struct.pack("<8d", *force, *torque, math.nan, math.nan) + struct.pack("<%dd" % len(joint_torque), *joint_torque)
    packet = bytearray(struct.pack(">HHHBB", 0x1800 | COMMAND_APID, 0xC000 | count & 0x3FFF, len(body) + 1, 1, 0) + body)
    check = 0xFF
    for byte in packet:
        check ^= byte
    packet[7] = check
    return bytes(packet)


def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 1234
    answer = (sys.argv[2] if len(sys.argv) > 2 else "127.0.0.1", int(sys.argv[3]) if len(sys.argv) > 3 else 1235)
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.bind(("127.0.0.1" if answer[0].startswith("127.") else "", port))
    link.settimeout(float(os.environ.get("OBSW_IDLE", "60")))
    session, start, count = None, (), 0
    while True:
        try:
            packet = link.recv(1024)
        except socket.timeout:
            return
        s = read_sensors(packet)
        if s is None:
            continue
        if s["session"] != session:
            session, start = s["session"], s["q"]
        force = [MASS * RATE * v for v in s["client_velocity"]]
        torque = [INERTIA * RATE * w for w in s["client_angular_velocity"]]
        joint_torque = [2.0 * (q0 - q) - 0.5 * qd for q0, q, qd in zip(start, s["q"], s["qd"])]
        link.sendto(write_command(s, count, force, torque, joint_torque), answer)
        count += 1


if __name__ == "__main__":
    main()
