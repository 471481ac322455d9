#!/usr/bin/env python3
"""crash.py FREEFLOAT LIBRARY SCENARIO COUNT SECONDS SEED [ONLY]: ends or disturbs commands, or cuts the power, at the n-th call that changes a file, at the n-th
allocation (crash.c) or on a disk with n pages left, and looks at what is left. COUNT 0: all of them, in random order, for at most SECONDS;
ONLY: those whose name holds it ("given, fail:12", ", cut:"). What is seen must be one whole run, the former or the new one, or be recognised as
neither; a command that says done has done it; one that fails says why; what is continued gives the same tables."""
import fcntl, hashlib, json, os, random, shutil, socket, subprocess, sys, time

freefloat, library, scenario, count, seconds, seed = sys.argv[1:4] + [int(a) for a in sys.argv[4:7]]
draw = random.Random(seed)
failures = 0
said = b""  # by the last command, to its standard output
home = os.getcwd()
SHORT = ["--set", "time.duration=0.05", "--quiet"]
PAGE = 4096


def call(words, crash=None, counted=None):
    env = dict(os.environ, FF_CRASH=crash or "count:0", LD_PRELOAD=library)
    if counted:
        env["FF_CRASH_COUNT"] = counted
    global said
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    p = subprocess.run([freefloat] + words, env=env if crash or counted else None, timeout=60, **quiet)
    said = p.stdout
    return p.returncode, p.stderr.decode(errors="replace")


def fail(why):
    global failures
    failures += 1
    print("FAIL:", why[:400], flush=True)


def ports():
    """Three ports of a block that no other test holds (tests/rt/ports.h)."""
    folder = os.path.join(os.environ.get("FF_PORTS", "/tmp"), "ff-test-ports")
    os.makedirs(folder, exist_ok=True)
    while True:
        block = random.randrange(725)
        held = open("%s/%d" % (folder, block), "a")
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for p in (0, 10):
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                    s.bind(("127.0.0.1", 10240 + 30 * block + p))
            return held, [w for i, o in enumerate(("--rsi-port", "--ati-port", "--http-port")) for w in (o, str(10240 + 30 * block + 10 * i))]
        except OSError:
            held.close()


def whole(folder):
    """The manifest of a complete run whose files are what it says; None: no complete run; a text: something is wrong."""
    try:
        m = json.load(open(folder + "/manifest.json"))
    except FileNotFoundError:
        return None
    except ValueError:
        return "its manifest cannot be read"
    if m["state"] != "complete":
        return None
    for name, digest in m["results"].items():
        try:
            found = hashlib.sha256(open(folder + "/" + name, "rb").read()).hexdigest()
        except OSError as e:
            return "%s: %s" % (name, e)
        if found != digest:
            return "%s is not what its manifest says" % name
    there = {os.path.relpath(os.path.join(d, f), folder) for d, _, files in os.walk(folder) for f in files}
    more = {f for f in there if not any(p.startswith(".freefloat.") for p in f.split("/"))} - set(m["results"]) - {"manifest.json", "mine"}
    if more:
        return "files beside those of the run: %s" % sorted(more)
    return m


def ended(what, status, message):
    """Every end is one of those that are promised."""
    if status in (1, 2) and not message.strip():
        fail("%s: exit status %d without a word" % (what, status))
    if status not in (0, 1, 2, -9):
        fail("%s: ended by signal or status %d: %s" % (what, status, message))


def judge(what, folder, status, message, former, fresh, between):
    """What is seen is the former run, the new one, or (between) recognised as neither."""
    m = whole(folder)
    ended(what, status, message)
    if isinstance(m, str):
        return fail("%s: %s: %s" % (what, folder, m))
    if m is None and not between:
        return fail("%s: %s shows no complete run" % (what, folder))
    if m and m["method"] not in (former, fresh):
        return fail("%s: %s shows %s" % (what, folder, m["method"]))
    if status == 0 and (not m or m["method"] != fresh):
        return fail("%s: it says done, and %s shows %s" % (what, folder, m and m["method"]))


