#!/usr/bin/env python3
"""crash.py FREEFLOAT LIBRARY SCENARIO COUNT SEED [ONLY]: ends or disturbs runs at the n-th call that changes a file (crash.c) and looks at
what is left. COUNT 0: every n of every case; ONLY: of those whose name begins so ("given, fail:12"). What is seen must be one whole run, the former or the new one, or be recognised as
neither; a command that says done has done it; one that fails says why; what is continued gives the same tables."""
import hashlib, json, os, random, shutil, subprocess, sys

freefloat, library, scenario, count, seed = sys.argv[1:4] + [int(sys.argv[4]), int(sys.argv[5])]
draw = random.Random(seed)
trials = failures = 0
SHORT = ["--set", "time.duration=0.05", "--quiet"]


def call(words, crash=None, counted=None):
    env = dict(os.environ, FF_CRASH=crash or "count:0", LD_PRELOAD=library)
    if counted:
        env["FF_CRASH_COUNT"] = counted
    p = subprocess.run([freefloat] + words, env=env if crash or counted else None, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60)
    return p.returncode, p.stderr.decode(errors="replace")


def fail(why):
    global failures
    failures += 1
    print("FAIL:", why)


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


def judge(what, folder, status, message, former, fresh, between):
    """What is seen is the former run, the new one, or (between) recognised as neither."""
    m = whole(folder)
    if isinstance(m, str):
        return fail("%s: %s: %s" % (what, folder, m))
    if m is None and not between:
        return fail("%s: %s shows no complete run" % (what, folder))
    if m and m["method"] not in (former, fresh):
        return fail("%s: %s shows %s" % (what, folder, m["method"]))
    if status == 0 and (not m or m["method"] != fresh):
        return fail("%s: it says done, and %s shows %s" % (what, folder, m and m["method"]))
    if status in (1, 2) and not message.strip():
        return fail("%s: exit status %d without a word" % (what, status))
    if status not in (0, 1, 2, -9):
        return fail("%s: ended by signal or status %d: %s" % (what, status, message))


# ------------------------------------------------------------------------------------------------------------------------ cases --

def restore(case):
    shutil.rmtree("work", ignore_errors=True)
    shutil.copytree(case, "work", symlinks=True)
    os.chdir("work")


def linked(what, crash):
    """out/NAME shows tdpa; a run with direct is disturbed."""
    status, message = call(["run", scenario, "--method", "direct", "--log", "csv,mcap"] + SHORT, crash)
    judge(what, "out/wall", status, message, "tdpa", "direct", False)
    status, message = call(["runs", "prune", "--keep", "1", "--incomplete", "--quiet"])
    left = os.listdir("out/.runs/wall")
    if status != 0 or isinstance(whole("out/wall"), (str, type(None))) or any(f for f in left if not f.startswith(".") and not
            whole("out/.runs/wall/" + f) and not os.path.islink("out/.runs/wall/" + f)):
        fail("%s: after prune: %d %s %s" % (what, status, message, left))


def earlier(what, crash):
    """out/NAME is a plain folder of an earlier version: that is never lost."""
    status, message = call(["run", scenario, "--method", "direct"] + SHORT, crash)
    kept = [d for d in ["out/wall"] + ["out/.runs/wall/" + f for f in (os.listdir("out/.runs/wall") if os.path.isdir("out/.runs/wall") else [])]
            if os.path.exists(d + "/mark")]
    if len(kept) != 1:
        fail("%s: the earlier folder is in %s" % (what, kept))
    if os.path.islink("out/wall"):
        judge(what, "out/wall", status, message, "direct", "direct", False)
    elif status == 0:
        fail("%s: it says done, and out/wall is as it was" % what)


def given(what, crash):
    """d holds tdpa's files, one more than the new run will have; a run with direct into d is disturbed."""
    status, message = call(["run", scenario, "--method", "direct", "--out", "d"] + SHORT, crash)
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


