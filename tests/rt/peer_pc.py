"""A PC of its own against freefloat facility: answers RSI, asks RDT and the page, by the vendors' texts alone.
peer_pc.py RSI_PORT ATI_PORT HTTP_PORT absolute|relative SECONDS"""
import re, socket, struct, sys, time, urllib.request

rsi_port, ati_port, http_port = map(int, sys.argv[1:4])
relative = sys.argv[4] == "relative"
rsi = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
rsi.bind(("127.0.0.1", rsi_port))
rsi.settimeout(2)


def telegram():
    data, where = rsi.recvfrom(2048)
    text = data.decode("ascii")
    assert text.startswith("<Rob ") and text.endswith("</Rob>") and len(data) < 1024, text
    ipoc = int(re.search(r"<IPOC>(\d+)</IPOC>", text)[1])
    late = int(re.search(r'<Delay D="(\d+)"/>', text)[1])
    axes = [float(re.search(r'A%d="([-0-9.]+)"' % (i + 1), text)[1]) for i in range(6)]
    return ipoc, late, axes, where


def answer(where, ipoc, a1, kind="ImFree", more=""):
    text = '<Sen Type="%s">%s<AK A1="%.6f" A2="0" A3="0" A4="0" A5="0" A6="0"/><IPOC>%d</IPOC></Sen>' % (kind, more, a1, ipoc)
    rsi.sendto(text.encode(), where)


class Controller:
    """Answers; keeps what the controller must count."""

    def __init__(self):
        self.ipoc, self.late, self.axes, self.where = telegram()
        self.first = self.axes

    def next(self, expected_late):
        ipoc, self.late, self.axes, self.where = telegram()
        assert ipoc > self.ipoc and (ipoc - self.ipoc) % 4 == 0
        jump, self.ipoc = (ipoc - self.ipoc) // 4, ipoc
        # a busy machine may be late by itself: then nothing is proved, it is said, and this is played again
        if jump != 1 or self.late != expected_late:
            raise RuntimeError("jump %d, Delay %d, not %d" % (jump, self.late, expected_late))

    def turned(self):
        return self.axes[0] - self.first[0]


def fresh():
    """A controller that has just begun: its first answered telegram is met."""
    while True:
        try:  # leftovers
            rsi.setblocking(False)
            while True:
                rsi.recv(2048)
        except BlockingIOError:
            rsi.settimeout(2)
            break
    # what was played before counts its late answers up to Timeout: then a new count begins
    for _ in range(4):
        if (c := Controller()).late:
            break
    while c.late:
        c = Controller()
    answer(c.where, c.ipoc, 0)
    return c


def hold(c, value, cycles, late):
    for _ in range(cycles):
        c.next(late)
        answer(c.where, c.ipoc, 0 if relative else value)


STEP = 0.02  # [deg]


def move(c, steps, late):
    """A1 turns by so many steps, after the robot's delay."""
    for n in range(steps):
        c.next(late)
        answer(c.where, c.ipoc, STEP if relative else (n + 1) * STEP)
    return steps * STEP


def where(c, total):
    assert abs(c.turned() - total) < 2e-6, c.turned()


def stays():
    """A correction moves A1, and it stays there."""
    c = fresh()
    hold(c, 0, 5, 0)
    total = move(c, 8, 0)
    hold(c, total, 8, 0)
    where(c, total)


def wrong():
    """Lost, old, of another type, nonsense: each cycle counts as late, nothing moves."""
    c = fresh()
    total = move(c, 3, 0)
    hold(c, total, 3, 0)
    for n, kind in enumerate(["lost", "old", "type", "nonsense", "future"]):
        c.next(n)
        if kind == "old":
            answer(c.where, c.ipoc - 4, 3)
        elif kind == "type":
            answer(c.where, c.ipoc, 3, kind="Other")
        elif kind == "nonsense":
            rsi.sendto(b"<Sen Type='ImFree'><AK A1='1,5'/><IPOC>%d</IPOC></Sen>" % c.ipoc, c.where)
        elif kind == "future":
            answer(c.where, c.ipoc + 4, 3)
    c.next(5)
    answer(c.where, c.ipoc, 0 if relative else total)
    answer(c.where, c.ipoc, 1 if relative else total + 1)  # a second one: the first counts
    answer(c.where, c.ipoc - 4, 2)  # too late: it counted already
    hold(c, total, 8, 5)
    where(c, total)


