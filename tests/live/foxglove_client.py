"""A Foxglove client from the protocol's specification and RFC 6455, with nothing but Python's own library: Client, for the URL and the subprotocol of
the command line."""
import json, socket, struct, sys, time
from urllib.parse import urlparse

import cdr

url, subprotocol = urlparse(sys.argv[1]), sys.argv[2]
PATIENCE = 30  # [s] never reached on a healthy server


class Client:
    def __init__(self, query="", origin=None, protocol=subprotocol, host=None, small=False):
        self.socket = socket.socket()
        if small:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(PATIENCE)
        self.socket.connect((url.hostname, url.port))
        lines = [f"GET /?{query} HTTP/1.1", f"Host: {host or url.netloc}", "Upgrade: websocket", "Connection: Upgrade",
                 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"]
        lines += [f"Origin: {origin}"] if origin else []
        lines += [f"Sec-WebSocket-Protocol: {protocol}"] if protocol else []
        self.socket.sendall("\r\n".join(lines + ["", ""]).encode())
        self.head = b""
        try:
            while not self.head.endswith(b"\r\n\r\n"):
                one = self.socket.recv(1)
                if not one:
                    break
                self.head += one
        except ConnectionResetError:
            pass
        self.open = self.head.startswith(b"HTTP/1.1 101")
        if self.open:
            assert f"sec-websocket-protocol: {protocol}".lower() in self.head.decode().lower(), self.head
        self.texts, self.clock, self.topics, self.got = [], 0, {}, {}

    def take(self, n):
        out = b""
        while len(out) < n:
            part = self.socket.recv(n - len(out))
            if not part:
                raise EOFError
            out += part
        return out

    def hear(self):
        """The next message: str, bytes, or None when the server closes."""
        out, kind = b"", 0
        while True:
            try:
                first, second = self.take(2)
                n = second & 127
                n = struct.unpack(">H", self.take(2))[0] if n == 126 else struct.unpack(">Q", self.take(8))[0] if n == 127 else n
                out += self.take(n)
            except (EOFError, ConnectionResetError):
                return None
            kind = first & 15 or kind
            if kind == 8:
                return None
            if first & 128:
                return out.decode() if kind == 1 else out

    def say(self, message):
        text = json.dumps(message).encode() if isinstance(message, (dict, list)) else message
        binary = isinstance(message, bytes)
        n = len(text)
        size = bytes([128 | n]) if n < 126 else bytes([128 | 126]) + struct.pack(">H", n) if n < 65536 else bytes([255]) + struct.pack(">Q", n)
        self.socket.sendall(bytes([0x82 if binary else 0x81]) + size + b"\0\0\0\0" + (text if binary else text if isinstance(text, bytes) else text.encode()))

    def text(self, words):
        """The next JSON message of one of these ops; data is taken in meanwhile."""
        end = time.time() + PATIENCE
        while time.time() < end:
            m = self.hear()
            assert m is not None, f"closed while waiting for {words}"
            if isinstance(m, bytes):
                if m[0] == 3 and "response" in words:
                    return m
                self.data(m)
                continue
            m = json.loads(m)
            if m["op"] in words:
                return m
        raise AssertionError(f"no {words}")

    def greet(self):
        info, channels, services = (self.text([op]) for op in ("serverInfo", "advertise", "advertiseServices"))
        self.info, self.services = info, {s["name"]: s for s in services["services"]}
        self.channels = {c["id"]: c for c in channels["channels"]}
        self.types = {c["id"]: cdr.parse(c["schema"]) for c in channels["channels"]}
        return self

    def subscribe(self):
        self.say({"op": "subscribe", "subscriptions": [{"id": 1000 + i, "channelId": i} for i in self.channels]})
        return self

    def data(self, m):
        if m[0] == 2:
            clock, = struct.unpack_from("<Q", m, 1)
            assert clock >= self.clock
            self.clock = clock
            return
        assert m[0] == 1, m[:20]
        subscription, stamp = struct.unpack_from("<IQ", m, 1)
        channel = subscription - 1000
        if channel not in self.channels:  # of the flood below
            return
        topic, message = self.channels[channel]["topic"], cdr.decode(self.types[channel], m[13:])
        own = message.get("stamp") or message.get("clock") or message.get("header", {}).get("stamp")
        if own:
            assert own["sec"] * 10**9 + own["nanosec"] == stamp, (topic, own, stamp)
        self.topics[topic] = self.topics.get(topic, 0) + 1
        self.got[topic] = message

    def call(self, name, encoding="cdr", payload=b"\0\1\0\0\0"):
        self.say(struct.pack("<BIII", 2, self.services[name]["id"], 7, len(encoding)) + encoding.encode() + payload)
        m = self.text(["response", "serviceCallFailure"])
        if isinstance(m, dict):
            assert m["callId"] == 7 and m["serviceId"] == self.services[name]["id"]
            return None, m["message"]
        _, service, call, n = struct.unpack_from("<BIII", m)
        assert (service, call, m[13:13 + n].decode()) == (self.services[name]["id"], 7, encoding)
        answer = json.loads(m[13 + n:]) if encoding == "json" else cdr.decode(cdr.parse("bool success\nstring message\n"), m[13 + n:])
        return answer["success"], answer["message"]

    def parameters(self, names=(), request="q"):
        self.say({"op": "getParameters", "parameterNames": list(names), "id": request})
        m = self.text(["parameterValues"])
        assert m["id"] == request, m
        return {p["name"]: p["value"] for p in m["parameters"]}

    def set(self, name, value):
        """The value afterwards, and what was complained of."""
        self.say({"op": "setParameters", "parameters": [{"name": name, "value": value}], "id": "s"})
        m = self.text(["parameterValues", "status"])
        why = ""
        if m["op"] == "status":
            why, m = m["message"], None
            if "no such" in why:
                return None, why
        m = m or self.text(["parameterValues"])
        assert m["id"] == "s"
        return m["parameters"][0]["value"], why
