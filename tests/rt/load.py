#!/usr/bin/env python3
"""load.py FREEFLOAT SCENARIO RSI ATI HTTP SECONDS SLICES VIEWERS HOSTILE [PEER]: one 1 kHz rt run with a live page, in turn SECONDS without and with a
crowd on the page, SLICES times with it (0: until the whole crowd is there and some orders were answered, no figures), and what the crowd costs. For each slice the p99 of the cycle, from
the wake-up's time to the answer sent (of every cycle, from log.mcap); its ratio to the mean of the slices before and behind it, of which the
median is judged: what else the computer does meets both. And how long the operator waits for the answer to an order: the slowest of each slice.
Some of the crowd are hostile: they never read, send what is too large, say nothing, ask for HTTP/2.
With PEER (live/ros_peer.cpp, Fast DDS) the crowd are reliable readers of the run's ROS 2 topics, one process each; the hostile ones are stopped once they read."""
import json, multiprocessing, os, selectors, signal, socket, struct, subprocess, sys, tempfile, threading, time

freefloat, scenario = sys.argv[1:3]
rsi, ati, http = map(int, sys.argv[3:6])
seconds = float(sys.argv[6])
slices, viewers, hostile = map(int, sys.argv[7:10])
peer = sys.argv[10] if len(sys.argv) > 10 else None
domain = 100 + os.getpid() % 100
total = seconds * (2 * slices + 1) + 1 if slices else 600
bear = 10 if slices else 100  # [s] nothing is late before: without figures it may take as long as a busy machine likes
PORTS = ["--rsi-port", str(rsi), "--ati-port", str(ati), "--http-port", str(http)]
SETS = ["--set", "time.cycle=0.001", "--set", "time.duration=%g" % total, "--set", "satellites.body.velocity=[0.0001,0,0]",
        "--set", "satellites.body.check.push=skip"]
CALM = ["--set", "satellites.body.safety.missed=%d" % (200 * bear), "--set", "satellites.body.safety.age=%g" % (0.2 * bear), "--silence", "%g" % (0.5 * bear)]


def request(port, path="/", more=b""):
    host = b"127.0.0.1:%d" % port
    return (b"GET %s HTTP/1.1\r\nHost: %s\r\nOrigin: http://%s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: freefloat\r\n%s\r\n" % (path.encode(), host, host, more))


def dial(port, small=False):
    s = socket.socket()
    if small:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(bear)
    s.connect(("127.0.0.1", port))
    return s