def lists(what):
    """runs says complete of what is complete, and of nothing else."""
    p = subprocess.run([freefloat, "runs", "--json"], stdout=subprocess.PIPE)
    for run in json.loads(p.stdout or "[]"):
        good = isinstance(whole(run["path"]), dict)
        if (run["state"] == "complete") != good:
            fail("%s: runs calls %s %s, it is %s" % (what, run["path"], run["state"], whole(run["path"])))


# ------------------------------------------------------------------------------------------------------------------------ cases --
# Each has a folder that it begins with, the words of the command that is disturbed, and what is looked at afterwards.

def linked(what, crash, status, message):
    """out/NAME shows tdpa; a run with direct is disturbed."""
    judge(what, "out/wall", status, message, "tdpa", "direct", False)
    lists(what)
    status, message = call(["runs", "prune", "--keep", "1", "--incomplete", "--quiet"])
    left = os.listdir("out/.runs/wall")
    if status != 0 or not isinstance(whole("out/wall"), dict) or any(f for f in left if not f.startswith(".") and not
            whole("out/.runs/wall/" + f) and not os.path.islink("out/.runs/wall/" + f)):
        fail("%s: after prune: %d %s %s" % (what, status, message, left))


def earlier(what, crash, status, message):
    """out/NAME is a plain folder of an earlier version: that is never lost."""
    kept = [d for d in ["out/wall"] + ["out/.runs/wall/" + f for f in (os.listdir("out/.runs/wall") if os.path.isdir("out/.runs/wall") else [])]
            if os.path.exists(d + "/mark")]
    if len(kept) != 1:
        fail("%s: the earlier folder is in %s" % (what, kept))
    if os.path.islink("out/wall"):
        judge(what, "out/wall", status, message, "direct", "direct", False)
    elif status == 0:
        fail("%s: it says done, and out/wall is as it was" % what)


def given(what, crash, status, message):
    """d holds tdpa's files, one more than the new run will have; a run with direct into d is disturbed."""
    judge(what, "d", status, message, "tdpa", "direct", True)
    if not os.path.exists("d/mine"):
        fail("%s: a file that is not ours is gone" % what)
    os.unlink("d/mine") if os.path.exists("d/mine") else None
    again, message = call(["run", scenario, "--method", "ideal", "--out", "d"] + SHORT)
    if again == 2 and "not completed" in message:
        again, message = call(["run", scenario, "--method", "ideal", "--out", "d", "--force"] + SHORT)
    m = whole("d")
    if again != 0 or not isinstance(m, dict) or m["method"] != "ideal" or [f for f in os.listdir("d") if f.startswith(".")]:
        fail("%s: the next run: %d %s %s %s" % (what, again, message, m, os.listdir("d")))


def compared(what, crash, status, message):
    judge(what, "out/wall", status, message, "tdpa", "direct,tdpa", False)
    lists(what)


def rt(what, crash, status, message):
    """out/NAME shows tdpa; an rt run with direct, in lock step, is disturbed. What its log holds, is right."""
    judge(what, "out/wall", status, message, "tdpa", "direct", False)
    lists(what)
    for name in os.listdir("out/.runs/wall"):
        for log in ("log.mcap", ".log.mcap.part"):
            log = "out/.runs/wall/%s/%s" % (name, log)
            if os.path.exists(log):
                got, words = call(["replay", log, "--quiet"])
                if got not in (0, 2) or (got == 2 and not words.strip()) or "differs" in words:
                    fail("%s: the log's replay: %d %s" % (what, got, words))


def exported(what, crash, status, message):
    """log.csv stands there as an export of another log made it."""
    ended(what, status, message)
    for name, former, fresh in (("d/log.csv", b"former\n", tables["csv"]), ("d/log.mat", None, tables["mat"])):
        found = open(name, "rb").read() if os.path.exists(name) else None
        if found not in (former, fresh):
            fail("%s: %s is neither the former file nor the new one" % (what, name))
        if status == 0 and found != fresh:
            fail("%s: it says done, and %s is not the new file" % (what, name))
    if hashlib.sha256(open("d/log.mcap", "rb").read()).hexdigest() != tables["mcap"]:
        fail("%s: the log has changed" % what)


