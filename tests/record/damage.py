"""Changes the last bit of one number in a log.mcap and makes every checksum right again.
damage.py IN OUT TOPIC COLUMN CYCLE"""
import struct, sys, zlib

source, target, topic, column, cycle = sys.argv[1:5] + [int(sys.argv[5])]
data = bytearray(open(source, "rb").read())
channels = {}  # id: (topic, columns)


def text(at):
    n = struct.unpack_from("<I", data, at)[0]
    return data[at + 4 : at + 4 + n].decode(), at + 4 + n


def read_channel(at):
    number, _ = struct.unpack_from("<HH", data, at)
    name, at = text(at + 4)
    _, at = text(at)
    end = at + 4 + struct.unpack_from("<I", data, at)[0]
    at += 4
    pairs = {}
    while at < end:
        key, at = text(at)
        pairs[key], at = text(at)
    channels[number] = (name, pairs.get("columns", "").split(","))


def records(at, end):
    while at + 9 <= end:
        code, length = struct.unpack_from("<BQ", data, at)
        yield code, at + 9, length
        at += 9 + length


done = 0
for code, at, length in records(8, len(data) - 8):
    if code == 0x04:
        read_channel(at)
    if code == 0x06:
        _, after = text(at + 28)
        size = struct.unpack_from("<Q", data, after)[0]
        first = after + 8
        hit = False
        for inner, start, _ in records(first, first + size):
            if inner == 0x04:
                read_channel(start)
            if inner != 0x05:
                continue
            name, columns = channels[struct.unpack_from("<H", data, start)[0]]
            cdr = start + 22 + 4
            if name == topic and struct.unpack_from("<Q", data, cdr + 8)[0] == cycle:
                data[cdr + 24 + 8 * columns.index(column)] ^= 1
                hit = True
                done += 1
        if hit:
            struct.pack_into("<I", data, at + 24, zlib.crc32(data[first : first + size]))
    if code == 0x0F:
        struct.pack_into("<I", data, at, zlib.crc32(data[: at - 9]))
assert done == 1, done
open(target, "wb").write(data)