class Crowd(multiprocessing.Process):
    """Viewers that read all that comes, and hostile ones; those that are thrown out come back. A process of its own: what it does keeps the
    operator from nothing."""

    def __init__(self, port, good, bad):
        super().__init__(daemon=True)
        self.port, self.good, self.bad = port, good, bad
        self.end, self.visits, self.there = multiprocessing.Event(), multiprocessing.Value("i", 0), multiprocessing.Value("i", 0)

    def enter(self, kind):
        s = dial(self.port, kind == "slow")
        s.setblocking(False)
        try:
            if kind in ("viewer", "slow"):
                s.send(request(self.port))
            elif kind == "giant":
                s.send(request(self.port) + b"\x81\xff" + struct.pack(">Q", 1 << 40) + b"\0" * 65536)
            elif kind == "h2c":
                s.send(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"
                       b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" % self.port)
        except OSError:
            pass
        self.visits.value += 1
        self.select.register(s, selectors.EVENT_READ if kind != "slow" else selectors.EVENT_WRITE, kind)

    def run(self):
        os.sched_setaffinity(0, set(cpus[:-1]) or set(cpus))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        before_others()
        self.select = selectors.DefaultSelector()
        kinds = ["viewer"] * self.good + [("slow", "giant", "silent", "h2c")[i % 4] for i in range(self.bad)]
        for k in kinds:
            self.enter(k)
            self.there.value += 1
        while not self.end.is_set():
            again = []
            for key, _ in self.select.select(0.1):
                if key.data == "slow":  # asks on and on, and reads nothing
                    try:
                        key.fileobj.send(b"\x81\x86\0\0\0\0" + b"1 none")
                    except BlockingIOError:
                        pass
                    except OSError:
                        again.append(key)
                    continue
                try:
                    got = key.fileobj.recv(1 << 16)
                except BlockingIOError:
                    continue
                except OSError:
                    got = b""
                if not got:
                    again.append(key)
            for key in again:
                self.select.unregister(key.fileobj)
                key.fileobj.close()
                if not self.end.is_set():
                    try:
                        self.enter(key.data)
                    except OSError:
                        pass
            time.sleep(0.01)
        for key in list(self.select.get_map().values()):
            key.fileobj.close()


class Readers:
    """The same on ROS 2's topics."""
    TOPICS = [("tf", "tf2_msgs::msg::dds_::TFMessage_"), ("joint_states", "sensor_msgs::msg::dds_::JointState_"),
              ("body/pose", "geometry_msgs::msg::dds_::PoseStamped_"), ("body/energy", "freefloat_msgs::msg::dds_::Energy_")]

    def __init__(self, good, bad):
        self.good, self.bad, self.readers = good, bad, []
        self.end, self.visits, self.there = threading.Event(), multiprocessing.Value("i", 0), multiprocessing.Value("i", 0)

    def start(self):
        for i in range(self.good + self.bad):
            p = subprocess.Popen([peer, str(domain)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=elsewhere)
            p.stdin.write("".join("take rt/%s %s r\n" % t for t in self.TOPICS))
            p.stdin.flush()
            self.readers.append(p)
            threading.Thread(target=self.meet, args=(p, i >= self.good), daemon=True).start()

    def meet(self, p, bad):
        for _ in self.TOPICS:
            if not p.stdout.readline().startswith("matched"):
                return
        if bad:
            p.send_signal(signal.SIGSTOP)
        with self.there.get_lock():
            self.there.value += 1
        self.visits.value = self.there.value

    def join(self, _):
        """They take their leave: to one that is killed DDS sends until its lease ends, 20 s later, and that is the slice that shall be without them."""
        for p in self.readers:
            p.send_signal(signal.SIGCONT)
            p.stdin.close()
        for p in self.readers:
            try:
                p.wait(5)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()


class Operator:
    """One viewer with the token: sends an order and waits for its answer."""

    def __init__(self, port, token):
        self.token, self.s, self.left = token, dial(port), b""
        self.s.send(request(port, "/?token=" + token))
        while b"\r\n\r\n" not in self.left:
            self.left += self.s.recv(4096)
        self.left = self.left.split(b"\r\n\r\n", 1)[1]
        self.ahead = float("inf")  # [s] of our clock before the run's, as the quickest event shows it
        self.parameter = json.loads(self.text("hello"))["parameters"][0]

    def need(self, n):
        while len(self.left) < n:
            got = self.s.recv(1 << 16)
            if not got:
                raise SystemExit("the operator was thrown out")
            self.left += got
        out, self.left = self.left[:n], self.left[n:]
        return out

    def message(self):
        head = self.need(2)
        n = head[1] & 127
        if n >= 126:
            n = int.from_bytes(self.need(2 if n == 126 else 8), "big")
        return head[0] & 15, self.need(n)

    def text(self, word):
        while True:
            kind, body = self.message()
            if kind == 1 and b'"event"' in body and b'"t":' in body:
                t = json.loads(body).get("t")
                self.ahead = min(self.ahead, time.monotonic() - t) if t and t > 0 else self.ahead
            if kind == 1 and word.encode() in body:
                return body

    def order(self, number):
        line = b"%d set %s %.9g token=%s" % (number, self.parameter["name"].encode(), self.parameter["value"], self.token.encode())
        begun = time.monotonic()
        self.s.send(bytes([0x81, 0x80 | len(line)]) + b"\0\0\0\0" + line if len(line) < 126 else b"\x81\xfe" + struct.pack(">H", len(line)) + b"\0\0\0\0" + line)
        while True:
            answer = json.loads(self.text("answer"))
            if answer.get("id") == number:
                return time.monotonic() - begun, answer


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))]


def as_a_controller():
    """The facility stands for a robot's controller, the operator sits at another computer: nothing here delays them, and they keep off the loop's processor."""
    os.sched_setaffinity(0, set(cpus[:-1]) or set(cpus))
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    except OSError:
        pass