def pruned(what, crash, status, message):
    """Three runs; those that are left are whole."""
    ended(what, status, message)
    if not isinstance(whole("out/wall"), dict):
        fail("%s: out/wall: %s" % (what, whole("out/wall")))
    lists(what)
    left = [f for f in os.listdir("out/.runs/wall") if not f.startswith(".")]
    if status == 0 and len(left) != 1:
        fail("%s: it says done, and left are %s" % (what, left))


def campaign(what, crash, status, message):
    """A campaign that was disturbed continues to the same table."""
    ended(what, status, message)
    if status == 0 and not isinstance(whole("out/two"), dict):
        fail("%s: it says done: %s" % (what, whole("out/two")))
    again, message = call(["campaign", "c.yaml", "--threads", "1", "--quiet"])
    m = whole("out/two")
    if "fail-memory" in crash and "memory" in open("out/two/results.csv").read():
        return  # a sample that had none is a row with that reason
    if again != 0 or not isinstance(m, dict) or m["results"]["results.csv"] != tables["results.csv"]:
        fail("%s: continued: %d %s %s" % (what, again, message, m))


def reads(what, crash, status, message):
    """What only reads says the same, or why not."""
    ended(what, status, message)
    if status == 0 and said != tables[what.split(",")[0]]:
        fail("%s: done, and it says %s" % (what, said.decode(errors="replace")))


def checks(*a):
    reads(*a)


def replays(*a):
    reads(*a)


def verifies(*a):
    reads(*a)


def listed(*a):
    reads(*a)


def differs(*a):
    reads(*a)


CASES = {linked: ("linked", ["run", scenario, "--method", "direct", "--log", "csv,mcap"] + SHORT),
         given: ("given", ["run", scenario, "--method", "direct", "--out", "d"] + SHORT),
         earlier: ("earlier", ["run", scenario, "--method", "direct"] + SHORT),
         compared: ("linked", ["compare", scenario, "--methods", "direct,tdpa"] + SHORT),
         campaign: ("campaign", ["campaign", "c.yaml", "--threads", "1", "--quiet"]),
         rt: ("linked", ["rt", scenario, "--method", "direct", "--arm", "--silence", "5", "--wait", "5"] + SHORT),
         exported: ("exported", ["export", "d/log.mcap", "--to", "csv,mat", "--quiet"]),
         pruned: ("pruned", ["runs", "prune", "--keep", "1", "--quiet"]),
         checks: ("given", ["check", scenario]),
         replays: ("given", ["replay", "d/log.mcap"]),
         verifies: ("given", ["verify", "d"]),
         listed: ("pruned", ["runs"]),
         differs: ("given", ["runs", "diff", "d", "e"])}
READING = (checks, replays, verifies, listed, differs)


def disturb(case, crash=None, counted=None):
    words = CASES[case][1]
    if case != rt:
        return call(words, crash, counted)
    held, where = ports()
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    facility = subprocess.Popen([freefloat, "facility", scenario, "--lockstep", "--once"] + where, **quiet)
    try:
        return call(words + where, crash, counted)
    finally:
        facility.kill()
        facility.wait()
        held.close()


def restore(folder, into="work"):
    shutil.rmtree(into, ignore_errors=True)
    shutil.copytree(folder, into, symlinks=True)
    os.chdir(into)