def lost():
    """An increment that is lost is lost; an absolute correction is caught up."""
    c = fresh()
    total = move(c, 3, 0)
    c.next(0)
    c.next(1)
    answer(c.where, c.ipoc, STEP if relative else total + 2 * STEP)
    total += STEP if relative else 2 * STEP
    hold(c, total, 8, 1)
    where(c, total)


def timeout():
    """Ten late answers in a row end it; before, RSI continues as if nothing was."""
    c = fresh()
    for n in range(9):
        c.next(n)
    c.next(9)
    answer(c.where, c.ipoc, 0)
    for n in range(10):
        c.next(9 + n)
    ipoc, late, axes, c.where = telegram()  # RSI_ON again: a new count, a later IPOC
    assert late == 0 and ipoc > c.ipoc


def stop():
    """Stop ends it in order."""
    c = fresh()
    hold(c, 0, 5, 0)
    c.next(0)
    answer(c.where, c.ipoc, 0, more="<Stop>1</Stop>")
    ipoc, late, axes, c.where = telegram()
    if late == 1:
        raise RuntimeError("the answer with Stop was late")
    assert late == 0 and ipoc > c.ipoc


# Each is played until this interpreter was in time for all of its cycles: so many seconds, then on a slower controller
end = time.monotonic() + float(sys.argv[5])
for piece in (stays, wrong, lost, timeout, stop):
    while True:
        try:
            piece()
            break
        except (RuntimeError, socket.timeout) as why:
            print("%s, again: %s" % (piece.__name__, why), file=sys.stderr)
            if time.monotonic() > end:
                print("too busy for these cycles", file=sys.stderr)
                sys.exit(3)

# ---- the sensor
page = urllib.request.urlopen("http://127.0.0.1:%d/netftapi2.xml" % http_port, timeout=2).read().decode()
value = lambda key: re.search("<%s>(.*?)</%s>" % (key, key), page)[1]
assert float(value("cfgcpf")) > 0 and value("scfgfu") == "N" and value("scfgtu") in ("Nm", "N-m") and value("comrdte") == "Enabled"
try:
    urllib.request.urlopen("http://127.0.0.1:%d/other" % http_port, timeout=2)
    sys.exit("another page is there")
except urllib.error.HTTPError as error:
    assert error.code == 404


class Client:
    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(5)

    def ask(self, command, count=0, header=0x1234, more=b""):
        self.socket.sendto(struct.pack(">HHI", header, command, count) + more, ("127.0.0.1", ati_port))

    def record(self, records=1):
        data = self.socket.recv(2048)
        assert len(data) == 36 * records
        return struct.unpack(">III6i", data[:36])

    def silent(self):
        """Nothing comes for 0.1 s, after what was under way."""
        end = time.time() + 2
        self.socket.settimeout(0.1)
        while time.time() < end:
            try:
                self.socket.recv(2048)
            except socket.timeout:
                self.socket.settimeout(1)
                return True
        return False


one, two = Client(), Client()
one.ask(2)
seen = [one.record() for _ in range(20)]
assert [r[0] for r in seen] == list(range(1, 21)), seen
assert all(b[1] - a[1] == 1 for a, b in zip(seen, seen[1:])) and all(r[2] == 0 for r in seen)
one.ask(2, header=0x1235)  # not a request
one.ask(0x99)
assert one.record()[0] == 21
two.ask(2)  # takes the stream
assert two.record()[0] == 1 and one.silent()
sample = two.record()[1]
assert sample > seen[-1][1]  # the samples are the sensor's, not the stream's
two.ask(0x42)
assert any(two.record()[3:] == (0, 0, 0, 0, 0, 0) for _ in range(1000))  # nothing touches: the bias is the reading
two.ask(0)
assert two.silent()
one.ask(2, 5)  # five and no more
assert [one.record()[0] for _ in range(5)] == [1, 2, 3, 4, 5] and one.silent()
one.ask(3, 3)
assert [one.record()[0] for _ in range(3)] == [1, 2, 3] and one.silent()  # comrdtbsiz is 1
assert value("comrdtbsiz") == "1"
one.ask(0x8002, 2, more=struct.pack(">4BH", 127, 0, 0, 1, two.socket.getsockname()[1]))  # to another address
assert two.record()[0] == 1 and two.record()[0] == 2 and two.silent() and one.silent()
print("as it should be")
