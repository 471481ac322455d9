#!/usr/bin/env python3
"""ros_loss.py FREEFLOAT SCENARIO PEER SECONDS BUSY: joint states at 1 kHz from a paced run with --ros to a reliable reader of another vendor, beside one that
stands still (stopped and continued, then stopped for good) and BUSY programs that do nothing but compute. Every cycle's stamp must come, once, in order."""
import random, signal, struct, subprocess, sys, threading, time

freefloat, scenario, peer, seconds, busy = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), int(sys.argv[5])
domain = str(random.randrange(100, 200))
TYPE = "sensor_msgs::msg::dds_::JointState_"


def reader():
    p = subprocess.Popen([peer, domain], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    p.stdin.write(f"read rt/joint_states {TYPE} r\n")
    p.stdin.flush()
    return p


hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
good, bad = reader(), reader()
run = subprocess.Popen([freefloat, "run", scenario, "--quiet", "--force", "--out", "loss", "--log", "none", "--ros=127.0.0.1:" + domain,
                        "--set", "time.cycle=0.001", "--set", f"time.duration={seconds + 60:g}"], stdout=subprocess.DEVNULL)
threading.Thread(target=lambda: (run.wait(), time.sleep(5), good.kill()), daemon=True).start()  # a run that ended has said all
try:
    stamps, began, stopped = [], None, False
    for line in good.stdout:
        name, rest = line.split()
        if name in ("matched", "refused"):
            continue
        sec, nanosec = struct.unpack_from("<iI", bytes.fromhex(rest[:24]), 4)
        stamps.append(sec * 1000 + round(nanosec / 1e6))
        if not stopped and len(stamps) > 500:
            bad.send_signal(signal.SIGSTOP)
            stopped = True
        if stamps[-1] - stamps[0] >= 1000 * seconds:
            break
    assert len(stamps) > 1, "nothing came"
    missing = stamps[-1] - stamps[0] + 1 - len(stamps)
    assert stopped and all(b > a for a, b in zip(stamps, stamps[1:])), "out of order, or too few"
    print(f"{len(stamps)} joint states in {1e-3 * (stamps[-1] - stamps[0]):g} s of {seconds:g} beside {busy} busy programs and a reader that stands still: {missing} missing, largest gap {max(b - a for a, b in zip(stamps, stamps[1:]))} ms")
    sys.exit(missing != 0 or stamps[-1] - stamps[0] < 1000 * seconds)
finally:
    bad.send_signal(signal.SIGCONT)
    for p in [run, good, bad] + hogs:
        p.kill()
        p.wait()