def full_disk(case, pages, what):
    """The same on a disk with so many pages left."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", "disk"], check=True)
    try:
        restore(CASES[case][0], "disk/work")
        used = os.statvfs(".").f_blocks - os.statvfs(".").f_bfree
        subprocess.run(["mount", "-o", "remount,size=%d" % (PAGE * (used + pages)), home + "/disk"], check=True)
        status, message = disturb(case)
        subprocess.run(["mount", "-o", "remount,size=64m", home + "/disk"], check=True)  # someone makes room
        case(what, "disk", status, message)
    finally:
        os.chdir(home)
        subprocess.run(["umount", "disk"], check=True)


def trial(case, crash):
    what = "%s, %s" % (case.__name__, crash)
    if crash.startswith("disk:"):
        return full_disk(case, int(crash[5:]), what)
    restore(CASES[case][0])
    status, message = disturb(case, crash)
    case(what, crash, status, message)
    os.chdir(home)


def prepare():
    for name, make in {"linked": [["run", scenario, "--method", "tdpa"] + SHORT],
                       "pruned": [["run", scenario, "--method", "tdpa"] + SHORT] * 3,
                       "given": [["run", scenario, "--method", "tdpa", "--out", "d", "--log", "csv,mcap"] + SHORT],
                       "exported": [["run", scenario, "--method", "tdpa", "--out", "d", "--log", "mcap"] + SHORT]}.items():
        os.makedirs(name)
        os.chdir(name)
        for words in make:
            status, message = call(words)
            status == 0 or fail("%s: %d %s" % (name, status, message))
        os.chdir(home)
    open("given/d/mine", "w").write("x")
    shutil.copytree("linked/out/wall", "given/e")
    os.makedirs("earlier/out/wall")
    open("earlier/out/wall/mark", "w").write("x")
    os.makedirs("campaign")
    open("campaign/c.yaml", "w").write("name: two\nbase: %s\nmethods: [direct, tdpa]\nkeep: {worst: 1}\nvary: {time.duration: {list: [0.03, 0.05]}}\n" % scenario)
    restore("campaign")
    call(CASES[campaign][1])
    made = {"results.csv": whole("out/two")["results"]["results.csv"]}
    os.chdir(home)
    restore("exported")
    call(CASES[exported][1])
    made.update({k: open("d/log." + k, "rb").read() for k in ("csv", "mat")}, mcap=hashlib.sha256(open("d/log.mcap", "rb").read()).hexdigest())
    os.chdir(home)
    open("exported/d/log.csv", "w").write("former\n")
    return made


def may_mount():
    os.makedirs("disk")
    good = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", "disk"], stderr=subprocess.DEVNULL).returncode == 0
    return good and subprocess.run(["umount", "disk"]).returncode == 0


def enumerate_faults(case, disks):
    """Every fault of one case, after an undisturbed run that counts its calls, allocations and pages."""
    restore(CASES[case][0])
    status, message = disturb(case, None, home + "/counted")
    pages = sum(-(-os.lstat(os.path.join(d, f)).st_size // PAGE) + 1 for d, _, files in os.walk(".") for f in files)
    os.chdir(home)
    tables[case.__name__] = said
    if status == 77:
        print("left out: no filter of system calls here")
        sys.exit(77)
    if status != 0:
        fail("%s undisturbed: %d %s" % (case.__name__, status, message))
        return [], []
    calls, allocations = map(int, open("counted").read().split())
    more = 4 if case == rt else 0  # its threads do not always make the same number
    disturbed = ["%s:%d" % (kind, n) for kind in ("kill", "cut", "fail", "full") for n in range(1, calls + more + 1)]
    disturbed += ["disk:%d" % n for n in range(0, pages, 3)] if disks and case not in READING else []
    return [(case, c) for c in disturbed], [(case, "%s-memory:%d" % (kind, n)) for kind in ("kill", "fail")[case in READING:] for n in range(1, allocations + 1)]


tables = prepare()
disks = may_mount()
disks or print("left out: disks that are full, no right to mount")
faults = []
for case in CASES:
    calls, memory = enumerate_faults(case, disks)
    faults += calls + (memory if not count else draw.sample(memory, min(len(memory), 200)))
only = sys.argv[7] if len(sys.argv) > 7 else ""
faults = [f for f in faults if only in "%s, %s" % (f[0].__name__, f[1])]
chosen = draw.sample(faults, min(count or len(faults), len(faults)))
begun, tried = time.monotonic(), {}
for case, crash in chosen:
    if time.monotonic() - begun > seconds:
        break
    trial(case, crash)
    kind = "%s %s" % (case.__name__, crash.split(":")[0])
    tried[kind] = tried.get(kind, 0) + 1
print(", ".join("%s %d" % k for k in sorted(tried.items())))
print("%d of %d faults, %d failures" % (sum(tried.values()), len(faults), failures))
sys.exit(1 if failures else 0 if disks else 77)