def elsewhere():
    os.sched_setaffinity(0, set(cpus[:-1]) or set(cpus))
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def before_others():
    """What else the computer does waits, where we may ask for that: these figures are of the program, not of the other work. The kernel shares
    its time among sessions first (autogroup), so each side is one of its own, and the viewers take nothing that the server would have."""
    if not slices:
        return
    try:
        os.setsid()
        os.setpriority(os.PRIO_PROCESS, 0, -15)
        with open("/proc/self/autogroup", "w") as group:
            group.write("-15")
    except OSError:
        pass


def anywhere():
    os.sched_setaffinity(0, cpus)
    before_others()


def timing(path):
    """[s, s]: when, and how long from the wake-up's time to the answer, of each cycle; of a log.mcap whose chunks are plain (mcap.dev/spec)."""
    data, topics, found = open(path, "rb").read(), {}, []

    def records(at, end):
        while at + 9 <= end:
            kind, n = data[at], struct.unpack_from("<Q", data, at + 1)[0]
            body, at = at + 9, at + 9 + n
            if kind == 6:  # chunk: times, size, checksum, compression
                n = struct.unpack_from("<I", data, body + 28)[0]
                records(body + 32 + n + 8, at)
            elif kind == 4:  # channel: id, schema, topic
                n = struct.unpack_from("<I", data, body + 4)[0]
                topics[struct.unpack_from("<H", data, body)[0]] = data[body + 8:body + 8 + n].decode()
            elif kind == 5 and topics[struct.unpack_from("<H", data, body)[0]] == "/timing":
                cycle, late, compute, io = struct.unpack_from("<Qddd", data, body + 22 + 4 + 8)
                found.append((0.001 * cycle, late + compute + io))

    records(8, len(data))
    return found


def served(pid):
    """[s] of processor time of the server so far: the thread `live` or `ros` of the run."""
    for task in os.listdir("/proc/%d/task" % pid):
        try:
            if open("/proc/%d/task/%s/comm" % (pid, task)).read() == ("ros\n" if peer else "live\n"):
                return 1e-9 * int(open("/proc/%d/task/%s/schedstat" % (pid, task)).read().split()[0])
        except OSError:
            pass
    return 0.0


class Slice:
    def __init__(self, crowded):
        self.crowded, self.waits, self.begun, self.ended, self.cost = crowded, [], None, None, 0.0


def attend(operator, port, pid, until, piece, number):
    """One slice: orders, and who is there. It counts while the whole crowd is there, or nobody of the one before."""
    crowd = (Readers(viewers - hostile, hostile) if peer else Crowd(port, viewers - hostile, hostile)) if piece.crowded else None
    if crowd:
        crowd.start()
    calm = time.monotonic() + 0.1 * seconds
    while time.monotonic() < until and (slices or len(piece.waits) < 5):
        number += 1
        wait, _ = operator.order(number)
        if crowd.there.value == viewers if crowd else time.monotonic() > calm:
            if not piece.begun:
                piece.begun, piece.cost = time.monotonic(), served(pid)
            piece.waits.append(wait)
        time.sleep(0.05)
    piece.ended = time.monotonic()
    piece.cost = (served(pid) - piece.cost) / (piece.ended - piece.begun) if piece.begun else 0.0
    if crowd:
        crowd.end.set()
        crowd.join(10)
        piece.visits = crowd.visits.value
    return number


def enter(port, token):
    for tries in range(50):  # as its page does: a rush of others may take the place of who has not yet said anything
        try:
            return Operator(port, token)
        except OSError:
            time.sleep(0.1)
    sys.exit("the operator does not get in")


