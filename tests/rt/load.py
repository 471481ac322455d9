#!/usr/bin/env python3
"""load.py FREEFLOAT SCENARIO RSI ATI HTTP SECONDS PAIRS VIEWERS HOSTILE: a 1 kHz rt run with a live page, in turn without and with a crowd
on the page, and what the crowd costs (PAIRS 0: once with a crowd, no figures): the p99 of the cycle (computing, input and output) and of its wake-up, and how long the operator waits
for the answer to an order. Some of the crowd are hostile: they never read, send what is too large, say nothing, ask for HTTP/2."""
import base64, json, os, selectors, socket, struct, subprocess, sys, tempfile, threading, time

freefloat, scenario = sys.argv[1:3]
rsi, ati, http, seconds, pairs, viewers, hostile = map(int, sys.argv[3:10])
PORTS = ["--rsi-port", str(rsi), "--ati-port", str(ati), "--http-port", str(http)]
SETS = ["--set", "time.cycle=0.001", "--set", "time.duration=%d" % seconds, "--set", "satellites.body.velocity=[0.0001,0,0]"]
CALM = ["--set", "satellites.body.safety.missed=2000", "--set", "satellites.body.safety.age=2", "--silence", "5"]


def request(port, path="/", more=b""):
    host = b"127.0.0.1:%d" % port
    return (b"GET %s HTTP/1.1\r\nHost: %s\r\nOrigin: http://%s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: freefloat\r\n%s\r\n" % (path.encode(), host, host, more))


def dial(port, small=False):
    s = socket.socket()
    if small:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(10)
    s.connect(("127.0.0.1", port))
    return s


class Crowd(threading.Thread):
    """Viewers that read all that comes, and hostile ones; those that are thrown out come back."""

    def __init__(self, port, good, bad):
        super().__init__(daemon=True)
        self.port, self.good, self.bad, self.end, self.bytes, self.visits, self.there = port, good, bad, False, 0, 0, 0

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
        self.visits += 1
        self.select.register(s, selectors.EVENT_READ if kind != "slow" else selectors.EVENT_WRITE, kind)

    def run(self):
        os.sched_setaffinity(threading.get_native_id(), set(cpus[:-1]) or set(cpus))
        self.select = selectors.DefaultSelector()
        kinds = ["viewer"] * self.good + [("slow", "giant", "silent", "h2c")[i % 4] for i in range(self.bad)]
        for k in kinds:
            self.enter(k)
            self.there += 1
        while not self.end:
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
                self.bytes += len(got)
                if not got:
                    again.append(key)
            for key in again:
                self.select.unregister(key.fileobj)
                key.fileobj.close()
                if not self.end:
                    try:
                        self.enter(key.data)
                    except OSError:
                        pass
            time.sleep(0.01)
        for key in list(self.select.get_map().values()):
            key.fileobj.close()


class Operator:
    """One viewer with the token: sends an order and waits for its answer."""

    def __init__(self, port, token):
        self.token, self.s, self.left = token, dial(port), b""
        self.s.send(request(port, "/?token=" + token))
        while b"\r\n\r\n" not in self.left:
            self.left += self.s.recv(4096)
        self.left = self.left.split(b"\r\n\r\n", 1)[1]
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
    """The facility stands for a robot's controller: nothing here delays it."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    except OSError:
        pass


def one(crowded):
    with tempfile.TemporaryDirectory() as folder:
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        facility = subprocess.Popen([freefloat, "facility", scenario, "--once", "--timeout", "5000"] + PORTS + SETS, stderr=subprocess.DEVNULL,
                                    preexec_fn=as_a_controller, **quiet)
        rt = subprocess.Popen([freefloat, "rt", scenario, "--arm", "--out", folder + "/o", "--log", "none", "--live", "127.0.0.1:0", "--control"] + PORTS + SETS + CALM,
                              stderr=subprocess.PIPE, **quiet)
        try:
            line = rt.stderr.readline().decode()
            while line and "#token=" not in line:
                line = rt.stderr.readline().decode()
            port, token = int(line.split(":")[2].split("/")[0]), line.split("token=")[1].strip()
            rest = []
            threading.Thread(target=lambda: rest.extend(rt.stderr.readlines()), daemon=True).start()
            crowd = Crowd(port, viewers - hostile, hostile) if crowded else None
            if crowd:
                crowd.start()
            operator, tries, waits = None, 0, []
            while not operator:  # as its page does: a rush of others may take the place of who has not yet said anything
                tries += 1
                try:
                    operator = Operator(port, token)
                except OSError:
                    if tries == 50:
                        raise
                    time.sleep(0.1)
            begun = time.monotonic()
            for n in range(1, 4 * seconds):
                try:
                    wait, answer = operator.order(n)
                except (OSError, SystemExit) as e:
                    if rt.poll() is None and time.monotonic() - begun < seconds - 1:
                        sys.exit("the operator: %s" % e)
                    break
                if not crowd or crowd.there == viewers:
                    waits.append(wait)
                time.sleep(0.2)
            status = rt.wait(timeout=60)
            if crowd:
                crowd.end = True
                crowd.join(10)
                print("  crowd: %d there, %d visits, %.1f MB read" % (crowd.there, crowd.visits, 1e-6 * crowd.bytes))
            if status != 0:
                sys.exit("rt ended with %d: %s" % (status, b"".join(rest).decode()))
        finally:
            facility.kill()
            facility.wait()
            rt.kill()
            rt.wait()
        times = json.load(open(folder + "/o/summary.json"))["real_time"]
        wake, work = times["wake_up_p99_us"], times["compute_p99_us"] + times["input_output_p99_us"]
        return {"wake": wake, "work": work, "order": 1e3 * max(waits or [0]), "orders": len(waits), "missed": times["missed_cycles"], "tries": tries}


# The viewers stand for other computers: their own work is kept off the loop's processor.
cpus = sorted(os.sched_getaffinity(0))
found = {False: [], True: []}
for _ in range(max(pairs, 1)):
    for crowded in (False, True)[not pairs:]:
        r = one(crowded)
        found[crowded].append(r)
        print("%s: p99 of the wake-up %.0f us, of computing and input and output %.0f us; slowest of %d orders %.0f ms, in after %d tries; %d cycles missed; load %.1f" %
              ("crowd" if crowded else "alone", r["wake"], r["work"], r["orders"], r["order"], r["tries"], r["missed"], os.getloadavg()[0]), flush=True)
slowest = max(r["order"] for r in found[True])
if not pairs:  # a busy machine: no figures
    sys.exit(0 if found[True][0]["orders"] and slowest < 5000 else 1)
cycle = {c: quantile([r["wake"] + r["work"] for r in found[c]], 0.5) for c in found}
print("from the wake-up's time to the answer sent, p99, median of %d: %.0f us alone, %.0f us beside the crowd: %.2f times; slowest order %.0f ms" %
      (pairs, cycle[False], cycle[True], cycle[True] / cycle[False], slowest))
sys.exit(0 if cycle[True] <= 1.1 * cycle[False] and slowest <= 100 else 1)