def compared(what, crash):
    status, message = call(["compare", scenario, "--methods", "direct,tdpa"] + SHORT, crash)
    judge(what, "out/wall", status, message, "tdpa", "direct,tdpa", False)


def campaign(what, crash):
    """A campaign that was disturbed continues to the same table."""
    status, message = call(["campaign", "c.yaml", "--threads", "1", "--quiet"], crash)
    if status == 0 and not isinstance(whole("out/two"), dict):
        fail("%s: it says done: %s" % (what, whole("out/two")))
    if status in (1, 2) and not message.strip():
        fail("%s: exit status %d without a word" % (what, status))
    again, message = call(["campaign", "c.yaml", "--threads", "1", "--quiet"])
    m = whole("out/two")
    if "fail-memory" in crash and "memory" in open("out/two/results.csv").read():
        return  # a sample that had none is a row with that reason
    if again != 0 or not isinstance(m, dict) or m["results"]["results.csv"] != table:
        fail("%s: continued: %d %s %s" % (what, again, message, m))


for name, make in {"linked": [["run", scenario, "--method", "tdpa"] + SHORT],
                   "given": [["run", scenario, "--method", "tdpa", "--out", "d", "--log", "csv,mcap"] + SHORT]}.items():
    os.makedirs(name)
    os.chdir(name)
    for words in make:
        status, message = call(words)
        status == 0 or fail("%s: %d %s" % (name, status, message))
    os.chdir("..")
open("given/d/mine", "w").write("x")
os.makedirs("earlier/out/wall")
open("earlier/out/wall/mark", "w").write("x")
os.makedirs("campaign")
open("campaign/c.yaml", "w").write("name: two\nbase: %s\nmethods: [direct, tdpa]\nkeep: {worst: 1}\nvary: {time.duration: {list: [0.03, 0.05]}}\n" % scenario)
restore("campaign")
status, message = call(["campaign", "c.yaml", "--threads", "1", "--quiet"])
table = whole("out/two")["results"]["results.csv"]
os.chdir("..")

cases = []
for folder, case in (("linked", linked), ("given", given), ("earlier", earlier), ("linked", compared), ("campaign", campaign)):
    restore(folder)
    case_calls = os.path.abspath("../counted")
    status, message = {"linked": lambda: call(["run", scenario, "--method", "direct", "--log", "csv,mcap"] + SHORT, None, case_calls),
                       "given": lambda: call(["run", scenario, "--method", "direct", "--out", "d"] + SHORT, None, case_calls),
                       "earlier": lambda: call(["run", scenario, "--method", "direct"] + SHORT, None, case_calls),
                       "compared": lambda: call(["compare", scenario, "--methods", "direct,tdpa"] + SHORT, None, case_calls),
                       "campaign": lambda: call(["campaign", "c.yaml", "--threads", "1", "--quiet"], None, case_calls)}[case.__name__]()
    os.chdir("..")
    if status == 77:
        print("left out: no filter of system calls here")
        sys.exit(77)
    if status != 0:
        fail("%s undisturbed: %d %s" % (case.__name__, status, message))
        continue
    calls, allocations = map(int, open("counted").read().split())
    for kind in ("kill", "fail", "full"):
        cases += [(folder, case, "%s:%d" % (kind, n)) for n in range(1, calls + 1)]
    memory = [(folder, case, "%s-memory:%d" % (kind, n)) for n in range(1, allocations + 1) for kind in ("kill", "fail")]
    cases += memory if not count else draw.sample(memory, min(len(memory), 200))
cases = [c for c in cases if ("%s, %s" % (c[1].__name__, c[2])).startswith(sys.argv[6] if len(sys.argv) > 6 else "")]
chosen = cases if not count else draw.sample(cases, min(count, len(cases)))
for folder, case, crash in chosen:
    restore(folder)
    case("%s, %s" % (case.__name__, crash), crash)
    os.chdir("..")
    trials += 1
print("%d of %d disturbed runs, %d failures" % (trials, len(cases), failures))
sys.exit(1 if failures else 0)