def one(pieces):
    """The run with these slices; its timing and by how much our clock is ahead of its."""
    with tempfile.TemporaryDirectory() as folder:
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        facility = subprocess.Popen([freefloat, "facility", scenario, "--once", "--timeout", "%d" % (500 * bear)] + PORTS + SETS, stderr=subprocess.DEVNULL,
                                    preexec_fn=as_a_controller, **quiet)
        rt = subprocess.Popen([freefloat, "rt", scenario, "--arm", "--out", folder + "/o", "--log", "mcap-plain", "--live", "127.0.0.1:0", "--control"] + (["--ros=127.0.0.1:%d" % domain] if peer else []) + PORTS + SETS + CALM,
                              stderr=subprocess.PIPE, preexec_fn=anywhere, **quiet)
        try:
            line = rt.stderr.readline().decode()
            while line and "#token=" not in line:
                line = rt.stderr.readline().decode()
            port, token = int(line.split(":")[2].split("/")[0]), line.split("token=")[1].strip()
            rest = []
            threading.Thread(target=lambda: rest.extend(rt.stderr.readlines()), daemon=True).start()
            as_a_controller()
            operator, number = enter(port, token), 0
            while operator.ahead > time.monotonic():  # the robots come to their start first
                number += 1
                operator.order(number)
                time.sleep(0.05)
            begun = time.monotonic()
            try:
                for i, piece in enumerate(pieces):
                    number = attend(operator, port, rt.pid, begun + (i + 1) * (seconds if slices else bear), piece, number)
            except (OSError, SystemExit) as e:
                if rt.poll() is None and time.monotonic() - begun < total - 1.5:
                    sys.exit("the operator: %s" % e)
            operator.s.close()  # a page that stands after a fault would wait for us
            if not slices:
                rt.send_signal(signal.SIGINT)
            status = rt.wait(timeout=60 + total)
            if status != (0 if slices else 1):  # cut short
                sys.exit("rt ended with %d: %s" % (status, b"".join(rest).decode()))
        finally:
            facility.kill()
            facility.wait()
            rt.kill()
            rt.wait()
        return timing(folder + "/o/log.mcap"), operator.ahead


# The viewers stand for other computers: their own work is kept off the loop's processor.
cpus = sorted(os.sched_getaffinity(0))
multiprocessing.set_start_method("fork")
pieces = [Slice(i % 2 == 1) for i in range(2 * slices + 1)] if slices else [Slice(True)]
cycles, ahead = one(pieces)
os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
for p in pieces:
    p.times = [d for t, d in cycles if p.begun and p.begun - ahead <= t <= p.ended - ahead]
    if p.times and p.waits:
        p.p99, p.slowest = 1e6 * quantile(p.times, 0.99), 1e3 * max(p.waits)
        print("%s: p99 of %d cycles %.0f us; slowest of %d orders %.0f ms; server %.1f %% of a processor%s; load %.1f" % ("crowd" if p.crowded else "alone", len(p.times), p.p99, len(p.waits),
              p.slowest, 100 * p.cost, ", %d visits" % p.visits if p.crowded else "", os.getloadavg()[0]), flush=True)
if not slices:
    sys.exit(0 if len(pieces[0].waits) >= 5 and pieces[0].times else 1)
whole = [i for i in range(1, len(pieces), 2) if all(pieces[k].times and pieces[k].waits for k in (i - 1, i, i + 1))]
if len(whole) < (slices + 1) // 2:
    sys.exit("in %d of %d slices alone was the whole crowd there: longer slices are needed" % (len(whole), slices))
ratios = [2 * pieces[i].p99 / (pieces[i - 1].p99 + pieces[i + 1].p99) for i in whole]
slowest = {c: quantile([p.slowest for p in pieces if p.times and p.waits and p.crowded == c], 0.5) for c in (False, True)}
waits = {c: [w for p in pieces if p.crowded == c for w in p.waits] for c in (False, True)}
print("p99 of the cycle beside the crowd over that alone: median of %d slices %.2f (quartiles %.2f and %.2f)" %
      (len(ratios), quantile(ratios, 0.5), quantile(ratios, 0.25), quantile(ratios, 0.75)))
for c in (True, False):
    print("orders %s: slowest of a slice, median %.0f ms; slowest of all %d %.0f ms, %d beyond 100 ms" %
          ("beside the crowd" if c else "alone", slowest[c], len(waits[c]), 1e3 * max(waits[c]), sum(w > 0.1 for w in waits[c])))
sys.exit(0 if quantile(ratios, 0.5) <= 1.1 and slowest[True] <= 100 else 1)
