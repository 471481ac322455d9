"""Compares a MATLAB file of version 5 with the CSV of the same log, number by number: mat.py FILE.mat FILE.csv
Names must be MATLAB's: 63 characters, letters, digits, underscores, a letter first, none of them twice."""
import csv, re, struct, sys

data = open(sys.argv[1], "rb").read()
rows = list(csv.reader(open(sys.argv[2], newline="", encoding="latin-1")))  # a character a byte
titles, rows = rows[0], rows[1:]
assert data[:6] == b"MATLAB" and struct.unpack_from("<H", data, 124)[0] == 0x0100 and data[126:128] == b"IM"


def element(at):  # type, bytes, next
    kind, size = struct.unpack_from("<II", data, at)
    if kind >> 16:  # small: both in one word
        return kind & 0xFFFF, data[at + 4 : at + 4 + (kind >> 16)], at + 8
    return kind, data[at + 8 : at + 8 + size], at + 8 + (size + 7) // 8 * 8


variables, at = [], 128
while at < len(data):
    kind, size = struct.unpack_from("<II", data, at)
    assert kind == 14 and at + 8 + size <= len(data), "no whole matrix at %d" % at
    end, at = at + 8 + size, at + 8
    kind, flags, at = element(at)
    assert kind == 6 and flags[0] == 6  # double, real
    _, shape, at = element(at)
    _, name, at = element(at)
    kind, numbers, at = element(at)
    assert kind == 9 and at == end
    count, width = struct.unpack("<ii", shape)
    assert width == 1 and len(numbers) == 8 * count
    variables.append((name.decode(), struct.unpack("<%dd" % count, numbers)))
names = [name for name, _ in variables]
for name in names:
    assert re.fullmatch("[A-Za-z][A-Za-z0-9_]{0,62}", name), name
assert len(set(names)) == len(names), sorted(n for n in set(names) if names.count(n) > 1)
assert len(names) == len(titles)
for column, (name, numbers) in enumerate(variables):
    assert len(numbers) == len(rows)
    for row, number in zip(rows, numbers):
        text = row[column]
        assert number != number if text == "" else float(text) == number, (name, text, number)
for title, name in zip(titles, names):  # the end says what it is
    plain = re.sub(r"[^A-Za-z0-9]", "_", re.sub(r" \[[^.]*\]$", "", title))[-20:]
    assert name.endswith(plain) or re.sub(r"_\d+$", "", name).endswith(plain), (title, name)
print("%d variables, %d rows" % (len(names), len(rows)))
