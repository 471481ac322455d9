"""ROS 2 messages from their definitions (ros2msg text) and CDR bytes (XCDR1, little endian), written from the specifications: OMG DDS-XTypes 1.3
7.4.3, and the .msg format. decode(schema, bytes) -> dict; every byte must be used up."""
import struct

BASIC = {"bool": "?", "byte": "B", "char": "B", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
         "int64": "q", "uint64": "Q", "float32": "f", "float64": "d"}


def parse(text):
    """The first type's fields, and those of the types below it: {"": [(type, array, name)], "geometry_msgs/Pose": ...}."""
    types, name = {"": []}, ""
    for line in text.split("\n"):
        line = line.split("#")[0].strip()
        if line.startswith("===="):
            continue
        if line.startswith("MSG: "):
            name = line[5:]
            types[name] = []
            continue
        words = line.split()
        if len(words) < 2 or "=" in line:
            continue
        kind, array = (words[0][:-2], True) if words[0].endswith("[]") else (words[0], False)
        types[name].append((kind, array, words[1]))
    return types


class Reader:
    def __init__(self, data):
        assert data[:4] == b"\0\1\0\0", data[:4]
        self.data, self.at = data[4:], 0

    def basic(self, code):
        size = struct.calcsize("<" + code)
        self.at += -self.at % size
        value, = struct.unpack_from("<" + code, self.data, self.at)
        self.at += size
        return value

    def value(self, types, kind):
        if kind in BASIC:
            return self.basic(BASIC[kind])
        if kind == "string":
            n = self.basic("I")
            text = self.data[self.at:self.at + n]
            assert len(text) == n and n > 0 and text[-1] == 0
            self.at += n
            return text[:-1].decode()
        fields = types[kind]
        out = {}
        for below, array, name in fields:
            out[name] = [self.value(types, below) for _ in range(self.basic("I"))] if array else self.value(types, below)
        return out


def decode(types, data, padding=0):
    """padding: [bytes] that DDS may have put behind it."""
    reader = Reader(data)
    out = reader.value(types, "")
    assert 0 <= len(reader.data) - reader.at <= padding, (reader.at, len(reader.data))
    return out
