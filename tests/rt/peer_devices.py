"""A controller and a sensor of their own for freefloat rt: a robot that does what RKorr says one cycle later, and a
sensor with a page in other units. peer_devices.py RSI_PORT ATI_PORT HTTP_PORT WHAT FIRST_TELEGRAM
A cycle takes 4 ms, and as long as its answer does once answers come: nothing is late but what is called late here.
Prints what it saw as one line of JSON when it was asked to stop."""
import json, re, select, socket, struct, sys, threading, time

rsi_port, ati_port, http_port = map(int, sys.argv[1:4])
what = sys.argv[4]
first = {k: float(v) for k, v in re.findall(r'([XYZABC]|A[1-6])="([-0-9.]+)"', sys.argv[5])}
pounds = what == "pounds"
# 130 lbf and 400 lbf-in are 578 N and 45 N m
page = """<?xml version="1.0" encoding="UTF-8"?>
<netft>
<prodname>peer &amp; co</prodname>
<cfgcpf>%s</cfgcpf><cfgcpt>%s</cfgcpt>
<scfgfu>%s</scfgfu><scfgtu>%s</scfgtu>
<cfgmr>%s</cfgmr><comrdte>Enabled</comrdte><comrdtrate>500</comrdtrate><runstat>0x0</runstat>
</netft>
""" % (("4448221.6152605", "112984.8290276167", "lbf", "lbf-in", "130;130;400;400;400;400") if pounds else ("1000000", "1000000", "N", "N-m", "580;580;1160;20;20;20"))


def serve_page():
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", http_port))
    server.listen(4)
    kept = []
    while True:
        client, _ = server.accept()
        client.recv(1024)
        head = "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: %d\r\n\r\n" % len(page)
        client.sendall((head + page[:100]).encode())
        time.sleep(0.05)
        client.sendall(page[100:].encode())
        kept.append(client)  # keeps the connection open


threading.Thread(target=serve_page, daemon=True).start()
rsi = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
rsi.bind(("127.0.0.1", 0))
ati = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ati.bind(("127.0.0.1", ati_port))
ipoc, late, answered = 4294967000 if what == "large" else 1000, 0, True  # passes 2^32
rdt, ft = 0, 0xFFFFFF00  # wraps after 256 samples
offset, pending = [0.0] * 6, [0.0] * 6
seen = {"answers": 0, "late": 0, "starts": 0, "stop": False, "wrong": 0, "largest": 0.0}
client, started, deadline = None, 0, time.monotonic()
end = time.monotonic() + 40
if what == "empty":
    rsi.sendto(b"<Rob Type='KUKA'></Rob>", ("127.0.0.1", rsi_port))
while time.monotonic() < end and not seen["stop"]:
    deadline = max(deadline + 0.004, time.monotonic() + 0.001)
    pose = [first[k] + x for k, x in zip("XYZABC", offset)]
    text = '<Rob TYPE="KUKA">\r\n <Delay D="%d" />' % late
    text += "<AIPos %s/>" % " ".join("A%d='%.4f'" % (i + 1, first["A%d" % (i + 1)]) for i in range(6))
    text += "<Tech T1='0.0'/><RIst %s></RIst><IPOC>%d</IPOC></Rob>\r\n" % (" ".join('%s="%.6f"' % p for p in zip("XYZABC", pose)), ipoc)
    rsi.sendto(text.encode(), ("127.0.0.1", rsi_port))
    answered = False
    half = False
    got_it = not seen["answers"]  # nobody listens yet: no answer is waited for
    while (left := deadline - time.monotonic()) > 0 or (not got_it and time.monotonic() < end):
        if client and not half and left < 0.002:  # two records a cycle
            half = True
            rdt, ft = (rdt + 1) % 2**32, (ft + 1) % 2**32
            ati.sendto(struct.pack(">III6i", rdt, ft, 0, 3 + ft % 2, -2, ft % 3, 1, ft % 2, 0), client)
        for s in select.select([rsi, ati], [], [], max(0, left - (0 if half else 0.002)) if left > 0 else 1)[0]:
            data, where = s.recvfrom(2048)
            if s is ati:
                header, command, count = struct.unpack(">HHI", data[:8])
                assert header == 0x1234 and len(data) == 8
                if command == 2 and what == "deaf" and started < 2:
                    started += 1  # a start that is lost
                elif command == 2:
                    client, rdt = where, 0xFFFFFFF0 if what == "wrap" else 0
                    seen["starts"] += 1
                elif command == 0:
                    client = None
                continue
            text = data.decode("ascii")
            got = int(re.search(r"<IPOC>(\d+)</IPOC>", text)[1])
            if got != ipoc or not text.startswith('<Sen Type="ImFree">'):
                seen["wrong"] += seen["answers"] > 0
                continue
            got_it = True
            if client and what == "late" and seen["answers"] % 100 == 99 and "<Stop>" not in text:
                seen["answers"] += 1
                continue  # this answer came too late, the controller says
            answered = True
            seen["answers"] += 1
            seen["stop"] = seen["stop"] or "<Stop>1</Stop>" in text
            values = dict(re.findall(r'([XYZABC])="([-0-9.]+)"', text))
            pending = [float(values[k]) for k in "XYZABC"]
            seen["largest"] = max(seen["largest"], *map(abs, pending[:3]))
    if client:
        rdt, ft = (rdt + 1) % 2**32, (ft + 1) % 2**32
        ati.sendto(struct.pack(">III6i", rdt, ft, 0, 3 + ft % 2, -2, ft % 3, 1, ft % 2, 0), client)
    if seen["answers"]:
        late += not answered
    offset = pending
    ipoc += 4
seen["late"] = late
print(json.dumps(seen))
