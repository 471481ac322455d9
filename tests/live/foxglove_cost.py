#!/usr/bin/env python3
"""foxglove_cost.py FREEFLOAT SCENARIO SECONDS: what one Foxglove client, which subscribes to every topic of a paced run at 60 Hz, costs on the server: processor time of
its thread (/proc/PID/task/TID/schedstat), over the run's own time. Beside other work a thread waits longer and computes as much."""
import os, re, subprocess, sys, tempfile, time

freefloat, scenario, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])


def spent(pid):
    out = {}
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            name = open(f"/proc/{pid}/task/{task}/comm").read().strip()
            out[name] = out.get(name, 0.0) + 1e-9 * int(open(f"/proc/{pid}/task/{task}/schedstat").read().split()[0])
        except OSError:
            pass
    return out


with tempfile.TemporaryDirectory() as folder:
    run = subprocess.Popen([freefloat, "run", scenario, "--quiet", "--out", folder + "/o", "--log", "none", "--foxglove=127.0.0.1:0", "--set", f"time.duration={seconds + 30:g}"],
                           stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        url = next(m[1] for m in (re.match(r"foxglove (\S+)", line) for line in run.stderr) if m)
        sys.argv[1:] = [url, "foxglove.sdk.v1"]
        import foxglove_client

        client = foxglove_client.Client()
        topics = []
        while not topics:
            m = client.text(["advertise"])
            topics = [c["id"] for c in m["channels"]]
        client.say({"op": "subscribe", "subscriptions": [{"id": i, "channelId": c} for i, c in enumerate(topics)]})
        first = last = None
        before, messages, size = None, 0, 0
        while first is None or last - first < seconds:
            m = client.hear()
            assert m is not None, "closed"
            if isinstance(m, bytes) and m[0] == 1:
                last = 1e-9 * int.from_bytes(m[5:13], "little")
                if first is None:
                    first, before = last, spent(run.pid)
                messages, size = messages + 1, size + len(m)
        after = spent(run.pid)
        cost = (after["live"] - before["live"]) / (last - first)
        print(f"{len(topics)} topics, {messages / (last - first):.0f} messages and {1e-3 * size / (last - first):.0f} kB a second of the run: {100 * cost:.2f} % of a processor "
              f"(thread live), load {os.getloadavg()[0]:.0f}")
        sys.exit(cost > 0.05)
    finally:
        run.kill()
        run.wait()
